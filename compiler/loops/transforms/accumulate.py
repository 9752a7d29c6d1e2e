"""accumulate: a reduction over a strided axis adds whole rows to scratch memory.

    Choice:  accumulate r1 4
    Before:  for i0 in 64
               acc %0 = 0.0
               for r1 in 100   reduction
                 %1 = in1[r1*64 + i0]
                 %0 = sum(%0, %1)
               out[i0] = %0
    After:   local0 f32[64]   scratch
             r3 in 4   reduction   unrolled
             r6 in 4   reduction   unrolled
             for i2 in 64
               %0 = in1[r3*64 + i2]
               acc %1 = 0.0
               %1 = sum(%1, %0)
               local0[i2] = %1
             for s4 in 24   serial
               for s5 in 64   serial
                 %2 = in1[s4*256 + r6*64 + s5 + 256]
                 acc %3 = 0.0
                 %3 = sum(%3, %2)
                 local0[s5] = add(local0[s5], %3) if True
             for i0 in 64
               %4 = local0[i0]
               out[i0] = %4

The plain loop has strided accesses: it uses little of each cache line that it reads. Here every row
is read from begin to end, a few rows at a time, while the sums of all columns stay in a near cache.
The remainder of the rows, or the first group, initialises the sums. `at` names the axis that
contains the columns; without it they are the whole output. Groups of more than 16 rows are loops,
so that tiles of a product can run along one group after the other.

Relies on: `tile` and `reorder` have created the axes of the output; the reduction is not tiled.
Ensures: the same sums, in another order.
"""

import math
from typing import Any

from compiler.core.dtypes import bool_
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.loops import nodes
from compiler.loops.choices import Accumulate, Choices
from compiler.loops.nodes import Body, ScalarNode, alu, const, index, linear
from compiler.loops.placement import dependencies
from compiler.loops.simplify import simplified
from compiler.loops.transforms.axes import axes, copied, find, record, refuse, swapped, swapped_body
from compiler.loops.transforms.cascade import BLOCK, LONG, is_rounded
from compiler.loops.transforms.levels import length
from compiler.loops.transforms.staging import (
    axes_inside,
    free_numbers,
    levels_of,
    local_numbers,
    own_loops,
    own_memory,
    variable_axis,
)
from compiler.ops.table import REDUCTIONS

MOST_ROWS = 16
"""Rows at a time; each is a stream for the hardware prefetcher. Column sums of 4096² take 2.8 ms
with 4 and, with 16, the 4.1 of a row at a time (EPYC, AVX2, 2026-11-23)."""


def accumulate(
    body: Body, choices: Choices, provenance: Provenance[Any], matches: list[Match] | None = None
) -> Body:
    """`body` with every reduction that an Accumulate names in scratch memory."""
    for choice in choices.of(Accumulate):
        axis = find(axes(body), choice.axis, choice, choices)
        at = find(axes(body), choice.at, choice, choices) if choice.at else None
        if axis is None or (choice.at and at is None):
            continue
        _check(axis, choice)
        before = body
        for fold in _folds(body, axis):
            columns = _columns(body, fold, at, choice)
            if columns:
                sums = _Sums(body, fold, columns, choice, choices, provenance)
                done = sums.of(index(0), fold.ranges[0].extent)
                total = nodes.Load((done, linear(columns, sums.shape)))
                body = swapped_body(body, {fold: total}, provenance)
        if body is before:
            refuse(choice, "the reduction has no columns there", "a sum for each of several")
        record(matches, choice, before, body)
    return simplified(body, provenance, matches) if choices.of(Accumulate) else body


def _check(axis: nodes.Range, choice: Accumulate) -> None:
    """Refuse an axis that is no reduction, or a tiled one."""
    if axis.role != "reduction":
        refuse(choice, f"{axis.name} is not reduced", "the axis of a reduction")
    if axis.part or length(axis) is None:
        refuse(choice, f"{axis.name} is tiled, or has a variable trip count", "a whole axis")
    if choice.rows < 1:
        refuse(choice, f"{choice.rows} iterations at a time", "1 or more")
    if axis.extent < 1:
        refuse(choice, f"{axis.name} has no iterations", "1 or more")


def _folds(body: Body, axis: nodes.Range) -> list[nodes.Reduce]:
    order: list[ScalarNode] = toposort([body])
    return [node for node in order if isinstance(node, nodes.Reduce) and axis in node.ranges]


def _columns(
    body: Body, fold: nodes.Reduce, at: nodes.Range | None, choice: Accumulate
) -> tuple[nodes.Range, ...]:
    """The axes of the row of sums; none where a nest is not inside `at`."""
    needs = dependencies(body)
    columns = axes_inside(body, fold, at, needs[fold])
    if len(fold.ranges) != 1:
        refuse(choice, f"{choice.axis} is reduced together with others", "one axis")
    if not columns:
        return ()
    variable = variable_axis(columns)
    if variable is not None:
        refuse(choice, f"{variable.name} has a variable trip count", "a fixed one")
    return columns


class _Sums:
    """The sums of one reduction, for each of its columns, in scratch memory."""

    def __init__(
        self,
        body: Body,
        fold: nodes.Reduce,
        columns: tuple[nodes.Range, ...],
        choice: Accumulate,
        choices: Choices,
        provenance: Provenance[Any],
    ) -> None:
        self.body, self.fold, self.columns, self.rows = body, fold, columns, choice.rows
        self.provenance = provenance
        self.numbers, self.memories = free_numbers(body), local_numbers(body)
        self.shape = tuple(r.extent for r in columns)
        self.levels = levels_of(columns, [True] * len(columns), choices)

    def of(self, begin: ScalarNode, trips: int) -> nodes.After:
        """Memory, once it has the sums of `trips` rows from `begin` on: `rows` rows are added at a
        time, or sums of more rows where these would be many (`cascade.py`)."""
        lot = self.rows
        while is_rounded(self.fold) and trips // lot > LONG:
            lot *= BLOCK
        head = trips % lot or min(lot, trips)
        done = self._begun(begin, head) if lot == self.rows else self.of(begin, head)
        count = (trips - head) // lot
        return self._added(done, alu("add", begin, index(head)), lot, count) if count else done

    def _begun(self, begin: ScalarNode, rows: int) -> nodes.After:
        """Memory with the sums of the first rows."""
        local = nodes.Local((), next(self.memories), self.fold.dtype, math.prod(self.shape))
        loops = self._own("normal")
        value = self._partial(loops, begin, rows)
        store = nodes.Store((local, linear(loops, self.shape), value, *loops))
        return nodes.After((local, store))

    def _added(self, done: nodes.After, begin: ScalarNode, rows: int, count: int) -> nodes.After:
        """The memory once `count` groups of `rows` rows from `begin` on are added."""
        lot = nodes.Range((index(count),), next(self.numbers), "serial")
        copied(lot, self.fold.ranges[0], self.provenance)
        first = alu("add", alu("mul", lot, index(rows)), begin)
        sums = None if rows == self.rows else self.of(first, rows)
        serial = self._own("serial")
        place = linear(serial, self.shape)
        value = self._partial(serial, first, rows) if sums is None else nodes.Load((sums, place))
        loops = sorted((lot, *serial), key=lambda r: r.level != "loop")
        operands = (done, place, value, const(True, bool_), *loops)
        update = nodes.Update(operands, REDUCTIONS[self.fold.op].combine)
        return nodes.After((done.sources[0], update))

    def _own(self, role: nodes.Role) -> tuple[nodes.Range, ...]:
        """Loops over the columns."""
        return own_loops(self.numbers, self.columns, self.levels, self.provenance, role)

    def _partial(
        self, loops: tuple[nodes.Range, ...], begin: ScalarNode, rows: int
    ) -> ScalarNode:
        """The unrolled reduction of `rows` rows from `begin` on."""
        fold, axis = self.fold, self.fold.ranges[0]
        moved = own_memory(self.body, (*self.columns, axis), self.memories)
        moved.update(zip(self.columns, loops, strict=True))
        level: nodes.Level = "unroll" if rows <= MOST_ROWS else "loop"
        few = nodes.Range((index(rows),), next(self.numbers), "reduction", 0, level)
        copied(few, axis, self.provenance)
        iteration = begin if rows == 1 else alu("add", begin, few)
        value = swapped(fold.sources[0], {axis: iteration, **moved}, self.provenance, True)
        return value if rows == 1 else nodes.Reduce((value, few), fold.op)
