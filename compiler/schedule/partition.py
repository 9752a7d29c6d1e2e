"""partition: decides which values are written to memory; the rest is fused into their users.

    Before:  %0 = buffer x             f32[64,10]
             %1 = reduce sum %0 axes (1) f32[64,1]
             %2 = exp %1               f32[64,1]
             %3 = neg %2               f32[64,1]
             %4 = sqrt %2              f32[64,1]
             sink %3 %4
    After:   %2 = exp %1               f32[64,1]      (in memory; the sum is fused into it)
             %3 = neg %2               f32[64,1]
             %4 = sqrt %2              f32[64,1]

One walk from the results towards the inputs. When a node is reached, all its users have been,
and each has left a *demand*: the kernel it is in and the loop axes the node's index depends on.
A node is written to memory if it must be (a result, a `Contiguous`, a `Scatter`, an `Assign`, a
`Copy` or a `Repeat` and what it reads, what a function from outside reads or writes), or if
computing it inside its users costs more than memory would; each such choice is recorded with its
reason. `Fuse` asks for the contrary, whatever it costs; a `Kernel` and its inputs are in memory,
and its body is left whole: what another kernel would cut in two is computed again inside.

Relies on: invariants 1-11 of `graph/verify.py`.
Ensures: no reduction is computed twice; a kernel stays under `Options.kernel_operations`;
unless `Fuse` or `Kernel` asks for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from compiler import functions
from compiler.graph.dependence import is_data, union
from compiler.graph.effects import Assign, Custom, Scatter
from compiler.graph.kernel import Kernel
from compiler.graph.markers import Fuse
from compiler.graph.nodes import (
    MOVEMENT,
    Const,
    Contiguous,
    Elementwise,
    Iota,
    Reduce,
    Sink,
    TensorNode,
    Variable,
)
from compiler.graph.placement import WITHOUT_SOURCES, Copy, is_computed
from compiler.graph.repeat import Repeat
from compiler.graph.words import operation
from compiler.node import toposort
from compiler.ops import OPS
from compiler.options import Options
from compiler.schedule import padding
from compiler.schedule.demand import Demand, KernelPlan
from compiler.schedule.pitch import pitched

OPERATION_NS = 0.02
"""Cost of one unit of `Op.cost` per element in vectorised code, nanoseconds."""
BYTE_NS = 0.05
"""Cost of one byte of memory traffic, nanoseconds (20 GB/s on one core)."""
LAUNCH_NS = 1000.0
CHEAP = 4
"""Operations recomputed for nothing: they hide behind the loads around them."""
SERIAL_REDUCTION = 4096
"""Elements of a full reduction that may stand in front of another loop in one kernel."""
LOOKAHEAD = 64
"""Nodes searched below a value for reductions that its users would repeat."""

_PADDED = "zeros are put around it: the loops of its reduction would run under their gates"
_SCATTERED = "its updates are written one after the other to an array that is there already"


ENDS = (Contiguous, Copy, Repeat, Kernel, Scatter, Assign)
"""Kinds of node that are always in memory."""


def is_called(node: TensorNode) -> bool:
    """Whether `node` is a function from outside that works on memory: a call of its own."""
    found = functions.find(node.name) if isinstance(node, Custom) else None
    return found is not None and found.kind != "inline"


def is_in_memory(node: TensorNode) -> bool:
    """Whether `node` is written to memory whoever reads it."""
    return isinstance(node, ENDS) or is_called(node)


def _operands_in_memory(order: list[TensorNode]) -> list[TensorNode]:
    """What the functions that work on memory read."""
    return [source for node in order if is_called(node) for source in node.sources]


@dataclass(frozen=True, slots=True)
class Choice:
    """One decision about one node; `is_fused` tells which way it went."""

    node: TensorNode
    is_fused: bool
    reason: str


@dataclass(slots=True)
class Partition:
    """The result: nodes written to memory in dependency order, and the choices made."""

    realized: list[TensorNode] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)


def partition(root: Sink, options: Options) -> Partition:
    """Decide for every node under `root` whether it is written to memory or fused."""
    return _Walk(root, options).run()


class _Walk:
    """State of one walk: the demands met so far and the nodes to be realized."""

    def __init__(self, root: Sink, options: Options) -> None:
        self.order: list[TensorNode] = toposort([root])
        self.options = options
        self.demands: dict[TensorNode, dict[Demand, None]] = {}
        self.weights = _weights(self.order)
        self.ends = {n for n in self.order if isinstance(n, WITHOUT_SOURCES) or is_in_memory(n)}
        """What no reader looks below: leaves, and what is in memory whoever reads it."""
        self.above_reductions = _above_reductions(self.order, self.ends)
        self.results = set(root.sources)
        self.copied = {source for node in self.order for source in _in_memory(node)}
        self.copied.update(_operands_in_memory(self.order))
        """What copies, loops and functions from outside read in memory."""
        self.inputs = {s: n for n in self.order if isinstance(n, Kernel) for s in n.sources}
        """What the user's own kernels read, with one that does."""
        self.fused = {n.value for n in self.order if isinstance(n, Fuse)}
        self.padded = padding.slid(self.order)
        """Images with zeros around them that slide past weights."""
        self.bare: set[TensorNode] = set()
        """What is padded in a kernel of its own."""
        self.realized: dict[TensorNode, None] = {}
        self.choices: list[Choice] = []

    def run(self) -> Partition:
        """Visit users before sources; collect what must be in memory."""
        for node in reversed(self.order):
            is_leaf = isinstance(node, WITHOUT_SOURCES) and not self._is_made(node)
            if is_leaf or isinstance(node, Sink):
                continue
            if self._is_realized(node):
                self.realized[node] = None
                if isinstance(node, Kernel | Repeat):
                    continue
                plan = KernelPlan(node)
                self._pass_on(node, [Demand(plan, plan.dependence)])
            else:
                # what transfers and loops read through movement is demanded by no kernel
                self._pass_on(node, list(self.demands.get(node, ())))
        return Partition(list(reversed(self.realized)), list(reversed(self.choices)))

    def _is_made(self, node: TensorNode) -> bool:
        """Whether `node` needs no data, yet a kernel must write it: a result, or read there."""
        is_read = any(node in each for each in (self.results, self.copied, self.inputs))
        return is_read and isinstance(node, (Const, Iota, Variable))

    def _pass_on(self, node: TensorNode, demands: list[Demand]) -> None:
        """Leave demands at the sources of a node that is computed where it is demanded."""
        for demand in demands:
            demand.plan.operations += 1
            read = node.sources[:1] if isinstance(node, Copy) else node.sources
            for operand, source in enumerate(read):
                self.demands.setdefault(source, {})[demand.below(node, operand)] = None

    def _is_realized(self, node: TensorNode) -> bool:
        """Whether `node` goes to memory; records the choice where there was one."""
        required = self._required(node)
        if required is not None:
            if required:
                self.choices.append(Choice(node, False, required))
            return True
        if node in self.padded and self._is_padded_once(node):
            return True
        if isinstance(node, (*MOVEMENT, Fuse)):
            return False
        if node in self.fused:
            self.choices.append(Choice(node, True, "asked for by fuse()"))
            return False
        demands = list(self.demands[node])
        reason = self._against_fusion(node, demands)
        is_choice = reason or isinstance(node, Reduce) or len(demands) > 1
        if is_choice:
            favour = reason or _in_favour(node, demands)
            self.choices.append(Choice(node, not reason, favour))
        return bool(reason)

    def _is_padded_once(self, node: TensorNode) -> bool:
        """Whether the zeros around `node` are written; what is padded may then be in memory."""
        demands = list(self.demands.get(node, ()))
        reason = padding.against_gates(node, demands, LAUNCH_NS, BYTE_NS)
        if reason:
            self.choices.append(Choice(node, False, reason))
            self.bare.add(padding.below(node))
        return bool(reason)

    def _required(self, node: TensorNode) -> str | None:
        """Why `node` must be in memory, "" where nobody needs to be told; None if it need not."""
        asked = "asked for by fuse(), but " if node in self.fused else ""
        if isinstance(node, Kernel):
            return (
                f"{asked}kernel {node.name} was asked for: one call, nothing fused into it, and "
                "nothing cut out of it; a reduction read under several indices is repeated inside"
            )
        if node in self.inputs:
            return f"{asked}it is an input of kernel {self.inputs[node].name}, which reads memory"
        if node in self.results:
            return asked and f"{asked}it is a result: it has to be in memory"
        if node in self.copied:
            return asked and f"{asked}a copy, a loop or a function reads it in memory"
        if isinstance(node, Scatter):
            return asked + _SCATTERED
        if is_in_memory(node):
            return asked and f"{asked}{operation(node)}() asks for memory"
        return None

    def _against_fusion(self, node: TensorNode, demands: list[Demand]) -> str:
        """Why `node` must not be computed inside its users; "" if it may."""
        limit = self.options.kernel_operations
        if max(d.plan.operations for d in demands) >= limit:
            return f"the kernel that reads it already has {limit} operations"
        if node in self.bare and (isinstance(node, Reduce) or node in self.above_reductions):
            return _PADDED
        if isinstance(node, Reduce):
            return _against_reduction(node, demands)
        is_repeated = len(demands) > 1 or demands[0].repeats > 1
        is_repeated |= demands[0].evaluations > node.size
        if not is_repeated:
            return ""
        repeated = self._repeated_reduction(node, demands)
        if repeated:
            return repeated
        return self._cost_of_repeating(node, demands)

    def _cost_of_repeating(self, node: TensorNode, demands: list[Demand]) -> str:
        """Compares recomputation with a trip through memory; "" if recomputing is cheaper."""
        weight = self.weights[node]
        in_reduction = any(d.is_in_reduction for d in demands if d.repeats > 1)
        if weight <= (1 if in_reduction else CHEAP):
            return ""
        extra = sum(d.evaluations for d in demands) - node.size
        recompute = weight * extra * OPERATION_NS
        traffic = node.nbytes * (1 + len(demands)) * BYTE_NS + LAUNCH_NS
        if recompute <= traffic:
            return ""
        return (
            f"computing it where it is read costs {extra:,} more evaluations of {weight:.0f} "
            f"operations, {recompute / 1000:,.1f} µs; memory costs {traffic / 1000:,.1f} µs"
        )

    def _repeated_reduction(self, node: TensorNode, demands: list[Demand]) -> str:
        """Why a reduction below `node` could be fused only if `node` is not; "" if none."""
        if node not in self.above_reductions:
            return ""
        refused: dict[TensorNode, str] = {}
        for reduction, found in self._reductions_below(node, demands).items():
            together = list({**self.demands.get(reduction, {}), **found})
            reason = _against_reduction(reduction, together)
            if reason:
                refused[reduction] = reason
        if not refused:
            return ""
        plan = KernelPlan(node)
        alone = self._reductions_below(node, [Demand(plan, plan.dependence)])
        for reduction, reason in refused.items():
            if not _against_reduction(reduction, list(alone.get(reduction, {}))):
                return f"it ends the kernel of a reduction: {reason}"
        return ""

    def _reductions_below(
        self, node: TensorNode, demands: list[Demand]
    ) -> dict[TensorNode, dict[Demand, None]]:
        """The reductions below `node`, with the demands they would meet."""
        reached: dict[TensorNode, dict[Demand, None]] = {}
        stack = [(node, demand) for demand in demands]
        seen = set(stack)
        while stack and len(seen) <= LOOKAHEAD * len(demands):
            at, demand = stack.pop()
            for operand, source in enumerate(at.sources):
                goes_on = source in self.above_reductions
                if not goes_on and not isinstance(source, Reduce):
                    continue
                below = demand.below(at, operand)
                if isinstance(source, Reduce):
                    reached.setdefault(source, {})[below] = None
                if goes_on and (source, below) not in seen:
                    seen.add((source, below))
                    stack.append((source, below))
        return reached


def _above_reductions(order: list[TensorNode], ends: set[TensorNode]) -> set[TensorNode]:
    """The nodes that are no ends and have a reduction below them, before any end."""
    found: set[TensorNode] = set()
    for node in order:
        is_above = any(isinstance(s, Reduce) or s in found for s in node.sources)
        if is_above and node not in ends:
            found.add(node)
    return found


def _in_memory(node: TensorNode) -> Iterator[TensorNode]:
    """What a node reads in memory, whatever it costs."""
    if isinstance(node, Copy) and not is_computed(node):
        yield pitched(node.sources[0])[0]
    elif isinstance(node, Repeat):
        yield from (pitched(source)[0] for source in node.sources[: node.states])
        yield from node.sources[node.states :]


def _against_reduction(node: TensorNode, demands: list[Demand]) -> str:
    """Why a reduction must not be computed inside its users; "" if it may."""
    if not demands:
        return ""
    kernels = {id(d.plan) for d in demands}
    if len(kernels) > 1:
        return f"{len(kernels)} kernels read the result; fused, each would repeat the reduction"
    if len(demands) > 1:
        return f"it is read under {len(demands)} different indices; fused, it would be repeated"
    demand = demands[0]
    if is_data(demand.dependence):
        return "it is read at positions found in data; fused, each read would repeat the reduction"
    repeats = demand.repeats
    if repeats > 1:
        return f"it would be computed {repeats:,} times: {demand.blocking_axes()}"
    is_full = not union(demand.dependence) and demand.plan.size > 1
    if is_full and node.sources[0].size > SERIAL_REDUCTION:
        return (
            f"a reduction of all {node.sources[0].size:,} elements would hold up "
            f"every element of the {demand.plan.size:,} that read it"
        )
    return ""


def _in_favour(node: TensorNode, demands: list[Demand]) -> str:
    """Why a node is computed inside its users."""
    if isinstance(node, Reduce):
        per = "once" if not union(demands[0].dependence) else "once per " + demands[0].describe()
        return f"computed {per}, in the loop nest of its only reader; saves {node.nbytes:,} bytes"
    return f"cheap enough to compute {len(demands)} times; saves {node.nbytes:,} bytes"


def _weights(order: list[TensorNode]) -> dict[TensorNode, float]:
    """Cost of computing each node from the nearest leaves and reductions, in `Op.cost` units."""
    weights: dict[TensorNode, float] = {}
    for node in order:
        own = OPS[node.op].cost if isinstance(node, Elementwise) else 0
        own += 0 if isinstance(node, (*MOVEMENT, *WITHOUT_SOURCES, Elementwise, Fuse)) else 1
        is_cut = isinstance(node, Reduce | Scatter | Assign)
        below = 0.0 if is_cut else sum(weights[s] for s in node.sources)
        weights[node] = min(own + below, 1e6)
    return weights

