"""accumulate: the instructions of a reduction, over loops, registers side by side, and lanes.

    Before:  %4 = reduce sum(%3) over r1.0 (a loop), r1.1 (unrolled 4), r1.2 (a vector of 16)
    After:   four accumulators of 16 lanes, each folds every fourth turn in the loop of r1.0;
             behind it they are added in pairs, then the halves of the one that is left

A reduction has an accumulator for each register of its result. It has more where that would be
too few to keep the arithmetic units busy (each addition waits for the one before), up to one for
each of its own unrolled turns.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from compiler.loops import nodes as loops
from compiler.loops.nodes import ScalarNode
from compiler.lowered.instructions import Acc, Alu, Assign
from compiler.lowered.machine import Gep
from compiler.lowered.tiles import Key, Tile, Tiles, Turns
from compiler.lowered.values import Values
from compiler.ops import REDUCTIONS

BUSY = 16
"""Vector registers of sums that keep two units of a latency of four busy, with some to spare."""
REGISTER = 64
"""Bytes of a vector register."""


@dataclass(slots=True)
class _Sums:
    """A reduction under way: which registers hold the values folded so far."""

    outer: Tile
    own: Tile
    lanes: int
    is_loop: bool
    parallel: int
    registers: dict[tuple[Key, int], int] = field(default_factory=dict)


class Accumulators:
    """The reductions of a body, `products` being those that a multiply-add computes."""

    def __init__(self, values: Values, products: set[ScalarNode]) -> None:
        self.values = values
        self.products = products
        self._open: dict[loops.Reduce, _Sums] = {}

    def begin(self, node: loops.Reduce) -> None:
        """Before the loops: the accumulators take the identity of the reduction."""
        values, sums = self.values, _sums(self.values.tiles, node)
        self._open[node] = sums
        if not sums.is_loop:
            return
        start = values.broadcast(values.plain(identity(node)), sums.lanes, node.dtype)
        for turns in sums.outer.combinations():
            for number in range(sums.parallel):
                register = values.write(lambda out: Acc(out, start, node.dtype, sums.lanes))
                sums.registers[sums.outer.key(turns), number] = register

    def fold(self, node: loops.Reduce) -> None:
        """In the innermost loop: each accumulator takes more values."""
        sums = self._open[node]
        for number, own in enumerate(sums.own.combinations()):
            for outer in sums.outer.combinations():
                place = sums.outer.key(outer), number % sums.parallel
                self._take(node, sums, place, outer | own)

    def _take(
        self, node: loops.Reduce, sums: _Sums, place: tuple[Key, int], turns: Turns
    ) -> None:
        """One accumulator takes one more value; the sum of a product is one mulacc."""
        values, held = self.values, sums.registers.get(place)
        value, lanes = node.sources[0], sums.lanes
        if value in self.products:
            factors = tuple(values.operand(s, turns, lanes) for s in value.sources)
            op, arguments = ("mul", factors) if held is None else ("mulacc", (*factors, held))
        else:
            register = values.operand(value, turns, lanes)
            if held is None:
                sums.registers[place] = register
                return
            op, arguments = REDUCTIONS[node.op].combine, (held, register)
        is_marked = sums.is_loop
        joined = values.write(lambda out: Alu(out, op, arguments, node.dtype, is_marked, lanes))
        if held is None or not sums.is_loop:
            sums.registers[place] = joined
            return
        values.append(Assign(held, joined))

    def finish(self, node: loops.Reduce) -> None:
        """After the loops: what several accumulators and lanes hold becomes one value."""
        sums = self._open.pop(node)
        is_folded = any(r.level == "vector" for r in node.ranges)
        for turns in sums.outer.combinations():
            key = sums.outer.key(turns)
            parts = [sums.registers[key, number] for number in range(sums.parallel)]
            result = self._pairs(node, parts, sums.lanes)
            if is_folded:
                result = self._halves(node, result, sums.lanes)
            self.values.hold(node, result, key)

    def _pairs(self, node: loops.Reduce, parts: Sequence[int], lanes: int) -> int:
        """Registers folded in pairs, then pairs of these."""
        while len(parts) > 1:
            joined = [
                self._combine(node, parts[i], parts[i + 1], lanes)
                for i in range(0, len(parts) - 1, 2)
            ]
            parts = [*joined, *parts[len(joined) * 2 :]]
        return parts[0]

    def _halves(self, node: loops.Reduce, register: int, lanes: int) -> int:
        """The lanes of a register folded: its halves, then halves of these."""
        rest: list[int] = []
        while lanes > 1:
            half = lanes // 2
            if lanes % 2:
                rest.append(self._lanes(node, register, (lanes - 1,)))
            low = self._lanes(node, register, tuple(range(half)))
            high = self._lanes(node, register, tuple(range(half, 2 * half)))
            register, lanes = self._combine(node, low, high, half), half
        return self._pairs(node, [register, *rest], 1)

    def _lanes(self, node: loops.Reduce, register: int, lanes: tuple[int, ...]) -> int:
        return self.values.write(lambda out: Gep(out, register, lanes, node.dtype))

    def _combine(self, node: loops.Reduce, a: int, b: int, lanes: int) -> int:
        op = REDUCTIONS[node.op].combine
        return self.values.write(lambda out: Alu(out, op, (a, b), node.dtype, lanes=lanes))


def identity(node: loops.Reduce) -> loops.Const:
    """The value an accumulator of this reduction starts with."""
    return loops.const(REDUCTIONS[node.op].identity(node.dtype), node.dtype)


def _sums(tiles: Tiles, node: loops.Reduce) -> _Sums:
    """How a reduction is spread over registers."""
    outer, own = tiles.of(node), tiles.over(node.ranges)
    lanes = tiles.over(tiles.needs[node.sources[0]] | set(node.ranges)).lanes
    is_loop = any(r.level == "loop" for r in node.ranges)
    results = sum(1 for _ in outer.combinations())
    turns = sum(1 for _ in own.combinations())
    used = results * -(-lanes * node.dtype.itemsize // REGISTER)
    return _Sums(outer, own, lanes, is_loop, max(1, min(turns, BUSY // used)))
