"""partition: fusion. Decides which values are written to memory; others are fused into their users.

    Before:  %0 = buffer x             f32[64,10]
             %1 = reduce sum %0 axes (1) f32[64,1]
             %2 = exp %1               f32[64,1]
             %3 = neg %2               f32[64,1]
             %4 = sqrt %2              f32[64,1]
             sink %3 %4
    After:   %2 = exp %1               f32[64,1]      (in memory; the sum is fused into it)
             %3 = neg %2               f32[64,1]
             %4 = sqrt %2              f32[64,1]

The pass walks once from the results to the inputs. A node is visited after all its users (its
consumers). Each of them has left a *demand*: its kernel, and the loop axes on which the index of
the node depends. A node is stored if it has to be: a result, a `Contiguous`, a `Scan`, a `Scatter`,
an `Assign`, a `Copy` or a `Repeat` with the values they read, operands and results of external
functions. Otherwise it is stored if recomputing it in its users costs more than memory traffic.
Each such decision is recorded with its reason. `Fuse` overrides the decision. A user's `Kernel` and
its inputs are in memory, and the kernel is never split: its body recomputes values that would
otherwise be stored.

Attention stays three kernels. In blocks of 96 queries, whose scores stay in the L2 cache, it was
15 % slower for 512 queries of 64 (0.80 instead of 0.69 ms), 26 % for 12 heads of these, and 22 %
for 2048 queries: each block packs all keys and values again, while all scores fit in the last-level
cache. Only beyond that, at 12 heads of 2048, blocks were faster (251 ms, 387).

Relies on: invariants 1-11 of `graph/verify.py`.
Ensures: no reduction is computed twice, and a kernel stays under `Options.kernel_operations`,
unless `Fuse` or `Kernel` requests it. Other recomputation is decided by cost (`repeating.py`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from compiler.core.node import toposort
from compiler.core.reason import Number, Reason, numbers_of
from compiler.graph.dependence import is_data, union
from compiler.graph.kinds.effects import Assign, Custom, Scatter
from compiler.graph.kinds.kernel import Kernel
from compiler.graph.kinds.markers import Fuse, Later
from compiler.graph.kinds.placement import WITHOUT_SOURCES, Copy, is_computed
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.kinds.scan import Scan
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
from compiler.graph.words import operation
from compiler.machines.model import EXPENSIVE
from compiler.ops import functions
from compiler.schedule import padding, repeating
from compiler.schedule.demand import Demand, KernelPlan
from compiler.schedule.pitch import pitched
from compiler.settings.options import Options

BYTE_NS = 0.05
"""The cost of one byte of memory traffic, in nanoseconds: 20 GB/s on one core; measured were 18 to
20 from arrays larger than the caches (Xeon, AVX-512, November 2026)."""
LAUNCH_NS = 1000.0
"""The cost of one more kernel, in nanoseconds: a round figure. x / x.sum() of 1,024 to 8,192 floats
took 1.2 to 1.5 µs longer in two kernels than in one (EPYC, AVX2, two busy cores, 2026-11-23)."""
SERIAL_REDUCTION = 4096
"""The most elements of a full reduction that is fused into another loop. x / x.sum() took 12.6 µs
in one kernel and 14.1 in two at 4,096 floats, 16.1 and 17.1 at 16,384, the same at 65,536 (EPYC,
AVX2, two busy cores, 2026-11-23)."""
LOOKAHEAD = 64
"""The most nodes searched below a value, per demand, for reductions that its users would repeat. 40
layers of attention and normalisation compiled in 0.85 s to 237 items; with 16 in 0.69 s to 239,
with 256 in 2.5 s to 231, with 1,024 in 9.8 s to 236 (EPYC, AVX2, 2026-11-23)."""

SCANNED_NS = 0.05
"""The vectorised time of an operation, in nanoseconds, from which it is not fused into a scan along
rows, which is not vectorised."""
LONG_NS = 0.3
"""The same limit for all operations that compute one element, with its loads."""

_PADDED = "zeros are put around it: the loads of its reduction would need predicates"
_SCANNED = "a scan reads it sequentially: it is computed before, vectorised and on all cores"
_SCATTERED = "its updates are written one after the other to an existing array"
_LATER = (
    "requested by checkpoint(): it is stored, and values computed from it are recomputed in the "
    "backward pass"
)
MOVED = Reason("movement of elements: a part of the index of what reads them, never computed")
ONCE = Reason(
    "read at one place, so each element is computed once, there",
    Number("indices under which it is read", 1, "", "at most", 1),
    Number("times each element is computed", 1, "", "at most", 1),
)
EMPTY = Reason("it has no elements")

ENDS = (Contiguous, Copy, Repeat, Kernel, Scan, Scatter, Assign, Later)
"""Kinds of nodes that are always in memory."""


def is_called(node: TensorNode) -> bool:
    """True if `node` is an external function on arrays in memory: a call of its own."""
    function = functions.find(node.name) if isinstance(node, Custom) else None
    return function is not None and function.kind != "inline"


def is_in_memory(node: TensorNode) -> bool:
    """True if `node` is written to memory whatever its users are."""
    return isinstance(node, ENDS) or is_called(node)


def _operands_in_memory(order: list[TensorNode]) -> list[TensorNode]:
    """The nodes that external functions read in memory."""
    return [source for node in order if is_called(node) for source in node.sources]


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision about a node: it `is_fused` into its users, or else stored."""

    node: TensorNode
    is_fused: bool
    reason: str
    """The reason, with the numbers that were compared (`reason.py`)."""


@dataclass(slots=True)
class Partition:
    """The result: the nodes written to memory, in dependency order, and the decisions.

    `plain` has the nodes for which there was no alternative, each with its reason.
    """

    realized: list[TensorNode] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    plain: list[Choice] = field(default_factory=list)


def partition(root: Sink, options: Options) -> Partition:
    """Decide for every node under `root` whether it is written to memory or fused."""
    return _Walk(root, options).run()


class _Walk:
    """The state of the walk: the demands found so far, and the nodes to store."""

    def __init__(self, root: Sink, options: Options) -> None:
        self.order: list[TensorNode] = toposort([root])
        self.options = options
        self.demands: dict[TensorNode, dict[Demand, None]] = {}
        self.model = options.model
        self.in_words = repeating.in_words(self.order) if self.model.dots else set()
        """Conversions that dot-product instructions for small types perform themselves."""
        self.evaluation_ns = repeating.evaluation_ns(self.order, self.model, self.in_words)
        self.ends = {n for n in self.order if isinstance(n, WITHOUT_SOURCES) or is_in_memory(n)}
        """Kernel boundaries: leaves, and nodes that are always in memory."""
        self.above_reductions = _above_reductions(self.order, self.ends)
        self.ways_down: dict[TensorNode, list[tuple[int, TensorNode, bool, bool]]] = {}
        self.results = set(root.sources)
        self.copied = {source for node in self.order for source in _in_memory(node)}
        self.copied.update(_operands_in_memory(self.order))
        """Nodes that copies, loops and external functions read in memory."""
        self.inputs = {s: n for n in self.order if isinstance(n, Kernel) for s in n.sources}
        """Nodes that the user's kernels read, each with one of these kernels."""
        self.fused = {n.value for n in self.order if isinstance(n, Fuse)}
        self.padded = padding.slid(self.order)
        """Padded images of convolutions."""
        self.bare: set[TensorNode] = set()
        """Images that are padded in a kernel of their own."""
        self.folded: dict[TensorNode, bool] = {}
        """Operands of fused reductions, perhaps moved: true if nothing else reads them."""
        self.realized: dict[TensorNode, None] = {}
        self.choices: list[Choice] = []
        self.plain: list[Choice] = []

    def run(self) -> Partition:
        """Visit users before sources; collect what must be in memory."""
        for node in reversed(self.order):
            is_leaf = isinstance(node, WITHOUT_SOURCES) and not self._is_made(node)
            if is_leaf or isinstance(node, Sink):
                continue
            if self._is_realized(node):
                self.realized[node] = None
                if isinstance(node, Kernel | Repeat | Later):
                    continue
                plan = KernelPlan(node)
                self._pass_on(node, [Demand(plan, plan.dependence)])
                self.folded |= dict.fromkeys(node.sources, False)
            else:
                self._note_folded(node)
                # values that transfers and loops read through movement have no demand
                self._pass_on(node, list(self.demands.get(node, ())))
        result = Partition(list(self.realized), self.choices, self.plain)
        for each in (result.realized, result.choices, result.plain):
            each.reverse()
        return result

    def _is_made(self, node: TensorNode) -> bool:
        """True if `node` reads no data but a kernel has to store it: a result, or read in memory.
        """
        is_read = any(node in each for each in (self.results, self.copied, self.inputs))
        return is_read and isinstance(node, (Const, Iota, Variable))

    def _note_folded(self, node: TensorNode) -> None:
        """Update `folded` for the sources of a fused node."""
        is_folded = isinstance(node, Reduce) and node.size < node.sources[0].size
        is_folded |= isinstance(node, MOVEMENT) and self.folded.get(node, False)
        for source in node.sources:
            self.folded[source] = is_folded and self.folded.get(source, True)

    def _pass_on(self, node: TensorNode, demands: list[Demand]) -> None:
        """Add the demands of a fused node to its sources."""
        for demand in demands:
            demand.plan.operations += 1
            read = node.sources[:1] if isinstance(node, Copy) else node.sources
            for operand, source in enumerate(read):
                self.demands.setdefault(source, {})[demand.below(node, operand)] = None

    def _is_realized(self, node: TensorNode) -> bool:
        """True if `node` is stored; records the decision."""
        required = self._required(node)
        if required:
            asked = "requested by fuse(), but " if node in self.fused else ""
            is_recorded = bool(asked) or self._is_choice(node)
            choice = Choice(node, False, f"{asked}{required}")
            (self.choices if is_recorded else self.plain).append(choice)
            return True
        if node in self.padded and self._is_padded_once(node):
            return True
        if isinstance(node, (*MOVEMENT, Fuse)):
            if node not in self.padded:
                self.plain.append(Choice(node, True, MOVED))
            return False
        if node in self.fused:
            self.choices.append(Choice(node, True, "requested by fuse()"))
            return False
        demands = list(self.demands[node])
        reason = self._against_fusion(node, demands)
        is_repeated = len(demands) > 1 or demands[0].repeats > 1
        is_choice = reason or isinstance(node, Reduce) or is_repeated
        if is_choice:
            favour = reason or self._in_favour(node, demands)
            self.choices.append(Choice(node, not reason, favour))
        else:
            self.plain.append(Choice(node, True, ONCE if node.size else EMPTY))
        return bool(reason)

    def _is_padded_once(self, node: TensorNode) -> bool:
        """True if the padding `node` is stored; then the padded value may be stored as well."""
        demands = list(self.demands.get(node, ()))
        predicates = padding.predicates(node, demands, LAUNCH_NS, BYTE_NS)
        if predicates.is_written:
            self.choices.append(Choice(node, False, predicates.reason))
            self.bare.add(padding.below(node))
        else:
            self.plain.append(Choice(node, True, predicates.reason))
        return predicates.is_written

    def _required(self, node: TensorNode) -> str:
        """The reason why `node` has to be in memory; "" if it does not have to."""
        if isinstance(node, Kernel):
            return (
                f"kernel {node.name} was requested: one call, nothing fused into it, and never "
                "split; a reduction read under several indices is recomputed inside"
            )
        if node in self.inputs:
            return f"it is an input of kernel {self.inputs[node].name}, which reads memory"
        if node in self.results:
            return "it is a result: it has to be in memory"
        if node in self.copied:
            return "a copy, a loop or a function reads it in memory"
        if isinstance(node, Scatter):
            return _SCATTERED
        if isinstance(node, Later):
            return _LATER
        return f"{operation(node)}() asks for memory" if is_in_memory(node) else ""

    def _is_choice(self, node: TensorNode) -> bool:
        """True if it is worth recording as a decision that `node` has to be in memory."""
        if isinstance(node, Kernel | Later) or node in self.inputs:
            return True
        return isinstance(node, Scatter) and node not in self.results | self.copied

    def _against_fusion(self, node: TensorNode, demands: list[Demand]) -> str:
        """The reason against fusing `node` into its users; "" if there is none."""
        limit = self.options.kernel_operations
        most = max(d.plan.operations for d in demands)
        if most >= limit:
            words = f"the kernel that reads it already has {limit} operations"
            return Reason(words, Number("operations in that kernel", most, "", "fewer than", limit))
        if node in self.bare and (isinstance(node, Reduce) or node in self.above_reductions):
            return _PADDED
        if any(self._holds_up(node, d.plan.root) for d in demands):
            return _SCANNED
        if isinstance(node, Reduce):
            return self._against_fold(node, demands)
        is_repeated = len(demands) > 1 or demands[0].repeats > 1
        is_repeated |= demands[0].evaluations > node.size
        if not is_repeated:
            return ""
        if node in self.in_words and node.sources[0].dtype.itemsize < node.dtype.itemsize:
            return ""  # if anything is stored, it is the narrower operand
        if self.folded.get(node) and node.size:
            return ""  # computed as often as the reduction, whose results are cheaper to store
        repeated = self._repeated_reduction(node, demands)
        if repeated:
            return repeated
        costs = self._costs(node, demands)
        return "" if costs.is_fused else costs.reason

    def _holds_up(self, node: TensorNode, root: TensorNode) -> bool:
        """True if fusion into a scan, which is sequential, would prevent parallel or vectorised
        computation of a reduction or, for a scan along rows, of an expensive value."""
        if not isinstance(root, Scan):
            return False
        if isinstance(node, Reduce):
            return True
        if any(n > 1 for n in root.shape[root.axis + 1 :]) or not isinstance(node, Elementwise):
            return False
        cost = EXPENSIVE.get(node.op, 0.0)
        return cost >= SCANNED_NS or self.evaluation_ns[node] >= LONG_NS

    def _against_fold(self, node: Reduce, demands: list[Demand]) -> str:
        """The reason against fusing a reduction into its users, with both costs; "" if none."""
        reason = _against_reduction(node, demands)
        if not reason or len(demands) < 2:
            return reason
        costs = repeating.fold_costs(node, demands, self.evaluation_ns, self.model)
        return Reason(f"{reason}: {costs}", *numbers_of(reason), *costs.numbers)

    def _costs(self, node: TensorNode, demands: list[Demand]) -> repeating.Costs:
        """The costs of recomputing `node` at each use, and of storing it."""
        return repeating.costs(node, demands, self.evaluation_ns, self.model)

    def _in_favour(self, node: TensorNode, demands: list[Demand]) -> str:
        """The reason why a node is fused into its users."""
        saved = f"saves {node.nbytes:,} bytes"
        kept = Number("never written", node.nbytes, "bytes")
        if isinstance(node, Reduce):
            axes = union(demands[0].dependence)
            per = "once per " + demands[0].describe() if axes else "once"
            words = f"computed {per}, in the loop nest of its only reader; {saved}"
            return Reason(words, *_readers(demands), _repeats(demands[0]), kept)
        costs = self._costs(node, demands)
        return Reason(f"{costs}; {saved}", *costs.numbers, kept)

    def _repeated_reduction(self, node: TensorNode, demands: list[Demand]) -> str:
        """The reason to store `node` because a reduction below it could then be fused; "" if none.
        """
        if node not in self.above_reductions:
            return ""
        refused: dict[TensorNode, str] = {}
        for reduction, times in self._reductions_below(node, demands).items():
            together = list({**self.demands.get(reduction, {}), **times})
            reason = _against_reduction(reduction, together)
            if reason:
                refused[reduction] = reason
        if not refused:
            return ""
        plan = KernelPlan(node)
        alone = self._reductions_below(node, [Demand(plan, plan.dependence)])
        for reduction, reason in refused.items():
            if not _against_reduction(reduction, list(alone.get(reduction, {}))):
                words = f"it ends the kernel of a reduction: {reason}"
                return Reason(words, *numbers_of(reason))
        return ""

    def _ways_down(self, node: TensorNode) -> list[tuple[int, TensorNode, bool, bool]]:
        """The sources of a node that lead to reductions: position, source, true if it is a
        reduction, and true if other reductions are below it."""
        ways = self.ways_down.get(node)
        if ways is None:
            sources = ((n, s, isinstance(s, Reduce), s in self.above_reductions)
                       for n, s in enumerate(node.sources))  # fmt: skip
            ways = self.ways_down[node] = [way for way in sources if way[2] or way[3]]
        return ways

    def _reductions_below(
        self, node: TensorNode, demands: list[Demand]
    ) -> dict[TensorNode, dict[Demand, None]]:
        """The reductions below `node`, with the demands that they would get."""
        reached: dict[TensorNode, dict[Demand, None]] = {}
        stack = [(node, demand) for demand in demands]
        seen = set(stack)
        while stack and len(seen) <= LOOKAHEAD * len(demands):
            at, demand = stack.pop()
            for operand, source, is_reduction, goes_on in self._ways_down(at):
                below = demand.below(at, operand)
                if is_reduction:
                    reached.setdefault(source, {})[below] = None
                if goes_on and (source, below) not in seen:
                    seen.add((source, below))
                    stack.append((source, below))
        return reached


def _above_reductions(order: list[TensorNode], ends: set[TensorNode]) -> set[TensorNode]:
    """The nodes with a reduction below them before any kernel boundary (`ends`)."""
    above: set[TensorNode] = set()
    for node in order:
        is_above = any(isinstance(s, Reduce) or s in above for s in node.sources)
        if is_above and node not in ends:
            above.add(node)
    return above


def _in_memory(node: TensorNode) -> Iterator[TensorNode]:
    """The sources that a node always reads in memory."""
    if isinstance(node, Copy) and not is_computed(node):
        yield pitched(node.sources[0])[0]
    elif isinstance(node, Repeat):
        yield from (pitched(source)[0] for source in node.sources[: node.states])
        yield from node.sources[node.states :]
    elif isinstance(node, Later):
        yield from node.sources


def _against_reduction(node: TensorNode, demands: list[Demand]) -> str:
    """The reason against fusing a reduction into its users; "" if there is none."""
    if not demands:
        return ""
    kernels = len({id(d.plan) for d in demands})
    if kernels > 1:
        words = f"{kernels} kernels read the result; fused, each would repeat the reduction"
        return Reason(words, *_readers(demands))
    if len(demands) > 1:
        words = f"it is read under {len(demands)} different indices; fused, it would be repeated"
        return Reason(words, *_readers(demands))
    demand = demands[0]
    if is_data(demand.dependence):
        words = "it is read at positions found in data; fused, each read would repeat the reduction"
        return Reason(words, Number("reads", demand.evaluations, "", "elements", node.size))
    repeats = demand.repeats
    if repeats > 1:
        words = f"it would be computed {repeats:,} times: {demand.blocking_axes()}"
        return Reason(words, _repeats(demand))
    is_full = not union(demand.dependence) and demand.plan.size > 1
    folded = node.sources[0].size
    if is_full and folded > SERIAL_REDUCTION:
        words = (
            f"a reduction of all {folded:,} elements would delay "
            f"all {demand.plan.size:,} elements that read it"
        )
        return Reason(words, Number("elements folded", folded, "", "at most", SERIAL_REDUCTION))
    return ""


def _readers(demands: list[Demand]) -> tuple[Number, Number]:
    """The numbers of kernels and of indices that read a value."""
    kernels = len({id(d.plan) for d in demands})
    return (
        Number("kernels that read it", kernels, "", "at most", 1),
        Number("indices under which it is read", len(demands), "", "at most", 1),
    )


def _repeats(demand: Demand) -> Number:
    """The number of times that each element would be computed if fused."""
    return Number("times each element is computed", demand.repeats, "", "at most", 1)
