"""fission: a fused kernel whose loops take longer than those of its parts is split.

    Before:  %0 = buffer x                   f32[64,96]
             …
             %8 = reduce sum %7 axes (2)     f32[64,64,1]
             %9 = reshape %8                 f32[64,64]
             %10 = exp %9                    f32[64,64]
             %11 = reduce sum %10 axes (1)   f32[64,1]
             sink %11
    After:   %10 = exp %9                    f32[64,64]
             %11 = reduce sum %10 axes (1)   f32[64,1]

`partition` sees what is computed and moved, not the loops that come of it. So each kernel is
taken through the loop passes, and the time estimated for its loops compared with that of the same
work in vectors, one element after the other. Where it is far from it; where a sum of products,
which has tiles of its own, is beside or inside another sum; and where zeros are put around a sum,
which is then computed for them as well, the kernel is cut. Tried is each value in it that is folded
or moved: a value with strided, predicated or divided indices is fast to read from memory only.
The best cut is made where it is better than none, by the times estimated for the loops of both
parts, and these are judged in turn.

Relies on: `partition` left each value in memory or to its readers.
Ensures: what was in memory still is; values that `fuse` names and users' kernels are left alone.
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
"""How much longer one kernel must take than its parts to be cut. Not measured: estimates of loops
alike err alike, and those that cuts are for are 3 to 100 times apart."""
FAR = 1.4
"""How much longer than the same work in vectors a kernel must take for cuts of it to be tried: what
is nearer has little to gain. Not measured."""
COPIES = 6
"""How often elements of a value may be in memory at most where it is written as it is moved: four
times is each pixel as four, with zeros around; windows of 3×3 are nine. Not measured."""
LEAST_NS = 5000.0
"""Nanoseconds below which cuts of a kernel are not tried: little beside a call of the program."""
TRIED = 8
"""Cuts of one kernel that are tried at most: each takes two kernels through the passes on loops,
some ten milliseconds."""
CLEAR = 4
"""How much longer one kernel must take than two for no other cut to be tried."""
WHOLE = (Kernel, Repeat, Copy, Scatter, Assign, Later)
"""Kinds of node whose kernels are left whole."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """How long a kernel takes with the loops chosen for it, nanoseconds, by the machine model.

    `ideal` is the time of the same work in vectors, with all data one after the other.
    """

    ns: float
    ideal: float
    is_plain: bool
    """Whether its loops have no vectors but those that LLVM finds."""

    @property
    def is_far(self) -> bool:
        """Whether other loops could be much faster."""
        return self.ns > FAR * self.ideal


class Estimate(Protocol):
    """What a kernel body is estimated to take; one that is only tried need not be kept."""

    def __call__(self, body: Sink, *, is_tried: bool = False) -> Estimated: ...


def fission(root: Sink, parts: Partition, options: Options, estimate: Estimate) -> Partition:
    """`parts`, with more values in memory where that is faster, as `estimate` says."""
    if options.loops == "plain":
        return parts  # all loops are as they come: none are worse than others
    order: list[TensorNode] = toposort([root])
    fused = [node.value for node in order if isinstance(node, Fuse)]
    judged = _Judged(parts, estimate, {each for value in fused for each in _movement(value)})
    for node in parts.realized:
        if not isinstance(node, WHOLE) and not is_called(node):
            judged.cut(node)
    return judged.partition(order)


@dataclass(slots=True)
class _Judged:
    """What is in memory so far, and why that is more than `partition` said."""

    parts: Partition
    estimate: Estimate
    asked: Collection[TensorNode]
    """Values that are to be computed where they are read."""
    realized: dict[TensorNode, None] = field(init=False)
    reasons: dict[TensorNode, Reason] = field(default_factory=dict)
    known: dict[Sink, Estimated] = field(default_factory=dict)
    """What kernels take: on many workers most of them are alike."""

    def __post_init__(self) -> None:
        self.realized = dict.fromkeys(self.parts.realized)

    def partition(self, order: Sequence[TensorNode]) -> Partition:
        """The parts with what was cut; `order` has all nodes, sources first."""
        if not self.reasons:
            return self.parts
        realized = [node for node in order if node in self.realized]
        made = [Choice(node, False, reason) for node, reason in self.reasons.items()]
        choices = [each for each in self.parts.choices if each.node not in self.reasons]
        plain = [each for each in self.parts.plain if each.node not in self.reasons]
        return Partition(realized, [*choices, *made], plain)

    def cut(self, root: TensorNode) -> None:
        """Cut the kernel of `root`, and its parts, for as long as that is faster."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            best = self._best(node)
            if best is not None:
                waiting += (node, best)

    def _whole(self, body: Sink) -> Estimated:
        """What a kernel takes that is not only tried."""
        found = self.known.get(body)
        if found is None:
            found = self.known[body] = self.estimate(body)
        return found

    def _best(self, root: TensorNode) -> TensorNode | None:
        """The value in whose writing to memory most is gained; None where nothing is."""
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
        bound = whole.ns / GAIN  # of both parts: what takes longer is not cut
        is_moved = whole.is_plain or whole.is_far
        found = (c for c in candidates(inside, is_moved) if c not in self.asked)
        for each in itertools.islice(found, TRIED):
            held = ChainMap({each: None}, self.realized)
            own = self.estimate(body_of(each, held), is_tried=True).ns
            if own >= bound:
                continue  # whatever its reader takes
            reader = self.estimate(body_of(root, held), is_tried=True).ns
            apart[each] = own, reader
            bound = min(bound, own + reader)
            if whole.ns > CLEAR * (own + reader):
                break
        best = min(apart, key=lambda each: sum(apart[each]), default=None)
        if best is None or whole.ns <= GAIN * sum(apart[best]):
            return None
        self.realized[best] = None
        self.reasons[best] = _reason(whole.ns, *apart[best])
        return best


def _reason(whole: float, own: float, reader: float) -> Reason:
    """The times of one kernel and of two."""
    return Reason(
        f"the loops of one kernel that computes it where it is read are estimated at "
        f"{microseconds(whole)}; apart they take {microseconds(own)} and {microseconds(reader)}",
        Number("loops of one kernel", whole, "ns", "loops of two", own + reader),
    )


def _inside(root: TensorNode, realized: Collection[TensorNode]) -> Iterator[TensorNode]:
    """What the kernel of `root` computes but does not write, sources before users."""
    below: list[TensorNode] = toposort(root.sources, leaves=realized)
    return (n for n in below if n not in realized and not isinstance(n, WITHOUT_SOURCES))


def candidates(order: Sequence[TensorNode], is_moved: bool) -> list[TensorNode]:
    """The values inside a kernel that its loops may be better without; its root is the last.

    First what is computed, from the root on: of equal ones, what is behind a sum is then done on
    its results in registers. Then, where `is_moved`, what is only moved: tiles that are good find
    their elements themselves.
    """
    found: set[TensorNode] = set()
    ends = _Ends(order)
    for node in order:
        if isinstance(node, Reduce):
            found |= {node, ends.of(node)}
        if not isinstance(node, (*MOVEMENT, Fuse)):
            found.update(each for source in node.sources for each in _places(source))
    found.update(_places(order[-1]))
    inside = [node for node in reversed(order[:-1]) if node in found and node.size]
    moved = [node for node in inside if isinstance(node, MOVEMENT)]
    computed = [node for node in inside if not isinstance(node, MOVEMENT)]
    return [*computed, *moved] if is_moved else computed


def _places(top: TensorNode) -> Iterator[TensorNode]:
    """Where a value that is moved may be written to memory: as it is computed, and moved in part.

    That is wherever there are fewest elements of it. Another shape is the same in memory.
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
    """Whether a sum of products is one of several reductions of a kernel."""
    folds = [node for node in order if isinstance(node, Reduce)]
    return len(folds) > 1 and any(map(_is_product, folds))


def _is_under_predicate(order: Sequence[TensorNode]) -> bool:
    """Whether the result of a reduction is padded: it is folded for zeros as well."""
    predicated: set[TensorNode] = set()
    for node in reversed(order):
        if node in predicated or isinstance(node, Pad):
            predicated.update(node.sources)
    return any(isinstance(node, Reduce) and node in predicated for node in order)


def _is_product(node: TensorNode) -> bool:
    """Whether `node` is a sum of products of which an operand is read again along some axis."""
    return any(
        isinstance(each, Expand) for operand in _operands(node) for each in _movement(operand)
    )


def _operands(node: TensorNode) -> tuple[TensorNode, ...]:
    """The operands of the products that `node` adds; none where it is no sum of such."""
    if not isinstance(node, Reduce) or node.op != "sum":
        return ()
    value = node.sources[0]
    while isinstance(value, (*MOVEMENT, Cast)):
        value = value.sources[0]
    return value.sources if isinstance(value, Elementwise) and value.op == "mul" else ()


def _movement(node: TensorNode) -> Iterator[TensorNode]:
    """`node` and what is under it, up to the first value that is not moved elements of another."""
    while isinstance(node, (*MOVEMENT, Fuse)):
        yield node
        node = node.sources[0]
    yield node


class _Ends:
    """Where what is computed from a reduction, element by element, meets another, or ends."""

    def __init__(self, order: Sequence[TensorNode]) -> None:
        self.root = order[-1]
        self.readers: Mapping[TensorNode, Sequence[TensorNode]] = users(order)
        self.folded: set[TensorNode] = set()
        for node in order:
            if isinstance(node, Reduce) or not self.folded.isdisjoint(node.sources):
                self.folded.add(node)

    def of(self, fold: Reduce) -> TensorNode:
        """The last value that is computed from `fold` alone; itself where there is none."""
        node: TensorNode = fold
        last = node
        while len(found := dict.fromkeys(self.readers[node])) == 1:
            (reader,) = found
            is_computed = isinstance(reader, Elementwise | Cast)
            is_alike = is_computed or isinstance(reader, Reshape | Permute | Flip)
            is_alone = not any(s in self.folded for s in reader.sources if s is not node)
            if reader is self.root or not is_alike or not is_alone:
                break
            node = reader
            last = node if is_computed else last
        return last
