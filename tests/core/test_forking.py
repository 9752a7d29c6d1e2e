"""Processes made by `fork` while other threads work: each compiles, runs and ends."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from compiler.core import forking

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")

BEGIN = """
import functools, os, signal, sys, threading, time
import numpy as np
import compiler
from compiler import Options, Tensor

def compiled(value, count=7):
    x = Tensor(np.arange(float(count)), name="x")
    made = compiler.compile((x * value + 1).sum(), Options(cache=False))
    return float(made.run()[0])

def expected(value, count=7):
    return value * count * (count - 1) / 2 + count

def child(work):
    process = os.fork()
    if not process:
        status = 4
        try:
            status = 0 if work() else 3
        finally:
            os._exit(status)
    return process

def statuses(processes, seconds):
    end, ended = time.monotonic() + seconds, {}
    while len(ended) < len(processes) and time.monotonic() < end:
        for process in set(processes) - set(ended):
            found, status = os.waitpid(process, os.WNOHANG)
            if found:
                ended[process] = status
        time.sleep(0.01)
    for process in set(processes) - set(ended):
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        ended[process] = "hangs"
    return sorted(map(str, ended.values()))
"""
WHILE_ANOTHER_COMPILES = """
stop = threading.Event()
count = [0]
def work():
    while not stop.is_set():
        number = count[0] = count[0] + 1  # others may count on meanwhile
        asked = number + 0.5, 5 + number % 31
        assert compiled(*asked) == expected(*asked)
threads = [threading.Thread(target=work) for _ in range({threads})]
for thread in threads:
    thread.start()
def own(number):
    large = Tensor(np.arange(200_000.0)) * (number + 2000.25)
    same = compiled(number + 1000.25) == expected(number + 1000.25)
    return same and large.numpy()[1] == number + 2000.25
children = []
for number in range({children}):
    children.append(child(functools.partial(own, number)))
    time.sleep(0.02)
print(*statuses(children, 60))
stop.set()
for thread in threads:
    thread.join()
assert count[0] > {threads}
"""
WITH_LISTINGS = """
x = Tensor(np.arange(12.0).reshape(3, 4))
made = [compiler.compile((x * i).sum(1).exp().contiguous() @ Tensor(np.ones(3)),
                         Options(cache=False)) for i in range(1, 9)]
for each in made:
    each.begin_listings()
def listed():
    return all(str(l) for each in made for l in (*each.optimized, *each.assembly))
print(*statuses([child(listed)], 60))
assert listed()
"""
WITH_LOCKS_HELD = """
from functools import cached_property
from compiler.core import forking, garbage
from compiler.stages.stages import ProgramStages

mine, theirs = forking.lock(), forking.lock()
held, done = threading.Event(), threading.Event()
slow = ProgramStages.__dict__["loops"]
assert isinstance(slow, cached_property)
locks = [theirs, *([slow.lock] if hasattr(slow, "lock") else [])]
def hold():
    for lock in locks:
        lock.acquire()
    with garbage.put_off():
        held.set()
        done.wait()
    for lock in locks:
        lock.release()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
def all_free():
    mine.release()
    made = compiler.compile(Tensor([1.0]) + 1, Options(cache=False))
    return not garbage.is_put_off() and theirs.acquire(blocking=False) and str(made.loops)
with mine:
    print(*statuses([child(all_free)], 60))
assert garbage.is_put_off()
done.set()
thread.join()
assert not garbage.is_put_off()
"""


def printed(program: str) -> list[str]:
    ended = subprocess.run(
        [sys.executable, "-c", BEGIN + program], cwd=ROOT, timeout=300,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split()


REGISTERED_MEANWHILE = """
from compiler.core import forking
order = []
def note(word):
    return lambda: order.append(word)
def begin():
    order.append("first")
    forking.around(note("late"), note("late ends"))
forking.around(note("other"), note("other ends"))
forking.around(begin, note("first ends"), is_first=True)
def seen():
    return order == ["first", "late", "other", "other ends", "late ends", "first ends"]
print(*statuses([child(seen)], 60), seen())
"""


def test_what_is_registered_while_a_fork_begins_has_both_halves() -> None:
    assert printed(REGISTERED_MEANWHILE) == ["0", "True"]


@pytest.mark.parametrize("threads", (1, 3))
def test_children_compile_while_another_thread_does(threads: int) -> None:
    program = WHILE_ANOTHER_COMPILES.format(threads=threads, children=50)
    assert printed(program) == ["0"] * 50


def test_a_child_makes_the_listings_that_its_parent_began() -> None:
    assert printed(WITH_LISTINGS) == ["0"]


def test_what_another_thread_held_is_free_in_a_child() -> None:
    assert printed(WITH_LOCKS_HELD) == ["0"]


def test_a_gate_closes_when_nobody_is_inside() -> None:
    barrier, order = forking.Barrier(), []
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with barrier.passed():
            inside.set()
            leave.wait()
            order.append("left")

    def enter() -> None:
        with barrier.passed():
            order.append("entered")

    first = threading.Thread(target=stay)
    first.start()
    inside.wait()
    threading.Timer(0.05, leave.set).start()
    barrier.close()
    assert order == ["left"]
    second = threading.Thread(target=enter)
    second.start()
    second.join(0.05)
    assert order == ["left"]
    barrier.open()
    second.join()
    assert order == ["left", "entered"]
    first.join()
