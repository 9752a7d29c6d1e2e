"""Bodies of loops as the transformations make them, built by hand, and what each computes.

`BODIES` has for each name the body, the sizes of the arguments, the values of its variables, and
its result from the inputs: matrices in row-major order, as NumPy computes it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.loops import nodes
from compiler.loops.nodes import Body, ScalarNode, alu, const, index

Array = np.ndarray[Any, Any]
f32 = dtypes.float32
TRUE = const(True, dtypes.bool_)
Part = tuple[int, ...]


@dataclass(frozen=True)
class Example:
    """A body, the number of elements of its arguments, out first, and its result."""

    body: Body
    sizes: tuple[int, ...]
    result: Callable[[Sequence[Array]], Array]
    variables: Mapping[str, int] = field(default_factory=dict)

    def arguments(self) -> list[Array]:
        """Random inputs, and an output full of what no kernel leaves behind."""
        generator = np.random.default_rng(1)
        made = [generator.standard_normal(size).astype(np.float32) for size in self.sizes]
        made[0][...] = 77
        return made


def axis(
    extent: int | ScalarNode,
    number: int,
    part: Part = (),
    level: nodes.Level = "loop",
    role: nodes.Role = "normal",
    tasks: int = 0,
) -> nodes.Range:
    """A range that is part of an axis, at a level."""
    bound = index(extent) if isinstance(extent, int) else extent
    return nodes.Range((bound,), number, role, 0, level, part, tasks)


def plus(*terms: ScalarNode | int) -> ScalarNode:
    """A sum of index expressions."""
    first, *others = (index(t) if isinstance(t, int) else t for t in terms)
    for each in others:
        first = alu("add", first, each)
    return first


def times(factor: ScalarNode, by: int) -> ScalarNode:
    """A multiple of an index expression."""
    return alu("mul", factor, index(by))


def out(size: int) -> nodes.Argument:
    """The argument that is written."""
    return nodes.Argument((), 0, f32, size, True)


def given(slot: int, size: int) -> nodes.Argument:
    """An argument that is read."""
    return nodes.Argument((), slot, f32, size, False)


def matmul_in_tiles() -> Example:
    """8×6 by 6×32: register tiles of 4 rows by 16 lanes, rows over two tasks."""
    a, b = given(1, 48), given(2, 192)
    rows, row = axis(2, 0, (0,), "core", tasks=2), axis(4, 0, (1,), "unroll")
    columns, column = axis(2, 1, (0,)), axis(16, 1, (1,), "vector")
    r = axis(6, 2, role="reduction")
    i, j = plus(times(rows, 4), row), plus(times(columns, 16), column)
    product = alu(
        "mul", nodes.Load((a, plus(times(i, 6), r))), nodes.Load((b, plus(times(r, 32), j)))
    )
    total = nodes.Reduce((product, r), "sum")
    store = nodes.Store((out(256), plus(times(i, 32), j), total, rows, columns, row, column))
    return Example(
        Body((store,)), (256, 48, 192),
        lambda x: (x[1].reshape(8, 6) @ x[2].reshape(6, 32)).reshape(-1),
    )  # fmt: skip


def masked_tail() -> Example:
    """22 elements in vectors of 8: the last one is half beyond the end."""
    outer, lane = axis(3, 0, (0,)), axis(8, 0, (1,), "vector")
    i = plus(times(outer, 8), lane)
    predicate = alu("lt", i, index(22))
    value = alu("mul", nodes.Load((given(1, 22), i, predicate)), const(2.0, f32))
    store = nodes.Store((out(22), i, value, outer, lane, predicate))
    return Example(Body((store,)), (22, 22), lambda x: x[1] * np.float32(2))


def peeled_row_sum() -> Example:
    """Sums of rows of 21: in two unrolled lines of 8 lanes, then the rest."""
    i, x = axis(3, 0), given(1, 63)
    outer, line = axis(1, 1, (0,), role="reduction"), axis(2, 1, (1, 0), "unroll", "reduction")
    lane, rest = axis(8, 1, (1, 1), "vector", "reduction"), axis(5, 1, (2,), role="reduction")
    start = times(i, 21)
    main = nodes.Load((x, plus(start, times(outer, 16), times(line, 8), lane)))
    total = alu("add", nodes.Reduce((main, outer, line, lane), "sum"),
                nodes.Reduce((nodes.Load((x, plus(start, 16, rest))), rest), "sum"))  # fmt: skip
    body = Body((nodes.Store((out(3), i, total, i)),))
    return Example(body, (3, 63), lambda x: x[1].reshape(3, 21).sum(1))


def softmax_row() -> Example:
    """Softmax of rows of 10, whose exponentials are kept in scratch memory between two passes."""
    i, x, local = axis(4, 0), given(1, 40), nodes.Local((), 0, f32, 10)
    r1, k2 = axis(10, 1, role="reduction"), axis(10, 2)
    r3, i4 = axis(10, 3, role="reduction"), axis(10, 4)
    greatest = nodes.Reduce((nodes.Load((x, plus(times(i, 10), r1))), r1), "max")
    power = alu("exp", alu("sub", nodes.Load((x, plus(times(i, 10), k2))), greatest))
    kept = nodes.After((local, nodes.Store((local, k2, power, k2))))
    total = nodes.Reduce((nodes.Load((kept, r3)), r3), "sum")
    value = alu("fdiv", nodes.Load((kept, i4)), total)
    store = nodes.Store((out(40), plus(times(i, 10), i4), value, i, i4))
    return Example(Body((store,)), (40, 40), lambda x: _softmax(x[1].reshape(4, 10)).reshape(-1))


def _softmax(x: Array) -> Array:
    power = np.exp(x - x.max(1, keepdims=True))
    return np.asarray(power / power.sum(1, keepdims=True))


def packed_panel() -> Example:
    """4×6 by 6×16, where 8 columns of the right matrix at a time are copied side by side."""
    a, b, local = given(1, 24), given(2, 96), nodes.Local((), 0, f32, 48)
    panel, i, lane = axis(2, 1, (0,), "core", tasks=2), axis(4, 0), axis(8, 1, (1,), "vector")
    k3, k4 = axis(6, 3), axis(8, 4)
    r = axis(6, 2, role="reduction")
    copied = nodes.Load((b, plus(times(k3, 16), times(panel, 8), k4)))
    filled = nodes.After((local, nodes.Store((local, plus(times(k3, 8), k4), copied, k3, k4))))
    product = alu("mul", nodes.Load((a, plus(times(i, 6), r))),
                  nodes.Load((filled, plus(times(r, 8), lane))))  # fmt: skip
    where = plus(times(i, 16), times(panel, 8), lane)
    store = nodes.Store((out(64), where, nodes.Reduce((product, r), "sum"), panel, i, lane))
    return Example(
        Body((store,)), (64, 24, 96),
        lambda x: (x[1].reshape(4, 6) @ x[2].reshape(6, 16)).reshape(-1),
    )  # fmt: skip


def column_sums() -> Example:
    """Sums of the columns of 5×12, row by row into scratch memory, 6 columns at a time."""
    x, local = given(1, 60), nodes.Local((), 0, f32, 6)
    panel, column = axis(2, 0, (0,)), axis(6, 0, (1,))
    k1 = axis(6, 1)
    s2, s3 = axis(5, 2, role="serial"), axis(6, 3, role="serial")
    zero = nodes.Store((local, k1, const(0.0, f32), k1))
    value = nodes.Load((x, plus(times(s2, 12), times(panel, 6), s3)))
    joined = nodes.Update((nodes.After((local, zero)), s3, value, TRUE, s2, s3), "add")
    total = nodes.Load((nodes.After((local, joined)), column))
    store = nodes.Store((out(12), plus(times(panel, 6), column), total, panel, column))
    return Example(Body((store,)), (12, 60), lambda x: x[1].reshape(5, 12).sum(0))


def main_and_rest() -> Example:
    """Rows of 3×11 less their greatest: 8 lanes and a rest of 3 in one loop over the rows."""
    i, x, r = axis(3, 0), given(1, 33), axis(11, 2, role="reduction")
    lane, rest = axis(8, 1, (1,), "vector"), axis(3, 1, (2,))
    greatest = nodes.Reduce((nodes.Load((x, plus(times(i, 11), r))), r), "max")

    def nest(column: ScalarNode, *ranges: nodes.Range) -> nodes.Store:
        where = plus(times(i, 11), column)
        return nodes.Store(
            (out(33), where, alu("sub", nodes.Load((x, where)), greatest), i, *ranges)
        )

    body = Body((nest(lane, lane), nest(plus(8, rest), rest)))
    return Example(
        body, (33, 33), lambda x: (x[1].reshape(3, 11) - x[1].reshape(3, 11).max(1)[:, None])
        .reshape(-1),
    )  # fmt: skip


def variable_tiles() -> Example:
    """The first n of at most 20 elements by 8, and the rest of n % 8."""
    n = nodes.DefineVar((), "n", 0, 20)
    whole, left = alu("idiv", n, index(8)), alu("mod", n, index(8))
    outer, lane = axis(whole, 0, (0,)), axis(8, 0, (1,), "vector")
    rest = axis(left, 0, (2,))

    def nest(i: ScalarNode, *ranges: nodes.Range) -> nodes.Store:
        return nodes.Store((out(20), i, alu("neg", nodes.Load((given(1, 20), i))), *ranges))

    body = Body((nest(plus(times(outer, 8), lane), outer, lane),
                 nest(plus(times(whole, 8), rest), rest)))  # fmt: skip
    return Example(body, (20, 20), lambda x: np.append(-x[1][:13], np.full(7, 77)), {"n": 13})


BODIES: dict[str, Callable[[], Example]] = {
    "matmul in tiles": matmul_in_tiles,
    "masked tail": masked_tail,
    "peeled row sum": peeled_row_sum,
    "softmax row": softmax_row,
    "packed panel": packed_panel,
    "column sums": column_sums,
    "main and rest": main_and_rest,
    "variable tiles": variable_tiles,
}
