"""scans: the instructions of a scan, over unrolled registers and lanes.

    Before:  for s1 in 10   serial
               %3 = scan sum(%2) along s1
    After:     %5 = acc %4 f32
             %6 = range %1 s1 serial
               …
               %9 = add %5 %8 f32
               assign %5 = %9

There is an accumulator for each register of the result. The combining operation is not marked as a
reduction, so that its order stays that of the loop.
"""

from collections.abc import Mapping

from compiler.graph.kinds.scan import start
from compiler.loops import nodes as loops
from compiler.loops.nodes import const
from compiler.loops.placement import LoopBlock
from compiler.lowered.instructions import Acc, Alu, Assign
from compiler.lowered.tiles import Key
from compiler.lowered.values import Values
from compiler.ops.table import REDUCTIONS


class Scans:
    """The scans of a body under `top`."""

    def __init__(self, values: Values, top: LoopBlock) -> None:
        self.values = values
        self.inside = _inside(top)
        self._held: dict[tuple[loops.Scan, Key], int] = {}

    def begin(self, block: LoopBlock) -> None:
        """Before the loop: the accumulators of the scans along it."""
        for node in self.inside.get(block, ()):
            self.values.node = node
            self._begin(node)

    def _begin(self, node: loops.Scan) -> None:
        values, tile, dtype = self.values, self.values.tiles.of(node), node.dtype
        first = values.constant(const(start(node.op, dtype), dtype).bits, dtype)
        register = values.broadcast(first, tile.lanes, dtype)
        for iterations in tile.combinations():
            made = values.write(lambda out: Acc(out, register, dtype, tile.lanes))
            self._held[node, tile.key(iterations)] = made

    def take(self, node: loops.Scan) -> None:
        """In the loop: combine each accumulator with one more value; the result is the scan."""
        values, tile = self.values, self.values.tiles.of(node)
        for iterations in tile.combinations():
            key = tile.key(iterations)
            held = self._held[node, key]
            value = values.operand(node.sources[0], iterations, tile.lanes)
            joined = self._joined(node, (held, value), tile.lanes)
            values.append(Assign(held, joined))
            values.hold(node, joined, key)

    def _joined(self, node: loops.Scan, both: tuple[int, int], lanes: int) -> int:
        combine = REDUCTIONS[node.op].combine
        return self.values.write(lambda out: Alu(out, combine, both, node.dtype, lanes=lanes))


def _inside(top: LoopBlock) -> Mapping[LoopBlock, list[loops.Scan]]:
    """For each loop the scans along it, at any depth inside."""
    found: dict[LoopBlock, list[loops.Scan]] = {}
    stack: list[tuple[LoopBlock, tuple[LoopBlock, ...]]] = [(top, (top,))]
    while stack:
        block, path = stack.pop()
        for item in block.items:
            if isinstance(item, LoopBlock):
                stack.append((item, (*path, item)))
            elif isinstance(item, loops.Scan):
                around = next(each for each in path if each.range is item.axis)
                found.setdefault(around, []).append(item)
    return found
