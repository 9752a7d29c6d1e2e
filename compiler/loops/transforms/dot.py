"""dot: sums of products of small types use dot-product instructions, on words of several elements.

    Choice:  dot r2.1
    Before:  local0 i8[512]   scratch
             for i3 in 8
               for i4 in 4
                 for i5 in 16
                   %0 = in2[i3*64 + i4*16 + i5]
                   local0[i3*64 + i4*16 + i5] = %0
             for i0 in 8
               for i1 in 16
                 acc %1 = 0
                 for r2.0 in 8   reduction
                   for r2.1 in 4   reduction
                     %2 = in1[i0*32 + r2.0*4 + r2.1]
                     %3 = cast(%2, i32)
                     %4 = local0[r2.0*64 + r2.1*16 + i1]
                     %5 = cast(%4, i32)
                     %1 = sum(%1, %3 * %5)
                 out[i0*16 + i1] = %1
    After:   r2.1 in 4   reduction   dot
             local0 i8[512]   scratch
             i5 in 4   unrolled
             for i3 in 8
               for i4 in 16
                 %0 = in2[i3*64 + i5*16 + i4]
                 local0[i3*64 + i4*4 + i5] = %0
             for i0 in 8
               for i1 in 16
                 acc %1 = 0
                 for r2.0 in 8   reduction
                   %2 = in1[i0*32 + r2.0*4 + r2.1]
                   %3 = cast(%2, i32)
                   %4 = local0[r2.0*64 + i1*4 + r2.1]
                   %5 = cast(%4, i32)
                   %1 = sum(%1, %3 * %5)
                 out[i0*16 + i1] = %1

One instruction multiplies the words' elements in each lane and adds the products to the sum. It
does not exist for every pair of types: vpdpbusd multiplies unsigned by signed integers. "shifted"
converts the factor that all columns share to the other signedness by adding or subtracting 128.
That changes the sum of each column by 128 times the sum of the other factor, which is computed once
for all rows and subtracted again. In integers of 32 bits, which wrap, that is exact:

    Σ a·b  =  Σ (a + 128)·b  - 128·Σ b          a, b of int8:  a + 128 of uint8
    Σ a·b  =  Σ (a - 128)·b  + 128·Σ b          a, b of uint8: a - 128 of int8

The zero point of a quantised factor is subtracted afterwards, times the same sum, so that the
factor keeps its type:

    Σ (a - z)·b  =  Σ a·b  - z·Σ b

Relies on: `pack` has run: the elements of a word are adjacent in scratch memory.
Ensures: the same integers; floats are added in another order.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from compiler.core.dtypes import DType, int8, uint8
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.loops import nodes
from compiler.loops.choices import Choices, Dot, Vectorize
from compiler.loops.dots import against_words
from compiler.loops.nodes import Alu, Bitcast, Body, Cast, Load, Local, ScalarNode, alu, const
from compiler.loops.placement import dependencies
from compiler.loops.transforms.axes import axes, copied, find, record, refuse, swapped, swapped_body
from compiler.loops.transforms.levels import at_level, check_is_free, filled_by
from compiler.loops.transforms.pack import local_shape
from compiler.loops.transforms.staging import (
    free_numbers,
    levels_of,
    local_numbers,
    own_loops,
    own_memory,
)
from compiler.ops.words import are_small, in_a_word

SHIFT = 128
"""The offset between the types of 8 bits: half of their number of values."""
OTHER_SIGN = {int8: uint8, uint8: int8}


def dot(
    body: Body, choices: Choices, provenance: Provenance[Any], matches: list[Match] | None = None
) -> Body:
    """`body` with the iterations of each axis that a Dot names as elements of words."""
    for choice in choices.of(Dot):
        axis = find(axes(body), choice.axis, choice, choices)
        if axis is None:
            continue
        before = body
        body = _Words(body, axis, choice, choices, provenance).run()
        record(matches, choice, before, body)
    return body


@dataclass(frozen=True, slots=True)
class _Factor:
    """A factor: elements of memory, minus their zero point if they have one."""

    load: Load
    zero: ScalarNode | None


@dataclass(slots=True)
class _Words:
    """State while one choice is applied."""

    body: Body
    axis: nodes.Range
    choice: Dot
    choices: Choices
    provenance: Provenance[Any]
    panel: int = 1
    """The number of the factor that has lanes; its sums over the words correct for the shift of
    the other factor."""
    sums: dict[Load, Load] = field(default_factory=dict)
    """For each factor with lanes, its sum over the words, in scratch memory."""

    def run(self) -> Body:
        """The body, with its sums over the axis computed a word at a time."""
        axis, needs = self.axis, dependencies(self.body)
        check_is_free(axis, self.choice, filled_by(self.body, needs), {})
        order: list[ScalarNode] = toposort([self.body])
        folds = [n for n in order if isinstance(n, nodes.Reduce) and axis in n.ranges]
        if not folds:
            refuse(self.choice, f"nothing is reduced along {axis.name}", "an axis of a sum")
        for node in order:
            against = against_words(node, axis, needs) if axis in needs[node] else ""
            if against:
                refuse(self.choice, against, "words of adjacent elements")
        self._note_panel(folds, needs)
        for fold in folds:
            dotted = self._dotted(fold)
            if dotted is not fold:
                self.body = swapped_body(self.body, {fold: dotted}, self.provenance)
        return swapped_body(self.body, {axis: at_level(axis, "dot")}, self.provenance)

    def _note_panel(
        self, folds: list[nodes.Reduce], needs: Mapping[ScalarNode, frozenset[nodes.Range]]
    ) -> None:
        """Find the factor that has lanes: in a remainder neither may have any."""
        lanes = {c.axis for c in self.choices.of(Vectorize)}
        for fold in folds:
            wide = [any(r.name in lanes for r in needs[s]) for s in fold.sources[0].sources]
            if wide == [True, False]:
                self.panel = 0

    def _dotted(self, fold: nodes.Reduce) -> ScalarNode:
        """A sum whose factors have the types of an instruction."""
        value, axis = fold.sources[0], self.axis
        if fold.op != "sum" or not isinstance(value, Alu) or value.op != "mul":
            refuse(self.choice, "the reduced value is not a product", "a sum of products")
        factors = [_factor(each, fold.ranges, dependencies(self.body)) for each in value.sources]
        if None in factors:
            refuse(self.choice, "a factor is not a converted element of memory")
        first, second = (each for each in factors if each is not None)
        dtypes = first.load.dtype, second.load.dtype
        parts = in_a_word(dtypes[0]) if are_small(*dtypes, fold.dtype) else 0
        if parts != axis.extent:
            got = f"{axis.extent} products of {dtypes[0]} and {dtypes[1]} in {fold.dtype}"
            refuse(self.choice, f"{got} do not form a word", "4 of 8 bits, or 2 of 16")
        if self.choice.form == "plain" and first.zero is None is second.zero:
            return fold
        return self._moved(fold, first, second)

    def _moved(self, fold: nodes.Reduce, first: _Factor, second: _Factor) -> ScalarNode:
        """The sum of shifted factors, and the correction to subtract from it."""
        other, panel = (first, second) if self.panel else (second, first)
        if panel.zero is not None:
            refuse(self.choice, "the factor that has lanes has a zero point", "the other alone")
        dtype, shift, used = fold.dtype, 0, other.load
        moved: ScalarNode = used
        if self.choice.form == "shifted":
            target = OTHER_SIGN.get(used.dtype)
            if target is None:
                refuse(self.choice, f"{used.dtype} has no other sign", "int8 or uint8")
            shift = SHIFT if target == uint8 else -SHIFT
            bits: ScalarNode = used if used.dtype == uint8 else Bitcast((used,), uint8)
            bits = alu("add", bits, const(SHIFT, uint8))
            moved = bits if target == uint8 else Bitcast((bits,), int8)
        product = alu("mul", Cast((moved,), dtype), Cast((panel.load,), dtype))
        total = nodes.Reduce((product, *fold.ranges), fold.op)
        times: ScalarNode = const(shift, dtype)
        if other.zero is not None:
            times = alu("add", other.zero, times) if shift else other.zero
        return alu("sub", total, alu("mul", times, self._sum(fold, panel.load, moved.dtype)))

    def _sum(self, fold: nodes.Reduce, panel: Load, ones: DType) -> Load:
        """The sums of the factor with lanes, one for each column, shared by all rows."""
        if panel in self.sums:
            return self.sums[panel]
        body, choices, provenance = self.body, self.choices, self.provenance
        needs, memory = dependencies(body), nodes.memory(panel)
        outside = needs[memory] if isinstance(memory, Local) else frozenset()
        wanted = needs[panel].difference(outside, fold.ranges)
        dims = tuple(dict.fromkeys(r for nest in body.sources for r in _loops(nest) if r in wanted))
        numbers, memories = free_numbers(body), local_numbers(body)
        local = nodes.Local((), next(memories), fold.dtype, _product(dims))
        last = [each is dims[-1] for each in dims]
        loops = own_loops(numbers, dims, levels_of(dims, last, choices), provenance)
        folded = tuple(
            nodes.Range(r.sources, next(numbers), "reduction", 0, self._level(r))
            for r in fold.ranges
        )
        for new, old in zip(folded, fold.ranges, strict=True):
            copied(new, old, provenance)
        moved = own_memory(body, [*dims, *fold.ranges], memories)
        moved |= dict(zip((*dims, *fold.ranges), (*loops, *folded), strict=True))
        elements = Cast((swapped(panel, moved, provenance, True),), fold.dtype)
        one = Cast((const(1, ones),), fold.dtype)
        value = nodes.Reduce((alu("mul", one, elements), *folded), "sum")
        filled = nodes.Store((local, nodes.linear(loops, local_shape(dims)), value, *loops))
        total = Load((nodes.After((local, filled)), nodes.linear(dims, local_shape(dims))))
        self.sums[panel] = total
        return total

    def _level(self, each: nodes.Range) -> nodes.Level:
        return "dot" if each is self.axis else "loop"


def _loops(nest: ScalarNode) -> tuple[nodes.Range, ...]:
    return nest.ranges if isinstance(nest, nodes.Store) else ()


def _product(dims: Collection[nodes.Range]) -> int:
    result = 1
    for each in dims:
        result *= each.extent
    return result


def _factor(
    node: ScalarNode, folded: Collection[nodes.Range],
    needs: Mapping[ScalarNode, frozenset[nodes.Range]],
) -> _Factor | None:
    """A converted element of memory, minus a value that does not change along the sum."""
    zero: ScalarNode | None = None
    is_less = isinstance(node, Alu) and node.op in ("add", "sub")
    if is_less and not needs[node.sources[1]] & set(folded):
        is_added = isinstance(node, Alu) and node.op == "add"
        node, zero = node.sources
        zero = alu("sub", const(0, zero.dtype), zero) if is_added else zero
    if isinstance(node, Cast) and isinstance(node.sources[0], Load):
        return _Factor(node.sources[0], zero)
    return None
