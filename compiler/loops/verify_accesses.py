"""verify_accesses: invariants 8 and 9 of `invariants.py`: no access outside its memory, and every
element written exactly once.

A store writes a box: `start` plus, for each of its axes, a stride times 0 … trips-1. Two boxes are
disjoint if, at some stride, their multiples are. The main part and the remainder of rows are

    i0*1000 + i1.0*16 + i1.1      start 0     1000 × 8 iterations, 16 × 62, 1 × 16
    i0*1000 + 992 + i1.2          start 992   1000 × 8 iterations,          1 × 8

which both cover all multiples of 1000, but different multiples of 16: 0 … 61, and 62.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

from compiler.loops import nodes
from compiler.loops.invariants import broken
from compiler.loops.nodes import Body, ScalarNode, memory
from compiler.loops.symbolic import Sum, as_sum, at_greatest, limits


@dataclass(frozen=True, slots=True)
class _Box:
    """The elements `start` plus 0 … trips-1 times each stride; strides descend."""

    start: int
    axes: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        return math.prod(trips for _, trips in self.axes)

    @property
    def last(self) -> int:
        return self.start + sum(stride * (trips - 1) for stride, trips in self.axes)


def verify_accesses(
    body: Body, order: list[ScalarNode], needs: Mapping[ScalarNode, frozenset[nodes.Range]]
) -> None:
    """Check every access of `body`, and that its stores write all elements, each once.

    Raises `InternalError` with the number of the first invariant broken, and the node.
    """
    stores = [n for n in body.sources if isinstance(n, nodes.Store)]
    if len(stores) == 1 and stores[0].predicate is None and not stores[0].is_part:
        _covers(stores[0])
    elif stores:
        _cover(stores)
    for node in order:
        if isinstance(node, nodes.Load | nodes.Store | nodes.Update):
            _inside(node, needs)


def _inside(
    node: nodes.Load | nodes.Store | nodes.Update,
    needs: Mapping[ScalarNode, frozenset[nodes.Range]],
) -> None:
    """Invariant 8."""
    size, where = memory(node).size, node.sources[1]
    if isinstance(node, nodes.Load) and node.predicate is not None:
        return
    loops = needs[where] | set(() if isinstance(node, nodes.Load) else node.ranges)
    if any(r.extent == 0 for r in loops):
        return
    bounds = where.bounds
    if bounds is None or bounds[0] < 0 or bounds[1] >= size:
        bounds = _reach(where, node.predicate if isinstance(node, nodes.Store) else None) or bounds
    if bounds is None or bounds[0] < 0 or bounds[1] >= size:
        got = f"bounds {bounds[0]} … {bounds[1]}" if bounds else "an index without bounds"
        expected = f"inside 0 … {size - 1}, or a predicate"
        broken(node, 8, "an access may be outside its buffer", got, expected)


def _reach(where: ScalarNode, predicate: ScalarNode | None) -> tuple[int, int] | None:
    """Bounds of an index in which related terms are combined.

    The whole tiles and the remainder of an axis, n//8*8 and less than n%8, add up to at most n; the
    limits of a predicate bound the axes in it.
    """
    total = as_sum(where)
    terms, low, high = dict(total.terms), total.constant, total.constant
    for bounded, limit in filter(None, limits(predicate)):
        stride = _common(terms, bounded)
        if stride is not None and limit > 0:
            high += stride * (limit - 1)
            for term in bounded.terms:
                del terms[term]
    for each, stride in list(terms.items()):
        if (tiles := _tiles(each, stride, terms)) is not None:
            greatest = at_greatest(tiles.sources[0])
            if greatest is not None:
                high += stride * max(greatest - 1, 0)
                del terms[each], terms[tiles]
    for term, stride in terms.items():
        if term.bounds is None:
            return None
        ends = sorted(stride * bound for bound in term.bounds)
        low, high = low + ends[0], high + ends[1]
    return low, high


def _tiles(each: ScalarNode, stride: int, terms: Mapping[ScalarNode, int]) -> ScalarNode | None:
    """The term n//T, times T, that goes with a range of extent n%T."""
    if not isinstance(each, nodes.Range) or stride <= 0:
        return None
    match each.sources[0]:
        case nodes.Alu(op="mod", sources=(n, nodes.Const() as size)):
            for term, factor in terms.items():
                match term:
                    case nodes.Alu(op="idiv", sources=(m, nodes.Const() as by)) if m is n:
                        if by.value == size.value and factor == stride * int(size.value):
                            return term
    return None


def _common(terms: Mapping[ScalarNode, int], bounded: Sum) -> int | None:
    """The coefficient of the bounded sum in the terms, if they contain it as a whole."""
    strides = {divmod(terms.get(term, 0), c) for term, c in bounded.terms.items()}
    stride, rest = strides.pop() if len(strides) == 1 else (0, 0)
    return stride if stride > 0 and not rest else None


def _covers(store: nodes.Store) -> None:
    """Invariant 9, for one store to all of a buffer."""
    argument, total = memory(store), as_sum(store.sources[1])
    assert isinstance(argument, nodes.Argument)
    size = math.prod(r.extent for r in store.ranges)
    if size != argument.size:
        broken(store, 9, "the loops do not run once per element", size, argument.size)
    if size == 0:
        return
    expected = 1
    strides = {r: total.terms.get(r, 0) for r in store.ranges if r.extent > 1}
    for each, stride in sorted(strides.items(), key=lambda item: item[1]):
        if stride != expected:
            broken(store, 9, f"{each.name} has the wrong multiple", stride, expected)
        expected *= each.extent
    if total.constant or not set(total.terms) <= set(store.ranges):
        broken(store, 9, "the index is not its ranges alone", total.node(), "a sum of ranges")


def _cover(stores: list[nodes.Store]) -> None:
    """Invariant 9, for predicated stores and stores to parts of a buffer."""
    boxes = [(store, box) for store in stores for box in _boxes(store, len(stores) > 1)]
    for store, box in boxes:
        _apart(store, box)
    for (_, box), (other, second) in itertools.combinations(boxes, 2):
        if not _are_apart(box, second):
            broken(other, 9, "two stores write one argument", "the same elements", "others each")
    count, size = sum(box.count for _, box in boxes), memory(stores[0]).size
    if not all(store.is_part for store in stores) and count != size:
        what = "the stores do not write each element"
        broken(stores[-1], 9, what, count, f"{size}, each once")


def _boxes(store: nodes.Store, is_rest: bool) -> list[_Box]:
    """The boxes that a store writes at the greatest values of variables; one may start at n//8*8.

    With a predicate these are all whole iterations of an axis, and part of the last one.
    """
    total = as_sum(store.sources[1])
    terms, trips, boxes = dict(total.terms), _trips(store), [_Box(0, ())]
    for bound in limits(store.predicate):
        if bound is None and store.is_part:
            continue
        bounded, limit = bound or (Sum({}, 0), 0)
        stride, digits = _bounded(store, bounded, terms, trips)
        below = _below(digits, limit)
        boxes = [_joined(box, part, stride) for box in boxes for part in below]
        for term in bounded.terms:
            del terms[term], trips[term]
    start = total.constant + (_constant(terms) if is_rest else 0)
    if not set(terms) <= set(store.ranges):
        broken(store, 9, "the index is not its ranges alone", total.node(), "a sum of ranges")
    others = tuple((terms.get(each, 0), number) for each, number in trips.items())
    boxes = [_joined(box, _Box(start, others), 1) for box in boxes]
    return [box for box in boxes if box.count]


def _bounded(
    store: nodes.Store,
    bounded: Sum,
    terms: Mapping[ScalarNode, int],
    trips: Mapping[ScalarNode, int],
) -> tuple[int, tuple[tuple[int, int], ...]]:
    """The stride of a sum that the predicate bounds, and the strides and trip counts in it."""
    stride = _common(terms, bounded)
    if stride is None or not set(bounded.terms) <= set(trips):
        broken(store, 9, "the predicate bounds no axes of the store", store.predicate, "a < N")
    digits = _digits([(c, trips[term]) for term, c in bounded.terms.items()])
    if digits is None:
        broken(store, 9, "the predicate bounds axes that overlap", bounded.node(), "multiples")
    return stride, digits


def _constant(terms: dict[ScalarNode, int]) -> int:
    """The greatest value of the terms without a loop, such as n//8*8, which are removed."""
    start = 0
    for term in [t for t in terms if not isinstance(t, nodes.Range)]:
        value = at_greatest(term)
        if value is not None:
            start += terms.pop(term) * value
    return start


def _joined(box: _Box, part: _Box, stride: int) -> _Box:
    """A box with the axes of both boxes; strides of the second are multiplied by `stride`."""
    axes = [(stride * step, trips) for step, trips in part.axes if trips != 1]
    return _Box(box.start + stride * part.start, tuple(sorted((*box.axes, *axes), reverse=True)))


def _digits(trips: list[tuple[int, int]]) -> tuple[tuple[int, int], ...] | None:
    """Strides and trip counts, strides descending; None if the smaller ones reach a larger one."""
    digits = tuple(sorted((each for each in trips if each[1] != 1), reverse=True))
    for number, (stride, _) in enumerate(digits):
        if _Box(0, digits[number + 1 :]).last >= stride:
            return None
    return digits


def _below(digits: tuple[tuple[int, int], ...], limit: int) -> list[_Box]:
    """Iterations whose sum is less than `limit`, as boxes: whole ones of a digit, then the rest."""
    if limit <= 0:
        return []
    if not digits:
        return [_Box(0, ())]
    (stride, trips), *others = digits
    rest = tuple(others)
    whole = min(max((limit - 1 - _Box(0, rest).last) // stride + 1, 0), trips)
    boxes = [_Box(0, ((stride, whole), *rest))] if whole else []
    if whole < trips:
        last = _below(rest, limit - whole * stride)
        boxes += [_Box(whole * stride + box.start, box.axes) for box in last]
    return boxes


def _trips(store: nodes.Store) -> dict[ScalarNode, int]:
    """The trip count of each range of a store at the greatest values of variables."""
    trips = {each: at_greatest(each.sources[0]) for each in store.ranges}
    return {each: 0 if number is None else number for each, number in trips.items()}


def _apart(store: nodes.Store, box: _Box) -> None:
    """Invariant 9, for one of several stores: no element twice."""
    reach = 0
    names = {
        c: t.name for t, c in as_sum(store.sources[1]).terms.items() if isinstance(t, nodes.Range)
    }
    for stride, trips in reversed(box.axes):
        if stride <= reach:
            what = f"{names.get(stride, store.ranges[-1].name)} may write an element again"
            broken(store, 9, what, f"multiple {stride}", f"more than {reach}")
        reach += stride * (trips - 1)


def _are_apart(a: _Box, b: _Box) -> bool:
    """True if two boxes are disjoint; False if their strides do not prove it."""
    while a.last >= b.start and b.last >= a.start:
        if not a.axes and not b.axes:
            return False
        # both moved to where the first begins: what stands before it is no multiple of a stride
        low = min(a.start, b.start)
        a, b = _Box(a.start - low, a.axes), _Box(b.start - low, b.axes)
        stride = max(axes[0][0] for axes in (a.axes, b.axes) if axes)
        (first, a), (second, b) = _split(a, stride), _split(b, stride)
        if a.last >= stride or b.last >= stride:
            return False
        if first[1] < second[0] or second[1] < first[0]:
            return True
    return True


def _split(box: _Box, stride: int) -> tuple[tuple[int, int], _Box]:
    """The first and last multiple of `stride` in a box, and the box below that."""
    first, start = divmod(box.start, stride)
    if box.axes and box.axes[0][0] == stride:
        return (first, first + box.axes[0][1] - 1), _Box(start, box.axes[1:])
    return (first, first), _Box(start, box.axes)
