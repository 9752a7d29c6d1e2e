"""Reuse distances of the memory that an item touches, over consecutive runs."""

import numpy as np

import compiler
from compiler import Tensor
from compiler.schedule.analysis.reuse import last_touched, resident_bytes
from compiler.schedule.items import Kernel

SIZE = 4 * 1024


def chain(steps: int) -> compiler.Compilation:
    value = Tensor(np.ones(1024, np.float32))
    for _ in range(steps):
        value = (value * 2.0).contiguous()
    return compiler.compile(value)


def test_what_was_just_written_is_near_and_an_input_as_far_as_a_run_goes() -> None:
    made = chain(4)
    items = made.schedule.items
    found = last_touched(items)
    resident = resident_bytes(items)
    assert resident == 5 * SIZE
    for item, ago in zip(items, found, strict=True):
        assert isinstance(item.operation, Kernel)
        by_buffer = {b: ago[s] for s, b in enumerate(item.operation.arguments)}
        (source,) = item.operation.reads
        if item.depends_on:
            assert by_buffer[source] == 2 * SIZE, "it, and what the kernel read"
        else:
            assert by_buffer[source] == resident
        assert all(0 < each <= resident for each in ago.values())


def test_buffers_that_share_memory_are_near_each_other() -> None:
    made = chain(8)
    items, plan = made.schedule.items, made.schedule.memory_plan
    assert plan is not None and plan.arena < 7 * SIZE
    shared, alone = last_touched(items, plan), last_touched(items)
    assert resident_bytes(items, plan) < resident_bytes(items)
    (written,) = (s for s, b in enumerate(items[4].operation.arguments)
                  if b in items[4].operation.writes)  # fmt: skip
    assert shared[4][written] < alone[4][written]


def test_no_items_touch_nothing() -> None:
    assert last_touched([]) == [] and resident_bytes([]) == 0
