"""tile: strip-mining, which with `reorder` is loop tiling. An axis is split into fixed-size tiles.

    Choice:  tile i0 16 peel
    Before:  for i0 in 50
               %0 = in1[i0]
               %1 = exp(%0)
               out[i0] = %1
    After:   for i0.0 in 3
               for i0.1 in 16
                 %0 = in1[i0.0*16 + i0.1]
                 %1 = exp(%0)
                 out[i0.0*16 + i0.1] = %1
             for i0.2 in 2
               %2 = in1[i0.2 + 48]
               %3 = exp(%2)
               out[i0.2 + 48] = %3

The remainder, here 2 of 50, is peeled: a store gets a second nest, a reduction a second reduction
that is combined with the first ("peel"). Or there is one more tile, in which iterations outside the
axis are masked ("mask"): loads and stores get a predicate, a reduction takes its identity. Nests
without iterations are left out, and so are loops with a single one. An axis whose extent is a
variable n has n // size tiles and n % size iterations left.

Relies on: `coalesce` has run: each axis is as long as possible.
Ensures: the same elements and reductions; a reduction with a remainder changes its order.
"""

from collections.abc import Mapping
from typing import Any

from compiler.core.trace import Match, Provenance
from compiler.loops import nodes
from compiler.loops.axis_names import INNER, OUTER, REST
from compiler.loops.choices import Choices, Tile
from compiler.loops.indices import both
from compiler.loops.nodes import Body, ScalarNode, alu, const, index
from compiler.loops.placement import Nest, dependencies, operands_of
from compiler.loops.simplify import simplified
from compiler.loops.transforms.axes import (
    axes,
    copied,
    find,
    rebuilt,
    record,
    refuse,
    remade,
    swapped,
)
from compiler.loops.transforms.staging import local_numbers, own_memory
from compiler.ops.table import REDUCTIONS

Part = tuple[ScalarNode, tuple[nodes.Range, ...]]
"""The value that replaces the axis, and the ranges in its place."""
Memories = Mapping[ScalarNode, ScalarNode]


def tile(
    body: Body, choices: Choices, provenance: Provenance[Any], matches: list[Match] | None = None
) -> Body:
    """`body` with the axis of every Tile split, in order."""
    for choice in choices.of(Tile):
        axis = find(axes(body), choice.axis, choice, choices)
        if axis is None:
            continue
        _check(axis, choice, choices)
        if choice.tail == "mask":
            body = _divided_no_more(body, axis, provenance, matches)
            cut = _masked(body, axis, choice.size, provenance)
        else:
            cut = peeled(body, axis, choice.size, provenance)
        record(matches, choice, body, cut)
        body = cut
    return simplified(body, provenance, matches)


def _check(axis: nodes.Range, choice: Tile, choices: Choices) -> None:
    """Refuse an axis that cannot be split."""
    if choice.size < 1:
        refuse(choice, "a tile has no iterations", "1 or more")
    if choice.tail not in ("peel", "mask"):
        refuse(choice, f"there is no tail {choice.tail}", "peel or mask")
    if axis.role == "serial":
        refuse(choice, f"{axis.name} is the order of updates: it stays", "another axis")
    if axis.part[-1:] == (REST,) and not _is_fixed(axis):
        what = f"{axis.name} is the remainder of an axis with a variable trip count"
        refuse(choice, what, "another axis")
    masked = (tile.axis for tile in choices.of(Tile) if tile.tail == "mask")
    is_masked = any(map(axis.name.is_part_of, masked))
    if is_masked and not (_is_fixed(axis) and axis.extent % choice.size == 0):
        what = f"{axis.name} is part of an axis whose remainder is masked"
        refuse(choice, what, f"a size that divides its {axis.extent} iterations")


def peeled(body: Body, axis: nodes.Range, size: int, provenance: Provenance[Any]) -> Body:
    """Each nest over `axis` twice: over whole tiles, and over the remainder."""
    parts = [part for part in (_whole(axis, size), _left(axis, size)) if part is not None]
    if not parts:
        return body
    change = _folds if axis.role == "reduction" else _nests
    memories = own_memory(body, [axis], local_numbers(body))

    def each(node: ScalarNode, sources: tuple[ScalarNode, ...]) -> ScalarNode:
        return change(node.with_sources(sources), axis, parts, memories, provenance)

    return rebuilt(body, each, provenance)


def _nests(
    node: ScalarNode,
    axis: nodes.Range,
    parts: list[Part],
    memories: Memories,
    provenance: Provenance[Any],
) -> ScalarNode:
    """A node whose sources are stores over `axis`, with these over each part: whole tiles first."""
    owners = [
        n for n in node.sources if isinstance(n, nodes.Store | nodes.Update) and axis in n.ranges
    ]
    if not owners or not isinstance(node, Body | nodes.After):
        return node
    nests = [
        _over(nest, axis, part, memories if part is not parts[0] else None, provenance)
        for part in parts
        for nest in owners
    ]
    first = node.sources.index(owners[0])
    others = [n for n in node.sources if n not in owners]
    return node.with_sources((*others[:first], *nests, *others[first:]))


def _folds(
    node: ScalarNode,
    axis: nodes.Range,
    parts: list[Part],
    memories: Memories,
    provenance: Provenance[Any],
) -> ScalarNode:
    """A reduction over `axis` as the combination of those over its parts."""
    if not isinstance(node, nodes.Reduce) or axis not in node.ranges:
        return node
    folds = [
        _over(node, axis, part, memories if part is not parts[0] else None, provenance)
        for part in parts
    ]
    return folds[0] if len(folds) == 1 else alu(REDUCTIONS[node.op].combine, *folds)


def _whole(axis: nodes.Range, size: int) -> Part | None:
    """The whole tiles of an axis; None if there are none."""
    return _tiles(axis, _divided(axis, size, "idiv"), size) if axis.extent >= size else None


def _tiles(axis: nodes.Range, count: ScalarNode, size: int) -> Part:
    """`count` tiles of `size` iterations each."""
    outer, inner = _part(axis, OUTER, count), _part(axis, INNER, index(size))
    value = alu("add", alu("mul", outer, index(size)), inner)
    return value, tuple(r for r in (outer, inner) if isinstance(r, nodes.Range))


def _left(axis: nodes.Range, size: int) -> Part | None:
    """The remainder after whole tiles; None if there is none."""
    if axis.extent == 0 or size == 1 or (_is_fixed(axis) and axis.extent % size == 0):
        return None
    rest = _part(axis, REST, _divided(axis, size, "mod"))
    ranges = (rest,) if isinstance(rest, nodes.Range) else ()
    begin = alu("mul", _divided(axis, size, "idiv"), index(size))
    return (alu("add", begin, rest) if axis.extent >= size else rest), ranges


def _divided(axis: nodes.Range, size: int, op: str) -> ScalarNode:
    """The extent divided by `size`, or the remainder."""
    extent = axis.sources[0]
    if isinstance(extent, nodes.Const):
        return index(axis.extent // size if op == "idiv" else axis.extent % size)
    return alu(op, extent, index(size))


def _is_fixed(axis: nodes.Range) -> bool:
    return isinstance(axis.sources[0], nodes.Const)


def _part(axis: nodes.Range, part: int, extent: ScalarNode) -> ScalarNode:
    """One part of an axis as a range; 0 if it has one iteration, which needs no loop."""
    if isinstance(extent, nodes.Const) and extent.value == 1:
        return index(0)
    return nodes.Range((extent,), axis.number, axis.role, 0, "loop", (*axis.part, part))


def _over(
    nest: Nest,
    axis: nodes.Range,
    part: Part,
    memories: Memories | None,
    provenance: Provenance[Any],
) -> ScalarNode:
    """The nest over one part of `axis` instead of the axis; a copy has scratch `memories`."""
    value, parts = part
    _note(part, axis, provenance)
    is_copy, new = memories is not None, {axis: value, **(memories or {})}
    reads = tuple(swapped(s, new, provenance, is_copy) for s in operands_of(nest))
    loops = [new for old in nest.ranges for new in (parts if old is axis else (old,))]
    if isinstance(nest, nodes.Reduce) and not loops:
        return reads[0]
    rebuilt_nest = remade(nest, reads, loops)
    if is_copy:
        copied(rebuilt_nest, nest, provenance)
    else:
        provenance.rebuilt(rebuilt_nest, nest)
    return rebuilt_nest


def _note(part: Part, axis: nodes.Range, provenance: Provenance[Any]) -> None:
    """Record the origins of an axis for its parts and for the value that replaces it."""
    value, ranges = part
    for piece in ranges:
        copied(piece, axis, provenance)
    provenance.replaced(value, axis)


def _divided_no_more(
    body: Body, axis: nodes.Range, provenance: Provenance[Any], matches: list[Match] | None
) -> Body:
    """`body` simplified, which may remove a division of an axis before it is masked.

    The axis, in a sum with a part of another axis or as a part itself, is less than the divisor;
    the masked iterations beyond its end need not be.
    """
    needs = dependencies(body)
    divided = (n for n in needs if isinstance(n, nodes.Alu) and n.op in ("idiv", "mod"))
    if any(axis in needs[n] for n in divided):
        return simplified(body, provenance, matches)
    return body


def _masked(body: Body, axis: nodes.Range, size: int, provenance: Provenance[Any]) -> Body:
    """Each nest over `axis` once, over all tiles that touch it; iterations outside are masked."""
    if axis.extent == 0:
        return body
    up = alu("add", axis.sources[0], index(size - 1))
    count = index(-(-axis.extent // size)) if _is_fixed(axis) else alu("idiv", up, index(size))
    value, parts = _tiles(axis, count, size)
    is_whole = _is_fixed(axis) and axis.extent % size == 0
    inside = None if is_whole else alu("lt", value, axis.sources[0])
    needs = dependencies(body)

    def change(node: ScalarNode, sources: tuple[ScalarNode, ...]) -> ScalarNode:
        if node is axis:
            return value
        new = dict(zip(node.sources, sources, strict=True))
        if isinstance(node, Nest) and axis in node.ranges:
            reads = tuple(new[s] for s in operands_of(node))
            loops = [p for r in node.ranges for p in (parts if r is axis else (new[r],))]
            if isinstance(node, nodes.Reduce) and not loops:
                return reads[0]
            return remade(node, _nothing_outside(node, reads, inside), loops)
        built = node.with_sources(sources)
        is_predicated = isinstance(node, nodes.Load) and axis in needs[node]
        return _predicated(built, inside) if is_predicated and inside is not None else built

    return rebuilt(body, change, provenance)


def _predicated(load: ScalarNode, inside: ScalarNode) -> nodes.Load:
    """A load that is predicated by `inside` as well."""
    assert isinstance(load, nodes.Load)
    predicate = both(inside, load.predicate)
    assert predicate is not None
    return nodes.Load((*load.sources[:2], predicate))


def _nothing_outside(
    nest: Nest, reads: tuple[ScalarNode, ...], inside: ScalarNode | None
) -> tuple[ScalarNode, ...]:
    """The operands of a nest that has no effect where `inside` is false."""
    if inside is None:
        return reads
    match nest:
        case nodes.Reduce():
            identity = const(REDUCTIONS[nest.op].identity(nest.dtype), nest.dtype)
            return (alu("where", inside, reads[0], identity),)
        case _:
            predicate = both(inside, reads[3] if len(reads) > 3 else None)
            assert predicate is not None
            return (*reads[:3], predicate)
