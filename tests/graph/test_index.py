"""The invariants of `Index` and `Threefry`, each broken once."""

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.device.buffers import new_buffer
from compiler.graph.nodes import Buffer, Index, Sink, TensorNode, Threefry, elementwise
from compiler.graph.verify import verify
from compiler.program.compilation import Compilation
from compiler.settings.options import Options
from tests.evaluate import ENGINES, every_engine

X = Buffer((), 1, (3, 4), dtypes.float32, "x")
FLAT = Buffer((), 9, (9,), dtypes.float32, "flat")
ROWS = Buffer((), 2, (5,), dtypes.int64, "rows")
SHORT = Buffer((), 3, (5,), dtypes.int32, "short")
LONG = Buffer((), 4, (6,), dtypes.int64, "long")
SCALAR = Buffer((), 5, (), dtypes.float32, "scalar")
TRUTH = Buffer((), 7, (5,), dtypes.bool_, "truth")
MORE = Buffer((), 8, (6,), dtypes.bool_, "more")
WORDS = Buffer((), 6, (5,), dtypes.uint64, "words")


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (Index((X, ROWS)), "invariant 1: the number of operands is wrong"),
        (Index((X, ROWS, SHORT)), "invariant 13: a position is no int64 tensor"),
        (Index((X, ROWS, LONG)), "invariant 13: a position is no int64 tensor"),
        (Index((SCALAR, ROWS)), "invariant 13: a rank-0 tensor has no positions"),
        (Index((X, ROWS, ROWS, ROWS)), "invariant 13: the validity is not bool"),
        (Index((X, ROWS, ROWS, MORE)), "invariant 13: the validity is not bool"),
        (Index((X, ROWS, ROWS, TRUTH, TRUTH)), "invariant 1: the number of operands is wrong"),
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
    verify(Sink((Index((X, ROWS, ROWS, TRUTH)),)))


def test_what_is_not_valid_is_not_read() -> None:
    """The loads of the element, and of what it is computed from, are under the condition."""
    node = Index((elementwise("exp", FLAT), ROWS, TRUTH))
    (loops,) = Compilation([node], Options(), "test").loops
    (load,) = (line.text for line in loops.lines if " if " in line.text)
    (condition,) = (line.text for line in loops.lines if "in3[i0]" in line.text)
    assert load.split(" if ")[1].startswith(condition.split(" = ")[0].strip() + " else 0")


@every_engine
def test_validity_alone_makes_an_element_zero(engine: str) -> None:
    """exp(0) is 1: the choice stands outside of what is computed from the load."""
    x, rows = np.arange(3.0), np.array([0, 1, 2, 7])
    valid = np.array([True, False, True, True])
    node = Index((elementwise("exp", new_buffer(x)), new_buffer(rows), new_buffer(valid)))
    (got,) = ENGINES[engine]([node])
    np.testing.assert_allclose(got, [1, 0, np.exp(2), 0], rtol=1e-15)
