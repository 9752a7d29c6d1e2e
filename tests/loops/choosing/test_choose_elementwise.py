"""Elements by themselves: every second one, rows of a table wherever an index says they are, rows
with borders."""

from typing import Any

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from compiler.loops.choices import Choices, text
from compiler.loops.choosing.choose import choose
from compiler.machines.model import DEFAULT
from compiler.machines.named import MACHINES
from tests.evaluate import assert_same, evaluate, every_engine
from tests.search.choosing import bodies, plain_loops
from tests.search.terms import program

Array = np.ndarray[Any, Any]
POSITIONS = np.array([[0, 8, -9], [3, -1, 5]])
SHAPES = ((3, 5, 30), (2, 3, 32), (4, 31), (7, 7), (1, 14), (2, 62), (3, 4, 126))
"""Shapes that get a border of zeros."""
OUTSIDE = np.array([9, 2**40, -10, -(2**63), 2**63 - 1])


def chosen(given: str) -> Choices:
    """The choices for the last kernel of a program."""
    return choose(plain_loops(bodies(program(given))[-1]), DEFAULT)


@pytest.mark.parametrize(("given", "expected"), [
    ("x0 = float32[38, 21]; x1 = int64[56, 56]; x0[x1]",
     "tile i2 16 peel; vectorize i2.1; tile i2.2 16 mask; vectorize i2.2.1"),
    ("x0 = float32[38, 64]; x1 = int64[56]; x2 = float32[56, 64]; x0[x1] + x2",
     "tile i1 64 peel; tile i1.1 16 peel; unroll i1.1.0; vectorize i1.1.1"),
    ("x0 = float64[38, 8]; x1 = int64[56]; x0[x1] * 2.0", "tile i1 8 peel; vectorize i1.1"),
    ("x0 = float32[38, 65]; x0[:, 1::2] * 2.0", "tile i1 32 peel; tile i1.1 16 peel; "
     "unroll i1.1.0; vectorize i1.1.1"),
    ("x0 = float32[38, 97]; x0[:, ::3] * 2.0", ""),
    ("x0 = float32[38, 7]; x1 = int64[56]; x0[x1]", ""),
    ("x0 = float32[380]; x1 = int64[56]; x0[x1]", ""),
])  # fmt: skip
def test_what_is_a_vector(given: str, expected: str) -> None:
    assert text(chosen(given)) == expected


def test_rows_of_a_table_are_shared_out() -> None:
    assert chosen("x0 = float32[5256, 432]; x1 = int64[59, 59]; x0[x1]").has("parallelize")


def test_sums_of_rows_of_a_table_stay_in_registers() -> None:
    choices = chosen("x0 = float32[500, 512]; x1 = int64[300, 20]; x0[x1].sum(1)")
    assert choices.has("vectorize") and not choices.has("accumulate")
    why = {row.kind: str(row.because) for row in choices.refused}
    assert "do not lie in order" in why["accumulate"]


@every_engine
@pytest.mark.parametrize("width", [1, 2, 9, 31, 32, 33, 70])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "?", "f2"])
def test_every_second_element(dtype: str, width: int, engine: str) -> None:
    array = (np.random.default_rng(width).standard_normal((3, width)) * 3).astype(dtype)
    for begin in range(min(width, 2)):
        assert_same(evaluate(Tensor(array)[:, begin::2], engine), array[:, begin::2], begin)


@every_engine
@pytest.mark.parametrize("width", [0, 1, 3, 4, 9, 16, 21, 33, 70])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "?"])
def test_rows_of_all_widths(dtype: str, width: int, engine: str) -> None:
    table = (np.random.default_rng(width).standard_normal((9, width)) * 3).astype(dtype)
    rows = Tensor(POSITIONS) + 0
    assert_same(evaluate(Tensor(table)[rows], engine), table[POSITIONS])
    if dtype == "f4":
        moved = table[POSITIONS] + np.arange(width, dtype="f4")
        got = evaluate(Tensor(table)[rows] + Tensor(np.arange(width, dtype="f4")), engine)
        assert_same(got, moved)


@every_engine
@pytest.mark.parametrize("width", [1, 5, 16, 21])
def test_rows_outside_a_table_read_zeros(width: int, engine: str) -> None:
    table = np.full((9, width), np.nan, np.float32)
    got = evaluate(Tensor(table)[Tensor(OUTSIDE) + 0], engine)
    assert_same(got, np.zeros((5, width), np.float32))


@every_engine
@pytest.mark.parametrize("width", [5, 16, 21])
def test_folds_of_rows_of_a_table(width: int, engine: str) -> None:
    table = np.random.default_rng(width).integers(-9, 9, (9, width)).astype(np.float32)
    rows = Tensor(POSITIONS) + 0
    got, expected = Tensor(table)[rows], table[POSITIONS]
    for axis in range(3):
        assert_same(evaluate(got.sum(axis), engine), expected.sum(axis), axis)
        assert_same(evaluate(got.max(axis), engine), expected.max(axis), axis)
    assert_same(evaluate(got.sum((0, 2)), engine), expected.sum((0, 2)))


@pytest.mark.parametrize("engine", ["loops", "lowered", "machine"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("shape", SHAPES)
def test_borders(shape: tuple[int, ...], dtype: type, engine: str) -> None:
    x: Array = np.random.default_rng(0).integers(-9, 9, shape).astype(dtype)
    widths = [(1, 1)] * len(shape)
    got = evaluate((Tensor(x) * 2).pad(widths), engine)
    assert_same(got, np.pad(x * 2, widths).astype(dtype))


@pytest.mark.parametrize("machine", ["x86-avx512", "x86-avx2", "arm-neon"])
@pytest.mark.parametrize("shape", SHAPES)
def test_borders_in_vectors(shape: tuple[int, ...], machine: str) -> None:
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    joined = Tensor(x).cat(Tensor(x[..., 1:]), dim=-1)
    for value, expected in (
        (Tensor(x).tanh().pad(1), np.pad(np.tanh(x), 1)),
        (joined, np.concatenate((x, x[..., 1:]), -1)),
        (joined.tanh(), np.tanh(np.concatenate((x, x[..., 1:]), -1))),
    ):
        got = compile(value, Options(machine=machine, threads=2)).run()[0]
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("given", "machine", "expected"), [
    ("x0 = float32[8, 32]; x0.pad(1)", "x86-avx512", ""),
    ("x0 = float32[8, 32]; x0.tanh().pad(1)", "x86-avx512",
     "tile i1 32 peel; tile i1.1 16 peel; unroll i1.1.0; vectorize i1.1.1; tile i1.2 16 mask; "
     "vectorize i1.2.1"),
    ("x0 = float32[8, 32]; x0.tanh().pad(1)", "x86-avx2", ""),
    ("x0 = float32[8, 9]; x1 = float32[8, 7]; x0.cat(x1, dim=1)", "x86-avx512",
     "tile i1 16 peel; vectorize i1.1"),
    ("x0 = float32[8, 5]; x1 = float32[8, 5]; x0.cat(x1, dim=1)", "x86-avx512",
     "tile i1 8 peel; vectorize i1.1; tile i1.2 8 mask; vectorize i1.2.1"),
    ("x0 = float32[8, 9]; x1 = float32[8, 7]; x0.cat(x1, dim=1)", "x86-avx2", ""),
    ("x0 = float32[4096, 125]; x0.pad(1)", "x86-avx512", "parallelize i0 2"),
])  # fmt: skip
def test_rows_with_borders_that_are_vectors(given: str, machine: str, expected: str) -> None:
    loops = plain_loops(bodies(program(given))[-1])
    assert text(choose(loops, MACHINES[machine].model)) == expected
