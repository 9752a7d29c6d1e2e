"""Folds of several loops whose rows lie in memory: their lanes, and what they compute."""

from typing import Any

import numpy as np
import pytest

from compiler import Tensor
from compiler.loops.choices import Choices, text
from compiler.loops.choosing.accesses import accesses
from compiler.loops.choosing.choose import choose
from compiler.loops.choosing.choose_rows import rows
from compiler.machines.model import DEFAULT
from tests.evaluate import assert_same, evaluate, every_engine
from tests.search.choosing import bodies, plain_loops
from tests.search.terms import program

Array = np.ndarray[Any, Any]
WIDTHS = (1, 2, 6, 7, 9, 16, 17, 33, 64, 129, 150, 193)
"""Elements of a row: a part of a vector, whole ones, a block and more, and what these leave."""


def chosen(given: str) -> Choices:
    """The choices for the one kernel of a program."""
    (body,) = bodies(program(given))
    return choose(plain_loops(body), DEFAULT)


@pytest.mark.parametrize(("count", "trips", "expected"), [
    (4, 32, "tile r1 2 peel; unroll r1.1; tile r2 32 peel; tile r2.1 16 peel; unroll r2.1.0; "
            "vectorize r2.1.1"),
    (2, 21, "unroll r1; tile r2 32 mask; tile r2.1 16 peel; unroll r2.1.0; vectorize r2.1.1"),
    (9, 7, "tile r1 4 peel; unroll r1.1; tile r2 16 mask; vectorize r2.1"),
    (9, 100, "tile r2 112 mask; tile r2.1 16 peel; unroll r2.1.0; vectorize r2.1.1"),
    (9, 320, "tile r2 64 peel; tile r2.1 16 peel; unroll r2.1.0; vectorize r2.1.1"),
    (9, 340, "tile r2 64 peel; tile r2.1 16 peel; unroll r2.1.0; vectorize r2.1.1; "
             "tile r2.2 32 mask; tile r2.2.1 16 peel; unroll r2.2.1.0; vectorize r2.2.1.1"),
])  # fmt: skip
def test_the_lanes_are_those_of_the_rows(count: int, trips: int, expected: str) -> None:
    choices = chosen(f"x0 = float32[{count}, 30, {trips}]; x0.min((0, 2))")
    assert text(choices) == expected


@pytest.mark.parametrize(("shape", "is_vector"), [
    ("2, 30, 8", False), ("2, 30, 9", True), ("4, 30, 6", False), ("4, 30, 7", True),
])  # fmt: skip
def test_shorter_rows_pay_where_a_result_folds_many(shape: str, is_vector: bool) -> None:
    assert chosen(f"x0 = float32[{shape}]; x0.max((0, 2))").is_plain != is_vector


def test_rows_whose_number_is_a_variable_are_not_in_groups() -> None:
    choices = chosen("x0 = float32[n<=8, 30, 32]; x0.sum((0, 2))")
    assert text(choices) == "tile r2 32 peel; tile r2.1 16 peel; unroll r2.1.0; vectorize r2.1.1"


def test_parts_of_one_long_fold_are_rows() -> None:
    choices = chosen("x0 = float32[5, 16, 14812]; x0.max((0, 2))")
    assert choices.has("vectorize") and choices.has("parallelize")


def test_rows_that_jump_are_none() -> None:
    assert chosen("x0 = float32[5, 30, 40, 3]; x0.permute(1, 0, 3, 2).sum((1, 3))").is_plain


FOLDS: dict[str, Any] = {
    "sum": lambda x: x.sum((0, 2)), "max": lambda x: x.max((0, 2)), "min": lambda x: x.min((0, 2)),
}  # fmt: skip
"""Folds that NumPy and tensors have under one name."""


@every_engine
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u1", "f2"])
@pytest.mark.parametrize("name", ["sum", "max", "min"])
def test_folds_over_rows_of_all_widths(name: str, dtype: str, engine: str) -> None:
    generator = np.random.default_rng(3)
    for width in WIDTHS:
        array = (generator.standard_normal((5, 3, width)) * 50).astype(dtype)
        got = evaluate(FOLDS[name](Tensor(array)), engine)
        if name != "sum" or array.dtype.kind != "f":
            assert_same(got, FOLDS[name](array), (name, width))
            continue
        exact, size = array.astype("f8").sum((0, 2)), np.abs(array.astype("f8")).sum((0, 2))
        assert (np.abs(got - exact) <= size * np.finfo(dtype).eps * 4).all(), width


@every_engine
@pytest.mark.parametrize("shape", [(4, 3, 21), (3, 1, 64), (6, 2, 145), (1, 5, 40), (0, 3, 20)])
def test_statistics_of_several_axes(shape: tuple[int, ...], engine: str) -> None:
    array = np.random.default_rng(4).standard_normal(shape).astype(np.float32)
    x = Tensor(array)
    total = array.astype("f8").sum((0, 2))
    assert_same(evaluate(x.sum((0, 2)), engine), total.astype("f4"), rtol=1e-5)
    if not array.size:
        return
    spread = array.astype("f8").var((0, 2), ddof=1).astype("f4")
    assert_same(evaluate(x.var((0, 2)), engine), spread, rtol=1e-5)
    logs = np.log(np.exp(array.astype("f8")).sum((0, 2))).astype("f4")
    assert_same(evaluate(x.logsumexp((0, 2)), engine), logs, rtol=1e-5)


@every_engine
@pytest.mark.parametrize("width", [7, 16, 21, 70, 150])
def test_extremes_of_what_is_no_number(width: int, engine: str) -> None:
    generator = np.random.default_rng(width)
    for special in (np.nan, np.inf, -np.inf, -0.0):
        array = generator.standard_normal((4, 6, width)).astype(np.float32)
        for row in range(5):  # the last result has none
            array[generator.integers(4), row, generator.integers(width)] = special
        array[:, 0, :] = special
        for name in ("max", "min"):
            got, expected = evaluate(FOLDS[name](Tensor(array)), engine), FOLDS[name](array)
            np.testing.assert_array_equal(got, expected)
            if special == 0.0:
                assert np.signbit(got[0])


def test_a_fold_that_stands_in_one_of_several_loops_is_left_to_be_cut() -> None:
    (body,) = bodies(program("x0 = float32[5, 4, 40]; x0.unfold(2, 9, 1).min(-1).sum((0, 2))"))
    seen = accesses(plain_loops(body))
    assert seen is not None and len(seen.reductions) == 2
    assert rows(seen, DEFAULT) == "of folds that stand in each other one has several loops"
