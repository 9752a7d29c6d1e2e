"""Kernels on vectors, written by hand: lanes, predicates with several lanes, gathers."""

import numpy as np

from compiler.lowered.instructions import (
    Acc,
    Alu,
    Assign,
    Bitcast,
    Cast,
    Const,
    EndRange,
    Load,
    Range,
    Store,
)
from compiler.lowered.machine import Gep, PtrCat, Shuffle, Unroll, VConst, Vectorize
from tests.lowered.hand_written import (
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

_rng = np.random.default_rng(6)


def vector_constants() -> Program:
    """out[4 i …] = in1[4 i …] * (1, -0.0, inf, 0.5), four lanes at a time."""
    x = floats(12)
    factors = np.array([1.0, -0.0, np.inf, 0.5], "float32")
    rows = (
        *arguments(f32, 12, (f32, 12)),
        Const(2, 3, i64), Const(3, 4, i64),
        VConst(4, tuple(number(float(v), f32) for v in factors), f32),
        Range(5, 2, 0, "normal"),
        Alu(6, "mul", (5, 3), i64), Load(7, 1, 6, None, f32, 4),
        Alu(8, "mul", (7, 4), f32, False, 4), Store(0, 6, 8, None, 4),
        EndRange(5),
    )  # fmt: skip
    expected = (x.reshape(3, 4) * factors).reshape(-1)
    return Program(rows, (x,), expected, "%4 = vconst [1.0, -0.0, inf, 0.5] f32x4")


def lanes_joined_and_taken() -> Program:
    """Pairs are swapped, and their difference is spread."""
    x = integers(6)
    rows = (
        *arguments(i32, 12, (i32, 6)),
        Const(2, 3, i64), Const(3, 2, i64), Const(4, 4, i64),
        Range(5, 2, 0, "normal"),
        Alu(6, "mul", (5, 3), i64), Load(7, 1, 6, None, i32, 2),
        Gep(8, 7, (1, 0), i32), Gep(9, 8, (0,), i32), Gep(10, 8, (1,), i32),
        Alu(11, "sub", (9, 10), i32), Vectorize(12, (9, 10, 11, 11), i32),
        Alu(13, "mul", (5, 4), i64), Store(0, 13, 12, None, 4),
        EndRange(5),
    )  # fmt: skip
    a, b = x[::2], x[1::2]
    expected = np.stack([b, a, b - a, b - a], 1).reshape(-1)
    return Program(rows, (x,), expected, "%12 = vectorize %9 %10 %11 %11 i32x4")


def lanes_of_two() -> Program:
    """Two rows of four become columns; five lanes of both follow."""
    x = integers(8)
    rows = (
        *arguments(i32, 13, (i32, 8)),
        Const(2, 0, i64), Const(3, 4, i64), Const(4, 8, i64),
        Load(5, 1, 2, None, i32, 4), Load(6, 1, 3, None, i32, 4),
        Shuffle(7, 5, 6, (0, 4, 1, 5, 2, 6, 3, 7), i32), Shuffle(8, 6, 5, (7, 0, 0, 1, 4), i32),
        Store(0, 2, 7, None, 8), Store(0, 4, 8, None, 5),
    )  # fmt: skip
    expected = np.append(x.reshape(2, 4).T.reshape(-1), x[[3, 4, 4, 5, 0]])
    return Program(rows, (x,), expected, "%8 = shuffle %6 %5 [7, 0, 0, 1, 4] i32x5")


def vector_accumulator() -> Program:
    """Four partial sums in one register, unrolled twice, joined at the end."""
    x = integers(20, "int64")
    rows = (
        *arguments(i64, 1, (i64, 20)),
        Const(2, 5, i64), Const(3, 4, i64), Const(4, 0, i64),
        VConst(5, (0, 0, 0, 0), i64),
        Acc(6, 5, i64, 4),
        Unroll(2),
        Range(7, 2, 0, "reduction"),
        Alu(8, "mul", (7, 3), i64), Load(9, 1, 8, None, i64, 4),
        Alu(10, "add", (6, 9), i64, True, 4), Assign(6, 10),
        EndRange(7),
        Gep(11, 6, (0, 1), i64), Gep(12, 6, (2, 3), i64), Alu(13, "add", (11, 12), i64, False, 2),
        Gep(14, 13, (0,), i64), Gep(15, 13, (1,), i64), Alu(16, "add", (14, 15), i64),
        Store(0, 4, 16, None),
    )  # fmt: skip
    return Program(rows, (x,), x.sum(keepdims=True), "unroll 2")


def masked_vectors() -> Program:
    """Lane by lane: reads above 0 where the index is inside, writes where it is inside."""
    x = integers(6)
    rows = (
        *arguments(i32, 6, (i32, 6)),
        Const(2, 2, i64), Const(3, 4, i64),
        VConst(4, (0, 1, 2, 3), i64), VConst(5, (6, 6, 6, 6), i64), VConst(6, (9, 9, 9, 9), i32),
        Range(7, 2, 0, "normal"),
        Alu(8, "mul", (7, 3), i64), Vectorize(9, (8, 8, 8, 8), i64),
        Alu(10, "add", (9, 4), i64, False, 4), Alu(11, "lt", (10, 5), bool_, False, 4),
        Load(12, 1, 8, 11, i32, 4), Alu(13, "add", (12, 6), i32, False, 4),
        Store(0, 8, 13, 11, 4),
        EndRange(7),
    )  # fmt: skip
    return Program(rows, (x,), x + np.int32(9), "%12 = load i32x4 %1[%8] if %11 else 0")


def vectors_under_one_predicate() -> Program:
    """A predicate with one lane holds for a whole vector; bools are bytes in memory."""
    x = _rng.integers(0, 2, 8).astype(bool)
    rows = (
        *arguments(bool_, 8, (bool_, 8)),
        Const(2, 2, i64), Const(3, 4, i64), Const(4, 0, i64),
        Range(5, 2, 0, "normal"),
        Alu(6, "mul", (5, 3), i64), Alu(7, "eq", (5, 4), bool_),
        Load(8, 1, 6, 7, bool_, 4), Alu(9, "not", (8,), bool_, False, 4),
        Store(0, 6, 9, None, 4), Alu(10, "not", (7,), bool_), Store(0, 6, 8, 10, 4),
        EndRange(5),
    )  # fmt: skip
    expected = np.concatenate([~x[:4], np.zeros(4, bool)])
    return Program(rows, (x,), expected, "store x4 %0[%6] = %8 if %10")


def converted_vectors() -> Program:
    """Floats to integers that saturate, and their bits back, in each lane."""
    x = np.array([1.9, -2.9, np.nan, 1e20], "float32")
    rows = (
        *arguments(i32, 8, (f32, 4)),
        Const(2, 0, i64), Const(3, 4, i64),
        Load(4, 1, 2, None, f32, 4), Cast(5, 4, i32, 4), Store(0, 2, 5, None, 4),
        Bitcast(6, 4, i32, 4), Store(0, 3, 6, None, 4),
    )  # fmt: skip
    expected = np.array([1, -2, 0, 2**31 - 1], "int32")
    return Program(rows, (x,), np.concatenate([expected, x.view("int32")]), "%5 = cast %4 i32x4")


def gather_through_pointers() -> Program:
    """Lane by lane another memory, at one index; then one memory, at an index per lane."""
    a, b = integers(4), integers(4)
    rows = (
        *arguments(i32, 16, (i32, 4), (i32, 4)),
        Const(3, 4, i64), Const(4, 2, i64), Const(5, 3, i64), Const(6, 8, i64),
        PtrCat(7, (1, 2), i32),
        PtrCat(8, (2, 2), i32),
        VConst(9, (1, 0), bool_),
        Range(10, 3, 0, "normal"),
        Load(11, 7, 10, None, i32, 2),
        Alu(12, "mul", (10, 4), i64), Store(0, 12, 11, None, 2),
        Alu(13, "sub", (5, 10), i64), Alu(14, "add", (10, 6), i64),
        Vectorize(15, (13, 14), i64), Load(16, 8, 15, 9, i32, 2),
        Alu(17, "add", (12, 6), i64), Store(0, 17, 16, None, 2),
        EndRange(10),
    )  # fmt: skip
    near = np.stack([a, b], 1).reshape(-1)
    far = np.stack([b[::-1], np.zeros(4, "int32")], 1).reshape(-1)
    return Program(rows, (a, b), np.concatenate([near, far]), "%7 = ptrcat %1 %2 i32x2")
