"""Costs, the critical path and slack, against paths enumerated one by one."""

import random

import pytest

from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.graph.nodes import Param, Reduce, Sink, Store, elementwise
from compiler.schedule.analysis.costs import (
    BYTES_PER_NS,
    LAUNCH_NS,
    OPERATIONS_PER_NS,
    analyse,
    critical_items,
    critical_path,
    is_critical,
    operations,
    timings,
)
from compiler.schedule.items import ItemTiming, Kernel, ScheduleItem
from tests.schedule.items import buffer, costs, schedule

DIAMOND = ((0, 1), (0, 2), (1, 3), (2, 3))


def paths(edges: tuple[tuple[int, int], ...], count: int) -> list[tuple[int, ...]]:
    """Every path from an item without producers to one without consumers."""
    after = {i: [b for a, b in edges if a == i] for i in range(count)}
    starts = [i for i in range(count) if all(b != i for _, b in edges)]
    found, stack = [], [(i,) for i in starts]
    while stack:
        path = stack.pop()
        stack += [(*path, b) for b in after[path[-1]]]
        if not after[path[-1]]:
            found.append(path)
    return found


def test_start_finish_and_slack() -> None:
    items = schedule(DIAMOND, 4)
    times = timings(items, costs(10, 5, 20, 1))
    assert [t.earliest_start for t in times] == [0, 10, 10, 30]
    assert [t.latest_start for t in times] == [0, 25, 10, 30]
    assert [t.slack for t in times] == [0, 15, 0, 0]
    assert [t.finish for t in times] == [10, 15, 30, 31]
    assert critical_path(items, times) == (0, 2, 3)


def test_items_of_every_path_as_long_are_critical() -> None:
    items = schedule(DIAMOND, 4)
    times = timings(items, costs(1, 7, 7, 1))
    assert critical_items(times) == (0, 1, 2, 3)
    assert len(critical_path(items, times)) == 3
    assert critical_items(timings(items, costs(1, 7, 8, 1))) == (0, 2, 3)


def test_ties_of_fractions_are_ties_and_a_real_delay_is_none() -> None:
    # Two chains of a thousand items whose fractions sum to the same time, in other orders.
    count = 1000
    first = [1.1 + number / 7 for number in range(count)]
    chains = [*first, *reversed(first)]
    edges = [(n, n + 1) for n in range(2 * count - 1) if n != count - 1]
    items = schedule(edges, 2 * count)
    times = timings(items, costs(*chains))
    assert sum(first) != sum(reversed(first)), "the sums do not differ: nothing is shown"
    assert critical_items(times) == tuple(range(2 * count))
    assert len(critical_path(items, times)) == count
    assert all(is_critical(times[n], times[n + 1]) for n in range(count - 1))
    slower = timings(items, costs(*first, *reversed([first[0] + 0.01, *first[1:]])))
    assert critical_items(slower) == tuple(range(count, 2 * count))


def test_among_equal_paths_the_smallest_numbers() -> None:
    items = schedule(DIAMOND, 4)
    assert critical_path(items, timings(items, costs(1, 7, 7, 1))) == (0, 1, 3)
    edges = ((0, 4), (1, 3), (2, 3))
    items = schedule(edges, 5)
    assert critical_path(items, timings(items, costs(5, 5, 5, 5, 5))) == (0, 4)


def test_the_smallest_path_may_leave_the_smallest_items() -> None:
    """0 → 3 and 0 → 1 are equal first steps; what counts is the path as a whole."""
    items = schedule(((0, 1), (0, 2), (1, 4), (2, 3)), 5)
    assert critical_path(items, timings(items, costs(1, 1, 1, 1, 1))) == (0, 1, 4)


def test_an_edge_between_critical_items_need_not_be_critical() -> None:
    """0 → 1 → 2 and 0 → 2: all three have no slack, but 2 does not start when 0 ends."""
    items = schedule(((0, 1), (1, 2), (0, 2)), 3)
    times = timings(items, costs(10, 10, 10))
    assert [t.slack for t in times] == [0, 0, 0]
    assert is_critical(times[0], times[1]) and is_critical(times[1], times[2])
    assert not is_critical(times[0], times[2])


def test_slack_at_either_end_is_not_critical() -> None:
    tight, loose = ItemTiming(0, 0, 0, 5), ItemTiming(1, 5, 6, 5)
    assert not is_critical(tight, loose)
    assert not is_critical(ItemTiming(0, 0, 1, 5), ItemTiming(1, 5, 5, 5))
    assert is_critical(tight, ItemTiming(1, 5, 5, 5))


def test_an_item_costs_at_least_one_nanosecond() -> None:
    assert [row.cost for row in costs(0, -3, 1, 7)] == [1, 1, 1, 7]
    items = schedule(((0, 1), (1, 2)), 3)
    times = timings(items, costs(0, 0, 0))
    assert [t.earliest_start for t in times] == [0, 1, 2]
    assert critical_path(items, times) == (0, 1, 2)


def test_nothing_to_do() -> None:
    assert timings((), ()) == ()
    assert critical_path((), ()) == ()
    assert analyse(()) == ()


@pytest.mark.parametrize("seed", range(30))
def test_random_schedules_against_every_path(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 9)
    pairs = [(a, b) for b in range(count) for a in range(b)]
    edges = tuple(p for p in pairs if rng.random() < 0.3)
    given = costs(*(rng.randint(0, 3) for _ in range(count)))
    items = schedule(edges, count)
    times = timings(items, given)
    length = {p: sum(given[i].cost for i in p) for p in paths(edges, count)}
    longest = max(length.values())
    best = min(p for p, total in length.items() if total == longest)
    assert critical_path(items, times) == best
    assert max(t.finish for t in times) == longest
    for item in range(count):
        through = max(total for p, total in length.items() if item in p)
        assert times[item].slack == longest - through


def param(slot: int, *shape: int) -> Param:
    return Param((), slot, shape, dtypes.float32)


def test_operations_are_weighted_and_counted_per_element() -> None:
    x = param(1, 8, 16)
    row = Reduce((elementwise("exp", x),), "sum", (1,))
    body = Sink((Store((param(0, 8, 1), elementwise("sqrt", row))),))
    assert operations(body) == 12 * 128 + 1 * 128 + 4 * 8


def test_the_estimate_is_the_roofline_and_the_launch() -> None:
    x, size = param(1, 1000), 1000
    for name, cost in (("neg", 1), ("sin", 20)):
        body = Sink((Store((param(0, size), elementwise(name, x))),))
        data = buffer(1, 4000)
        item = ScheduleItem(0, Kernel("k0", body, (buffer(-1, 4000), data, data)), (), ())
        (row,) = analyse((item,))
        assert (row.flops, row.bytes_read, row.bytes_written) == (cost * size, 4000, 4000)
        work = max(cost * size / OPERATIONS_PER_NS, 8000 / BYTES_PER_NS)
        assert row.estimated_ns == row.cost == LAUNCH_NS + round(work)
        assert row.bound == ("launch" if name == "neg" else "computing")


@pytest.mark.parametrize(("op", "bound"), [("neg", "memory"), ("sin", "computing")])
def test_a_large_item_is_bound_by_memory_or_by_computing(op: str, bound: str) -> None:
    size = 10_000_000
    body = Sink((Store((param(0, size), elementwise(op, param(1, size)))),))
    item = ScheduleItem(0, Kernel("k0", body, (buffer(-1, 4 * size), buffer(1, 4 * size))), (), ())
    (row,) = analyse((item,))
    assert row.bound == bound


def test_an_item_without_analysis_costs_one_nanosecond() -> None:
    times = timings(schedule(DIAMOND, 4), costs(10, 5))
    assert [t.cost for t in times] == [10, 5, 1, 1]
    assert times[3].finish == 16


def test_two_rows_for_one_item_are_refused() -> None:
    with pytest.raises(InternalError, match="two rows for one item"):
        timings(schedule(DIAMOND, 4), (*costs(1, 1, 1, 1), costs(1, 1)[1]))
