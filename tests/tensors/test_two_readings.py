"""Calls that mean different things in NumPy and PyTorch: one meaning is documented, or refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor
from compiler.core.errors import AxisError, CompileError, DataError, DTypeError, ShapeError
from tests.pages import without_calls

A = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
M = A[0]
SQUARE = np.arange(16, dtype=np.float32).reshape(4, 4)
S = np.arange(9, dtype=np.float32).reshape(3, 3)


def tensor(array: Any) -> Any:
    return Tensor(array)


def page(call: Callable[[], object], kind: type[CompileError]) -> list[str]:
    with pytest.raises(kind) as caught:
        call()
    rows = without_calls(str(caught.value)).splitlines()
    assert sum(row.startswith("  line:     ") and "test_two_readings" in row for row in rows) == 1
    return [row for row in rows if not row.startswith("  line:")]


@pytest.mark.parametrize("axes", [(0, 1), (-2, -1), (0, -1), (-2, 1)])
def test_transpose_of_a_matrix_by_two_axes(axes: tuple[int, int]) -> None:
    assert page(lambda: tensor(S).transpose(*axes), AxisError) == [
        "transpose: two axes of a matrix are ambiguous",
        f"  got:      {axes}",
        "  expected: x.T or x.swapaxes(0, 1) to swap them, x.transpose((0, 1)) to keep them",
        "  hint:     PyTorch swaps the two axes; NumPy reads them as the order of axes",
    ]


READINGS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "transpose (1, 0): both": (lambda t: t[0].transpose(1, 0), M.T),
    "transpose (-1, -2): both": (lambda t: t[0].transpose(-1, -2), M.T),
    "transpose of an order: NumPy": (lambda t: t[0].transpose((0, 1)), M),
    "transpose of two of three: PyTorch": (lambda t: t.transpose(1, 2), A.swapaxes(1, 2)),
    "transpose of three: NumPy": (lambda t: t.transpose(1, 2, 0), A.transpose(1, 2, 0)),
    "split by size: PyTorch": (lambda t: t.split(3, 2)[1], A[..., 3:]),
    "max: NumPy": (lambda t: t.max(1), A.max(1)),
    "min: NumPy": (lambda t: t.min(1), A.min(1)),
    "sort: NumPy": (lambda t: (-t).sort(1), np.sort(-A, 1)),
    "std: PyTorch": (lambda t: t.std(), A.std(ddof=1)),
    "var: PyTorch": (lambda t: t.var(1), A.var(1, ddof=1)),
    "np.std: NumPy": (lambda t: np.std(t), A.std()),
    "median: NumPy": (lambda t: t.median(2), np.median(A, 2)),
    "repeat: PyTorch": (lambda t: t.repeat(1, 2, 1), np.tile(A, (1, 2, 1))),
    "tile: NumPy": (lambda t: t[0, 0].tile(2), np.tile(A[0, 0], 2)),
    "repeat_interleave: NumPy's repeat": (
        lambda t: t[0, 0].repeat_interleave(2), A[0, 0].repeat(2)),
    "round: both": (lambda t: (t / 3).round(decimals=2), (A / np.float32(3)).round(2)),
    "round tens: NumPy": (lambda t: t.round(-1), A.round(-1)),
    "round by Python": (lambda t: round(t / 3, 1), (A / np.float32(3)).round(1)),
    "clip crossed: both": (lambda t: t.clip(9, 3), np.clip(A, 9, 3)),
    "%: both": (lambda t: (t - 5) % -3, (A - 5) % -3),
    "//: both": (lambda t: (t - 5) // -3, (A - 5) // -3),
    "fmod: both": (lambda t: (t - 5).fmod(3), np.fmod(A - 5, 3)),
    "cumsum: along axis 0": (lambda t: t.cumsum(), A.cumsum(0)),
    "np.cumsum: NumPy": (lambda t: np.cumsum(t), A.cumsum()),
    "norm of a matrix: PyTorch": (lambda t: t[0].norm(1), np.abs(M).sum()),
    "pad of a flat pair: PyTorch": (lambda t: t.pad((1, 2)), np.pad(A, ((0, 0), (0, 0), (1, 2)))),
    "np.pad of a pair: NumPy": (lambda t: np.pad(t, (1, 2)), np.pad(A, (1, 2))),
    "expand keeps at -1: PyTorch": (lambda t: t[:1].expand(5, -1, -1),
                                    np.broadcast_to(A[:1], (5, 3, 4))),
    "flatten from an axis: PyTorch": (lambda t: t.flatten(1), A.reshape(2, 12)),
    "view: PyTorch": (lambda t: t.view(6, 4), A.reshape(6, 4)),
    "meshgrid: NumPy": (lambda t: Tensor.meshgrid(t[0, 0], t[0, :, 0])[0],
                        np.meshgrid(A[0, 0], A[0, :, 0])[0]),
    "linear: x @ w": (lambda t: t.linear(SQUARE), A @ SQUARE),
    "where: the mask's": (lambda t: (t > 3).where(t, 0), np.where(A > 3, A, 0)),
    "diff: last axis, both": (lambda t: t.diff(), np.diff(A)),
    "take: flat, both": (lambda t: t.take([1, 7]), A.take([1, 7])),
}  # fmt: skip


@pytest.mark.parametrize("name", READINGS)
def test_which_reading_holds(name: str) -> None:
    call, expected = READINGS[name]
    result = call(tensor(A)).numpy()
    assert result.shape == np.shape(expected)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_gelu_is_the_tanh_form() -> None:
    made, exact = tensor(A - 3).gelu().numpy(), tensor(A - 3).gelu("none").numpy()
    assert 0 < np.abs(made - exact).max() < 5e-4


def test_nonzero_is_pytorchs() -> None:
    assert tensor(S).nonzero().shape == (8, 2)


def test_repeat_of_a_row_by_a_number() -> None:
    row = tensor(A[0, 0])
    assert page(lambda: row.repeat(2), ShapeError) == [
        "repeat: one count for rank 1 is ambiguous",
        "  got:      2",
        "  expected: x.tile(2) for x, x, …; "
        "x.repeat_interleave(2) for each element again and again",
        "  hint:     PyTorch repeats the row, NumPy its elements",
    ]
    assert row.repeat(1).shape == (4,) and row.repeat(2, 1).shape == (2, 4)


def test_where_of_numbers_by_truth_values() -> None:
    t = tensor(A)
    assert page(lambda: t.where(t > 3, 0), DTypeError) == [
        "where: the tensor is the condition",
        "  got:      float32 to choose bool by",
        "  expected: mask.where(x, other)",
        "  hint:     x.where(mask, other) is PyTorch's way; for truth values cast x to bool first",
    ]


@pytest.mark.parametrize("method", ["var", "std"])
def test_the_second_argument_of_a_spread(method: str) -> None:
    rows = page(lambda: getattr(tensor(A), method)(0, False), DataError)
    assert rows[1] == f"  got:      {method}(0, False)"
    assert rows[2].startswith(f"  expected: {method}(axis=None, *, keepdim=")


def test_max_of_two_tensors() -> None:
    t = tensor(A)
    assert page(lambda: t.max(t), AxisError) == [
        "max: this reduces axes of one tensor",
        "  got:      a tensor of shape (2, 3, 4)",
        "  expected: axes",
        "  hint:     maximum and minimum take two tensors",
    ]


def test_squeeze_of_a_longer_axis_is_numpys() -> None:
    with pytest.raises(ShapeError):
        tensor(A).squeeze(0)
