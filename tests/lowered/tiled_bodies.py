"""Bodies with unrolled registers and lanes, in sizes that the lanes do not divide.

`CASES` has for each name a body, its inputs, and what NumPy computes from them.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.loops.nodes import (
    After,
    Argument,
    Body,
    Cast,
    Load,
    Local,
    Range,
    Reduce,
    ScalarNode,
    Store,
    Update,
    alu,
    const,
    index,
)
from tests.loops.bodies import TRUE, axis, plus, times

Array = np.ndarray[Any, Any]
f16, f32, f64 = dtypes.float16, dtypes.float32, dtypes.float64
i32, i64, bool_ = dtypes.int32, dtypes.int64, dtypes.bool_
TYPES = (f16, f32, f64, i32, i64, bool_)


@dataclass(frozen=True)
class Case:
    """A body, the inputs in slots 1, 2, …, and what is in slot 0 afterwards."""

    body: Body
    inputs: tuple[Array, ...]
    expected: Array
    tolerance: float = 0.0
    variables: Mapping[str, int] = field(default_factory=dict)

    def arguments(self) -> list[Array]:
        """Fresh arrays for a run, each of which begins at a cache line."""
        result = np.full(self.expected.shape, 77).astype(self.expected.dtype)
        return [in_line(each) for each in (result, *self.inputs)]

    def check(self, result: Array) -> None:
        """The result is NumPy's, to the bit unless a tolerance is given."""
        assert result.dtype == self.expected.dtype
        np.testing.assert_allclose(result, self.expected, rtol=self.tolerance, atol=self.tolerance)


def in_line(array: Array) -> Array:
    """A copy that begins at a cache line."""
    raw = np.empty(array.nbytes + 64, np.uint8)
    begin = -raw.ctypes.data % 64
    copy = raw[begin : begin + array.nbytes].view(array.dtype)
    copy[...] = array
    return copy


def data(size: int, dtype: DType, seed: int = 0) -> Array:
    """Random numbers, small enough that sums of integers and of halves stay exact."""
    generator = np.random.default_rng(seed)
    if dtype == bool_:
        return generator.integers(0, 2, size).astype(bool)
    if dtype.is_float:
        return generator.standard_normal(size).astype(dtype.numpy)
    return generator.integers(-9, 9, size).astype(dtype.numpy)


def reads(slot: int, size: int, dtype: DType = f32) -> Argument:
    """The argument of a slot."""
    return Argument((), slot, dtype, size, False)


def writes(size: int, dtype: DType = f32) -> Argument:
    """The argument that is written."""
    return Argument((), 0, dtype, size, True)


def masked(dtype: DType, size: int, lanes: int) -> Case:
    """x + x, the last vector predicated."""
    outer, lane = axis(-(-size // lanes), 0, (0,)), axis(lanes, 0, (1,), "vector")
    i = plus(times(outer, lanes), lane)
    predicate = alu("lt", i, index(size))
    x = Load((reads(1, size, dtype), i, predicate))
    given = data(size, dtype)
    store = Store((writes(size, dtype), i, alu("add", x, x), outer, lane, predicate))
    return Case(Body((store,)), (given,), given + given)


def transposed(dtype: DType, rows: int, columns: int, lanes: int) -> Case:
    """A matrix transposed in square blocks of lanes, with remainders to the right and below."""
    given = data(rows * columns, dtype)
    x, out = reads(1, rows * columns, dtype), writes(rows * columns, dtype)

    def nest(i: ScalarNode, j: ScalarNode, *ranges: Range) -> Store:
        read = Load((x, plus(times(i, columns), j)))
        return Store((out, plus(times(j, rows), i), read, *ranges))

    def stores() -> Iterator[Store]:
        high, wide = rows // lanes, columns // lanes
        outer, lane = axis(high, 0, (0,)), axis(lanes, 0, (1,), "vector")
        across, side = axis(wide, 1, (0,)), axis(lanes, 1, (1,), "unroll")
        i, j = plus(times(outer, lanes), lane), plus(times(across, lanes), side)
        yield nest(i, j, outer, across, side, lane)
        if columns % lanes:
            beside = axis(columns % lanes, 1, (2,), "unroll")
            yield nest(i, plus(wide * lanes, beside), outer, beside, lane)
        if rows % lanes:
            below, last = axis(rows % lanes, 0, (2,)), plus(high * lanes)
            yield nest(plus(last, below), j, below, across, side)
            if columns % lanes:
                yield nest(plus(last, below), plus(wide * lanes, beside), below, beside)

    expected = given.reshape(rows, columns).T.reshape(-1)
    return Case(Body(tuple(stores())), (given,), expected)


def scattered(rows: int, lanes: int) -> Case:
    """Lanes that are a row apart where they are written."""
    given = data(rows * lanes, i32)
    i, lane = axis(rows, 0), axis(lanes, 1, (), "vector")
    read = Load((reads(1, rows * lanes, i32), plus(times(i, lanes), lane)))
    store = Store((writes(rows * lanes, i32), plus(times(lane, rows), i), read, i, lane))
    return Case(Body((store,)), (given,), given.reshape(rows, lanes).T.reshape(-1))


def exchanged(dtype: DType, side: int, lanes: int, kept: int) -> Case:
    """Registers of lanes that are stored in rows: of `side`, of which lanes share the others."""
    given, blocks = data(3 * side * lanes, dtype), 3
    i, side_by_side = axis(blocks, 0), axis(side, 1, (), "unroll")
    lane = axis(lanes, 2, (), "vector")
    x = Load((reads(1, given.size, dtype),
              plus(times(i, side * lanes), times(side_by_side, lanes), lane)))  # fmt: skip
    where = plus(times(i, side), times(lane, blocks * side), side_by_side)
    predicates = () if kept == lanes else (alu("lt", lane, index(kept)),)
    out = writes(kept * blocks * side, dtype)
    store = Store((out, where, x, i, side_by_side, lane, *predicates))
    expected = given.reshape(blocks, side, lanes).transpose(2, 0, 1)[:kept].reshape(-1)
    return Case(Body((store,)), (given,), expected)


def gathered(size: int, lanes: int) -> Case:
    """Elements picked by indices that are data, and steps of two."""
    picks = np.random.default_rng(2).integers(0, size, lanes * 3)
    given = data(size, f32)
    outer, lane = axis(3, 0, (0,)), axis(lanes, 0, (1,), "vector")
    i = plus(times(outer, lanes), lane)
    picked = Load((reads(2, lanes * 3, i64), i))
    clamped = alu("min", alu("max", picked, index(0)), index(size - 1))
    a = Load((reads(1, size), clamped))
    b = Load((reads(1, size), times(lane, 2)))
    expected = given[picks] + np.tile(given[: 2 * lanes : 2], 3)
    store = Store((writes(lanes * 3), i, alu("add", a, b), outer, lane))
    return Case(Body((store,)), (given, picks), expected)


def every_other(dtype: DType, size: int, lanes: int, begin: int) -> Case:
    """Every second element from `begin` on: whole vectors, the last one predicated, and none before
    the first element that there is."""
    given = data(size, dtype)
    wanted = -(-size // 2)
    outer, lane = axis(-(-wanted // lanes), 0, (0,)), axis(lanes, 0, (1,), "vector")
    i = plus(times(outer, lanes), lane)
    where = plus(times(i, 2), index(begin))
    is_there = alu("and", alu("ge", where, index(0)), alu("lt", where, index(size)))
    kept = alu("lt", i, index(wanted))
    read = Load((reads(1, size, dtype), where, alu("and", is_there, kept)))
    store = Store((writes(wanted, dtype), i, read, outer, lane, kept))
    expected = np.zeros(wanted, dtype.numpy)
    for place in range(wanted):
        if 0 <= 2 * place + begin < size:
            expected[place] = given[2 * place + begin]
    return Case(Body((store,)), (given,), expected)


def every_other_of_all(dtype: DType, lanes: int) -> Case:
    """The even and the odd elements, up to the last there is, and no predicate."""
    given = data(lanes * 6, dtype)
    outer, lane = axis(3, 0, (0,)), axis(lanes, 0, (1,), "vector")
    i = plus(times(outer, lanes), lane)
    x = reads(1, given.size, dtype)
    even, odd = Load((x, times(i, 2))), Load((x, plus(times(i, 2), index(1))))
    store = Store((writes(lanes * 3, dtype), i, alu("max", even, odd), outer, lane))
    return Case(Body((store,)), (given,), np.maximum(given[::2], given[1::2]))


def counted(lanes: int) -> Case:
    """Iterations and lanes as values: 100·i + 10·j + lane, as int64 and divided by three."""
    i, j, lane = axis(3, 0), axis(2, 1, (), "unroll"), axis(lanes, 2, (), "vector")
    size = 6 * lanes
    where = plus(times(i, 2 * lanes), times(j, lanes), lane)
    value = plus(times(i, 100), times(j, 10), lane)
    third = alu("idiv", value, index(3))
    total = alu("add", value, Cast((alu("lt", third, index(5)),), i64))
    ones = np.arange(3)[:, None, None] * 100 + np.arange(2)[:, None] * 10 + np.arange(lanes)
    expected = (ones + (ones // 3 < 5)).reshape(-1)
    store = Store((writes(size, i64), where, total, i, j, lane))
    return Case(Body((store,)), (), expected)


def folded(op: str, dtype: DType, trips: int, side: int, lanes: int, spoil: bool = False) -> Case:
    """Rows folded: in loops, registers and lanes; `spoil` puts a NaN into one."""
    rows, length = 3, trips * side * lanes
    given = data(rows * length, dtype, 3)
    if spoil:
        given[length + length // 2] = np.nan
    i, r0 = axis(rows, 0), axis(trips, 1, (0,), "loop", "reduction")
    r1 = axis(side, 1, (1, 0), "unroll", "reduction")
    r2 = axis(lanes, 1, (1, 1), "vector", "reduction")
    inside = plus(times(r0, side * lanes), times(r1, lanes), r2)
    read = Load((reads(1, rows * length, dtype), plus(times(i, length), inside)))
    total = Reduce((read, r0, r1, r2), op)
    store = Store((writes(rows, dtype), i, total, i))
    matrix = given.reshape(rows, length)
    fold = {"sum": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply}[op]
    expected = fold.reduce(matrix.astype(np.float64) if dtype.is_float else matrix, axis=1)
    tolerance = {16: 3e-2, 32: 1e-4, 64: 1e-12}[dtype.bits] if dtype.is_float else 0.0
    return Case(Body((store,)), (given,), expected.astype(dtype.numpy), tolerance)


def unrolled_whole() -> Case:
    """A window of 3 by 2 of weights: no loop is left of the reduction."""
    size, lanes = 40, 8
    x, w = data(size, f32), data(6, f32, 1)
    i, lane = axis(4, 0, (0,)), axis(lanes, 0, (1,), "vector")
    a, b = (axis(n, k, (), "unroll", "reduction") for n, k in ((3, 1), (2, 2)))
    where = plus(times(i, lanes), lane)
    offset = plus(times(a, 2), b)
    product = alu("mul", Load((reads(1, size), plus(where, offset))), Load((reads(2, 6), offset)))
    store = Store((writes(32), where, Reduce((product, a, b), "sum"), i, lane))
    expected = np.convolve(x.astype(np.float64), w[::-1], "valid")[:32].astype(np.float32)
    return Case(Body((store,)), (x, w), expected, 1e-5)


def matmul(m: int, n: int, k: int, tile: tuple[int, int, int], dtype: DType, deep: int) -> Case:
    """A product with packed panels, rows over three tasks, `deep` iterations of the sum at once."""
    high, wide, lanes = tile
    block = wide * lanes
    panels, rest = n // block, k % deep
    a, b = data(m * k, dtype, 1), data(k * n, dtype, 2)
    assert m % high == n % block == 0
    local = Local((), 0, dtype, k * block)
    rows = axis(m // high, 0, (0,), "core", tasks=3)
    panel, row = axis(panels, 1, (0,)), axis(high, 0, (1,), "unroll")
    column, lane = axis(wide, 1, (1,), "unroll"), axis(lanes, 1, (2,), "vector")
    k3, k4, k5 = axis(k, 3), axis(wide, 4, (0,), "unroll"), axis(lanes, 4, (1,), "vector")
    inside = plus(times(k4, lanes), k5)
    read = Load((reads(2, k * n, dtype), plus(times(k3, n), times(panel, block), inside)))
    packed = Store((local, plus(times(k3, block), inside), read, k3, k4, k5))
    filled = After((local, packed))
    i, j = plus(times(rows, high), row), plus(times(column, lanes), lane)

    def fold(r: ScalarNode, *ranges: Range) -> Reduce:
        x = Load((reads(1, m * k, dtype), plus(times(i, k), r)))
        return Reduce((alu("mul", x, Load((filled, plus(times(r, block), j)))), *ranges), "sum")

    r0 = axis(k // deep, 2, (0,), "loop", "reduction")
    r1 = axis(deep, 2, (1,), "unroll", "reduction")
    total: ScalarNode = fold(plus(times(r0, deep), r1), r0, r1)
    if rest:
        r2 = axis(rest, 2, (2,), "loop", "reduction")
        total = alu("add", total, fold(plus(k - rest, r2), r2))
    where = plus(times(i, n), times(panel, block), j)
    store = Store((writes(m * n, dtype), where, total, rows, panel, row, column, lane))
    exact = a.reshape(m, k).astype(np.float64) @ b.reshape(k, n).astype(np.float64)
    tolerance = {16: 0.1, 32: 1e-3, 64: 1e-11}[dtype.bits] if dtype.is_float else 0.0
    return Case(Body((store,)), (a, b), exact.reshape(-1).astype(dtype.numpy), tolerance)


def softmax(rows: int, trips: int, lanes: int, side: int) -> Case:
    """Rows whose exponentials are kept in scratch memory, `side` rows at once."""
    length = trips * lanes
    x, local = reads(1, rows * side * length), Local((), 0, f32, side * length)
    outer, inner = axis(rows, 0, (0,)), axis(side, 0, (1,), "unroll")
    own = axis(side, 5, (), "unroll")

    def start(row: Range) -> ScalarNode:
        return times(plus(times(outer, side), row), length)

    def pair(number: int, role: Any = "normal") -> tuple[Range, Range, ScalarNode]:
        a = axis(trips, number, (0,), "loop", role)
        b = axis(lanes, number, (1,), "vector", role)
        return a, b, plus(times(a, lanes), b)

    r0, r1, r = pair(1, "reduction")
    greatest = Reduce((Load((x, plus(start(own), r))), r0, r1), "max")
    k0, k1, k = pair(2)
    power = alu("exp", alu("sub", Load((x, plus(start(own), k))), greatest))
    kept = After((local, Store((local, plus(times(own, length), k), power, own, k0, k1))))
    s0, s1, s = pair(3, "reduction")
    total = Reduce((Load((kept, plus(times(inner, length), s))), s0, s1), "sum")
    i0, i1, i = pair(4)
    value = alu("fdiv", Load((kept, plus(times(inner, length), i))), total)
    where = plus(start(inner), i)
    store = Store((writes(rows * side * length), where, value, outer, inner, i0, i1))
    given = data(rows * side * length, f32, 4)
    matrix = given.astype(np.float64).reshape(-1, length)
    expected = np.exp(matrix - matrix.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)
    return Case(Body((store,)), (given,), expected.reshape(-1).astype(np.float32), 1e-5)


def column_sums(dtype: DType, rows: int, trips: int, lanes: int) -> Case:
    """Sums of columns, row by row into scratch memory, lanes at a time."""
    length = trips * lanes
    x, local = reads(1, rows * length, dtype), Local((), 0, dtype, length)
    k0, k1 = axis(trips, 1, (0,)), axis(lanes, 1, (1,), "vector")
    s2, s3 = axis(rows, 2, role="serial"), axis(trips, 3, (0,), "loop", "serial")
    s4 = axis(lanes, 3, (1,), "vector", "serial")
    i0, i1 = axis(trips, 0, (0,)), axis(lanes, 0, (1,), "vector")
    zero = Store((local, plus(times(k0, lanes), k1), const(0, dtype), k0, k1))
    where = plus(times(s3, lanes), s4)
    value = Load((x, plus(times(s2, length), where)))
    joined = Update((After((local, zero)), where, value, TRUE, s2, s3, s4), "add")
    i = plus(times(i0, lanes), i1)
    store = Store((writes(length, dtype), i, Load((After((local, joined)), i)), i0, i1))
    given = data(rows * length, dtype, 6)
    matrix = given.reshape(rows, length)
    expected = matrix.any(0) if dtype == bool_ else matrix.sum(0, dtype=dtype.numpy)
    return Case(Body((store,)), (given,), expected, 1e-5 if dtype.is_float else 0.0)


def streamed(size: int, lanes: int) -> Case:
    """A copy past the caches, and the rest as usual."""
    outer, lane = axis(size // lanes, 0, (0,)), axis(lanes, 0, (1,), "vector")
    rest = axis(size % lanes, 0, (2,))
    x, out = reads(1, size), writes(size)
    i, j = plus(times(outer, lanes), lane), plus(size // lanes * lanes, rest)
    body = Body((Store((out, i, Load((x, i)), outer, lane), is_streamed=True),
                 Store((out, j, Load((x, j)), rest), is_streamed=True)))  # fmt: skip
    given = data(size, f32)
    return Case(body, (given,), given)


def in_place(size: int, lanes: int) -> Case:
    """The argument written is doubled: in vectors, two at a time, then the rest."""
    outer, side = axis(size // (2 * lanes), 0, (0,)), axis(2, 0, (1, 0), "unroll")
    lane, rest = axis(lanes, 0, (1, 1), "vector"), axis(size % (2 * lanes), 0, (2,))
    out = writes(size)

    def nest(i: ScalarNode, *ranges: Range) -> Store:
        before = Load((out, i))
        return Store((out, i, alu("add", before, before), *ranges))

    main = nest(plus(times(outer, 2 * lanes), times(side, lanes), lane), outer, side, lane)
    last = nest(plus(size // (2 * lanes) * 2 * lanes, rest), rest)
    return Case(Body((main, last)), (), np.full(size, 154, np.float32))


def left_to_one(rows: int, tasks: int) -> Case:
    """Rows over several runs, and a rest that one of them writes, counted up once."""
    i, rest = axis(rows, 0, (0,), "core", tasks=tasks), axis(3, 0, (2,))
    out, x = writes(rows + 3, i32), reads(1, rows + 3, i32)
    last = plus(rows, rest)
    serial = axis(3, 1, (), "loop", "serial")
    joined = Update((out, plus(rows, serial), const(5, i32), TRUE, serial), "add")
    copies = Store((out, i, Load((x, i)), i)), Store((out, last, Load((x, last)), rest))
    body = Body((*copies, joined))
    given = data(rows + 3, i32)
    return Case(body, (given,), given + np.array([0] * rows + [5] * 3, np.int32))


def shared_out(rows: int, tasks: int) -> Case:
    """Rows over more or fewer runs than there are rows; a row statistic in each."""
    length = 16
    i, lane = axis(rows, 0, (), "core", tasks=tasks), axis(length, 1, (), "vector")
    r = axis(length, 2, (), "vector", "reduction")
    x = reads(1, rows * length, f64)
    total = Reduce((Load((x, plus(times(i, length), r))), r), "sum")
    where = plus(times(i, length), lane)
    store = Store((writes(rows * length, f64), where, alu("sub", Load((x, where)), total), i, lane))
    given = data(rows * length, f64)
    matrix = given.reshape(rows, length)
    expected = (matrix - matrix.sum(1, keepdims=True)).reshape(-1)
    return Case(Body((store,)), (given,), expected, 1e-12)


CASES: dict[str, Callable[[], Case]] = {
    **{f"masked {t} {n}": lambda t=t, n=n: masked(t, n, 16) for t in TYPES for n in (1, 16, 37)},
    **{f"transposed {t} {m}×{n}": lambda t=t, m=m, n=n: transposed(t, m, n, 8)
       for t in TYPES for m, n in ((8, 8), (19, 27))},
    "transposed 16×16": lambda: transposed(f32, 35, 48, 16),
    "scattered": lambda: scattered(5, 8),
    **{f"exchanged {t} {side} by {lanes}, {kept}":
       lambda t=t, side=side, lanes=lanes, kept=kept: exchanged(t, side, lanes, kept)
       for t in TYPES for side, lanes, kept in ((8, 8, 8), (13, 8, 5), (3, 16, 16))},
    "gathered": lambda: gathered(29, 8),
    **{f"every other {t} of {n} from {begin}":
       lambda t=t, n=n, begin=begin: every_other(t, n, 8, begin)
       for t in TYPES for n, begin in ((1, 0), (31, 0), (48, 1), (55, -3))},
    **{f"every other {t} of {lanes}": lambda t=t, lanes=lanes: every_other_of_all(t, lanes)
       for t in TYPES for lanes in (2, 4, 16)},
    "counted": lambda: counted(8),
    **{f"{op} of {t}": lambda op=op, t=t: folded(op, t, 3, 4, 8)
       for op in ("sum", "max", "min", "prod") for t in (f16, f32, f64, i32, i64)},
    **{f"{op} with NaN in {n} lanes": lambda op=op, n=n: folded(op, f32, 2, 3, n, True)
       for op in ("max", "min", "sum") for n in (4, 6, 16)},
    "sum in lanes alone": lambda: folded("sum", f32, 1, 1, 7),
    "window unrolled": unrolled_whole,
    **{f"matmul of {t}": lambda t=t: matmul(20, 96, 19, (4, 2, 16), t, 2)
       for t in (f16, f32, f64, i32)},
    "matmul in 8×3": lambda: matmul(16, 96, 21, (8, 3, 16), f32, 4),
    "matmul with much scratch": lambda: matmul(8, 64, 301, (4, 2, 16), f32, 1),
    "softmax": lambda: softmax(3, 5, 8, 1),
    "softmax of two rows at once": lambda: softmax(2, 3, 16, 2),
    **{f"column sums of {t}": lambda t=t: column_sums(t, 7, 3, 8) for t in (f32, f64, i32)},
    "in place": lambda: in_place(75, 16),
    "left to one": lambda: left_to_one(10, 4),
    "streamed": lambda: streamed(100, 16),
    **{f"{rows} rows over {tasks}": lambda r=rows, t=tasks: shared_out(r, t)
       for rows, tasks in ((7, 3), (2, 5), (4, 4))},
}  # fmt: skip
