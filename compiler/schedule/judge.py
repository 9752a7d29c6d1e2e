"""judge: a kernel whose loops take longer than those of its parts is cut.

    Before:  %0 = buffer x                   f32[64,96]
             …
             %8 = reduce sum %7 axes (2)     f32[64,64,1]
             %9 = reshape %8                 f32[64,64]
             %10 = neg %9                    f32[64,64]
             %11 = pad %10 1+1 0+0           f32[66,64]    (in memory)
             sink %11
    After:   %10 = neg %9                    f32[64,64]    (in memory)
             %11 = pad %10 1+1 0+0           f32[66,64]

`partition` sees what is computed and what is moved, not the loops that come of it. These are
computed once and move less in one kernel, and may have far slower loops there:

    a reduction under a gate       zeros are put around its result: what is folded is asked for
                                   under a condition, and no tile of registers is
    a sum of products beside       each has loops and tiles of its own, which are not those of the
    another sum, or inside it      other
    a sum of products of what is   a tile reads its operands again and again, and computes them
    computed                       again and again

Kernels with one of these are taken through the loop passes, whole and cut at each such value; the
times that are estimated decide. What comes of a cut is judged in turn.

Relies on: `partition` left each value in memory or to its readers.
Ensures: what was in memory still is; values that `fuse` names and users' kernels are left alone.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from compiler.core.node import toposort, users
from compiler.core.reason import Number, Reason
from compiler.core.text import microseconds
from compiler.graph.kinds.effects import Assign, Scatter
from compiler.graph.kinds.kernel import Kernel
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
from compiler.schedule.partition import ASKED, Choice, Partition, is_called
from compiler.settings.options import Options

GAIN = 1.1
"""How much longer one kernel must take than its parts to be cut. Not measured: estimates of loops
alike err alike, and those that cuts are for are 3 to 100 times apart."""
WHOLE = (Kernel, Repeat, Copy, Scatter, Assign)
"""Kinds of node whose kernels are left whole."""

Estimate: TypeAlias = Callable[[Sink], float]
"""The nanoseconds that a kernel body is estimated to take, with the loops chosen for it."""


def judge(root: Sink, parts: Partition, options: Options, estimate: Estimate) -> Partition:
    """`parts`, with more values in memory where that is faster, as `estimate` says."""
    if options.loops == "plain":
        return parts  # all loops are as they come: none are worse than others
    judged = _Judged(parts, estimate)
    for node in parts.realized:
        if not isinstance(node, WHOLE) and not is_called(node):
            judged.cut(node)
    return judged.partition(root)


@dataclass(slots=True)
class _Judged:
    """What is in memory so far, and why that is more than `partition` said."""

    parts: Partition
    estimate: Estimate
    realized: dict[TensorNode, None] = field(init=False)
    asked: frozenset[TensorNode] = field(init=False)
    reasons: dict[TensorNode, Reason] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.realized = dict.fromkeys(self.parts.realized)
        chosen = self.parts.choices
        self.asked = frozenset(c.node for c in chosen if c.is_fused and c.reason == ASKED)

    def partition(self, root: Sink) -> Partition:
        """The parts with what was cut."""
        if not self.reasons:
            return self.parts
        everything: list[TensorNode] = toposort([root])
        order = [node for node in everything if node in self.realized]
        made = [Choice(node, False, reason) for node, reason in self.reasons.items()]
        choices = [each for each in self.parts.choices if each.node not in self.reasons]
        plain = [each for each in self.parts.plain if each.node not in self.reasons]
        return Partition(order, [*choices, *made], plain)

    def cut(self, root: TensorNode) -> None:
        """Cut the kernel of `root`, and its parts, for as long as that is faster."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            best = self._best(node)
            if best is not None:
                waiting += (node, best)

    def _best(self, root: TensorNode) -> TensorNode | None:
        """The value in whose writing to memory most is gained; None where nothing is."""
        found = [
            each for each in candidates(root, self.realized)
            if each.size and each not in self.asked
        ]  # fmt: skip
        if not found:
            return None
        whole = self.estimate(body_of(root, self.realized))
        apart: dict[TensorNode, tuple[float, float]] = {}
        for each in found:
            held = {**self.realized, each: None}
            apart[each] = self.estimate(body_of(each, held)), self.estimate(body_of(root, held))
        # of equal ones the last: what is behind a sum is then done on its results in registers
        best = min(reversed(found), key=lambda each: sum(apart[each]))
        if whole <= GAIN * sum(apart[best]):
            return None
        self.realized[best] = None
        self.reasons[best] = _reason(whole, *apart[best])
        return best


def _reason(whole: float, own: float, reader: float) -> Reason:
    """The times of one kernel and of two."""
    return Reason(
        f"the loops of one kernel that computes it where it is read are estimated at "
        f"{microseconds(whole)}; apart they take {microseconds(own)} and {microseconds(reader)}",
        Number("as one kernel", whole, "ns", "apart", own + reader),
    )


def candidates(root: TensorNode, realized: Collection[TensorNode]) -> list[TensorNode]:
    """The values inside the kernel of `root` that its loops may be better without."""
    below: list[TensorNode] = toposort(root.sources, leaves=realized)
    inside = [n for n in below if n not in realized and not isinstance(n, WITHOUT_SOURCES)]
    order = [*inside, root]
    folds = [node for node in order if isinstance(node, Reduce)]
    if not folds:
        return []
    products = [node for node in folds if _is_product(node)]
    ends = _Ends(order)
    found = dict.fromkeys(each for fold in _under_gates(order) for each in (fold, ends.of(fold)))
    if len(folds) > 1:
        found |= dict.fromkeys(each for it in products for each in (it, ends.of(it)))
    found |= dict.fromkeys(each for product in products for each in _computed(product))
    return [node for node in inside if node in found]


def _is_product(node: Reduce) -> bool:
    """Whether `node` is a sum of products of which an operand is read again along some axis."""
    return any(
        isinstance(each, Expand) for operand in _operands(node) for each in _movement(operand)
    )


def _operands(node: Reduce) -> tuple[TensorNode, ...]:
    """The operands of the products that `node` adds; none where it is no sum of such."""
    value = node.sources[0]
    while isinstance(value, (*MOVEMENT, Cast)):
        value = value.sources[0]
    is_product = node.op == "sum" and isinstance(value, Elementwise) and value.op == "mul"
    return value.sources if is_product else ()


def _movement(node: TensorNode) -> Iterator[TensorNode]:
    """`node` and what is under it, up to the first value that is not moved elements of another."""
    while isinstance(node, MOVEMENT):
        yield node
        node = node.sources[0]
    yield node


def _computed(product: Reduce) -> Iterator[TensorNode]:
    """What the operands of a product are computed from: the zeros around them, or themselves."""
    for operand in _operands(product):
        *moved, value = _movement(operand)
        yield value
        yield from (each for each in moved if isinstance(each, Pad))


def _under_gates(order: Sequence[TensorNode]) -> list[Reduce]:
    """The reductions of a kernel whose results are padded in it."""
    gated: set[TensorNode] = set()
    for node in reversed(order):
        if node in gated or isinstance(node, Pad):
            gated.update(node.sources)
    return [node for node in order if isinstance(node, Reduce) and node in gated]


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
