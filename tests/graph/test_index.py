"""The invariants of `Index` and `Threefry`, each broken once."""

import pytest

from compiler import dtypes
from compiler.errors import InternalError
from compiler.graph.nodes import Buffer, Index, Sink, TensorNode, Threefry
from compiler.graph.verify import verify

X = Buffer((), 1, (3, 4), dtypes.float32, "x")
ROWS = Buffer((), 2, (5,), dtypes.int64, "rows")
SHORT = Buffer((), 3, (5,), dtypes.int32, "short")
LONG = Buffer((), 4, (6,), dtypes.int64, "long")
SCALAR = Buffer((), 5, (), dtypes.float32, "scalar")
WORDS = Buffer((), 6, (5,), dtypes.uint64, "words")


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (Index((X, ROWS)), "invariant 1: the number of operands is wrong"),
        (Index((X, ROWS, SHORT)), "invariant 13: a position is no int64 tensor"),
        (Index((X, ROWS, LONG)), "invariant 13: a position is no int64 tensor"),
        (Index((SCALAR, ROWS)), "invariant 13: a rank-0 tensor has no positions"),
        (Threefry((WORDS,)), "invariant 1: the number of operands is wrong"),
        (Threefry((WORDS, ROWS)), "invariant 14: operands are not uint64"),
    ],
)
def test_broken(node: TensorNode, message: str) -> None:
    with pytest.raises(InternalError, match=message):
        verify(Sink((node,)))


def test_a_threefry_is_gone_after_decompose() -> None:
    root = Sink((Threefry((WORDS, WORDS)),))
    verify(root)
    with pytest.raises(InternalError, match="invariant 11: a threefry was not expanded"):
        verify(root, is_decomposed=True)


def test_a_right_index_passes() -> None:
    verify(Sink((Index((X, ROWS, ROWS)),)))
