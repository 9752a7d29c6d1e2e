"""ties: comparisons of values with their own maximum or minimum whose result rounding may change.

    y == max(y)     one element is equal to the maximum, whatever rounding does to all of them
    max(y) - y      is 0 there

Every copy of a value has the same bits. So each element gets a number, which moves and selections
(max, min, sort) pass on: two copies of one element have the same number, and compare alike in every
stage. An element has no number if rounding may change which one is selected; then a comparison with
it may differ between stages.

    y      [1.0, 3.0, 2.0]      numbers 0, 1, 2
    max(y) [3.0]                number 1; none where rounding may make 2.0 the greatest
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from compiler.core.dtypes import Array
from compiler.graph.extents import shape_of
from compiler.graph.interpret import moved
from compiler.graph.kinds.effects import Scatter
from compiler.graph.kinds.scan import Scan
from compiler.graph.nodes import MOVEMENT, Contiguous, Elementwise, Index, Reduce, TensorNode
from compiler.ops.table import COMPARISONS, OPS, SELECTING

COMPARED = COMPARISONS | {"sub"}
"""Operations on elements that have one result for two copies of a number."""
NONE = -1
"""Number of an element that may be one or another."""
LAST = np.iinfo(np.int64).max
APART = 1 << 40
"""Numbers of one value: more than any has elements."""


class Numbers:
    """The numbers of elements, for the nodes that are compared with a selection of them."""

    def __init__(self, order: Sequence[TensorNode]) -> None:
        self.wanted: set[TensorNode] = set()
        self.held: dict[TensorNode, Array] = {}
        self.count = 0
        for node in order:
            if _is_compared(node):
                first, second = (_reached(source) for source in node.sources)
                if not first.isdisjoint(second):
                    self.wanted |= first | second

    def add(
        self, node: TensorNode, values: Mapping[TensorNode, Array],
        errors: Mapping[TensorNode, Array], sizes: Mapping[str, int],
    ) -> None:  # fmt: skip
        """Number the elements of a node, whose own value is known, too."""
        if node not in self.wanted:
            return
        followed = _followed(node)
        if followed and all(source in self.held for source in followed):
            self.held[node] = _selected(node, self.held, _Ranges(values, errors), sizes)
            return
        shape, self.count = values[node].shape, self.count + 1
        numbers = np.arange(values[node].size, dtype=np.int64).reshape(shape)
        self.held[node] = numbers + self.count * APART

    def forget(self, node: TensorNode) -> None:
        """Drop the numbers of a node that no later node needs."""
        self.held.pop(node, None)

    def unmoved(self, node: TensorNode) -> Array | None:
        """For each element of a comparison, or difference: True where both operands are one element
        of one value, so that rounding changes nothing. None for other nodes."""
        if not _is_compared(node) or not all(source in self.held for source in node.sources):
            return None
        first, second = (self.held[source] for source in node.sources)
        return np.asarray((first == second) & (first != NONE))


def _is_compared(node: TensorNode) -> bool:
    is_comparison = isinstance(node, Elementwise) and node.op in COMPARED
    return is_comparison and not node.extents


def _reached(node: TensorNode) -> set[TensorNode]:
    """The nodes whose elements a node may have, itself too."""
    reached: set[TensorNode] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each not in reached:
            reached.add(each)
            waiting += _followed(each)
    return reached


def _followed(node: TensorNode) -> tuple[TensorNode, ...]:
    """The operands that the elements of a node are taken from; none where it computes them."""
    if node.extents or any(source.extents for source in node.sources):
        return ()  # a variable axis
    if isinstance(node, Reduce | Scan):
        return node.sources[:1] if node.op in SELECTING else ()
    if isinstance(node, Elementwise) and OPS[node.op].has_condition:
        return node.sources[1:]
    if isinstance(node, Elementwise | Scatter):
        return node.sources[:2] if node.op in SELECTING else ()
    return node.sources[:1] if isinstance(node, (*MOVEMENT, Contiguous, Index)) else ()


class _Ranges:
    """The values that nodes may have by rounding."""

    def __init__(
        self, values: Mapping[TensorNode, Array], errors: Mapping[TensorNode, Array]
    ) -> None:
        self.values, self.errors = values, errors

    def of(self, node: TensorNode, sign: float) -> tuple[Array, Array]:
        """The least and the greatest that each element may be, of `sign` times it."""
        wide = sign * self.values[node].astype(np.longdouble)
        return wide - self.errors[node], wide + self.errors[node]

    def is_exact(self, nodes: Sequence[TensorNode]) -> bool:
        """True if rounding does not reach these values."""
        return not any(np.any(self.errors[node]) for node in nodes)


def _selected(
    node: TensorNode, held: Mapping[TensorNode, Array], ranges: _Ranges, sizes: Mapping[str, int]
) -> Array:
    """The numbers of the elements of a node that takes them from others."""
    numbers = [held[source] for source in _followed(node)]
    with np.errstate(all="ignore"):
        match node:
            case Contiguous():
                return np.asarray(numbers[0])
            case Index():
                return _indexed(node, numbers[0], ranges)
            case Reduce(op=op, axes=axes):
                return _of_extremes(numbers[0], *ranges.of(node.sources[0], SELECTING[op]), axes)
            case Scan(op=op, axis=axis):
                return _running(numbers[0], *ranges.of(node.sources[0], SELECTING[op]), axis)
            case Scatter():
                return _scattered(node, numbers, ranges)
            case Elementwise(op="where"):
                taken = np.where(ranges.values[node.sources[0]], *numbers)
                is_sure = np.broadcast_to(ranges.errors[node.sources[0]] == 0, taken.shape)
                return np.where(is_sure | (numbers[0] == numbers[1]), taken, NONE)
            case Elementwise(op=op):
                pairs = [ranges.of(source, SELECTING[op]) for source in node.sources]
                least, greatest = (np.stack(np.broadcast_arrays(*it))
                                   for it in zip(*pairs, strict=True))  # fmt: skip
                extremes = _of_extremes(np.stack(numbers), least, greatest, (0,))
                return np.asarray(extremes[0])
    shape = shape_of(node.shape, node.extents, sizes)
    return np.asarray(moved(node, numbers[0] - NONE, shape, sizes) + NONE)  # padding has none


def _of_extremes(
    numbers: Array, least: Array, greatest: Array, axes: tuple[int, ...]
) -> Array:
    """The number of the greatest element along axes, where rounding cannot make it another."""
    limit = np.max(least, axis=axes, keepdims=True, initial=-np.inf)
    is_candidate = ~(greatest < limit)  # so is NaN
    first = np.min(np.where(is_candidate, numbers, LAST), axes, keepdims=True, initial=LAST)
    last = np.max(np.where(is_candidate, numbers, NONE), axes, keepdims=True, initial=NONE)
    return np.where(first == last, first, NONE)


def _running(numbers: Array, least: Array, greatest: Array, axis: int) -> Array:
    """The same of the elements so far, for each along an axis."""
    rows, low, high = (np.moveaxis(it, axis, 0) for it in (numbers, least, greatest))
    results = rows.copy()
    limit, most = low[:1].copy(), high[:1].copy()
    for place in range(1, len(rows)):
        before, row, is_new = results[place - 1], rows[place], low[place] > most[0]
        is_less = high[place] < limit[0]
        kept = np.where(is_less | (before == row), before, NONE)
        results[place] = np.where(is_new, row, kept)
        joined = np.where(is_less, most[0], np.maximum(most[0], high[place]))
        most[0] = np.where(is_new, high[place], joined)
        limit[0] = np.maximum(limit[0], low[place])
    return np.asarray(np.moveaxis(results, 0, axis))


def _places(shape: tuple[int, ...], positions: Sequence[Array]) -> tuple[Array, Any]:
    """True if positions are inside a shape, and these, moved inside."""
    is_inside = np.ones(positions[0].shape if positions else (), bool)
    for position, extent in zip(positions, shape, strict=True):
        is_inside &= (position >= 0) & (position < extent)
    ends = (max(extent - 1, 0) for extent in shape)
    return is_inside, tuple(np.clip(p, 0, end) for p, end in zip(positions, ends, strict=True))


def _indexed(node: Index, numbers: Array, ranges: _Ranges) -> Array:
    """The values at positions; none outside, and where rounding reaches a position."""
    positions = [ranges.values[each] for each in node.positions]
    is_inside, places = _places(numbers.shape, positions)
    shape = ranges.values[node].shape
    if not numbers.size:
        return np.full(shape, NONE)
    for each in node.sources[1:]:
        is_inside = is_inside & (np.broadcast_to(ranges.errors[each], shape) == 0)
    if node.validity is not None:
        is_inside = is_inside & ranges.values[node.validity]
    return np.asarray(np.broadcast_to(np.where(is_inside, numbers[places], NONE), shape))


def _scattered(node: Scatter, numbers: Sequence[Array], ranges: _Ranges) -> Array:
    """The values of the greatest of what was there and of its updates."""
    sign, positions = SELECTING[node.op], node.sources[2:]
    if not ranges.is_exact(positions) or not numbers[0].size:
        return np.full(numbers[0].shape, NONE)
    values = [ranges.values[each] for each in positions]
    is_inside, places = _places(numbers[0].shape, values)
    at = tuple(place[is_inside] for place in places)
    least, greatest = ranges.of(node.sources[0], sign)
    low, high = (it[is_inside] for it in ranges.of(node.sources[1], sign))
    limit = np.array(least)
    np.maximum.at(limit, at, low)
    is_candidate, is_update = ~(greatest < limit), ~(high < limit[at])
    updates = numbers[1][is_inside]
    first, last = (np.where(is_candidate, numbers[0], it) for it in (LAST, NONE))
    np.minimum.at(first, at, np.where(is_update, updates, LAST))
    np.maximum.at(last, at, np.where(is_update, updates, NONE))
    return np.where(first == last, first, NONE)
