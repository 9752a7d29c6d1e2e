"""Threads that make, assign and compute tensors at once; and what an assign looks at."""

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, custom
from compiler.tensors import running
from compiler.tensors.readers import READERS, Alive, Readers
from tests.tensors.test_assign import realised
from tests.test_growth import calls


def together(*works: Callable[[], Any]) -> None:
    """Each on a thread of its own; the first failure of any is raised."""
    failures: list[BaseException] = []

    def run(work: Callable[[], Any]) -> None:
        try:
            work()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "it does not end"
    if failures:
        raise failures[0]


@pytest.fixture(autouse=True)
def switching_often() -> Any:
    import sys

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_no_tensor_that_a_thread_makes_is_forgotten() -> None:
    x = realised(1.0, 2.0)
    made: list[list[Tensor]] = [[] for _ in range(4)]

    def make(found: list[Tensor]) -> None:
        for _ in range(4000):
            found.append(x + 1)

    together(*(lambda found=found: make(found) for found in made))
    x.assign(x * 10)
    assert x.tolist() == [10, 20]
    wrong = [y for found in made for y in found if y.tolist() != [2, 3]]
    assert len(wrong) == 0 and sum(map(len, made)) == 16_000


def test_no_tensor_is_forgotten_while_the_references_are_put_in_order() -> None:
    x = realised(1.0)
    for iteration in range(20):
        made: list[list[Tensor]] = [[] for _ in range(4)]

        def make(found: list[Tensor], x: Tensor = x) -> None:
            found.extend(Tensor(x) for _ in range(1500))

        together(*(lambda found=found: make(found) for found in made))
        x.assign(x + 1).realize()
        values = [each.node for found in made for each in found]
        assert x.tolist() == [iteration + 2] and x.node not in values


def test_threads_assign_one_tensor_and_read_it() -> None:
    x = realised(0.0, 0.0)
    seen: list[list[float]] = []

    def add() -> None:
        for _ in range(60):
            x.assign(Tensor(x).numpy()[0] * 0 + 7.0)
            x.realize()

    def read() -> None:
        for _ in range(150):
            seen.append((x * 2 + 1).tolist())

    together(add, add, read, read)
    assert {tuple(each) for each in seen} <= {(1, 1), (15, 15)} and len(seen) == 300


def test_an_assign_takes_effect_once_however_many_threads_compute_it() -> None:
    for _ in range(40):
        x = realised(*range(2000))
        x.assign(x + 1)
        readers = [x * 3 for _ in range(3)]
        together(x.realize, *(reader.realize for reader in readers))
        np.testing.assert_array_equal(x.numpy(), np.arange(2000) + 1)
        for reader in readers:
            np.testing.assert_array_equal(reader.numpy(), (np.arange(2000) + 1) * 3)


def test_parts_assigned_by_threads_are_all_written() -> None:
    x = realised(*[0.0] * 64)

    def write(first: int) -> None:
        for place in range(first, 64, 4):
            x[place : place + 1] = place

    together(*(lambda n=n: write(n) for n in range(4)))
    assert x.tolist() == list(range(64))


class Slow:
    """A host function that runs until it is asked to end."""

    def __init__(self) -> None:
        self.inside, self.leave = threading.Event(), threading.Event()

    def __call__(self, x: Any) -> Any:
        self.inside.set()
        assert self.leave.wait(60)
        return x.copy()


def test_what_is_made_while_another_thread_assigns_reads_what_it_assigned() -> None:
    slow = Slow()
    x = realised(1.0, 2.0)
    before = Tensor(x)
    x.assign(custom.host(name="slow_value")(slow)(x + 1))
    made: list[Tensor] = []

    def meanwhile() -> None:
        slow.inside.wait(60)
        made.extend((x * 10, before * 10))
        x.assign(x + 1)
        made.append(x * 10)
        slow.leave.set()

    together(x.realize, meanwhile)
    assert [each.tolist() for each in made] == [[20, 30], [10, 20], [30, 40]]
    assert (x.tolist(), before.tolist()) == ([3, 4], [1, 2])


def test_who_reads_is_waited_for_and_who_does_not_is_not() -> None:
    slow = Slow()
    x, other = realised(1.0, 2.0), realised(5.0, 6.0)
    reading = custom.host(name="slow_reading")(slow)(x + 0)
    order: list[str] = []

    def write() -> None:
        slow.inside.wait(60)
        other.assign(0).realize()
        order.append("other")
        x.assign(0).realize()
        order.append("x")

    def end() -> None:
        slow.inside.wait(60)
        while "other" not in order:
            pass
        threading.Event().wait(0.05)
        order.append("end")
        slow.leave.set()

    together(reading.realize, write, end)
    assert order == ["other", "end", "x"]
    assert reading.tolist() == [1, 2] and x.tolist() == [0, 0]
    assert not running.RUNNING


def test_a_program_inside_another_one_does_not_wait() -> None:
    x, y = realised(1.0), realised(2.0)
    barrier, begun = threading.Barrier(2, timeout=60), {}

    def crossing(name: str, other: Tensor) -> Any:
        def function(a: Any) -> Any:
            if not begun.get(name):  # the other one's reader is computed again
                begun[name] = True
                barrier.wait()
                other.assign(other + 1).realize()
            return a.copy()

        return custom.host(name=name)(function)

    one, two = crossing("crossing_1", y)(x + 0), crossing("crossing_2", x)(y + 0)
    together(one.realize, two.realize)
    assert (x.tolist(), y.tolist()) == ([2], [3])


def test_a_search_for_garbage_may_make_and_assign_tensors_anywhere() -> None:
    x, made = realised(1.0), []

    class Cycle:
        def __init__(self) -> None:
            self.own = self

        def __del__(self) -> None:
            made.append(x + 1)
            (x + 2).realize()

    before = gc.get_threshold()
    gc.set_threshold(5)
    try:

        def work() -> None:
            for _ in range(100):
                Cycle()
                y = x * 3
                realised(4.0).assign(y)

        together(work, work, work)
    finally:
        gc.set_threshold(*before)
    x.assign(10)
    assert x.tolist() == [10] and len(made) > 100
    assert all(each.tolist() == [2] for each in made)


def test_what_einsum_makes_is_remembered() -> None:
    x = realised(1.0, 2.0)
    y = Tensor.einsum("i->i", x)
    x.assign(0)
    assert x.tolist() == [0, 0] and y.tolist() == [1, 2]


def test_one_line_that_assigns_again_and_again() -> None:
    x = realised(1, 2)
    for iteration in range(5):
        before = Tensor(x)
        x.assign(x * 2).realize()
        assert x.tolist() == [2 * 2**iteration, 4 * 2**iteration]
        assert before.tolist() == [2**iteration, 2 * 2**iteration]


# --- work -------------------------------------------------------------------------------------


def calls_of_assign(others: list[Tensor]) -> int:
    """Of the second one: the first makes the program, and looks at the tensors that are new."""
    x = realised(1.0, 2.0)
    for value in (3.0, 4.0):
        x.assign(value).realize()
    assert others is not None
    return calls(lambda: x.assign(5.0).realize())


@pytest.mark.parametrize("kind", ("lazy", "realised", "of one buffer"))
def test_an_assign_does_not_look_at_tensors_that_do_not_read_it(kind: str) -> None:
    y = realised(1.0, 2.0)
    makes: dict[str, Callable[[int], Tensor]] = {
        "lazy": lambda number: Tensor([float(number)]) + 1,
        "realised": lambda number: realised(float(number)),
        "of one buffer": lambda number: y + number,
    }
    few = [makes[kind](number) for number in range(20)]
    counts = [calls_of_assign(few)]
    many = [makes[kind](number) for number in range(2000)]
    counts.append(calls_of_assign(many))
    assert counts[1] <= counts[0] + 20, counts


def test_values_that_are_computed_are_no_readers_any_more() -> None:
    x, counts = realised(1.0, 2.0), []
    kept = []
    for _ in range(6):
        kept += [(x * (n + 1)).realize() for n in range(50)]
        x.assign(x + 1).realize()
        counts.append(calls(lambda: x.assign(x + 1).realize()))
    assert max(counts[1:]) <= counts[0] + 20, counts


def test_what_is_known_of_tensors_that_are_gone_goes() -> None:
    x = realised(1.0)
    for _ in range(3):
        for number in range(3000):
            y = (x + number) * 2
        x.assign(x + 1).realize()
    del y
    gc.collect()
    READERS.of({-1})
    before = len(READERS)
    for number in range(5000):
        Tensor([float(number)]).contiguous()
    assert len(READERS) < before + 3000


def test_those_that_are_gone_leave_a_list() -> None:
    objects = [Readers() for _ in range(100)]
    held = Alive()
    for each in objects:
        held.add(each)
    assert held.all() == objects
    del objects[5:], each
    for _ in range(200):
        held.add(objects[0])
    assert held.all()[:5] == objects and len(held) < 300
