"""A region that is left by an exception, whatever it ends, is left."""

import gc
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from compiler.core import forking, garbage
from compiler.core.kept import Kept
from compiler.core.visits import Visits
from tests.interrupting import KEPT, interrupted

MOST = 1000
Region = Callable[[], AbstractContextManager[None]]


def swept(region: Region, check: Callable[[], None]) -> None:
    """Interrupt a visit of the region at each of its calls; `check` what is left of it."""

    def visit() -> None:
        with region():
            pass

    for at in range(1, MOST):
        is_interrupted = interrupted(visit, at)
        check()
        if not is_interrupted:
            return
    raise AssertionError("a visit has fewer calls than that")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_gate_can_be_closed_after_an_exception_at_any_call() -> None:
    gate = forking.Barrier()

    def close_and_open() -> None:
        gate.close()
        gate.open()

    def close() -> None:
        KEPT.clear()  # else they keep the visits of a thread that runs
        assert not gate._visits.inside
        other = threading.Thread(target=close_and_open, daemon=True)
        other.start()
        other.join(60)
        assert not other.is_alive(), "the barrier is closed"

    swept(gate.passed, close)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_garbage_is_looked_for_after_an_exception_at_any_call() -> None:
    before = gc.get_threshold()

    def check() -> None:
        KEPT.clear()
        assert not garbage._compiling.inside
        with garbage.put_off():
            assert garbage.is_put_off()
        assert gc.get_threshold() == before

    swept(garbage.put_off, check)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_table_forgets_after_an_exception_at_any_call() -> None:
    table: Kept[int, int] = Kept(2)

    def check() -> None:
        KEPT.clear()
        with table.all_kept():
            for number in range(5):
                table.keep(number, number)
            assert len(table) == 5
        assert len(table) == 2

    swept(table.all_kept, check)


def test_a_visit_is_over_with_its_thread() -> None:
    visits = Visits()
    number = next(visits.numbers)
    other = threading.Thread(target=visits.enter, args=(number,))
    other.start()
    other.join()
    assert visits.inside and not visits.are_others()
    visits.forget_others()
    assert not visits.inside


def test_a_fork_that_is_interrupted_while_it_waits_closes_the_gate_first() -> None:
    gate, tries = forking.Barrier(), []

    class Interrupted(BaseException):
        pass

    def are_others() -> bool:
        tries.append(gate._closed_by)
        if len(tries) == 1:
            raise Interrupted
        return False

    gate._visits = type("Busy", (Visits,), {"are_others": staticmethod(are_others)})()
    with pytest.raises(Interrupted):
        gate.close()
    assert tries == [threading.get_ident()] * 2
    gate.open()
    assert gate._closed_by is None
