"""Loops around calls: how often each call runs, and with which counters."""

import pytest

from compiler.schedule.kinds import Range
from compiler.schedule.nesting import Loop, Step, count, flatten, unroll


def loop(number: int, low: int, high: int, *steps: Step) -> Step:
    counter = Range((), number, low, high)
    calls = frozenset(flatten(steps))
    return Step(loop=Loop(counter, calls, low, high), steps=steps)


CALL, OTHER = Step(call=0), Step(call=1)
NESTS = {
    "no loop": ((CALL, OTHER), 2),
    "from 0": ((loop(0, 0, 3, CALL),), 3),
    "from 2": ((loop(0, 2, 5, CALL, OTHER), CALL), 7),
    "from below 0": ((loop(0, -2, 1, CALL),), 3),
    "empty": ((loop(0, 4, 4, CALL), loop(1, 5, 2, CALL), OTHER), 1),
    "nested": ((loop(0, 1, 3, loop(1, 7, 10, CALL), OTHER),), 8),
}


@pytest.mark.parametrize("name", NESTS)
def test_as_many_runs_are_counted_as_unrolled(name: str) -> None:
    steps, runs = NESTS[name]
    assert count(steps) == runs == len(list(unroll(steps, {})))


def test_counters_of_all_loops_around_a_run_are_known() -> None:
    outer = loop(0, 1, 3, loop(1, 7, 9, CALL), OTHER)
    runs = [(call, sorted(counters.values())) for call, counters in unroll((outer,), {})]
    assert runs == [(0, [1, 7]), (0, [1, 8]), (1, [1]), (0, [2, 7]), (0, [2, 8]), (1, [2])]
