"""joins: the parts of one reduction, as a tile and its rest leave them: lanes are folded once.

    %17 = reduce max over r2.0, r2.1 (lanes)     whole tiles
    %83 = reduce max over r2.2.1 (lanes)         what is left of them
    %85 = max(%17, %83)

The lanes of each part could be folded by themselves. Joined lane by lane first, they are folded
once, behind the last join: a fold is several steps that wait for one another, a join is one.
"""

from collections.abc import Collection, Mapping, Sequence

from compiler.core.node import users
from compiler.loops.nodes import Alu, Reduce, ScalarNode
from compiler.lowered.tiles import Tiles
from compiler.ops.table import REDUCTIONS


def folded_later(tiles: Tiles, products: Collection[ScalarNode]) -> dict[ScalarNode, int]:
    """Parts and joins that stay vectors, of so many lanes, for the join that reads them.

    A join among `products` is none: a multiply-add computes it, of what is folded.
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
    """How a reduction joins its values, and in how many lanes; None where it has none."""
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
    """The same for what joins two parts that nothing else reads."""
    first, second = node.sources[0], node.sources[-1]
    found = parts.get(first)
    is_join = found is not None and found[0] == node.op and first is not second
    if not is_join or len(node.sources) != 2 or parts.get(second) != found:
        return None
    is_alone = all(len(set(readers[s])) == 1 for s in node.sources)
    is_alike = tiles.of(first) == tiles.of(second) == tiles.of(node)
    return found if is_alone and is_alike else None
