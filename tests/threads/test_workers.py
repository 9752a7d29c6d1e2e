"""The driver and its workers: every task once, steps in order, several callers, fork, exit."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler.machines.system import core_count
from compiler.threads import workers
from compiler.threads.driver import MOST_TASKS
from compiler.threads.launch import Launch, steps_of, stride_of
from compiler.threads.workers import WORKERS, Pool
from tests.threads import thunks

Array = np.ndarray[Any, Any]
ROOT = Path(__file__).resolve().parents[2]


def counted(tasks: int, threads: int, steps: int = 1, delay: int = 1) -> Array:
    """How often each task ran, with room for one that does not exist."""
    counters = np.zeros(tasks + 8, np.int64)
    words = np.array([counters.ctypes.data, delay], np.int64)
    thunks.run(steps_of(thunks.count(), 0, tasks, threads) * steps, words, threads)
    return counters


@pytest.mark.parametrize("threads", (1, 2, 3, 8))
@pytest.mark.parametrize("tasks", (1, 2, 3, 7, 64, 1000))
def test_every_task_runs_once(tasks: int, threads: int) -> None:
    for delay in (1, 200):
        assert counted(tasks, threads, 5, delay).tolist() == [5] * tasks + [0] * 8


def test_more_tasks_than_one_step_can_have() -> None:
    tasks = 2 * MOST_TASKS + 3
    assert [s[2:4] for s in steps_of(0, 0, tasks, 2)] == [
        (MOST_TASKS, 0), (MOST_TASKS, MOST_TASKS), (3, 2 * MOST_TASKS),
    ]  # fmt: skip
    assert counted(tasks, 2).tolist() == [1] * tasks + [0] * 8


def test_no_steps() -> None:
    thunks.run((), np.zeros(1, np.int64), 2)


@pytest.mark.parametrize("threads", (2, 5))
def test_a_step_sees_all_of_the_step_before(threads: int) -> None:
    """Each task adds what all tasks of the step before wrote: a step too early changes the sum."""
    tasks, length = 9, 400
    first, second = np.zeros(tasks, np.int64), np.zeros(tasks, np.int64)
    forth = [first.ctypes.data, second.ctypes.data, tasks]
    words = np.array([*forth, forth[1], forth[0], tasks], np.int64)
    steps = [s for n in range(length) for s in steps_of(thunks.add(), 24 * (n % 2), tasks, threads)]
    thunks.run(steps, words, threads)
    expected, mask = [0] * tasks, 2**64 - 1
    for _ in range(length):
        total = sum(expected)
        expected = [(total + core) & mask for core in range(tasks)]
    assert first.astype(np.uint64).tolist() == expected


def test_threads_have_scratch_memory_of_their_own() -> None:
    tasks, threads = 40, 4
    counters, stride = np.zeros(tasks, np.int64), stride_of(64 * 8)
    memory = np.zeros(stride * threads, np.uint8)
    words = np.array([counters.ctypes.data], np.int64)
    thunks.run(steps_of(thunks.own(), 0, tasks, threads), words, threads, memory, stride)
    assert counters.tolist() == [1] * tasks
    assert [stride_of(n) for n in (0, 1, 128, 129)] == [0, 128, 128, 256]


def test_no_more_threads_than_asked_for() -> None:
    """One thread's scratch memory is all there is, though the pool has many workers."""
    WORKERS.pool(8)
    counters, memory = np.zeros(50, np.int64), np.zeros(512, np.uint8)
    words = np.array([counters.ctypes.data], np.int64)
    for _ in range(20):
        thunks.run(steps_of(thunks.own(), 0, 50, 1), words, 8, memory, 2**40)
    assert counters.tolist() == [1] * 50


def test_several_callers_at_once() -> None:
    wrong: list[object] = []

    def work() -> None:
        for _ in range(60):
            got = counted(13, 3, 20, 20).tolist()
            if got != [20] * 13 + [0] * 8:
                wrong.append(got)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not wrong and not any(thread.is_alive() for thread in threads)


def test_one_kernel_by_itself() -> None:
    counters = np.zeros(11, np.int64)
    Launch(thunks.count(), [counters.ctypes.data, 50], 11)()
    assert counters.tolist() == [1] * 11


def test_a_pool_that_was_stopped_leaves_the_work_to_the_caller() -> None:
    pool = Pool()
    pool.grow(3)
    assert pool.width == 3
    pool.stop()
    pool.grow(3)
    assert pool.width == 1, "after the interpreter's exit no thread is started"
    pool.stop()


@pytest.mark.parametrize(("cores", "threads"), [(1, 0), (2, 1)])
def test_the_driver_is_compiled_once_and_beside_the_rest(
    cores: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[threading.Thread] = []
    monkeypatch.setattr(workers, "_NATIVE", [])
    monkeypatch.setattr(workers, "_BEGUN", begun)
    monkeypatch.setattr(workers, "core_count", lambda: cores)
    workers.begin()
    workers.begin()
    assert len(begun) == threads
    first = workers.native()
    assert first is workers.native() and first.address("sv.worker")
    workers.begin()
    assert len(begun) == threads and not any(each.is_alive() for each in begun)


def test_cores_are_those_of_this_process() -> None:
    assert 1 <= core_count() <= (os.cpu_count() or 1)
    assert WORKERS.pool(1) == 0 and WORKERS.pool(0) == 0
    assert WORKERS.pool(2) == WORKERS.pool(2) != 0


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the system shows no threads")
def test_idle_workers_sleep() -> None:
    counted(8, 4)
    own = threading.get_native_id()
    python = {thread.native_id for thread in threading.enumerate()}

    def states() -> list[str]:
        tasks = (t for t in Path("/proc/self/task").iterdir() if int(t.name) not in python)
        return [(t / "stat").read_text("utf-8").rpartition(")")[2].split()[0] for t in tasks]

    end = time.monotonic() + 20
    while set(states()) - {"S"} and time.monotonic() < end:
        time.sleep(0.01)
    assert own in python and len(states()) >= 3 and set(states()) == {"S"}


# --- processes --------------------------------------------------------------------------------

BEGIN = """
import atexit, os, sys, threading, time
import numpy as np
def late():
    # registered before the pool's own handler, so it runs after it
    from tests.threads.test_workers import counted
    assert counted(9, 3).tolist() == [1] * 9 + [0] * 8
    print("late", flush=True)
atexit.register(late)
from tests.threads.test_workers import counted
from compiler.threads.workers import WORKERS
assert counted(50, 4, 10).tolist() == [10] * 50 + [0] * 8
"""
ENDS = {
    "an end": "",
    "sys.exit": "sys.exit(0)",
    "an end long after the last task": "time.sleep(0.2)",
    "an end while another thread runs": """
def forever():
    while True:
        counted(50, 4, 10, 100)
threading.Thread(target=forever, daemon=True).start()
time.sleep(0.1)
""",
}
FORKS = {
    "a child that runs": """
child = os.fork()
if not child:
    before = WORKERS._pool
    ok = before is None and counted(50, 4, 10, 100).tolist() == [10] * 50 + [0] * 8
    os._exit(0 if ok and WORKERS._pool.width == 4 else 3)
assert os.waitpid(child, 0)[1] == 0
assert counted(50, 4, 10).tolist() == [10] * 50 + [0] * 8
""",
    "a child that ends like any process": """
child = os.fork()
if not child:
    counted(50, 4, 10, 100)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
""",
    "a child that runs nothing": """
child = os.fork()
if not child:
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
""",
    "forks while another thread runs": """
stop = []
def work():
    while not stop:
        counted(50, 4, 10, 100)
thread = threading.Thread(target=work)
thread.start()
for _ in range(10):
    child = os.fork()
    if not child:
        os._exit(0 if counted(20, 3, 5).tolist() == [5] * 20 + [0] * 8 else 3)
    assert os.waitpid(child, 0)[1] == 0
stop.append(1)
thread.join()
""",
}


def _python(text: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", text], cwd=ROOT, env=environment, timeout=120,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_process_ends(end: str) -> None:
    ended = _python(BEGIN + end)
    assert (ended.returncode, ended.stdout.split()) == (0, ["late"]), ended.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("fork", FORKS.values(), ids=FORKS)
def test_a_forked_child_has_workers_of_its_own(fork: str) -> None:
    ended = _python(BEGIN + fork)
    assert ended.returncode == 0 and set(ended.stdout.split()) == {"late"}, ended.stderr
