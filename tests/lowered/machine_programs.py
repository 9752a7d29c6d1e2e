"""Kernels written by hand, one or more for each instruction of `lowered/machine.py`.

Each comes with its inputs and with the result that NumPy computes, not this compiler.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from compiler.core.dtypes import bfloat16, int8, uint8
from compiler.lowered import custom
from compiler.lowered.by_hand import Barrier, Block, Buffer, Noop, Special, Wmma
from compiler.lowered.custom import CustomOperation, Operand
from compiler.lowered.instructions import Acc, Alu, Assign, Const, EndRange, Load, Range, Store
from compiler.lowered.machine import Custom, DefineVar, Dot, EndIf, If, Local, VConst
from tests.lowered.hand_written import (
    Array,
    Program,
    arguments,
    bool_,
    f32,
    floats,
    i32,
    i64,
    integers,
    number,
)
from tests.lowered.vector_programs import (
    converted_vectors,
    gather_through_pointers,
    lanes_joined_and_taken,
    lanes_of_two,
    masked_vectors,
    vector_accumulator,
    vector_constants,
    vectors_under_one_predicate,
)


def local_in_a_loop() -> Program:
    """Each row is reversed through memory of its own, within a loop that runs at once."""
    x = integers(12)
    rows = (
        *arguments(i32, 12, (i32, 12)),
        Const(2, 4, i64), Const(3, 3, i64),
        Range(4, 2, 0, "normal"),
        Local(5, i32, 3),
        Alu(6, "mul", (4, 3), i64),
        Range(7, 3, 1, "reduction"),
        Alu(8, "add", (6, 7), i64), Load(9, 1, 8, None, i32), Store(5, 7, 9, None),
        EndRange(7),
        Const(10, 2, i64),
        Range(11, 3, 2, "normal"),
        Alu(12, "sub", (10, 11), i64), Load(13, 5, 12, None, i32),
        Alu(14, "add", (6, 11), i64), Store(0, 14, 13, None),
        EndRange(11),
        EndRange(4),
    )  # fmt: skip
    return Program(rows, (x,), x.reshape(4, 3)[:, ::-1].reshape(-1), "%5 = local i32[3]")


def buffer_between_loops() -> Program:
    """A prefix sum: each iteration reads what the one before it wrote."""
    x = integers(6)
    rows = (
        *arguments(i32, 6, (i32, 6)),
        Const(2, 6, i64), Const(3, 1, i64), Const(4, 0, i64), Const(5, 0, i32),
        Buffer(6, i32, 7),
        Store(6, 4, 5, None),
        Barrier(),
        Range(7, 2, 0, "normal"),
        Load(8, 6, 7, None, i32), Load(9, 1, 7, None, i32), Alu(10, "add", (8, 9), i32),
        Alu(11, "add", (7, 3), i64), Store(6, 11, 10, None),
        Store(0, 7, 10, None),
        EndRange(7),
    )  # fmt: skip
    return Program(rows, (x,), np.cumsum(x).astype("int32"), "%6 = buffer i32[7]")


def bools_in_scratch() -> Program:
    """Truth goes through a byte in memory."""
    x = floats(5)
    rows = (
        *arguments(bool_, 5, (f32, 5)),
        Const(2, 5, i64), Const(3, 0, f32), Const(4, 0, i64),
        Range(5, 2, 0, "normal"),
        Local(6, bool_, 1),
        Load(7, 1, 5, None, f32), Alu(8, "lt", (3, 7), bool_), Store(6, 4, 8, None),
        Load(9, 6, 4, None, bool_), Store(0, 5, 9, None),
        EndRange(5),
    )  # fmt: skip
    return Program(rows, (x,), x > 0, "%6 = local bool[1]")


def variables() -> Program:
    """out[i] = n * i + launch index."""
    rows = (
        *arguments(i64, 5),
        DefineVar(1, "n", -10, 10),
        Special(2, "global", 1, 8),
        Const(3, 5, i64),
        Range(4, 3, 0, "normal"),
        Alu(5, "mulacc", (1, 4, 2), i64), Store(0, 4, 5, None),
        EndRange(4),
    )  # fmt: skip
    expected = np.arange(5) * -7 + 6
    return Program(rows, (), expected, "%1 = define_var n -10..10", {"n": -7, "gidx1": 6})


def if_carries_accumulators() -> Program:
    """Sums of positive and counts of other elements; stores only where the sum is above 1."""
    x = floats(20)
    rows = (
        *arguments(f32, 8, (f32, 20)),
        Const(2, 4, i64), Const(3, 5, i64), Const(4, 0, f32), Const(5, number(1.0, f32), f32),
        Range(6, 2, 0, "normal"),
        Alu(7, "mul", (6, 3), i64),
        Acc(8, 4, f32), Acc(9, 4, f32),
        Range(10, 3, 1, "reduction"),
        Alu(11, "add", (7, 10), i64), Load(12, 1, 11, None, f32), Alu(13, "lt", (4, 12), bool_),
        If(13),
        Alu(14, "add", (8, 12), f32), Assign(8, 14),
        EndIf(),
        Alu(15, "not", (13,), bool_),
        If(15),
        Alu(16, "add", (9, 5), f32), Assign(9, 16),
        EndIf(),
        EndRange(10),
        Store(0, 6, 8, None),
        Alu(17, "add", (6, 2), i64),
        Alu(18, "lt", (5, 8), bool_),
        If(18),
        Store(0, 17, 9, None),
        EndIf(),
        EndRange(6),
    )  # fmt: skip
    table = x.reshape(4, 5)
    sums = np.zeros(4, "float32")
    for column in range(5):
        sums += np.where(table[:, column] > 0, table[:, column], np.float32(0))
    counts = (table <= 0).sum(1)
    expected = np.concatenate([sums, np.where(sums > 1, counts, 77)]).astype("float32")
    return Program(rows, (x,), expected, "if %13", tolerance=1e-6)


def nested_ifs_with_loops() -> Program:
    """A loop in an If in an If: out[i] = i + 0 + 1 + 2 where i is odd and above 3, else i."""
    rows = (
        *arguments(i64, 8),
        Const(1, 8, i64), Const(2, 3, i64), Const(3, 2, i64), Const(4, 1, i64),
        Range(5, 1, 0, "normal"),
        Acc(6, 5, i64),
        Alu(7, "mod", (5, 3), i64), Alu(8, "eq", (7, 4), bool_),
        If(8),
        Alu(9, "lt", (2, 5), bool_),
        If(9),
        Range(10, 2, 1, "reduction"),
        Alu(11, "add", (6, 10), i64, True), Assign(6, 11),
        EndRange(10),
        EndIf(),
        EndIf(),
        Store(0, 5, 6, None),
        EndRange(5),
    )  # fmt: skip
    i = np.arange(8)
    return Program(rows, (), np.where((i % 2 == 1) & (i > 3), i + 3, i), "if %9")


def an_if_guards_memory() -> Program:
    """Indices that are outside where the condition is false are not accessed."""
    x = integers(4)
    rows = (
        *arguments(i32, 8, (i32, 4)),
        Const(2, 8, i64), Const(3, 4, i64),
        Range(4, 2, 0, "normal"),
        Alu(5, "lt", (4, 3), bool_),
        If(5),
        Load(6, 1, 4, None, i32), Store(0, 4, 6, None),
        EndIf(),
        EndRange(4),
    )  # fmt: skip
    return Program(rows, (x,), np.concatenate([x, np.full(4, 77, "int32")]), "endif")


def product_of_tiles() -> Program:
    """2×3×4 on arguments, straight into the result."""
    a, b, c = floats(8), floats(12), floats(6)
    rows = (
        *arguments(f32, 6, (f32, 8), (f32, 12), (f32, 6)),
        Wmma(0, 1, 2, 3, 2, 3, 4, f32),
    )
    expected = (a.reshape(2, 4) @ b.reshape(4, 3)).reshape(-1) + c
    return Program(rows, (a, b, c), expected, "wmma %0 = %1 · %2 + %3 2×3×4 f32", tolerance=1e-5)


def product_in_scratch() -> Program:
    """Tiles added up in a memory of each iteration: c is the target as well; integers wrap."""
    a, b = integers(12), integers(6) * np.int32(10**8)
    rows = (
        *arguments(i32, 12, (i32, 12), (i32, 6)),
        Const(3, 3, i64), Const(4, 4, i64), Const(5, 2, i64), Const(6, 0, i32),
        Range(7, 3, 0, "normal"),
        Local(8, i32, 4), Local(9, i32, 4),
        Alu(10, "mul", (7, 4), i64),
        Range(11, 4, 1, "reduction"),
        Alu(12, "add", (10, 11), i64), Load(13, 1, 12, None, i32),
        Store(8, 11, 13, None), Store(9, 11, 6, None),
        EndRange(11),
        Local(14, i32, 4),
        Range(15, 4, 2, "reduction"),
        Load(16, 2, 15, None, i32), Store(14, 15, 16, None),
        EndRange(15),
        Range(17, 5, 3, "reduction"),
        Wmma(9, 8, 14, 9, 2, 2, 2, i32),
        EndRange(17),
        Range(18, 4, 4, "normal"),
        Load(19, 9, 18, None, i32), Alu(20, "add", (10, 18), i64), Store(0, 20, 19, None),
        EndRange(18),
        EndRange(7),
    )  # fmt: skip
    expected = 2 * (a.reshape(3, 2, 2) @ b[:4].reshape(2, 2))
    return Program(rows, (a, b), expected.reshape(-1), "wmma %9 = %8 · %14 + %9 2×2×2 i32")


def products_of_words() -> Program:
    """Four words of bytes by one word that all lanes have, added to 7; then by themselves."""
    a = np.array([255, 0, 1, 128] * 2 + [3, 200, 9, 90] * 2, np.uint8)
    b = np.array([-128, 127, -1, 5], np.int8)
    rows = (
        *arguments(i32, 8, (uint8, 16), (int8, 4)),
        Const(3, 0, i64), Const(4, 4, i64),
        VConst(5, (7, 7, 7, 7), i32),
        Load(6, 1, 3, None, uint8, 16), Load(7, 2, 3, None, int8, 4),
        Dot(8, 6, 7, 5, i32, 4, 4), Store(0, 3, 8, None, 4),
        Dot(9, 6, 6, 8, i32, 4, 4), Store(0, 4, 9, None, 4),
    )  # fmt: skip
    words = a.reshape(4, 4).astype(np.int32)
    first = 7 + (words * b).sum(1)
    expected = np.concatenate([first, first + (words * words).sum(1)]).astype(np.int32)
    return Program(rows, (a, b), expected, "%8 = dot %6 %7 %5 4 i32x4")


def products_of_halves() -> Program:
    """One word of bfloat16 by another, without lanes."""
    a, b = (np.array(each, bfloat16.numpy) for each in ([1.5, -2], [4, 0.5]))
    rows = (
        *arguments(f32, 1, (bfloat16, 2), (bfloat16, 2)),
        Const(3, 0, i64), Const(4, 0, f32),
        Load(5, 1, 3, None, bfloat16, 2), Load(6, 2, 3, None, bfloat16, 2),
        Dot(7, 5, 6, 4, f32, 2), Store(0, 3, 7, None),
    )  # fmt: skip
    return Program(rows, (a, b), np.array([5], np.float32), "%7 = dot %5 %6 %4 2 f32")


def _mark(memory: Array, index: Any, value: Any) -> Any:
    """The operation `mark`: add to an element of a memory; the sum so far."""
    memory[index] += value
    return memory[index]


MARK = CustomOperation(
    "mark",
    (Operand(i32, is_memory=True), Operand(i64), Operand(i32)),
    i32,
    _mark,
    """define internal i32 @sv.custom.mark(ptr %m, i64 %i, i32 %v) alwaysinline {
  %p = getelementptr inbounds i32, ptr %m, i64 %i
  %old = load i32, ptr %p
  %new = add i32 %old, %v
  store i32 %new, ptr %p
  ret i32 %new
}
""",
)
COPYSIGN = CustomOperation(
    "copysign",
    (Operand(f32), Operand(f32)),
    f32,
    np.copysign,
    "call float @llvm.copysign.f32(float {0}, float {1})",
    is_inline=True,
    declarations=("declare float @llvm.copysign.f32(float, float)",),
)
custom.register(MARK)
custom.register(COPYSIGN)


def custom_statement() -> Program:
    """A statement with an effect runs once per iteration, in order."""
    x = integers(5)
    rows = (
        *arguments(i32, 5, (i32, 5)),
        Const(2, 5, i64), Const(3, 0, i64), Const(4, 0, i32),
        Buffer(5, i32, 1), Store(5, 3, 4, None),
        Range(6, 2, 0, "normal"),
        Load(7, 1, 6, None, i32), Custom(8, "mark", (5, 3, 7), i32), Store(0, 6, 8, None),
        EndRange(6),
    )  # fmt: skip
    return Program(rows, (x,), np.cumsum(x).astype("int32"), "%8 = custom %5 %3 %7 mark i32")


def custom_inline() -> Program:
    """An expression runs on all iterations at once."""
    x, y = floats(7), floats(7)
    rows = (
        *arguments(f32, 7, (f32, 7), (f32, 7)),
        Const(3, 7, i64),
        Range(4, 3, 0, "normal"),
        Load(5, 1, 4, None, f32), Load(6, 2, 4, None, f32),
        Custom(7, "copysign", (5, 6), f32), Store(0, 4, 7, None),
        EndRange(4),
    )  # fmt: skip
    return Program(rows, (x, y), np.copysign(x, y), "%7 = customi %5 %6 copysign f32")


def markers() -> Program:
    """Blocks, a fence and nothing at all change nothing."""
    x = integers(3)
    rows = (
        *arguments(i32, 3, (i32, 3)),
        Block(7, True),
        Const(2, 3, i64),
        Range(3, 2, 0, "normal"),
        Block(8, True), Load(4, 1, 3, None, i32), Noop(), Block(8, False),
        Barrier(),
        Store(0, 3, 4, None),
        EndRange(3),
        Block(7, False),
    )  # fmt: skip
    return Program(rows, (x,), x, "endblock 8")


PROGRAMS: dict[str, Callable[[], Program]] = {
    each.__name__: each
    for each in (
        local_in_a_loop, buffer_between_loops, bools_in_scratch, variables,
        if_carries_accumulators, nested_ifs_with_loops, an_if_guards_memory, vector_constants,
        lanes_joined_and_taken, lanes_of_two, vector_accumulator, masked_vectors,
        vectors_under_one_predicate, converted_vectors, gather_through_pointers,
        product_of_tiles, product_in_scratch, products_of_words, products_of_halves,
        custom_statement, custom_inline, markers,
    )
}  # fmt: skip
