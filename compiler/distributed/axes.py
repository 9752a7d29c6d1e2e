"""axes: classes of axes that are partitioned together, and those that must not be partitioned.

    out = (a * b + c).relu().sum(1)      a, b: n × m, c: m
    class 0   axis 0 of a, of b, of the result            may be partitioned: parts are independent
    class 1   axis 1 of a, of b, axis 0 of c              whole: `sum` reduces it

Two axes are in one class if an operation combines their elements pairwise. All axes of a class have
the same blocks. A class may be partitioned if no operation combines different positions along it.
An operation that is not known to treat positions independently makes its axes whole: partitioning
them is an error, never a wrong result.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compiler.core.node import toposort
from compiler.graph import nodes
from compiler.graph.extents import matching_groups
from compiler.graph.kinds.scan import Scan
from compiler.graph.nodes import TensorNode

Labels = tuple[int | None, ...]
"""A label for each axis of a value; None for a broadcast axis, whose extent is free."""
ALONE = (nodes.Elementwise, nodes.Cast, nodes.Bitcast, nodes.Contiguous, nodes.Bind)


@dataclass(frozen=True, slots=True)
class Axes:
    """The class of each axis of each input and result, and the first node that needs a class
    whole."""

    inputs: tuple[Labels, ...]
    results: tuple[Labels, ...]
    whole: dict[int, TensorNode]
    """The classes that must be whole, each with the first node that needs it."""


def axes(roots: Sequence[TensorNode], inputs: Sequence[TensorNode]) -> Axes:
    """The classes of a program of core kinds that reads `inputs`."""
    classes = _Classes()
    labels: dict[TensorNode, Labels] = {}
    labels |= {node: classes.fresh(len(node.shape)) for node in inputs}
    for node in toposort(roots):
        if node not in labels:
            labels[node] = _labels(node, [labels[source] for source in node.sources], classes)
    for node in roots:
        classes.once(labels[node], node)
    for node in inputs:
        classes.once(labels[node], node)
    named = tuple(tuple(map(classes.of, labels[node])) for node in inputs)
    results = tuple(tuple(map(classes.of, labels[node])) for node in roots)
    whole = {classes.root(label): node for label, node in classes.whole.items()}
    return Axes(named, results, whole)


class _Classes:
    """Labels that are joined to classes."""

    def __init__(self) -> None:
        self._parents: list[int] = []
        self.whole: dict[int, TensorNode] = {}

    def fresh(self, count: int) -> tuple[int, ...]:
        """`count` labels, each in a new class."""
        first = len(self._parents)
        self._parents += range(first, first + count)
        return tuple(range(first, first + count))

    def root(self, label: int) -> int:
        """The representative label of a class."""
        while self._parents[label] != label:
            label = self._parents[label]
        return label

    def of(self, label: int | None) -> int | None:
        """The class of a label."""
        return None if label is None else self.root(label)

    def join(self, first: int | None, other: int | None) -> int | None:
        """Merge the classes of two axes whose elements are combined; return the class."""
        if first is None or other is None:
            return other if first is None else first
        a, b = self.root(first), self.root(other)
        self._parents[b] = a
        return a

    def keep(self, labels: Iterable[int | None], node: TensorNode) -> None:
        """Mark the axes as whole because `node` needs them so."""
        for label in labels:
            if label is not None:
                self.whole.setdefault(label, node)

    def once(self, labels: Labels, node: TensorNode) -> None:
        """Mark a class whole if two axes of one value are in it: its blocks are no rectangles."""
        roots = [self.root(label) for label in labels if label is not None]
        self.keep((label for label in roots if roots.count(label) > 1), node)

    def fixed(self, node: TensorNode) -> tuple[int, ...]:
        """Labels of axes that are whole in each block."""
        labels = self.fresh(len(node.shape))
        self.keep(labels, node)
        return labels


def _labels(node: TensorNode, operands: list[Labels], classes: _Classes) -> Labels:
    """The labels of a value, from those of its operands."""
    match node:
        case nodes.Const() | nodes.Variable():
            return (None,) * len(node.shape)
        case _ if isinstance(node, ALONE):
            return _together(operands, classes)
        case nodes.Permute():
            return tuple(operands[0][axis] for axis in node.order)
        case nodes.Expand():
            pairs = zip(operands[0], node.sources[0].shape, node.shape, strict=True)
            return tuple(None if old != new else label for label, old, new in pairs)
        case nodes.Reshape():
            return _reshaped(node, operands[0], classes)
        case nodes.Reduce():
            return _folded(node, operands[0], node.axes, classes)
        case Scan():
            return _whole(node, operands[0], {node.axis}, classes)
        case nodes.Flip():
            return _whole(node, operands[0], set(node.axes), classes)
        case nodes.Pad():
            return _whole(node, operands[0], _changed(node.widths, node.sources[0]), classes)
        case nodes.Shrink():
            parts = [(begin, n - end) for (begin, end), n in
                     zip(node.bounds, node.sources[0].shape, strict=True)]  # fmt: skip
            return _whole(node, operands[0], _changed(parts, node.sources[0]), classes)
        case nodes.Index():
            classes.keep(operands[0], node)
            return _together(operands[1:], classes)
        case nodes.Sink():
            return ()
    for labels in operands:
        classes.keep(labels, node)
    return classes.fixed(node)


def _together(operands: list[Labels], classes: _Classes) -> Labels:
    """The labels of an elementwise result: axes at the same position are one class."""
    joined = operands[0]
    for labels in operands[1:]:
        joined = tuple(classes.join(a, b) for a, b in zip(joined, labels, strict=True))
    return joined


def _changed(pairs: Iterable[tuple[int, int]], source: TensorNode) -> set[int]:
    """The axes that a pad or a shrink changes."""
    return {axis for axis, pair in zip(range(len(source.shape)), pairs, strict=True) if any(pair)}


def _whole(node: TensorNode, labels: Labels, axes: set[int], classes: _Classes) -> Labels:
    """The labels of a result whose positions along `axes` depend on several: they are whole, and
    the result has new labels there."""
    classes.keep((labels[axis] for axis in axes), node)
    new = classes.fixed(node)
    return tuple(new[axis] if axis in axes else label for axis, label in enumerate(labels))


def _folded(node: TensorNode, labels: Labels, axes: Sequence[int], classes: _Classes) -> Labels:
    """The labels of a reduction: the axes that it reduces become whole."""
    classes.keep((labels[axis] for axis in axes), node)
    return tuple(None if axis in axes else label for axis, label in enumerate(labels))


def _reshaped(node: nodes.Reshape, labels: Labels, classes: _Classes) -> Labels:
    """The labels of a reshape: axes that keep their extent stay; split and merged ones are
    whole."""
    source, kept = node.sources[0].shape, dict[int, int]()
    for after, before in matching_groups(node.shape, source):
        large = [axis for axis in before if source[axis] != 1]
        places = [axis for axis in after if node.shape[axis] != 1]
        source_labels = [label for axis in large if (label := labels[axis]) is not None]
        if not len(large) == len(places) == 1:
            source_labels, joined = list(classes.fresh(len(places))), source_labels
            classes.keep((*joined, *source_labels), node)
        kept |= dict(zip(places, source_labels, strict=False))
    return tuple(map(kept.get, range(len(node.shape))))
