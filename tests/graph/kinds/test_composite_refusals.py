"""The errors of each composite kind, with what was passed and what is expected."""

import pytest

from compiler import Strided
from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.graph.kinds.by_hand import (
    BufferView,
    Gep,
    Noop,
    ScatterAxis,
    Valid,
    VConst,
    Vectorize,
    Wmma,
)
from compiler.graph.kinds.composite import Composite
from compiler.graph.kinds.correlate import Correlate
from compiler.graph.kinds.effects import Scatter
from compiler.graph.kinds.joins import Cat, Contract, Gather
from compiler.graph.kinds.kernel import Kernel
from compiler.graph.kinds.markers import Placeholder, Unroll
from compiler.graph.kinds.views import View
from compiler.graph.nodes import Buffer, Param, Sink
from compiler.graph.verify import verify

X = Buffer((), 1, (3, 4), dtypes.float32, "x")
Y = Buffer((), 2, (4, 3), dtypes.float32, "y")
N = Buffer((), 3, (3, 4), dtypes.int32, "n")
S = Buffer((), 4, (), dtypes.float32, "s")
B = Buffer((), 5, (3, 4), dtypes.bool_, "b")
P = Param((), 1, (3, 4), dtypes.float32)
ROW = Strided((3, 4), (4, 1))

IMAGE = Buffer((), 6, (2, 4, 9), dtypes.float32, "i")
W = Buffer((), 7, (6, 2, 3), dtypes.float32, "w")

WRONG: tuple[tuple[Composite, str, str, str], ...] = (
    (View((X,), ()), "a shape tracker needs a view", "none", "1 or more"),
    (View((X, X), (ROW,)), "the number of operands is wrong", "2", "1"),
    (View((X,), (Strided((3,), (4, 1)),)), "strides and mask need an entry per axis",
     "2 strides, 1 pairs", "1 of each"),
    (View((X,), (Strided((-3,), (1,)),)), "an extent is negative", "(-3,)", "extents of 0 or more"),
    (View((X,), (Strided((3,), (1,), 0, ((1, 4),)),)), "the mask reaches outside the view",
     "((1, 4),)", "inside (3,)"),
    (View((X,), (Strided((3,), (4,), 4),)), "the view reaches outside its source",
     "elements 4 to 12", "inside 0 to 11"),
    (View((X,), (Strided((3,), (-4,), 4),)), "the view reaches outside its source",
     "elements -4 to 4", "inside 0 to 11"),
    (View((X,), (ROW, Strided((13,), (1,)))), "the view reaches outside its source",
     "elements 0 to 12", "inside 0 to 11"),
    (View((X,), (Strided((0, 2), (1, 1)), Strided((1,), (1,)))),
     "the view reaches outside its source", "elements 0 to 0", "nothing: the source is empty"),
    (Correlate((IMAGE, X), ((0, 0),), (1,), (1,)), "the ranks do not fit", "ranks 3 and 2, 1 1 1",
     "equal ranks, and entries for each axis"),
    (Correlate((IMAGE, W), ((0, 0),), (1, 1), (1,)), "the ranks do not fit", "ranks 3 and 3, 1 2 1",
     "equal ranks, and entries for each axis"),
    (Correlate((IMAGE, W), ((0, 0),), (0,), (1,), 2), "a step, a gap or groups are below 1",
     "(0,) (1,) 2", "1 or more"),
    (Correlate((IMAGE, W), ((0, 0),), (1,), (1,)), "the channels do not fit",
     "(2, 4, 9) and (6, 2, 3)", "channels of 1 groups"),
    (Correlate((IMAGE, W), ((0, -2),), (1,), (4,), 2), "the window is larger than the image",
     "(9,)", "at most (7,)"),
    (Valid((Y,), (ROW,), 12), "the operand has another shape", "(4, 3)", "(3, 4)"),
    (Valid((X,), (ROW,), 11), "the view reaches outside its source", "elements 0 to 11",
     "inside 0 to 10"),
    (BufferView((Noop((X,)),), 1, 0, dtypes.float32), "the operand is no buffer", "noop",
     "a buffer"),
    (BufferView((X,), 4, 9, dtypes.float32), "the part reaches outside the buffer",
     "elements 9 to 13", "inside 0 to 12"),
    (BufferView((X,), 2, 5, dtypes.float64), "the part reaches outside the buffer",
     "elements 5 to 7", "inside 0 to 6"),
    (BufferView((B,), 2, 0, dtypes.uint8), "truth values have no other type's bits",
     "bool as uint8", "numbers"),
    (VConst((), (0,) * 65, dtypes.int8), "a vector constant has too many lanes", "65",
     "at most 64"),
    (VConst((), (256,), dtypes.int8), "the bits do not fit the type", "0x100", "int8"),
    (Gep((S,), (0,)), "a value of rank 0 has no lanes", "rank 0", "rank 1 or more"),
    (Gep((X,), (4,)), "a lane is out of range", "(4,)", "lanes below 4"),
    (Gep((X,), (0,) * 65), "too many lanes are taken", "65", "at most 64"),
    (Vectorize((X, Y)), "the operands differ in shape", "[(3, 4), (4, 3)]", "one shape"),
    (Vectorize((X, N)), "the operands differ in type", "float32 int32", "one type"),
    (Vectorize(()), "the number of operands is wrong", "0", "1 or more"),
    (Wmma((X, Y, X), 3, 3, 4), "operand c has another shape", "(3, 4)", "(3, 3)"),
    (Wmma((X, Y, X), 3, 0, 4), "a tile has no elements", "(3, 0, 4)", "1 or more each"),
    (Wmma((X, Buffer((), 9, (4, 4), dtypes.float32), N), 3, 4, 4),
     "the operands do not fit in type", "float32 float32 int32",
     "one type, or float32 float32 float32"),
    (Cat((X, Y), 0), "the operands do not fit", "[(3, 4), (4, 3)]", "one shape but for axis 0"),
    (Cat((X, X), 2), "the axis is out of range", "2", "an axis below 2"),
    (Cat((X, N), 0), "the operands differ in type", "float32 int32", "one type"),
    (Contract((X, Y), ((0, 0),)), "axes 0 and 0 differ", "3 and 4", "equal extents"),
    (Contract((X, Y), ((2, 0),)), "the axes are wrong", "(2,)", "distinct axes from 0 to 1"),
    (Contract((X, Y), (), 1), "the first 1 axes differ", "(3, 4) and (4, 3)", "equal extents"),
    (Contract((X, N), ((0, 0),)), "the operands differ in type", "float32 int32", "one type"),
    (Gather((X, X), 0), "the indices are no integers", "float32", "an integer type"),
    (Gather((X, N), 2), "the axis is out of range", "2", "an axis below 2"),
    (Gather((Y, N), 0), "the indices do not fit", "(3, 4)",
     "rank 2, at most (4, 3) but for axis 0"),
    (ScatterAxis((X, X), 0, (3, 4)), "the indices are no integers", "float32", "an integer type"),
    (ScatterAxis((N, Y), 0, (4, 4)), "the indices have another shape than the updates", "(3, 4)",
     "(4, 3)"),
    (ScatterAxis((N, X), 0, (5, 3)), "the updates do not fit", "(3, 4)",
     "rank 2, at most (5, 3) but for axis 0"),
    (ScatterAxis((N, X), 2, (5, 3)), "the axis is out of range", "2", "an axis below 2"),
    (ScatterAxis((N, X), 0, (-5, 3)), "an extent is negative", "(-5, 3)", "extents of 0 or more"),
    (Kernel((X,), Scatter((P, P), "add"), "f"),
     "the body contains an operation that is a call of its own", "scatter",
     "operations that are computed element by element"),
    (Noop((X, X)), "the number of operands is wrong", "2", "0 or 1"),
    (Unroll((X,), 2), "only the loop of a reduction can be unrolled", "buffer", "a reduction"),
    (Unroll((Contract((X, X), ()),), 2), "only the loop of a reduction can be unrolled",
     "contract", "a reduction"),
    (Unroll((X,), 1), "the factor is out of range", "1", "2 to 64"),
    (Placeholder((), (2,), dtypes.int8, ""), "a placeholder needs a name", "none",
     "the name its data are given by"),
    (Placeholder((), (-2,), dtypes.int8, "p"), "an extent is negative", "(-2,)",
     "extents of 0 or more"),
    (Kernel((X,), P, "two words"), "this cannot be the name of a kernel", "'two words'",
     "a letter, then letters, digits and _; no word of C"),
    (Kernel((X,), P, "memcpy"), "this cannot be the name of a kernel", "'memcpy'",
     "a letter, then letters, digits and _; no word of C"),
    (Kernel((X,), X, "f"), "the body reads more than its Params", "buffer", "Params only"),
    (Kernel((X,), Kernel((P,), P, "inner"), "f"), "the body reads more than its Params", "kernel",
     "Params only"),
    (Kernel((Y,), P, "f"), "input 1 is not what the body reads", "float32 (4, 3)",
     "float32 (3, 4)"),
    (Kernel((X, X), P, "f"), "the body's Params are not the inputs", "[1]", "1 to 2, each"),
)  # fmt: skip


IDS = [f"{number}-{node.word}" for number, (node, *_) in enumerate(WRONG)]


@pytest.mark.parametrize(("node", "what", "got", "expected"), WRONG, ids=IDS)
def test_refused(node: Composite, what: str, got: str, expected: str) -> None:
    with pytest.raises(InternalError) as caught:
        verify(Sink((node,)))
    assert caught.value.problem.startswith(f"invariant 20: {what}, at {node.word}(")
    assert (caught.value.got, caught.value.expected) == (got, expected)


def test_the_body_of_a_kernel_is_verified() -> None:
    wrong = Cat((P, P), 5)
    with pytest.raises(InternalError, match="invariant 20: the axis is out of range, at cat"):
        verify(Sink((Kernel((X,), wrong, "f"),)))
