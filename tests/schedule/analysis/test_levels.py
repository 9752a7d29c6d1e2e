"""Topological levels of a schedule, and the items of a level that may overlap."""

import random
from dataclasses import replace

import pytest

from compiler.core.errors import ScheduleError
from compiler.schedule.analysis.levels import groups, level_of, levels
from tests.schedule.items import buffer, schedule


def test_a_level_waits_for_earlier_levels_only() -> None:
    items = schedule(((0, 1), (0, 2), (1, 3), (2, 3)), 5)
    assert levels(items) == ((0, 4), (1, 2), (3,))
    assert level_of(levels(items)) == {0: 0, 4: 0, 1: 1, 2: 1, 3: 2}
    assert levels(()) == ()


def test_dependencies_beat_the_order_of_the_items() -> None:
    items = schedule(((0, 1), (1, 2)), 3)
    assert levels(tuple(reversed(items))) == ((0,), (1,), (2,))


@pytest.mark.parametrize("seed", range(10))
def test_the_level_is_the_longest_path(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 20)
    edges = [(a, b) for b in range(count) for a in range(b) if rng.random() < 0.2]
    level = level_of(levels(schedule(edges, count)))
    for item in range(count):
        before = [level[a] for a, b in edges if b == item]
        assert level[item] == (1 + max(before) if before else 0)


def test_an_id_twice_is_refused() -> None:
    items = schedule((), 2)
    with pytest.raises(ScheduleError, match=r"two items have one id\n.*item 0 twice"):
        levels((items[0], replace(items[1], item_id=0)))


def test_an_unknown_id_is_refused() -> None:
    items = schedule((), 2)
    with pytest.raises(ScheduleError, match=r"item 1 waits for an item that does not exist\n.*7"):
        levels((items[0], replace(items[1], depends_on=(7,))))


def test_items_that_wait_for_each_other_are_refused() -> None:
    items = schedule((), 3)
    with pytest.raises(ScheduleError, match=r"items wait for each other\n.*1, 2"):
        levels((
            items[0], replace(items[1], depends_on=(2,)), replace(items[2], depends_on=(1,)),
        ))  # fmt: skip


def test_what_touches_one_buffer_conflicts_if_one_of_the_two_writes_it() -> None:
    a, b, c, x = (buffer(n) for n in (-1, -2, -3, 1))
    reader, other, writer = schedule((), 3, [(a, x), (b, x), (x, c)])
    known = {item.item_id: item for item in (reader, other, writer)}
    assert groups(known, (0, 1)) == ((0, 1),)
    assert groups(known, (0, 2)) == groups(known, (2, 0))[::-1] == ((0,), (2,))
    assert groups(known, (0, 1, 2)) == ((0, 1), (2,))


def test_a_level_is_split_where_items_conflict() -> None:
    a, b, c, x = (buffer(n) for n in (-1, -2, -3, 1))
    items = schedule((), 4, [(a, x), (x, c), (b, x), (c,)])
    # 1 writes what 0 and 2 read, and reads what 3 writes
    assert groups({item.item_id: item for item in items}, (0, 1, 2, 3)) == ((0,), (1,), (2, 3))
