"""Types without machine arithmetic: computed in float32, rounded exactly, on every engine."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.core.node import toposort
from compiler.core.trace import Provenance
from compiler.graph.decompose import decompose
from compiler.graph.nodes import Cast, Elementwise, Iota, Reduce, Reshape, Sink, TensorNode
from compiler.graph.verify import verify
from compiler.graph.widen import is_widened
from compiler.tensor import Tensor
from tests.evaluate import assert_same, evaluate, every_engine

Array = np.ndarray[Any, Any]
BF16 = ml_dtypes.bfloat16
EVERY = np.arange(2**16, dtype=np.uint16).view(BF16)
"""Every bfloat16: normal and subnormal numbers, infinities, NaN."""


def _decomposed(node: TensorNode) -> list[TensorNode]:
    root = decompose(Sink((node,)), Provenance())
    verify(root, is_decomposed=True)
    order: list[TensorNode] = toposort([root])
    return order


def _tensors() -> tuple[Tensor, Tensor]:
    x = np.array([[1.5, -2, 3], [4, 0.25, -6]], BF16)
    return Tensor(x), Tensor(x[::-1].copy())


def test_an_operation_computes_in_float32() -> None:
    x, y = _tensors()
    order = _decomposed((x * y).node)
    (product,) = [n for n in order if isinstance(n, Elementwise)]
    assert product.dtype is dtypes.float32 and order[-2].dtype is dtypes.bfloat16
    assert [n.target for n in order if isinstance(n, Cast)].count(dtypes.float32) == 2


def test_what_expands_is_rounded_once() -> None:
    x, _ = _tensors()
    rounded = [n for n in _decomposed(x.gelu().node) if n.dtype is dtypes.bfloat16]
    assert len(rounded) == 2  # the data and the result


def test_what_moves_elements_is_left() -> None:
    x, y = _tensors()
    moved = Tensor([True, False, True]).where(x.reshape(3, 2).transpose(), y).flip(0).pad(1)
    assert not any(isinstance(n, Cast) for n in _decomposed(moved.node))


@pytest.mark.parametrize("target", dtypes.ALL, ids=str)
def test_conversions_go_through_float32(target: dtypes.DType) -> None:
    x, _ = _tensors()
    for node in (x.cast(target).node, Tensor([1, 2]).cast(target).cast("bfloat16").node):
        for each in _decomposed(node):
            if isinstance(each, Cast):
                pair = {each.target, each.sources[0].dtype}
                assert dtypes.bfloat16 not in pair or dtypes.float32 in pair


def test_what_is_left_in_it_is_refused() -> None:
    x, y = _tensors()
    left: list[TensorNode] = [
        Elementwise((x.node, y.node), "lt"), Reduce((x.node,), "max", (0,)),
        Iota((), 3, dtypes.bfloat16), Cast((x.node,), dtypes.float64),
    ]  # fmt: skip
    for node in left:
        assert is_widened(node)
        verify(Sink((node,)))
        with pytest.raises(InternalError, match="invariant 11: no machine computes in this type"):
            verify(Sink((node,)), is_decomposed=True)
    for node in (Cast((x.node,), dtypes.float32), Reshape((x.node,), (6,))):
        assert not is_widened(node)


@every_engine
def test_every_value_converts_exactly(engine: str) -> None:
    wide = evaluate(Tensor(EVERY).cast("float32"), engine)
    with np.errstate(all="ignore"):
        expected = EVERY.astype(np.float32)
    assert_same(wide.view(np.uint32), expected.view(np.uint32))
    back = evaluate(Tensor(expected).cast("bfloat16"), engine)
    with np.errstate(all="ignore"):
        assert_same(back.view(np.uint16), expected.astype(BF16).view(np.uint16))


@every_engine
@pytest.mark.parametrize("below", [0x7FFF, 0x8000, 0x8001], ids=hex)
def test_rounding_is_to_nearest_ties_to_even(below: int, engine: str) -> None:
    upper = np.arange(2**16, dtype=np.uint32) << 16
    between = (upper | np.uint32(below)).view(np.float32)
    with np.errstate(all="ignore"):
        expected = between.astype(BF16).view(np.uint16)
    got = evaluate(Tensor(between).cast("bfloat16"), engine)
    assert_same(got.view(np.uint16), expected)


@every_engine
def test_every_value_plus_one_and_compared(engine: str) -> None:
    with np.errstate(all="ignore"):
        expected = (EVERY.astype(np.float32) + np.float32(1)).astype(BF16)
    assert_same(evaluate(Tensor(EVERY) + 1, engine), expected)
    with np.errstate(all="ignore"):
        assert_same(evaluate(Tensor(EVERY) < 0.5, engine), EVERY.astype(np.float32) < 0.5)
