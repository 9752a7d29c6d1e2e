"""cascade: cascade (blocked pairwise) summation. A long sum of floats becomes a sum of short sums.

    Before:  k0(out f32[64], in1 f32[262144])
             for i0 in 64
               acc %9 = 0.0
               for r1 in 4096   reduction
                 %8 = in1[i0*4096 + r1]             f32
                 %9 = sum(%9, %8)
               out[i0] = %9
    After:   k0(out f32[64], in1 f32[262144])
             for i0 in 64
               acc %17 = 0.0
               for r1.0 in 8   reduction
                 acc %16 = 0.0
                 for r1.1 in 512   reduction
                   %8 = in1[i0*4096 + r1.0*512 + r1.1] f32
                   %16 = sum(%16, %8)
                 %17 = sum(%17, %16)
               out[i0] = %17

An accumulator of n values has an error of up to n roundings, all in one direction if the values are
equal. Here an accumulator adds at most `LONG` values at each of a few levels, in registers. The
mean of 1,048,576 times 0.1 in float32 is off by 6.7e-7 instead of 1.6e-5; a sum of as many takes
314 µs instead of 307, of 16,777,216 3.01 ms instead of 2.97 (EPYC, AVX2, two busy cores,
2026-11-28). Elsewhere called "cascade summation", or "blocked pairwise summation".

Left as they are: short sums; sums of integers, which do not round; products, maxima and minima,
which no order improves; loops that a user asked to unroll. Where registers are full, of the
accumulators of a product or of the constants of polynomials, and in kernels without lanes, only
sums longer than `LONGER` are split; those that read out of order, longer than `STRIDED`.

Relies on: all choices are applied, so that the length of each accumulator's sum is final.
Ensures: the same sum in another order.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.loops import nodes
from compiler.loops.nodes import Body, ScalarNode
from compiler.loops.placement import dependencies
from compiler.loops.simplify import simplified
from compiler.loops.symbolic import as_sum
from compiler.loops.transforms.axes import rebuilt
from compiler.loops.transforms.tile import peeled
from compiler.machines.model import POLYNOMIALS

LONG = 64
"""The most values that one accumulator adds in sequence. Errors and times above: 2026-11-28."""
BLOCK = 32
"""The aim for the length of a short sum: a divisor of the trip count, from half to twice this.
No figure on record."""
LONGER = 1024
"""The same as `LONG` where short sums would cost time: where registers are full, and in kernels
without lanes, which LLVM vectorises with several accumulators. Rows of a product of 64×784 and
784×10 without choices took 131 µs, and 268 in sums of 28 (EPYC, AVX2, busy, 2026-11-28)."""
STRIDED = 128
"""The same in kernels without lanes whose innermost loop reads out of order: LLVM vectorises that
for AVX2 and not for AVX-512, where one accumulator would add `LONGER` values in sequence. Columns
of 1,000,000×5 took 1.19 ms and 1.18 in sums of `LONGER`, and 2.46 in sums of `LONG` (EPYC, AVX-512
and as if on AVX2, two busy cores, 2026-11-28)."""
FEW = 8
"""The most accumulators for which there are registers for as many again. No figure on record."""


@dataclass(frozen=True, slots=True)
class Cut:
    """An axis to split into parts of `size` iterations."""

    axis: nodes.Range
    size: int


Levels = list[tuple[nodes.Range, ...]]
"""The loops of each short sum, innermost first."""


def cascade(body: Body, provenance: Provenance[Any], matches: list[Match] | None = None) -> Body:
    """`body` with long sums of floats as sums of short ones."""
    levels = _levels_of(body)
    if not levels:
        return body
    before = body
    while (cut := next((it for it in levels.values() if isinstance(it, Cut)), None)) is not None:
        body = peeled(body, cut.axis, cut.size, provenance)
        levels = _levels_of(body)
    body = simplified(_nested(body, levels, provenance), provenance, matches)
    if matches is not None:
        doc = "a sum of many floats = a sum of sums of few"
        matches.append(Match("cascade", doc, "", before, body))
    return body


def _levels_of(body: Body) -> dict[ScalarNode, Levels | Cut]:
    """For each long sum its levels, or the loop to split first."""
    return {fold: _levels(fold, most) for fold, most in _long(body).items()}


def _nested(
    body: Body, levels: Mapping[ScalarNode, Levels | Cut], provenance: Provenance[Any]
) -> Body:
    """`body` with each long sum as a sum of short ones, whose loops exist."""

    def change(node: ScalarNode, sources: tuple[ScalarNode, ...]) -> ScalarNode:
        rebuilt_node, below = node.with_sources(sources), levels.get(node)
        if isinstance(rebuilt_node, nodes.Reduce) and isinstance(below, list):
            return _in_levels(rebuilt_node, below)
        return rebuilt_node

    return rebuilt(body, change, provenance)


def _in_levels(fold: nodes.Reduce, levels: Levels) -> nodes.Reduce:
    """A sum as nested sums over the loops of each level. Elements of words belong to the innermost
    sum; lanes and unrolled iterations to the outermost, so that they are combined once."""
    value, words = fold.sources[0], tuple(r for r in fold.ranges if r.level == "dot")
    for loops in levels[:-1]:
        value, words = nodes.Reduce((value, *loops, *words), fold.op), ()
    gone = {r for loops in levels[:-1] for r in loops}
    left = (r for r in fold.ranges if r not in gone and r.level != "dot")
    return nodes.Reduce((value, *left), fold.op)


def _long(body: Body) -> dict[nodes.Reduce, int]:
    """The sums to split, and for each the most values that one accumulator may add in sequence."""
    order: list[ScalarNode] = toposort([body])
    sums = [n for n in order if isinstance(n, nodes.Reduce) and is_rounded(n)]
    trips = {n: math.prod(r.extent for r in _loops(n)) for n in sums}
    long = [n for n in sums if trips[n] > LONG]
    if not long:
        return {}
    needs, has_lanes = dependencies(body), any(map(_is_lane, order))
    is_expensive = not has_lanes or any(map(_is_polynomial, order))
    tiles = (n for n in long if is_expensive or _accumulators(n, needs) > FEW)
    expensive = {r for n in tiles for r in _loops(n)}
    most = {
        n: LONG if expensive.isdisjoint(_loops(n))
        else LONGER if has_lanes or _is_in_order(n, needs) else STRIDED
        for n in long
    }  # fmt: skip
    return {n: limit for n, limit in most.items() if trips[n] > limit}


def _is_in_order(fold: nodes.Reduce, needs: Mapping[ScalarNode, frozenset[nodes.Range]]) -> bool:
    """True if the innermost loop of a sum reads every array in order, or one element of it; of a
    product, as in matmul, one of two."""
    innermost, strides = _loops(fold)[-1], set[int]()
    for load in (n for n in toposort([fold.sources[0]]) if isinstance(n, nodes.Load)):
        terms = as_sum(load.sources[1]).terms
        if any(innermost in needs[term] for term in terms if term is not innermost):
            return False
        strides.add(terms.get(innermost, 0))
    value = fold.sources[0]
    is_product = isinstance(value, nodes.Alu) and value.op == "mul"
    return strides <= {0, 1} or (is_product and 1 in strides)


def is_rounded(node: nodes.Reduce) -> bool:
    """True for a reduction whose rounding error grows with its length: a sum of floats."""
    return node.op == "sum" and node.dtype.is_float


def _loops(fold: nodes.Reduce) -> list[nodes.Range]:
    """The ranges whose iterations an accumulator adds in sequence, outermost first."""
    return [r for r in fold.ranges if r.level == "loop"]


def _accumulators(fold: nodes.Reduce, needs: Mapping[ScalarNode, frozenset[nodes.Range]]) -> int:
    """The number of accumulators of a sum."""
    ranges = needs[fold.sources[0]] | set(fold.ranges)
    return math.prod(r.extent for r in ranges if r.level == "unroll")


def _is_lane(node: ScalarNode) -> bool:
    return isinstance(node, nodes.Range) and node.level == "vector"


def _is_polynomial(node: ScalarNode) -> bool:
    """True for a polynomial, whose constants occupy registers in all loops of the kernel."""
    return isinstance(node, nodes.Alu) and node.op in POLYNOMIALS


def _levels(fold: nodes.Reduce, most: int) -> Levels | Cut:
    """The loops of a sum in groups, or the loop to split first: the innermost group has at most
    `most` iterations, the others `LONG`."""
    aim = most // (LONG // BLOCK)
    levels: Levels = []
    group: tuple[nodes.Range, ...] = ()
    trips = 1
    for axis in reversed(_loops(fold)):
        may_cut = axis.extent > most and not axis.unroll
        if trips * axis.extent > most and (trips >= aim or not may_cut):
            levels.append(group)
            group, trips, most, aim = (), 1, LONG, BLOCK
        if trips * axis.extent > most and not axis.unroll:
            return Cut(axis, _size(axis, -(-aim // trips)))
        group, trips = (axis, *group), trips * axis.extent
    return [level for level in (*levels, group) if level]


def _size(axis: nodes.Range, aim: int) -> int:
    """The length of the parts of an axis: a divisor of the trip count near `aim`, or `aim`."""
    is_fixed = isinstance(axis.sources[0], nodes.Const)
    near = [n for n in range(max(aim // 2, 2), 2 * aim + 1) if is_fixed and axis.extent % n == 0]
    return min(near, key=lambda n: abs(n - aim), default=aim)
