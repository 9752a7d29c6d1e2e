"""accumulate: the instructions of a reduction, over loops, unrolled registers, and lanes.

    Before:  %4 = reduce sum(%3) over r1.0 (a loop), r1.1 (unrolled 4), r1.2 (a vector of 16)
    After:   four accumulators of 16 lanes, each folds every fourth iteration in the loop of r1.0;
             behind it they are added in pairs, then the halves of the one that is left

A reduction has an accumulator for each register of its result. If these are too few to hide the
latency of an addition, it has more, up to one for each of its own unrolled iterations.

The remainder of a tiled reduction is a part of its own (`joins.py`): parts are combined lane by
lane.

`maximum` and `minimum` propagate NaN, but the fast instructions for them do not. So lanes use the
fast instructions, and one more accumulator records where a NaN was.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from compiler.core.dtypes import DType, bool_
from compiler.loops import nodes as loops
from compiler.loops.dots import dot_range, factors
from compiler.loops.nodes import ScalarNode, const
from compiler.lowered.instructions import Acc, Alu, Assign
from compiler.lowered.joins import folded_later
from compiler.lowered.machine import Dot, Gep
from compiler.lowered.tiles import Iterations, Key, Tile, Tiles
from compiler.lowered.values import Values
from compiler.ops.table import REDUCTIONS

BUSY = 16
"""Vector accumulators that hide the latency of four of two units, with some to spare. A sum
of 65,537 takes 4.50, 3.29, 3.26, 3.25 and 3.24 µs with 1, 4, 8, 16 and 32 (EPYC, AVX2,
2026-11-23)."""
REGISTER = 64
"""Bytes of a vector register of AVX-512."""


@dataclass(slots=True)
class _Sums:
    """The state of a reduction: the registers that hold its partial results."""

    outer: Tile
    own: Tile
    lanes: int
    is_loop: bool
    parallel: int
    registers: dict[tuple[Key, int], int] = field(default_factory=dict)
    forgotten: dict[Key, int] = field(default_factory=dict)
    """For each register of the result, the accumulator that is true where a NaN was."""
    taken: dict[Key, list[int]] = field(default_factory=dict)
    """The values of the current iteration, if NaNs are recorded separately."""


class Accumulators:
    """The reductions of a body; `products` are computed by fused multiply-adds."""

    def __init__(self, values: Values, products: set[ScalarNode]) -> None:
        self.values = values
        self.products = products
        self.later = folded_later(values.tiles, products)
        self._open: dict[loops.Reduce, _Sums] = {}

    def begin(self, node: loops.Reduce) -> None:
        """Before the loops: set the accumulators to the identity of the reduction."""
        values, sums = self.values, _sums(self.values.tiles, node)
        self._open[node] = sums
        if not sums.is_loop:
            return
        start = values.broadcast(values.plain(identity(node)), sums.lanes, node.dtype)
        for iterations in sums.outer.combinations():
            for number in range(sums.parallel):
                register = values.write(lambda out: Acc(out, start, node.dtype, sums.lanes))
                sums.registers[sums.outer.key(iterations), number] = register
        if _forgets(node, sums):
            none = values.broadcast(values.constant(0, bool_), sums.lanes, bool_)
            for iterations in sums.outer.combinations():
                register = values.write(lambda out: Acc(out, none, bool_, sums.lanes))
                sums.forgotten[sums.outer.key(iterations)] = register

    def fold(self, node: loops.Reduce) -> None:
        """In the innermost loop: combine each accumulator with more values."""
        sums = self._open[node]
        for number, own in enumerate(sums.own.combinations()):
            for outer in sums.outer.shortest_fastest():
                place = sums.outer.key(outer), number % sums.parallel
                self._take(node, sums, place, outer | own)
        for key, register in sums.forgotten.items():
            taken = sums.taken.pop(key)
            each = [self._alu("ne", (x, x), bool_, sums.lanes) for x in taken]
            found = self._pairs("or", each, sums.lanes)
            joined = self._alu("or", (register, found), bool_, sums.lanes)
            self.values.append(Assign(register, joined))

    def _take(
        self, node: loops.Reduce, sums: _Sums, place: tuple[Key, int], iterations: Iterations
    ) -> None:
        """Combine one accumulator with one value; the sum of a product is one mulacc."""
        values, held = self.values, sums.registers.get(place)
        value, lanes = node.sources[0], sums.lanes
        if dot_range(node) is not None:
            self._dot(node, sums, place, iterations)
            return
        if value in self.products:
            factors = tuple(values.operand(s, iterations, lanes) for s in value.sources)
            op, arguments = ("mul", factors) if held is None else ("mulacc", (*factors, held))
        else:
            register = values.operand(value, iterations, lanes)
            if held is None:
                sums.registers[place] = register
                return
            if place[0] in sums.forgotten:
                self._compare(node, sums, place, register)
                return
            op, arguments = REDUCTIONS[node.op].combine, (held, register)
        is_marked = sums.is_loop
        joined = values.write(lambda out: Alu(out, op, arguments, node.dtype, is_marked, lanes))
        if held is None or not sums.is_loop:
            sums.registers[place] = joined
            return
        values.append(Assign(held, joined))

    def _dot(
        self, node: loops.Reduce, sums: _Sums, place: tuple[Key, int], iterations: Iterations
    ) -> None:
        """Add the products of a word in each lane to one accumulator."""
        values, axis, found = self.values, dot_range(node), factors(node.sources[0])
        assert axis is not None and found is not None, "invariant 15"
        a, b = (self._word(each, iterations, axis.extent) for each in found)
        held = sums.registers.get(place)
        if held is None:
            start = values.plain(identity(node))
            before = values.broadcast(start, sums.lanes, node.dtype)
        else:
            before = held
        joined = values.write(
            lambda out: Dot(out, a, b, before, node.dtype, axis.extent, sums.lanes)
        )
        if held is None or not sums.is_loop:
            sums.registers[place] = joined
            return
        values.append(Assign(held, joined))

    def _word(self, node: ScalarNode, iterations: Iterations, parts: int) -> int:
        """The register of a factor: a word for each lane, or one for all."""
        lanes = self.values.tiles.of(node).lanes
        return self.values.operand(node, iterations, max(lanes, parts))

    def finish(self, node: loops.Reduce) -> None:
        """After the loops: combine several accumulators and lanes into one value."""
        sums = self._open.pop(node)
        op = REDUCTIONS[node.op].combine
        is_folded = any(r.level == "vector" for r in node.ranges)
        for iterations in sums.outer.combinations():
            key = sums.outer.key(iterations)
            parts = [sums.registers[key, number] for number in range(sums.parallel)]
            if key in sums.forgotten:
                result = self._remember(node, sums, key, parts)
            else:
                result = self._pairs(op, parts, sums.lanes, node.dtype)
            if is_folded and node not in self.later:
                result = self._halves(op, result, sums.lanes, node.dtype)
            self.values.hold(node, result, key)

    def is_join(self, node: ScalarNode) -> bool:
        """True if a node combines parts of a reduction that are still vectors."""
        return isinstance(node, loops.Alu) and node.sources[0] in self.later

    def join(self, node: loops.Alu) -> None:
        """Combine two parts of a reduction, and then their lanes unless the result is a part as
        well."""
        values, tile = self.values, self.values.tiles.of(node)
        lanes = self.later[node.sources[0]]
        for iterations in tile.combinations():
            key = tile.key(iterations)
            parts = tuple(values.held(s, key) for s in node.sources)
            result = self._alu(node.op, parts, node.dtype, lanes)
            if node not in self.later:
                result = self._halves(node.op, result, lanes, node.dtype)
            values.hold(node, result, key)

    def _compare(
        self, node: loops.Reduce, sums: _Sums, place: tuple[Key, int], register: int
    ) -> None:
        """The maximum, or minimum, of the accumulator and a value, ignoring NaN."""
        held = sums.registers[place]
        sums.taken.setdefault(place[0], []).append(register)
        self.values.append(Assign(held, self._better(node, register, held, sums.lanes)))

    def _better(self, node: loops.Reduce, a: int, b: int, lanes: int) -> int:
        """`a` where it is the greater, or the smaller, else `b`."""
        is_better = self._alu(REDUCTIONS[node.op].better, (a, b), bool_, lanes)
        return self._alu("where", (is_better, a, b), node.dtype, lanes)

    def _remember(self, node: loops.Reduce, sums: _Sums, key: Key, parts: Sequence[int]) -> int:
        """Combine the lanes of several accumulators; NaN where one was ignored."""
        result, lanes = parts[0], sums.lanes
        for part in parts[1:]:
            result = self._better(node, part, result, lanes)
        nan = self.values.constant(const(math.nan, node.dtype).bits, node.dtype)
        everywhere = self.values.broadcast(nan, lanes, node.dtype)
        choice = (sums.forgotten[key], everywhere, result)
        return self._alu("where", choice, node.dtype, lanes)

    def _pairs(self, op: str, parts: Sequence[int], lanes: int, dtype: DType = bool_) -> int:
        """Combine registers in pairs, then pairs of these: a tree."""
        while len(parts) > 1:
            joined = [
                self._alu(op, (parts[i], parts[i + 1]), dtype, lanes)
                for i in range(0, len(parts) - 1, 2)
            ]
            parts = [*joined, *parts[len(joined) * 2 :]]
        return parts[0]

    def _halves(self, op: str, register: int, lanes: int, dtype: DType) -> int:
        """Combine the lanes of a register: its halves, then halves of these."""
        rest: list[int] = []
        while lanes > 1:
            half = lanes // 2
            if lanes % 2:
                rest.append(self._lanes(register, (lanes - 1,), dtype))
            low = self._lanes(register, tuple(range(half)), dtype)
            high = self._lanes(register, tuple(range(half, 2 * half)), dtype)
            register, lanes = self._alu(op, (low, high), dtype, half), half
        return self._pairs(op, [register, *rest], 1, dtype)

    def _lanes(self, register: int, lanes: tuple[int, ...], dtype: DType) -> int:
        return self.values.write(lambda out: Gep(out, register, lanes, dtype))

    def _alu(self, op: str, arguments: tuple[int, ...], dtype: DType, lanes: int) -> int:
        return self.values.write(lambda out: Alu(out, op, arguments, dtype, lanes=lanes))


def _forgets(node: loops.Reduce, sums: _Sums) -> bool:
    """True if NaNs are recorded separately: in lanes of floats."""
    return bool(REDUCTIONS[node.op].better) and node.dtype.is_float and sums.lanes > 1


def identity(node: loops.Reduce) -> loops.Const:
    """The initial value of an accumulator of this reduction."""
    return loops.const(REDUCTIONS[node.op].identity(node.dtype), node.dtype)


def _sums(tiles: Tiles, node: loops.Reduce) -> _Sums:
    """The registers and accumulators of a reduction."""
    outer, own = tiles.of(node), tiles.over(node.ranges)
    lanes = tiles.over(tiles.needs[node.sources[0]] | set(node.ranges)).words
    is_loop = any(r.level == "loop" for r in node.ranges)
    results = sum(1 for _ in outer.combinations())
    iterations = sum(1 for _ in own.combinations())
    used = results * -(-lanes * node.dtype.itemsize // REGISTER)
    return _Sums(outer, own, lanes, is_loop, max(1, min(iterations, BUSY // used)))
