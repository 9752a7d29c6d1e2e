"""joins: the parts of a tiled reduction are combined as vectors, so that lanes are combined once.

    %17 = reduce max over r2.0, r2.1 (lanes)     whole tiles
    %83 = reduce max over r2.2.1 (lanes)         the remainder
    %85 = max(%17, %83)

Reducing the lanes of each part would take several dependent steps per part. Combined lane by lane
first, which is one step, the lanes are reduced once, after the last part.
"""

from collections.abc import Collection, Mapping, Sequence

from compiler.core.node import users
from compiler.loops.nodes import Alu, Reduce, ScalarNode
from compiler.lowered.tiles import Tiles
from compiler.ops.table import REDUCTIONS


def folded_later(tiles: Tiles, products: Collection[ScalarNode]) -> dict[ScalarNode, int]:
    """The parts and joins that stay vectors for the join that reads them, with their lanes.

    A join in `products` is excluded: a fused multiply-add computes it from reduced values.
    """
    readers = users(tiles.order)
    parts: dict[ScalarNode, tuple[str, int]] = {}
    later: dict[ScalarNode, int] = {}
    for node in tiles.order:
        found = _part(tiles, node)
        if isinstance(node, Alu) and node not in products:
            found = _joined(tiles, node, parts, readers)
            if found is not None:
                later |= dict.fromkeys(node.sources, found[1])
        if found is not None:
            parts[node] = found
    return later


def _part(tiles: Tiles, node: ScalarNode) -> tuple[str, int] | None:
    """The combining operation of a reduction, and its lanes; None if it has no lanes."""
    if not isinstance(node, Reduce) or tiles.of(node).lanes > 1:
        return None
    lanes = tiles.over(node.ranges).lanes
    return (REDUCTIONS[node.op].combine, lanes) if lanes > 1 else None


def _joined(
    tiles: Tiles,
    node: Alu,
    parts: Mapping[ScalarNode, tuple[str, int]],
    readers: Mapping[ScalarNode, Sequence[ScalarNode]],
) -> tuple[str, int] | None:
    """The same for a node that combines two parts that nothing else reads."""
    first, second = node.sources[0], node.sources[-1]
    found = parts.get(first)
    is_join = found is not None and found[0] == node.op and first is not second
    if not is_join or len(node.sources) != 2 or parts.get(second) != found:
        return None
    is_alone = all(len(set(readers[s])) == 1 for s in node.sources)
    is_alike = tiles.of(first) == tiles.of(second) == tiles.of(node)
    return found if is_alone and is_alike else None
