"""Every check of an iteration space, of hints, of a reduction plan and of dims; printed forms."""

import re

import pytest

from compiler.core.errors import ScheduleError
from compiler.schedule.analysis.iteration_space import (
    Axis,
    IterationSpace,
    KernelSpace,
    LoopHint,
    Mapping,
    PipelineHint,
    PrefetchHint,
    ReductionPlan,
    ScheduleContext,
    UnrollHint,
    VectorizeHint,
)

ROWS, COLUMNS, FOLDED = Axis("i0", 64), Axis("i1", 10), Axis("r2", 784, "reduction")
SPACE = IterationSpace(
    (ROWS, COLUMNS, FOLDED),
    Mapping(block=(0,), vec=(1,), serial=(0, 2)),
    ((8, 8), (10,), (784,)),
)


def refused(number: int, sentence: str) -> "pytest.RaisesExc[ScheduleError]":
    return pytest.raises(ScheduleError, match=re.escape(f"({number}) {sentence}"))


def test_a_tiled_axis_runs_at_one_level_per_tile() -> None:
    assert str(SPACE) == "space: i0:64, i1:10, r2:784 reduction; block i0; vec i1; serial i0 r2"
    assert str(IterationSpace((), Mapping(), ())) == "space: one point"


@pytest.mark.parametrize("level", ["block", "thread", "vec", "serial"])
def test_a_mapped_axis_exists(level: str) -> None:
    for axis in (1, -1):
        with refused(1, "there is no such axis"):
            IterationSpace((ROWS,), Mapping(**{level: (axis,)}), ((64,),))
    with refused(1, "there is no such axis"):
        IterationSpace((ROWS,), Mapping(serial=(0,)), ((64,),), masked=(1,))


@pytest.mark.parametrize("tiles", [(), ((64,), (1,))])
def test_there_is_one_list_of_tiles_per_axis(tiles: tuple[tuple[int, ...], ...]) -> None:
    with refused(2, "tiles do not match the axes"):
        IterationSpace((ROWS,), Mapping(serial=(0,)), tiles)


@pytest.mark.parametrize("tiles", [(63,), (8, 9), (), (-8, -8), (65,)])
def test_tiles_multiply_to_the_axis(tiles: tuple[int, ...]) -> None:
    with refused(3, "tiles of i0 do not make it"):
        IterationSpace((ROWS,), Mapping(serial=(0,) * len(tiles)), (tiles,))


def test_masked_tiles_reach_further_than_the_axis() -> None:
    IterationSpace((COLUMNS,), Mapping(serial=(0,), vec=(0,)), ((3, 4),), masked=(0,))
    with refused(3, "tiles of i1 do not make it"):
        IterationSpace((COLUMNS,), Mapping(serial=(0,), vec=(0,)), ((5, 2),), masked=(0,))


def test_an_empty_axis_has_an_empty_tile() -> None:
    IterationSpace((Axis("i0", 0),), Mapping(serial=(0,)), ((0,),))


@pytest.mark.parametrize(
    "mapping", [Mapping(), Mapping(serial=(0, 0)), Mapping(vec=(0,), serial=(0,))]
)
def test_a_tile_is_mapped_to_exactly_one_level(mapping: Mapping) -> None:
    with refused(4, "each tile of i0 is mapped to one level"):
        IterationSpace((ROWS,), mapping, ((64,),))


def test_two_axes_have_two_names() -> None:
    with refused(5, "two axes have one name"):
        IterationSpace((ROWS, ROWS), Mapping(serial=(0, 1)), ((64,), (64,)))


@pytest.mark.parametrize("hint", [VectorizeHint(3, 8), UnrollHint(-1, 2), PipelineHint(9, 2)])
def test_a_hint_names_an_axis_that_exists(hint: LoopHint) -> None:
    with refused(6, "there is no such axis"):
        KernelSpace(SPACE, (hint,))


@pytest.mark.parametrize(
    "hint",
    [VectorizeHint(0, 1), UnrollHint(0, 1), PipelineHint(0, 1), PrefetchHint("x", "register", 0)],
)
def test_a_hint_changes_something(hint: LoopHint) -> None:
    with refused(6, f"{hint} changes nothing"):
        KernelSpace(SPACE, (hint,))


def test_a_reduction_plan_folds_reduction_axes_once() -> None:
    KernelSpace(SPACE, reduction=ReductionPlan((2,), "tree"))
    with refused(7, "a reduction plan folds reduction axes"):
        KernelSpace(SPACE, reduction=ReductionPlan((0,)))
    with refused(7, "a reduction plan folds each axis once"):
        KernelSpace(SPACE, reduction=ReductionPlan((2, 2)))
    with refused(7, "there is no such axis"):
        KernelSpace(SPACE, reduction=ReductionPlan((3,)))


@pytest.mark.parametrize("dims", [(), (1,), (1, 1), (1, 1, 1, 1), (1, 0, 1), (1, 1, -2)])
def test_dims_are_exactly_three_and_positive(dims: tuple[int, ...]) -> None:
    for name in ("global", "local"):
        with refused(8, f"{name} dims are three positive numbers"):
            ScheduleContext(**{f"{name}_dims": dims})


def test_hints_are_printed() -> None:
    ahead = PrefetchHint("x", "register", 2)
    hints = (VectorizeHint(1, 8), UnrollHint(2, 4), ahead, PipelineHint(0, 3))
    assert str(KernelSpace(SPACE, hints)).endswith(
        "; vectorize i1 by 8; unroll r2 by 4; prefetch x into register 2 ahead; "
        "pipeline i0 in 3 stages"
    )
