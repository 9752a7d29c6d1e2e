"""Each invariant of the tensor graph, violated once; no false alarms on valid programs."""

import pytest

from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.core.origin import Origin, state
from compiler.graph.kinds.effects import Scatter
from compiler.graph.nodes import (
    Bitcast,
    Buffer,
    Cast,
    Const,
    Contiguous,
    Expand,
    Flip,
    Iota,
    Pad,
    Param,
    Permute,
    Reduce,
    Reshape,
    Shrink,
    Sink,
    Store,
    TensorNode,
    Variable,
    elementwise,
)
from compiler.graph.verify import verify
from tests.loops.programs import PROGRAMS, kernels

f32, i32, bool_ = dtypes.float32, dtypes.int32, dtypes.bool_
X = Buffer((), 1, (2, 3), f32, "x")
Y = Buffer((), 2, (3, 2), f32, "y")
N = Buffer((), 3, (2, 3), i32, "n")
C = Buffer((), 4, (2, 3), bool_, "c")
E = Buffer((), 5, (0, 3), f32, "e")
OUT = Param((), 0, (2, 3), f32)
P = Buffer((), 6, (4,), dtypes.int64, "p")
U = Buffer((), 7, (4,), f32, "u")
op = elementwise

WRONG: tuple[tuple[int, TensorNode, str, str, str], ...] = (
    (1, op("add", X), "the number of operands", "1", "2"),
    (1, Cast((X, X), i32), "the number of operands", "2", "1"),
    (1, op("add", X, Y), "operands differ in shape", "[(2, 3), (3, 2)]", "one shape"),
    (2, op("add", X, N), "operands differ in type", "float32 int32", "one type"),
    (2, op("where", C, X, N), "operands differ in type", "float32 int32", "one type"),
    (2, op("and", X, X), "does not accept the type", "float32", "bool int uint"),
    (2, op("where", N, X, X), "the condition is not bool", "int32", "bool"),
    (3, Reshape((X,), (7,)), "changes the size", "7", "6"),
    (4, Permute((X,), (0, 0)), "no permutation", "(0, 0)", "each axis once"),
    (4, Permute((X,), (1,)), "no permutation", "(1,)", "each axis once"),
    (5, Expand((X,), (2, 3, 1)), "changes the rank", "3", "2"),
    (5, Expand((X,), (4, 3)), "whose extent is not 1", "(4, 3)", "(2, 3), each 1 repeated"),
    (6, Pad((X,), ((0, 0), (-1, 0))), "widths of a pad", "((0, 0), (-1, 0))", "2 pairs"),
    (7, Shrink((X,), ((0, 3), (0, 1))), "reaches outside", "0:3", "inside 0:2"),
    (7, Shrink((X,), ((0, 2),)), "no bounds for an axis", "((0, 2),)", "2 pairs"),
    (8, Flip((X,), (0, 0)), "axes of a flip", "(0, 0)", "distinct axes below 2"),
    (8, Flip((X,), (2,)), "axes of a flip", "(2,)", "distinct axes below 2"),
    (9, Reduce((X,), "sum", (1, 0)), "not sorted", "(1, 0)", "[0, 1]"),
    (9, Reduce((X,), "sum", (0, 0)), "not sorted and distinct", "(0, 0)", "[0]"),
    (9, Reduce((X,), "sum", (2,)), "out of range", "(2,)", "axes below 2"),
    (9, Reduce((E,), "max", (0,)), "max over an empty axis", "(0, 3)", "1 or more"),
    (10, Bitcast((X,), dtypes.int64), "changes the width", "int64", "32 bits"),
    (10, Contiguous((Sink((X,)),)), "a sink is an operand", "sink", "a value"),
    (10, Contiguous((Store((OUT, X)),)), "a store is an operand", "store", "a value"),
    (10, Sink((Store((X, X)),)), "writes what is no param", "buffer", "param"),
    (10, Sink((Store((OUT, Y)),)), "does not fit its param", "f32[3,2]", "f32[2,3]"),
    (12, Buffer((), 9, (-1,), f32), "an extent is negative", "(-1,)", "0 or more"),
    (12, Const((), 1 << 32, f32), "the bits do not fit", "0x100000000", "float32"),
    (12, Param((), -1, (), f32), "a slot is negative", "-1", "0 or more"),
    (12, Variable((), "n", 3, 2), "a variable has no possible value", "3", "at most 2"),
    (12, Iota((), 3, bool_), "an iota counts in numbers", "bool", "integer or float"),
    (1, Scatter((X, U, P), "add"), "the number of operands", "3", "4"),
    (17, Scatter((Const((), 0, f32), U), "add"), "rank-0 tensor has no positions", "0", "rank 1"),
    (17, Scatter((X, U, P, P), "sum"), "no such update", "sum", "replace, add, mul, max, min"),
    (17, Scatter((N, U, P, P), "add"), "the updates have another type", "float32", "int32"),
    (17, Scatter((X, U, P, U), "add"), "is no int64 tensor", "f32[4]", "i64[4]"),
    (17, Scatter((X, X, P, P), "add"), "is no int64 tensor", "i64[4]", "i64[2, 3]"),
)


@pytest.mark.parametrize(("number", "node", "problem", "got", "expected"), WRONG)
def test_broken_invariant(
    number: int, node: TensorNode, problem: str, got: str, expected: str
) -> None:
    root = node if isinstance(node, Sink) else Sink((op("neg", node),))
    with pytest.raises(InternalError) as caught:
        verify(root)
    assert caught.value.operation == "graph"
    assert caught.value.problem.startswith(f"invariant {number}: ")
    assert problem in caught.value.problem
    assert caught.value.got == got
    assert expected in caught.value.expected


def test_expansions_are_refused_once_they_should_be_gone() -> None:
    root = Sink((op("relu", X),))
    verify(root)
    with pytest.raises(InternalError, match="invariant 11: an operation was not expanded"):
        verify(root, is_decomposed=True)


def test_the_error_names_the_node_and_its_line() -> None:
    state.origin = Origin("program.py", 7, "add")
    try:
        wrong = op("add", X, Y)
    finally:
        state.origin = None
    with pytest.raises(InternalError) as caught:
        verify(Sink((wrong,)))
    assert "at add(f32[2,3], f32[3,2])" in caught.value.problem
    assert caught.value.origin == Origin("program.py", 7, "add")


@pytest.mark.parametrize("name", PROGRAMS)
def test_right_programs_pass(name: str) -> None:
    verify(Sink((PROGRAMS[name](),)))
    for body in kernels(PROGRAMS[name]()):
        verify(body, is_decomposed=True)


def test_empty_maximum_of_an_empty_result_is_right() -> None:
    verify(Sink((Reduce((Buffer((), 6, (0, 0), f32),), "max", (1,)),)))
