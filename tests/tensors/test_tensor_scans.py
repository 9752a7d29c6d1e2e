"""Scans and einsum against NumPy, on every engine."""

from typing import Any

import numpy as np
import pytest

from compiler import ShapeError, Tensor, compile
from tests.evaluate import assert_same, evaluate, every_engine

RNG = np.random.default_rng(11)
DATA = RNG.standard_normal((3, 7, 5))
A, B, C, SQUARE = (RNG.standard_normal(s) for s in ((3, 4), (4, 5), (2, 3, 4), (4, 4)))


@every_engine
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_scans(axis: int, engine: str) -> None:
    x = Tensor(DATA)
    assert_same(evaluate(x.cumsum(axis), engine), DATA.cumsum(axis), rtol=1e-12)
    assert_same(evaluate(x.cumprod(axis), engine), DATA.cumprod(axis), rtol=1e-12)
    assert_same(evaluate(x.cummax(axis), engine), np.maximum.accumulate(DATA, axis))


@every_engine
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32"])
def test_scans_have_numpys_types(dtype: str, engine: str) -> None:
    x = RNG.integers(0, 2, 9).astype(dtype)
    assert_same(evaluate(Tensor(x).cumsum(), engine), x.cumsum())
    assert_same(evaluate(Tensor(x).cumprod(), engine), x.cumprod())


@every_engine
@pytest.mark.parametrize("count", [0, 1, 2, 3, 64, 100])
def test_scans_of_any_length(count: int, engine: str) -> None:
    x = np.arange(count)
    assert_same(evaluate(Tensor(x).cumsum(), engine), x.cumsum())


@every_engine
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_where_a_running_extreme_was_met_last(axis: int, engine: str) -> None:
    x = RNG.integers(-3, 4, (3, 7, 5)).astype(np.float32)
    x[1, 3, 2] = np.nan
    for name, is_new in (("cummax", np.greater_equal), ("cummin", np.less_equal)):
        moved = np.moveaxis(x, axis, 0)
        value, where = moved[0].copy(), np.zeros(moved.shape, np.int64)
        for i, row in enumerate(moved):
            with np.errstate(invalid="ignore"):
                met = is_new(row, value) | np.isnan(row)
            value = np.where(met, row, value)
            where[i] = np.where(met, i, where[max(i - 1, 0)])
        values, places = getattr(Tensor(x), name)(axis, return_indices=True)
        assert_same(evaluate(places, engine), np.moveaxis(where, 0, axis))
        assert_same(evaluate(values, engine), np.take_along_axis(x, np.moveaxis(where, 0, axis),
                                                                 axis))  # fmt: skip


def test_a_long_scan_is_few_kernels() -> None:
    x = RNG.integers(-9, 9, 100_000)
    program = compile(Tensor(x).cumsum())
    assert len(program.schedule.items) <= 17
    np.testing.assert_array_equal(program.run()[0], x.cumsum())


FORMULAS: tuple[tuple[Any, ...], ...] = (
    ("ij,jk->ik", A, B), ("ij,jk", A, B), ("bij,jk->bik", C, B), ("ij->ji", A), ("ij->", A),
    ("ij->j", A), ("ii->i", SQUARE), ("ii", SQUARE), ("ij,ij->i", A, A), ("i,j->ij", A[0], B[0]),
    ("bij,bij,jk->kb", C, C, B), ("ij , jk -> ki", A, B), ("bii->bi", np.stack([SQUARE, SQUARE])),
    ("iji->j", RNG.standard_normal((3, 2, 3))), ("ij,ij->ij", A, A[:1]),
)  # fmt: skip


@every_engine
@pytest.mark.parametrize("case", FORMULAS, ids=lambda case: case[0])
def test_einsum(case: tuple[Any, ...], engine: str) -> None:
    formula, *operands = case
    got = evaluate(Tensor.einsum(formula, *map(Tensor, operands)), engine)
    assert_same(got, np.einsum(formula, *operands), rtol=1e-12)


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("ij,jk->il", "the formula does not fit"),
        ("ijk,jk->i", "the formula does not fit"),
        ("ij,jk->ii", "the formula does not fit"),
        ("i1,jk->i", "the formula does not fit"),
        ("ij,ik->jk", "axis i has two extents"),
        ("ii,jk->i", "a diagonal needs axes of equal extent|two extents"),
    ],
)
def test_einsum_refusals(formula: str, text: str) -> None:
    with pytest.raises(ShapeError, match=text) as caught:
        Tensor.einsum(formula, Tensor(A), Tensor(B))
    assert "test_tensor_scans.py" in str(caught.value)


def _formula(rng: np.random.Generator) -> tuple[str, list[np.ndarray[Any, Any]]]:
    """A random einsum formula with `...`, and operands of small integers that fit it."""
    extents = {"a": 2, "b": 3, "c": 4}
    others = [int(n) for n in rng.choice([1, 2, 5], rng.integers(0, 3))]
    names, operands = [], []
    for _ in range(rng.integers(1, 4)):
        letters = "".join(rng.permutation(list("abc"))[: rng.integers(0, 4)])
        place = int(rng.integers(0, len(letters) + 1))
        before, after = letters[:place], letters[place:]
        count = int(rng.integers(0, len(others) + 1))
        middle = [n if rng.random() < 0.7 else 1 for n in others[len(others) - count :]]
        names.append(f"{before}...{after}")
        shape = [*(extents[n] for n in before), *middle, *(extents[n] for n in after)]
        operands.append(rng.integers(-4, 5, shape).astype(np.float32))
    formula = ",".join(names)
    if rng.random() < 0.6:
        used = sorted(set("".join(names)) - {"."})
        kept = "".join(rng.permutation(used)[: rng.integers(0, len(used) + 1)]) if used else ""
        place = int(rng.integers(0, len(kept) + 1))
        formula += f"->{kept[:place]}...{kept[place:]}"
    return formula, operands


@pytest.mark.parametrize("seed", range(40))
def test_einsum_with_other_axes(seed: int) -> None:
    formula, operands = _formula(np.random.default_rng(seed))
    expected = np.asarray(np.einsum(formula, *operands))
    result = Tensor.einsum(formula, *map(Tensor, operands)).numpy()
    assert result.shape == expected.shape and np.array_equal(result, expected)


def test_einsum_other_axes_that_clash() -> None:
    with pytest.raises(ShapeError) as caught:
        Tensor.einsum("...i,i...", Tensor(np.ones((2, 3))), Tensor(np.ones((3, 4))))
    assert str(caught.value).startswith("einsum: axis ... has two extents in '...i,i...'\n")


@pytest.mark.parametrize("formula", ["i..j", "......", "ij...->ij", "ijk...", "i.j..."])
def test_einsum_dots_that_do_not_fit(formula: str) -> None:
    rank = 3 if formula == "ij...->ij" else 2
    with pytest.raises(ShapeError) as caught:
        Tensor.einsum(formula, Tensor(np.ones((2,) * rank)))
    assert str(caught.value).splitlines()[2] == (
        "  expected: a letter per axis of each operand, or ... for the others; the result names "
        "some of them, once each, and has ... where an operand has it"
    )
