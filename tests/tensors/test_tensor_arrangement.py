"""Parts, shifts, triangles, diagonals and masks against NumPy, on every engine."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import AxisError, DTypeError, ShapeError, Tensor, compile
from tests.evaluate import assert_same, evaluate, every_engine

RNG = np.random.default_rng(7)
CUBE = RNG.standard_normal((3, 4, 5)).astype(np.float32)
MATRIX = np.array([[1, -0.0, np.nan, 3], [-np.inf, 5, 6, -0.0], [7, np.inf, 9, 2]])
WHOLE = RNG.integers(-9, 9, (4, 6)).astype(np.int16)
TRUTH = RNG.integers(0, 2, (4, 3)).astype(bool)
INDEX = RNG.integers(-4, 4, (3, 2, 1))

Case = tuple[str, Callable[[Any], Any], Callable[[Any], Any], Any]
CASES: tuple[Case, ...] = (
    ("ravel", lambda t: t.ravel(), np.ravel, MATRIX),
    ("moveaxis", lambda t: t.moveaxis(0, -1), lambda a: np.moveaxis(a, 0, -1), CUBE),
    ("expand_dims", lambda t: t.expand_dims(1), lambda a: np.expand_dims(a, 1), MATRIX),
    ("atleast_1d", lambda t: t[0, 0].atleast_1d(), lambda a: a[0, :1], MATRIX),
    ("atleast_2d", lambda t: t[0].atleast_2d(), lambda a: a[:1], MATRIX),
    ("index_select", lambda t: t.index_select(1, [2, 0]), lambda a: a[:, [2, 0]], CUBE),
    ("split", lambda t: t.split(2, 1)[1], lambda a: a[:, 2:4], CUBE),
    ("split sizes", lambda t: t.split([1, 0, 3], dim=1)[2], lambda a: a[:, 1:], CUBE),
    ("split none", lambda t: t[:0].split(2)[0], lambda a: a[:0], CUBE),
    ("chunk", lambda t: t.chunk(3, 2)[-1], lambda a: a[..., 4:], CUBE),
    ("unbind", lambda t: t.unbind(1)[3], lambda a: a[:, 3], CUBE),
    ("narrow", lambda t: t.narrow(1, -3, 2), lambda a: a[:, 1:3], CUBE),
    ("roll", lambda t: t.roll(3), lambda a: np.roll(a, 3), MATRIX),
    ("roll axis", lambda t: t.roll(-7, 1), lambda a: np.roll(a, -7, 1), MATRIX),
    ("roll axes", lambda t: t.roll((1, 2), (0, 1)), lambda a: np.roll(a, (1, 2), (0, 1)), MATRIX),
    ("roll none", lambda t: t[:0].roll(2, 0), lambda a: a[:0], MATRIX),
    ("rot90", lambda t: t.rot90(), np.rot90, MATRIX),
    ("rot90 axes", lambda t: t.rot90(1, (2, 0)), lambda a: np.rot90(a, 1, (2, 0)), CUBE),
    ("rot180", lambda t: t.rot90(2), lambda a: np.rot90(a, 2), MATRIX),
    ("rot270", lambda t: t.rot90(-1), lambda a: np.rot90(a, -1), MATRIX),
    ("fliplr", lambda t: t.fliplr(), np.fliplr, MATRIX),
    ("flipud", lambda t: t.flipud(), np.flipud, MATRIX),
    ("repeated", lambda t: t.repeat_interleave(3), lambda a: np.repeat(a, 3), MATRIX),
    ("repeated axis", lambda t: t.repeat_interleave(2, 1), lambda a: np.repeat(a, 2, 1), CUBE),
    ("repeated each", lambda t: t.repeat_interleave([2, 0, 1], 0),
     lambda a: np.repeat(a, [2, 0, 1], 0), CUBE),
    ("repeated none", lambda t: t.repeat_interleave(0), lambda a: np.repeat(a, 0), CUBE),
    *((f"tril {k}", lambda t, k=k: t.tril(k), lambda a, k=k: np.tril(a, k), MATRIX)
      for k in (-3, -1, 0, 2, 5)),
    *((f"triu {k}", lambda t, k=k: t.triu(k), lambda a, k=k: np.triu(a, k), WHOLE)
      for k in (-5, 0, 1)),
    ("triu of bool", lambda t: t.triu(), np.triu, TRUTH),
    ("tril of many", lambda t: t.tril(), np.tril, CUBE),
    *((f"diagonal {k}", lambda t, k=k: t.diagonal(k), lambda a, k=k: np.diagonal(a, k), WHOLE)
      for k in (-9, -4, -3, -1, 0, 2, 5, 6)),
    ("diagonal axes", lambda t: t.diagonal(1, 2, 0), lambda a: np.diagonal(a, 1, 2, 0), CUBE),
    ("diag", lambda t: t.diag(), np.diag, MATRIX),
    *((f"diag {k}", lambda t, k=k: t.diag(k), lambda a, k=k: np.diag(a, k), WHOLE[0])
      for k in (-2, 0, 1)),
    ("diag_embed", lambda t: t.diag_embed()[1], lambda a: np.diag(a[1]), MATRIX),
    ("trace", lambda t: t.trace(), np.trace, WHOLE.astype(np.int64)),
    ("trace axes", lambda t: t.trace(0, 1, 2), lambda a: np.trace(a, 0, 1, 2),
     CUBE.astype(np.int64)),
    ("diff", lambda t: t.diff(), np.diff, WHOLE),
    ("diff twice", lambda t: t.diff(2, 0), lambda a: np.diff(a, 2, 0), WHOLE),
    ("diff of bool", lambda t: t.diff(), np.diff, TRUTH),
    ("diff none", lambda t: t.diff(9), lambda a: np.diff(a, 9), WHOLE),
    ("one_hot", lambda t: t.abs().one_hot(4),
     lambda a: (np.abs(a)[..., None] == np.arange(4)).astype(np.int64), WHOLE),
    ("along", lambda t: t.take_along_axis(INDEX[:, :, :1], 1),
     lambda a: np.take_along_axis(a, INDEX, 1), CUBE),
    ("along computed", lambda t: t.take_along_axis(Tensor(INDEX) + 0, 1),
     lambda a: np.take_along_axis(a, INDEX, 1), CUBE),
    ("along flat", lambda t: t.take_along_axis([3, -1], None),
     lambda a: np.take_along_axis(a, np.array([3, -1]), None), CUBE),
    ("cummin", lambda t: t.cummin(1), lambda a: np.minimum.accumulate(a, 1), MATRIX),
    ("cummin of integers", lambda t: t.cummin(), np.minimum.accumulate, WHOLE),
    ("masked", lambda t: t.masked_select(CUBE > 0), lambda a: a[a > 0], CUBE),
    ("masked rows", lambda t: t.masked_select(TRUTH[:, :1]),
     lambda a: a[np.broadcast_to(TRUTH[:, :1], a.shape)], WHOLE),
    ("mask of two axes", lambda t: t[..., CUBE[0] > 0], lambda a: a[..., CUBE[0] > 0], CUBE),
)  # fmt: skip


@every_engine
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_as_numpy(case: Case, engine: str) -> None:
    name, ours, theirs, array = case
    assert_same(evaluate(ours(Tensor(array)), engine), theirs(array), name)


def test_all_parts() -> None:
    x = Tensor(CUBE)
    assert [p.shape[1] for p in x.split(3, 1)] == [3, 1]
    assert [p.shape[2] for p in x.chunk(2, -1)] == [3, 2]
    assert [p.shape for p in x.unbind()] == [(4, 5)] * 3
    assert [p.shape for p in x[:0].chunk(2)] == [(0, 4, 5)]


def test_positions_of_what_is_not_zero() -> None:
    np.testing.assert_array_equal(Tensor(TRUTH).nonzero().numpy(), np.argwhere(TRUTH))
    for ours, theirs in zip(Tensor(TRUTH).nonzero(True), np.nonzero(TRUTH), strict=True):
        assert_same(ours.numpy(), theirs)
    assert Tensor(3).nonzero().shape == np.argwhere(3).shape


MASKS = [TRUTH, np.array([0, 3, 0, 1, 2]), np.zeros((2, 3), bool), np.ones((2, 2, 2), bool),
         np.array(True), np.zeros((0, 2), bool)]  # fmt: skip


@every_engine
@pytest.mark.parametrize("size", [0, 3, 9])
@pytest.mark.parametrize("mask", MASKS, ids=lambda mask: str(mask.shape))
def test_as_many_positions_as_are_asked_for(mask: Any, size: int, engine: str) -> None:
    """PyTorch's nonzero_static: the first positions, then -1; nothing is computed before."""
    found = np.argwhere(mask)[:size]
    expected = np.full((size, mask.ndim), -1)
    expected[: len(found)] = found
    assert_same(evaluate(Tensor(mask).nonzero(size=size), engine), expected)
    if mask.ndim:
        rows = Tensor(mask).nonzero(as_tuple=True, size=size, fill_value=7)
        assert_same(evaluate(rows[-1], engine), np.where(expected, expected, expected)[:, -1]
                    + 8 * (np.arange(size) >= len(found)))  # fmt: skip
    data = np.arange(mask.size).reshape(mask.shape) + 10
    taken = data[mask.astype(bool)].reshape(-1)[:size]
    chosen = Tensor(data).masked_select(Tensor(mask) * 1, size=size, fill_value=5)
    assert_same(evaluate(chosen, engine), np.append(taken, [5] * (size - len(taken))).astype(int))


def test_a_program_of_positions_serves_other_data() -> None:
    x = Tensor(np.array([0.5, 2.0, 3.0, 0.0]))
    program = compile((x > 1).nonzero(size=3))
    assert program.run()[0].tolist() == [[1], [2], [-1]]
    assert program.run({x: np.array([9.0, 0.0, 9.0, 9.0])})[0].tolist() == [[0], [2], [3]]


def test_a_number_is_a_row_where_numpy_reads_it_so() -> None:
    array, x = np.array(5.0), Tensor(5.0)
    for axis in (0, -1):
        assert_same(x.squeeze(axis).numpy(), np.squeeze(array, axis))
        assert_same(x.take([0, 0], axis).numpy(), np.take(array, [0, 0], axis))
        assert_same(x.repeat_interleave(2, axis).numpy(), np.repeat(array, 2, axis))
    with pytest.raises(AxisError, match="rank 0 has none"):
        x.flip(1)


def test_a_tuple_is_an_index() -> None:
    x = Tensor(CUBE)
    assert_same(x[:, (0, 2)].numpy(), CUBE[:, (0, 2)])
    assert_same(x[((0, 1), (1, 2))].numpy(), CUBE[((0, 1), (1, 2))])
    assert_same(x.take((2, 0), 1).numpy(), CUBE.take((2, 0), 1))
    assert_same(x.index_select(2, (4, 0)).numpy(), CUBE[:, :, (4, 0)])
    index = tuple(map(tuple, np.zeros((3, 1), int).tolist()))
    assert_same(x[:, :, 0].gather(1, index).numpy(), CUBE[:, :1, 0])


@pytest.mark.parametrize(
    ("use", "error", "text"),
    [
        (lambda x: x.split(0), ShapeError, "split: the parts do not make up axis 0"),
        (lambda x: x.split(-1), ShapeError, "split: the parts do not make up axis 0"),
        (lambda x: x.split([1, 1], 1), ShapeError, "split: the parts do not make up axis 1"),
        (lambda x: x.chunk(0), ShapeError, "chunk: no parts"),
        (lambda x: x.narrow(0, 2, 2), ShapeError, "shrink: the part of axis 0"),
        (lambda x: x.roll((1, 2), 0), ShapeError, "roll: the numbers of shifts and axes differ"),
        (lambda x: x.rot90(1, (0, 0)), AxisError, "rot90: "),
        (lambda x: x.repeat_interleave([1, 2], 0), ShapeError, "one count per element"),
        (lambda x: x.sum().tril(), ShapeError, "tril: a triangle needs a matrix"),
        (lambda x: x.diagonal(0, 1, 1), AxisError, "diagonal: the axes are the same"),
        (lambda x: x.diag(), ShapeError, "diag: needs a row or a matrix"),
        (lambda x: x.diff(-1), ShapeError, "diff: a negative number of times"),
        (lambda x: x.one_hot(3), DTypeError, "one_hot: classes are integers"),
        (lambda x: x.take_along_axis([0], 0), ShapeError, "the indices have another rank"),
        (
            lambda x: x.take_along_axis(Tensor([[[5]]]), 2),
            AxisError,
            "take_along_axis: index 5 is out of range for axis 2",
        ),
        (lambda x: x.round(1.5), ShapeError, "round: "),
        (lambda x: x.cast("int32").round(-1), DTypeError, "round: integers are not rounded"),
        (lambda x: x.cumsum(None), ShapeError, "cumsum: extents and axes are integers"),
        (lambda x: x.cumprod((0, 1)), AxisError, "cumprod: this needs one axis"),
        (lambda x: x[np.ones((2, 4), bool)], AxisError, "the mask does not fit"),
        (lambda x: x[..., np.ones(4, bool)], AxisError, "the mask does not fit"),
        (lambda x: x[:, np.ones(3, bool)], AxisError, "the mask does not fit"),
    ],
)
def test_refusals(use: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        use(Tensor(CUBE))
    assert "test_tensor_arrangement.py" in str(caught.value)


@every_engine
def test_truth_values_are_padded_with_false(engine: str) -> None:
    """0 is the default of bool too, as in methods built on padding."""
    array = np.array([[True, False, True], [True, True, False]])
    assert_same(evaluate(Tensor(array).pad(1), engine), np.pad(array, 1))
    assert_same(evaluate(Tensor(array).pad(1, 1), engine), np.pad(array, 1, constant_values=True))
    assert_same(evaluate(Tensor(array).diagonal(1), engine), array.diagonal(1))
    assert_same(evaluate(Tensor(array).roll(1, 0), engine), np.roll(array, 1, 0))
    with pytest.raises(DTypeError):
        Tensor(array).pad(1, 2)
