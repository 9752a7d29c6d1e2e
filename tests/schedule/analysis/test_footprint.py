"""Bytes by live ranges and by item; the sweep against a sum per item."""

import random

import pytest

from compiler.schedule.analysis.footprint import itemwise_bytes, lifetimes, peak_bytes
from compiler.schedule.items import ScheduleItem
from tests.schedule.items import buffer, schedule

INPUT = buffer(1, 100)


def chain(count: int, size: int = 10) -> tuple[ScheduleItem, ...]:
    """Each item reads what the one before wrote; the first reads the input."""
    made = [buffer(-1 - i, size) for i in range(count)]
    arguments = [(made[0], INPUT), *((made[i], made[i - 1]) for i in range(1, count))]
    return schedule([(i, i + 1) for i in range(count - 1)], count, arguments)


def test_a_temporary_lives_from_its_writer_to_its_last_reader() -> None:
    items = chain(4)
    last = items[-1].operation.writes[0]
    lives = {life.buffer.name: (life.first, life.last) for life in lifetimes(items, [last])}
    assert lives == {"b1": (0, 3), "b-1": (0, 1), "b-2": (1, 2), "b-3": (2, 3), "b-4": (3, 3)}


def test_inputs_live_throughout_and_results_to_the_end() -> None:
    items = chain(4)
    early = items[0].operation.writes[0]
    lives = {life.buffer: (life.first, life.last) for life in lifetimes(items, [early, INPUT])}
    assert lives[early] == (0, 3) and lives[INPUT] == (0, 3)
    unread = buffer(7, 50)
    (life,) = [life for life in lifetimes(items, [unread]) if life.buffer is unread]
    assert (life.first, life.last) == (0, 3)


def test_the_peak_counts_what_is_alive_at_once() -> None:
    items = chain(4)
    last = items[-1].operation.writes[0]
    assert peak_bytes(items, [last]) == 100 + 2 * 10
    assert itemwise_bytes(items) == 110, "the first item: it reads the input"
    everything = [item.operation.writes[0] for item in items]
    assert peak_bytes(items, everything) == 100 + 4 * 10


def test_a_buffer_counts_once_whatever_its_roles() -> None:
    both = buffer(-1, 40)
    items = schedule((), 1, [(both, both, both, INPUT, INPUT)])
    assert peak_bytes(items, [both, both]) == 140
    assert itemwise_bytes(items) == 140


def test_without_items_only_the_results_count() -> None:
    assert peak_bytes((), [INPUT, buffer(2, 7)]) == 107
    assert peak_bytes((), []) == 0
    assert itemwise_bytes(()) == 0


def test_empty_buffers_take_no_bytes() -> None:
    items = schedule((), 1, [(buffer(-1, 0), buffer(3, 0))])
    assert peak_bytes(items, []) == 0


@pytest.mark.parametrize("seed", range(20))
def test_the_sweep_is_the_sum_per_item(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 30)
    made = [buffer(-1 - i, rng.randint(0, 9)) for i in range(count)]
    inputs = [buffer(i, rng.randint(0, 9)) for i in range(3)]
    arguments = [
        (made[i], *rng.sample([*inputs, *made[:i]], rng.randint(0, min(3, i + 3))))
        for i in range(count)
    ]
    items = schedule((), count, arguments)
    results = rng.sample(made, rng.randint(0, count))
    lives = lifetimes(items, results)
    sums = [
        sum(life.buffer.nbytes for life in lives if life.first <= i <= life.last)
        for i in range(count)
    ]
    assert peak_bytes(items, results) == max(sums)
    assert itemwise_bytes(items) <= max(sums)


def test_a_long_schedule_is_swept_once() -> None:
    items = chain(20_000)
    assert peak_bytes(items, [items[-1].operation.writes[0]]) == 120
