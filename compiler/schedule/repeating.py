"""repeating: what a value costs that is computed wherever it is read, and what it costs in memory.

    where it is read    each evaluation: its operations, and the reads of what they are done on
    in memory           each element once, written; then one read for each evaluation saved

Both in nanoseconds of the machine model. A row that one kernel goes over several times, as softmax
does, counts once if it is near: what is dear about it is kept (`loops/transforms/cache_row.py`).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from compiler.core.reason import Number, Reason
from compiler.core.text import microseconds
from compiler.graph.kinds.effects import Assign, Scatter
from compiler.graph.kinds.markers import Fuse, Later
from compiler.graph.kinds.placement import WITHOUT_SOURCES
from compiler.graph.kinds.scan import Scan
from compiler.graph.nodes import MOVEMENT, Cast, Const, Elementwise, Reduce, TensorNode
from compiler.machines.model import MachineModel
from compiler.ops.words import are_small
from compiler.schedule.demand import Demand

MOST_NS = 1e6
"""Nanoseconds beyond which it does not matter how long one evaluation takes. A cap that keeps costs
of deep graphs finite, far above what one element takes: not tuned."""


@dataclass(frozen=True, slots=True)
class Costs:
    """The two ways to have a value of so many `elements`, nanoseconds each.

    `evaluations` are those where it is read.
    """

    elements: int
    evaluations: int
    again: float
    memory: float

    @property
    def is_fused(self) -> bool:
        """Whether it is computed where it is read."""
        return self.again <= self.memory

    @property
    def numbers(self) -> tuple[Number, Number]:
        """The two times that were compared."""
        return (
            Number("computed where it is read", self.again, "ns", "once, in memory", self.memory),
            Number("evaluations", self.evaluations, "", "elements", self.elements),
        )

    @property
    def reason(self) -> Reason:
        """Both costs, in words and as numbers."""
        return Reason(str(self), *self.numbers)

    def __str__(self) -> str:
        return (
            f"{self.evaluations:,} evaluations where it is read cost {microseconds(self.again)}; "
            f"once, in memory, {microseconds(self.memory)}"
        )


def costs(
    node: TensorNode, demands: list[Demand], each: Mapping[TensorNode, float], model: MachineModel
) -> Costs:
    """The costs of `node`, one evaluation of a node taking as long as `each` says."""
    evaluations = _evaluations(node, demands, model)
    level, itemsize = model.level(node.nbytes), node.dtype.itemsize
    read, write = itemsize / model.read[level], itemsize / model.write[level]
    written = node.size * (each[node] + write) + model.launch_ns
    again = evaluations * each[node]
    return Costs(node.size, evaluations, again, written + evaluations * read)


def fold_costs(
    node: Reduce, demands: list[Demand], each: Mapping[TensorNode, float], model: MachineModel
) -> Costs:
    """The same for a reduction: one evaluation of it folds all that belongs to one result."""
    source = node.sources[0]
    fold = source.size // max(node.size, 1) * (each[source] + model.vector_ns)
    return costs(node, demands, {node: fold}, model)


def _evaluations(node: TensorNode, demands: list[Demand], model: MachineModel) -> int:
    """How often the value is computed where it is read; a row that is kept counts once."""
    rows: dict[object, int] = {}
    row = node.shape[-1] * node.dtype.itemsize if node.shape else 0
    is_near = row <= model.cache_bytes[1] // 2
    for place, demand in enumerate(demands):
        is_row = is_near and demand.evaluations == node.size and node.shape
        key = (id(demand.plan), demand.dependence[:-1]) if is_row else place
        rows[key] = max(rows.get(key, 0), demand.evaluations)
    return sum(rows.values())


def evaluation_ns(
    order: list[TensorNode], model: MachineModel, free: Collection[TensorNode]
) -> dict[TensorNode, float]:
    """How long one evaluation of each node takes from the nearest leaves and reductions; what is
    `free` takes nothing itself."""
    result: dict[TensorNode, float] = {}
    for node in order:
        if isinstance(node, Const) and node in free:
            result[node] = 0.0
        elif isinstance(node, (*WITHOUT_SOURCES, Later)):
            result[node] = node.dtype.itemsize / model.read[model.level(node.nbytes)]
        elif isinstance(node, Reduce | Scan | Scatter | Assign):
            result[node] = model.vector_ns
        else:
            below = sum(result[s] for s in node.sources)
            own = 0.0 if node in free else _own(node, model)
            result[node] = min(own + below, MOST_NS)
    return result


def in_words(order: list[TensorNode]) -> set[TensorNode]:
    """The conversions that instructions for sums of products of small types do themselves, and the
    zero points that are taken from their sums (`loops/transforms/dot.py`)."""
    found: set[TensorNode] = set()
    for fold in order:
        if not isinstance(fold, Reduce) or fold.op != "sum":
            continue
        product = _unmoved(fold.sources[0])
        if not isinstance(product, Elementwise) or product.op != "mul":
            continue
        factors = [_converted(source) for source in product.sources]
        if not all(factors):
            continue
        a, b = (nodes[-1].sources[0].dtype for nodes in factors)
        if are_small(a, b, fold.dtype):
            found.update(*factors)
    return found


def _converted(node: TensorNode) -> list[TensorNode]:
    """The conversion of a factor, behind what is taken from it; nothing where there is none."""
    node, found = _unmoved(node), list[TensorNode]()
    if isinstance(node, Elementwise) and node.op in ("add", "sub"):
        found += [node, _unmoved(node.sources[1])]
        node = _unmoved(node.sources[0])
    return [*found, node] if isinstance(node, Cast) else []


def _unmoved(node: TensorNode) -> TensorNode:
    """What is moved."""
    while isinstance(node, MOVEMENT):
        node = node.sources[0]
    return node


def _own(node: TensorNode, model: MachineModel) -> float:
    """The operation of a node itself."""
    if isinstance(node, (*MOVEMENT, Fuse)):
        return 0.0
    op = node.op if isinstance(node, Elementwise) else ""
    return model.operation_ns(op, node.dtype.itemsize, True)
