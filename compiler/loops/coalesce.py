"""coalesce: loop coalescing. Two perfectly nested loops become one if no index separates them.

    Before:  k0(out f32[50176], in1 f32[50176])
             for i0 in 64
               for i1 in 784
                 %8 = in1[i0*784 + i1]   f32
                 …
    After:   k0(out f32[50176], in1 f32[50176])
             for i2 in 50176
               %8 = in1[i2]              f32
               %9 = exp(%8)              f32
               out[i2] = %9

Each pair of neighbouring ranges of a store or a reduction is tried: the pair becomes
(k // n, k % n), and the new loop is kept if every division simplifies away. A pair is skipped if a
sum contains i0 and i1 in any form but i0*n + i1, because a division would remain. One long loop
vectorises better than a short one inside another.

A loop with a variable extent is not coalesced: its extent times another is not an extent.

Relies on: `simplify` has run.
Ensures: the same elements in the same order; no new division.
"""

from typing import Any, TypeGuard

from compiler.core.dtypes import int64
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.loops.nodes import Alu, Body, Const, Range, ScalarNode, alu, axis, index
from compiler.loops.placement import Nest
from compiler.loops.simplify import simplify
from compiler.loops.split import divisions
from compiler.loops.symbolic import Sum, as_sum


def coalesce(body: Body, provenance: Provenance[Any], matches: list[Match] | None = None) -> Body:
    """`body` with neighbouring loops coalesced wherever that adds no division."""
    refused: set[tuple[Range, Range]] = set()
    sums = _sums(body)
    while True:
        pair = next((p for p in _pairs(body) if p not in refused), None)
        if pair is None:
            return body
        if _tells_apart(sums, *pair):
            refused.add(pair)
            continue
        joined = _join(body, pair, provenance)
        if len(divisions(joined)) > len(divisions(body)):
            refused.add(pair)
            continue
        if matches is not None:
            doc = "two loops no index tells apart = one loop"
            matches.append(Match("coalesce", doc, "", body, joined))
        body, sums = joined, _sums(joined)


def _sums(body: Body) -> list[Sum]:
    """The sums of ranges in the body that are not divided."""
    order: list[ScalarNode] = toposort([body])
    ends: dict[ScalarNode, None] = {}
    for node in order:
        if not isinstance(node, Alu) or node.op not in ("add", "sub", "mul", "idiv", "mod"):
            loops = node.ranges if isinstance(node, Nest) else ()
            used = node.sources[: len(node.sources) - len(loops)]
            ends.update((s, None) for s in used if isinstance(s, Alu | Range) and s.dtype == int64)
    return [as_sum(node) for node in ends]


def _tells_apart(sums: list[Sum], outer: Range, inner: Range) -> bool:
    """True if a sum has the two ranges in any form but `outer * inner.extent + inner`."""
    width = inner.extent
    return any(s.terms.get(outer, 0) != width * s.terms.get(inner, 0) for s in sums)


def _pairs(body: Body) -> list[tuple[Range, Range]]:
    """The pairs of neighbouring ranges in all loop nests, outermost first."""
    order: list[ScalarNode] = toposort([body])
    nests = [node for node in order if isinstance(node, Nest)]
    result: dict[tuple[Range, Range], None] = {}
    for nest in nests:
        pairs = zip(nest.ranges, nest.ranges[1:], strict=False)
        result.update(dict.fromkeys(p for p in pairs if _is_alike(*p)))
    return list(result)


def _is_alike(outer: Range, inner: Range) -> bool:
    """True if both have constant trip counts and one role, which excludes the axis of a scan."""
    fixed = isinstance(outer.sources[0], Const) and isinstance(inner.sources[0], Const)
    return fixed and outer.role == inner.role


def _join(body: Body, pair: tuple[Range, Range], provenance: Provenance[Any]) -> Body:
    """`body` with the two ranges of `pair` replaced by one, simplified."""
    outer, inner = pair
    number = 1 + max(n.number for n in toposort([body]) if isinstance(n, Range))
    unroll = max(outer.unroll, inner.unroll)
    joined = axis(outer.extent * inner.extent, number, outer.role, unroll)
    width = index(inner.extent)
    replacements = {outer: alu("idiv", joined, width), inner: alu("mod", joined, width)}
    for node in (joined, *replacements.values()):
        provenance.made(node, provenance.of(outer) | provenance.of(inner))
    done: dict[ScalarNode, ScalarNode] = {}
    order: list[ScalarNode] = toposort([body])
    for node in order:
        if isinstance(node, Range) and node in replacements:
            done[node] = replacements[node]
            continue
        sources = [done[s] for s in node.sources]
        if _is_nest(node, pair):
            first = len(node.sources) - len(node.ranges)  # an operand may be a range as well
            loops = [joined if s is outer else done[s] for s in node.ranges if s is not inner]
            sources = [*sources[:first], *loops]
        done[node] = node.with_sources(tuple(sources))
        if done[node] is not node:
            provenance.rebuilt(done[node], node)
    result = done[body]
    assert isinstance(result, Body)
    return simplify(result, provenance)


def _is_nest(node: ScalarNode, pair: tuple[Range, Range]) -> TypeGuard[Nest]:
    """True if `node` is a store, update or reduction over both ranges."""
    return isinstance(node, Nest) and set(pair) <= set(node.ranges)
