"""Which items of a level run at once: long ones that do not conflict, and no two threaded ones."""

from dataclasses import replace

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.core.errors import ScheduleError
from compiler.run import overlap
from tests.programs_of_tasks import threaded
from tests.schedule.items import buffer, costs, schedule


def branches() -> list[Tensor]:
    rng = np.random.default_rng(0)
    x, *rest = (Tensor(rng.standard_normal((64, 64)).astype(np.float32)) for _ in range(4))
    return [x @ each for each in rest]


def test_long_items_of_a_level_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "WORTH_A_THREAD_NS", 1)
    compiler.cache_clear()
    tensors = branches()
    plan = compiler.prepare(tensors)
    (level,) = plan.levels
    assert len(level.parallel[0]) == 3 and "(at once: 0 1 2)" in str(level)
    for value, tensor in zip(plan.run(), tensors, strict=True):
        np.testing.assert_array_equal(value, tensor.numpy())
    compiler.cache_clear()


def test_short_items_and_single_ones_get_no_thread() -> None:
    short = overlap.plan_levels(schedule((), 2), {}, costs(10, overlap.WORTH_A_THREAD_NS))
    assert short[0].parallel == ((),)
    alone = overlap.plan_levels(
        schedule(((0, 1),), 2), {}, costs(*[overlap.WORTH_A_THREAD_NS] * 2)
    )
    assert [level.parallel for level in alone] == [((),), ((),)]


def test_items_that_conflict_run_one_after_the_other() -> None:
    a, x = buffer(-1), buffer(1)
    items = schedule((), 2, [(a, x), (x, buffer(2))])
    (level,) = overlap.plan_levels(items, {}, costs(10**6, 10**6))
    assert [[i.item_id for i in group] for group in level.groups] == [[0], [1]]
    assert str(level) == "level 0: 0, then 1"


def test_two_items_that_use_threads_themselves_never_overlap() -> None:
    items = schedule((), 3)
    programs = {(items[0].operation.body, "CPU"): threaded()}
    (level,) = overlap.plan_levels(items, programs, costs(*[10**6] * 3))
    assert [[i.item_id for i in group] for group in level.groups] == [[0], [1], [2]]
    assert level.parallel == ((), (), ())


def test_unknown_and_duplicate_ids_are_refused() -> None:
    items = schedule((), 2)
    with pytest.raises(ScheduleError, match="two items have one id"):
        overlap.plan_levels((items[0], items[0]), {}, ())
    with pytest.raises(ScheduleError, match="does not exist"):
        overlap.plan_levels((replace(items[0], depends_on=(5,)),), {}, ())
