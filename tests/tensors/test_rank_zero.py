"""Methods along an axis of a tensor of rank 0, which is a row of one element (PyTorch's)."""

from typing import Any

import numpy as np
import pytest

from compiler import AxisError, Tensor

CASES: tuple[tuple[str, tuple[Any, ...], Any], ...] = (
    ("softmax", ("axis",), 1.0), ("log_softmax", ("axis",), 0.0), ("softmin", ("axis",), 1.0),
    ("logsumexp", ("axis",), 2.5), ("cumsum", ("axis",), 2.5), ("cumprod", ("axis",), 2.5),
    ("cummax", ("axis",), 2.5), ("cummin", ("axis",), 2.5), ("logcumsumexp", ("axis",), 2.5),
    ("sort", ("axis",), 2.5), ("argsort", ("axis",), 0), ("topk", (1, "axis"), (2.5, 0)),
    ("kthvalue", (1, "axis"), (2.5, 0)), ("median", ("axis",), 2.5),
    ("quantile", (0.5, "axis"), 2.5), ("flip", ("axis",), 2.5), ("movedim", (0, "axis"), 2.5),
    ("transpose", (0, "axis"), 2.5), ("gather", ("axis", "index"), 2.5),
    ("scatter", ("axis", "index", 4.0), 4.0), ("scatter_add", ("axis", "index", "x"), 5.0),
    ("index_add", ("axis", "index", "x"), 5.0), ("sum", ("axis",), 2.5), ("max", ("axis",), 2.5),
    ("argmax", ("axis",), 0), ("std", ("axis",), None), ("layernorm", ("axis",), 0.0),
)  # fmt: skip


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize(("method", "arguments", "right"), CASES, ids=lambda it: str(it)[:20])
def test_axes_zero_and_last(
    method: str, arguments: tuple[Any, ...], right: Any, axis: int
) -> None:
    held = {"axis": axis, "index": Tensor(np.array(0)), "x": Tensor(2.5)}
    made = getattr(Tensor(2.5), method)(*(held.get(str(each), each) for each in arguments))
    found = made if isinstance(made, tuple) else (made,)
    assert all(each.shape == () for each in found)
    if right is not None:
        wanted = right if isinstance(right, tuple) else (right,)
        assert tuple(each.item() for each in found) == wanted


@pytest.mark.parametrize("method", ["softmax", "cumsum", "sort", "flip", "argmax", "logsumexp"])
@pytest.mark.parametrize("axis", [1, -2])
def test_other_axes_are_refused(method: str, axis: int) -> None:
    with pytest.raises(AxisError, match="rank 0"):
        getattr(Tensor(2.5), method)(axis)


def test_their_gradients() -> None:
    x = Tensor(2.5, requires_grad=True)
    (x.softmax(0) + x.cumsum(0) * 3 + x.sort(-1) + x.topk(1, 0)[0]).backward()
    assert x.grad is not None and x.grad.item() == 5.0
