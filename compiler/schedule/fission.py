"""fission: kernel fission. A fused kernel that is slower than its parts is split.

    Before:  %0 = buffer x                   f32[64,96]
             …
             %8 = reduce sum %7 axes (2)     f32[64,64,1]
             %9 = reshape %8                 f32[64,64]
             %10 = exp %9                    f32[64,64]
             %11 = reduce sum %10 axes (1)   f32[64,1]
             sink %11
    After:   %10 = exp %9                    f32[64,64]
             %11 = reduce sum %10 axes (1)   f32[64,1]

`partition` decides about fusion without knowledge of the resulting loops. This pass runs each fused
kernel through the loop passes and compares its estimated time with that of the same work fully
vectorised with contiguous accesses. Three kinds of kernels are candidates for a split: kernels far
slower than that; kernels in which a matrix product, which needs its own tiles, is next to or inside
another reduction; and kernels that pad the result of a reduction, because the reduction is then
evaluated for the padding as well.

Each reduced or moved value of a candidate is tried as the boundary between a producer and a
consumer kernel: values with strided, predicated or divided indices are fast only if loaded from
memory. The split with the shortest estimated time of both kernels is made, if it is faster than
the fused kernel. Then both kernels are candidates themselves.

Relies on: `partition` decided for each value if it is stored or fused into its consumers.
Ensures: stored values stay stored; values requested by `fuse` and kernels of the user are not
split.
"""

import itertools
from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from compiler.core.node import toposort, users
from compiler.core.reason import Number, Reason
from compiler.core.text import microseconds
from compiler.graph.kinds.effects import Assign, Scatter
from compiler.graph.kinds.kernel import Kernel
from compiler.graph.kinds.markers import Fuse, Later
from compiler.graph.kinds.placement import WITHOUT_SOURCES, Copy
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import (
    MOVEMENT,
    Cast,
    Elementwise,
    Expand,
    Flip,
    Pad,
    Permute,
    Reduce,
    Reshape,
    Sink,
    TensorNode,
)
from compiler.schedule.outline import body_of
from compiler.schedule.partition import Choice, Partition, is_called
from compiler.settings.options import Options

GAIN = 1.3
"""The least ratio of the fused kernel's time to that of its parts for a split. Not measured:
estimates of similar loops have similar errors, and kernels worth a split differ by 3 to 100 times.
"""
FAR = 1.4
"""The least ratio of a kernel's time to that of the same work fully vectorised for splits to be
tried: below it there is little to gain. Not measured."""
COPIES = 6
"""The most copies of each element if a value is stored after movement: nearest-neighbour upsampling
by two, padded, has four; windows of 3×3 have nine. Not measured."""
LEAST_NS = 5000.0
"""Nanoseconds below which splits of a kernel are not tried: short compared with a program call."""
TRIED = 8
"""The most splits that are tried for one kernel: each runs two kernels through the loop passes,
about ten milliseconds."""
CLEAR = 4
"""The ratio of the fused kernel's time to that of its parts from which no other split is tried."""
WHOLE = (Kernel, Repeat, Copy, Scatter, Assign, Later)
"""Kinds of nodes whose kernels are never split."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """The estimated time of a kernel with its chosen loops, in nanoseconds.

    `ideal` is the time of the same work fully vectorised with contiguous accesses.
    """

    ns: float
    ideal: float
    is_plain: bool
    """True if its loops are vectorised by LLVM only."""

    @property
    def is_far(self) -> bool:
        """True if other loops could be much faster."""
        return self.ns > FAR * self.ideal


class Estimate(Protocol):
    """A function that estimates a kernel body; with `is_tried`, the result need not be cached."""

    def __call__(self, body: Sink, *, is_tried: bool = False) -> Estimated: ...


def fission(root: Sink, parts: Partition, options: Options, estimate: Estimate) -> Partition:
    """`parts`, with more values stored where `estimate` finds that faster."""
    if options.loops == "plain":
        return parts  # loops are not optimised: no kernel is worse than its parts
    order: list[TensorNode] = toposort([root])
    fused = [node.value for node in order if isinstance(node, Fuse)]
    judged = _Judged(parts, estimate, {each for value in fused for each in _movement(value)})
    for node in parts.realized:
        if not isinstance(node, WHOLE) and not is_called(node):
            judged.cut(node)
    return judged.partition(order)


@dataclass(slots=True)
class _Judged:
    """The values stored so far, and the reasons for those that this pass added."""

    parts: Partition
    estimate: Estimate
    asked: Collection[TensorNode]
    """Values that the user requested to be fused."""
    realized: dict[TensorNode, None] = field(init=False)
    reasons: dict[TensorNode, Reason] = field(default_factory=dict)
    known: dict[Sink, Estimated] = field(default_factory=dict)
    """Estimates by body: with many workers most kernels are equal."""

    def __post_init__(self) -> None:
        self.realized = dict.fromkeys(self.parts.realized)

    def partition(self, order: Sequence[TensorNode]) -> Partition:
        """The partition with the added values; `order` has all nodes in topological order."""
        if not self.reasons:
            return self.parts
        realized = [node for node in order if node in self.realized]
        rows = [Choice(node, False, reason) for node, reason in self.reasons.items()]
        choices = [each for each in self.parts.choices if each.node not in self.reasons]
        plain = [each for each in self.parts.plain if each.node not in self.reasons]
        return Partition(realized, [*choices, *rows], plain)

    def cut(self, root: TensorNode) -> None:
        """Split the kernel of `root`, and its parts, as long as that is faster."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            best = self._best(node)
            if best is not None:
                waiting += (node, best)

    def _whole(self, body: Sink) -> Estimated:
        """The estimate of a kernel of the program, cached."""
        time = self.known.get(body)
        if time is None:
            time = self.known[body] = self.estimate(body)
        return time

    def _best(self, root: TensorNode) -> TensorNode | None:
        """The value whose storing gains most, added to the stored ones; None if none gains."""
        inside = [*_inside(root, self.realized), root]
        if len(inside) == 1:
            return None
        whole = self._whole(body_of(root, self.realized))
        is_mixed = (
            _has_several_sums(inside) or _is_under_predicate(inside)
            or (whole.is_plain and any(map(_is_product, inside)))
        )  # fmt: skip
        if whole.ns < LEAST_NS or not (whole.is_far or is_mixed):
            return None
        apart: dict[TensorNode, tuple[float, float]] = {}
        bound = whole.ns / GAIN  # for both parts together: a slower split does not pay
        is_moved = whole.is_plain or whole.is_far
        candidate = (c for c in candidates(inside, is_moved) if c not in self.asked)
        for each in itertools.islice(candidate, TRIED):
            held = ChainMap({each: None}, self.realized)
            alone = self.estimate(body_of(each, held), is_tried=True).ns
            if alone >= bound:
                continue  # whatever time its consumer takes
            reader = self.estimate(body_of(root, held), is_tried=True).ns
            apart[each] = alone, reader
            bound = min(bound, alone + reader)
            if whole.ns > CLEAR * (alone + reader):
                break
        best = min(apart, key=lambda each: sum(apart[each]), default=None)
        if best is None or whole.ns <= GAIN * sum(apart[best]):
            return None
        self.realized[best] = None
        self.reasons[best] = _reason(whole.ns, *apart[best])
        return best


def _reason(whole: float, first: float, reader: float) -> Reason:
    """The times of one kernel and of two."""
    return Reason(
        f"the loops of the fused kernel are estimated at {microseconds(whole)}; "
        f"split into two kernels they take {microseconds(first)} and {microseconds(reader)}",
        Number("loops of one kernel", whole, "ns", "loops of two", first + reader),
    )


def _inside(root: TensorNode, realized: Collection[TensorNode]) -> Iterator[TensorNode]:
    """The values fused into the kernel of `root`, in topological order."""
    below: list[TensorNode] = toposort(root.sources, leaves=realized)
    return (n for n in below if n not in realized and not isinstance(n, WITHOUT_SOURCES))


def candidates(order: Sequence[TensorNode], is_moved: bool) -> list[TensorNode]:
    """The values inside a kernel at which it may be split, in the order to try them.

    `order` has the nodes of the kernel with its root last. Computed values come first, from the
    root on: for equal times, operations on the result of a reduction then stay in its kernel, in
    registers. If `is_moved`, values after movement follow: good tiles pack their elements anyway.
    """
    reached: set[TensorNode] = set()
    ends = _Ends(order)
    for node in order:
        if isinstance(node, Reduce):
            reached |= {node, ends.of(node)}
        if not isinstance(node, (*MOVEMENT, Fuse)):
            reached.update(each for source in node.sources for each in _places(source))
    reached.update(_places(order[-1]))
    inside = [node for node in reversed(order[:-1]) if node in reached and node.size]
    moved = [node for node in inside if isinstance(node, MOVEMENT)]
    computed = [node for node in inside if not isinstance(node, MOVEMENT)]
    return [*computed, *moved] if is_moved else computed


def _places(top: TensorNode) -> Iterator[TensorNode]:
    """The points at which a moved value may be stored: as computed, or after some of its movement.

    These are the points with the fewest elements. A reshape is the same in memory, so it is none.
    """
    *moved, value = _movement(top)
    if any(isinstance(node, Fuse) for node in moved):
        return
    least = top.size
    for node in moved:
        if node.size <= min(least, COPIES * value.size):
            least = node.size
            if not isinstance(node, Reshape):
                yield node
    if moved and not isinstance(value, WITHOUT_SOURCES):
        yield value


def _has_several_sums(order: Sequence[TensorNode]) -> bool:
    """True if a kernel has several reductions and one of them is a matrix product."""
    folds = [node for node in order if isinstance(node, Reduce)]
    return len(folds) > 1 and any(map(_is_product, folds))


def _is_under_predicate(order: Sequence[TensorNode]) -> bool:
    """True if the result of a reduction is padded: it is evaluated for the padding as well."""
    predicated: set[TensorNode] = set()
    for node in reversed(order):
        if node in predicated or isinstance(node, Pad):
            predicated.update(node.sources)
    return any(isinstance(node, Reduce) and node in predicated for node in order)


def _is_product(node: TensorNode) -> bool:
    """True if `node` is a sum of products with reuse: an operand is broadcast along some axis."""
    return any(
        isinstance(each, Expand) for operand in _operands(node) for each in _movement(operand)
    )


def _operands(node: TensorNode) -> tuple[TensorNode, ...]:
    """The factors of the products that `node` sums; () if it is no sum of products."""
    if not isinstance(node, Reduce) or node.op != "sum":
        return ()
    value = node.sources[0]
    while isinstance(value, (*MOVEMENT, Cast)):
        value = value.sources[0]
    return value.sources if isinstance(value, Elementwise) and value.op == "mul" else ()


def _movement(node: TensorNode) -> Iterator[TensorNode]:
    """`node` and the nodes below it, through movement to the first other node."""
    while isinstance(node, (*MOVEMENT, Fuse)):
        yield node
        node = node.sources[0]
    yield node


class _Ends:
    """Finds the end of the elementwise chain after a reduction, before it meets another one."""

    def __init__(self, order: Sequence[TensorNode]) -> None:
        self.root = order[-1]
        self.readers: Mapping[TensorNode, Sequence[TensorNode]] = users(order)
        self.folded: set[TensorNode] = set()
        for node in order:
            if isinstance(node, Reduce) or not self.folded.isdisjoint(node.sources):
                self.folded.add(node)

    def of(self, fold: Reduce) -> TensorNode:
        """The last value that is computed from `fold` alone; `fold` itself if there is none."""
        node: TensorNode = fold
        last = node
        while len(readers := dict.fromkeys(self.readers[node])) == 1:
            (reader,) = readers
            is_computed = isinstance(reader, Elementwise | Cast)
            is_alike = is_computed or isinstance(reader, Reshape | Permute | Flip)
            is_alone = not any(s in self.folded for s in reader.sources if s is not node)
            if reader is self.root or not is_alike or not is_alone:
                break
            node = reader
            last = node if is_computed else last
        return last
