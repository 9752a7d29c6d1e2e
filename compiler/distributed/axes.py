"""axes: which axes of the inputs of a program are one and the same, and which must be whole.

    out = (a * b + c).relu().sum(1)      a, b: n × m, c: m
    class 0   axis 0 of a, of b, of the result            may be cut: each part is by itself
    class 1   axis 1 of a, of b, axis 0 of c              whole: `sum` folds it

Two axes are of one class where an operation takes their elements pair by pair. A class may be cut
into blocks, the same ones for all its axes, if no operation looks from one element along it to
another. What is not known to let elements alone makes its axes whole: blocks are then refused, not
wrong.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compiler.core.node import toposort
from compiler.graph import nodes
from compiler.graph.extents import matching_groups
from compiler.graph.kinds.scan import Scan
from compiler.graph.nodes import TensorNode

Labels = tuple[int | None, ...]
"""A label for each axis of a value; None of one that has as many elements as is asked for."""
ALONE = (nodes.Elementwise, nodes.Cast, nodes.Bitcast, nodes.Contiguous, nodes.Bind)


@dataclass(frozen=True, slots=True)
class Axes:
    """The class of each axis of each input and result, and the node that needs all of a class."""

    inputs: tuple[Labels, ...]
    results: tuple[Labels, ...]
    whole: dict[int, TensorNode]
    """The classes that have to be whole, each with the first node that needs it."""


def axes(roots: Sequence[TensorNode], inputs: Sequence[TensorNode]) -> Axes:
    """The classes of a program of core kinds that reads `inputs`."""
    found = _Classes()
    labels: dict[TensorNode, Labels] = {}
    labels |= {node: found.fresh(len(node.shape)) for node in inputs}
    for node in toposort(roots):
        if node not in labels:
            labels[node] = _labels(node, [labels[source] for source in node.sources], found)
    for node in roots:
        found.once(labels[node], node)
    for node in inputs:
        found.once(labels[node], node)
    named = tuple(tuple(map(found.of, labels[node])) for node in inputs)
    made = tuple(tuple(map(found.of, labels[node])) for node in roots)
    return Axes(named, made, {found.root(label): node for label, node in found.whole.items()})


class _Classes:
    """Labels that are joined to classes."""

    def __init__(self) -> None:
        self._parents: list[int] = []
        self.whole: dict[int, TensorNode] = {}

    def fresh(self, count: int) -> tuple[int, ...]:
        """So many labels, each of a class of its own."""
        first = len(self._parents)
        self._parents += range(first, first + count)
        return tuple(range(first, first + count))

    def root(self, label: int) -> int:
        """The label that stands for a class."""
        while self._parents[label] != label:
            label = self._parents[label]
        return label

    def of(self, label: int | None) -> int | None:
        """The class of a label."""
        return None if label is None else self.root(label)

    def join(self, first: int | None, other: int | None) -> int | None:
        """The class of two axes whose elements meet."""
        if first is None or other is None:
            return other if first is None else first
        a, b = self.root(first), self.root(other)
        self._parents[b] = a
        return a

    def keep(self, labels: Iterable[int | None], node: TensorNode) -> None:
        """The axes are whole for the sake of a node."""
        for label in labels:
            if label is not None:
                self.whole.setdefault(label, node)

    def once(self, labels: Labels, node: TensorNode) -> None:
        """A value of which two axes are one is no part of it per block: the class is whole."""
        known = [self.root(label) for label in labels if label is not None]
        self.keep((label for label in known if known.count(label) > 1), node)

    def fixed(self, node: TensorNode) -> tuple[int, ...]:
        """Axes that are there in full in each block."""
        labels = self.fresh(len(node.shape))
        self.keep(labels, node)
        return labels


def _labels(node: TensorNode, given: list[Labels], found: _Classes) -> Labels:
    """The labels of a value, of those of its sources."""
    match node:
        case nodes.Const() | nodes.Variable():
            return (None,) * len(node.shape)
        case _ if isinstance(node, ALONE):
            return _together(given, found)
        case nodes.Permute():
            return tuple(given[0][axis] for axis in node.order)
        case nodes.Expand():
            pairs = zip(given[0], node.sources[0].shape, node.shape, strict=True)
            return tuple(None if old != new else label for label, old, new in pairs)
        case nodes.Reshape():
            return _reshaped(node, given[0], found)
        case nodes.Reduce():
            return _folded(node, given[0], node.axes, found)
        case Scan():
            return _whole(node, given[0], {node.axis}, found)
        case nodes.Flip():
            return _whole(node, given[0], set(node.axes), found)
        case nodes.Pad():
            return _whole(node, given[0], _changed(node.widths, node.sources[0]), found)
        case nodes.Shrink():
            parts = [(begin, n - end) for (begin, end), n in
                     zip(node.bounds, node.sources[0].shape, strict=True)]  # fmt: skip
            return _whole(node, given[0], _changed(parts, node.sources[0]), found)
        case nodes.Index():
            found.keep(given[0], node)
            return _together(given[1:], found)
        case nodes.Sink():
            return ()
    for labels in given:
        found.keep(labels, node)
    return found.fixed(node)


def _together(given: list[Labels], found: _Classes) -> Labels:
    """The axes of values whose elements meet one by one."""
    made = given[0]
    for labels in given[1:]:
        made = tuple(found.join(a, b) for a, b in zip(made, labels, strict=True))
    return made


def _changed(pairs: Iterable[tuple[int, int]], source: TensorNode) -> set[int]:
    """The axes of which something is added or left out."""
    return {axis for axis, pair in zip(range(len(source.shape)), pairs, strict=True) if any(pair)}


def _whole(node: TensorNode, labels: Labels, axes: set[int], found: _Classes) -> Labels:
    """Along `axes` elements meet others, or other places: they are whole, and others behind."""
    found.keep((labels[axis] for axis in axes), node)
    new = found.fixed(node)
    return tuple(new[axis] if axis in axes else label for axis, label in enumerate(labels))


def _folded(node: TensorNode, labels: Labels, axes: Sequence[int], found: _Classes) -> Labels:
    """The axes that a reduction leaves; of those that it folds, one element."""
    found.keep((labels[axis] for axis in axes), node)
    return tuple(None if axis in axes else label for axis, label in enumerate(labels))


def _reshaped(node: nodes.Reshape, labels: Labels, found: _Classes) -> Labels:
    """The axes that stay what they are; those that are cut or joined are whole."""
    source, kept = node.sources[0].shape, dict[int, int]()
    for after, before in matching_groups(node.shape, source):
        large = [axis for axis in before if source[axis] != 1]
        places = [axis for axis in after if node.shape[axis] != 1]
        own = [label for axis in large if (label := labels[axis]) is not None]
        if not len(large) == len(places) == 1:
            own, joined = list(found.fresh(len(places))), own
            found.keep((*joined, *own), node)
        kept |= dict(zip(places, own, strict=False))
    return tuple(map(kept.get, range(len(node.shape))))
