"""repeating: the costs of recomputing a value at each use (fusion), and of storing it.

    where it is read    each evaluation: its operations, and the reads of what they are done on
    in memory           each element once, written; then one read for each evaluation saved

Both are nanoseconds of the machine model. A row that one kernel reads several times, as in
softmax, counts once if it fits in a cache: its expensive values are stored there
(`loops/transforms/cache_row.py`).
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
"""The cap on the time of one evaluation, in nanoseconds. It keeps costs of deep graphs finite and
is far above the time of one element; not tuned."""


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs, in nanoseconds, of recomputing a value of `elements` elements and of storing it.

    `evaluations` is the number of evaluations if it is recomputed at each use.
    """

    elements: int
    evaluations: int
    again: float
    memory: float

    @property
    def is_fused(self) -> bool:
        """True if it is cheaper to recompute the value at each use."""
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
    """The costs of `node`; `each` has the time of one evaluation of each node."""
    evaluations = _evaluations(node, demands, model)
    level, itemsize = model.level(node.nbytes), node.dtype.itemsize
    read, write = itemsize / model.read[level], itemsize / model.write[level]
    written = node.size * (each[node] + write) + model.launch_ns
    again = evaluations * each[node]
    return Costs(node.size, evaluations, again, written + evaluations * read)


def fold_costs(
    node: Reduce, demands: list[Demand], each: Mapping[TensorNode, float], model: MachineModel
) -> Costs:
    """The costs of a reduction, of which one evaluation reduces all elements of one result."""
    source = node.sources[0]
    fold = source.size // max(node.size, 1) * (each[source] + model.vector_ns)
    return costs(node, demands, {node: fold}, model)


def _evaluations(node: TensorNode, demands: list[Demand], model: MachineModel) -> int:
    """The number of evaluations if the value is recomputed; a cached row counts once."""
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
    """The time of one evaluation of each node, from the nearest leaves and reductions.

    Nodes in `free` take no time themselves.
    """
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
            cost = 0.0 if node in free else _own(node, model)
            result[node] = min(cost + below, MOST_NS)
    return result


def in_words(order: list[TensorNode]) -> set[TensorNode]:
    """Conversions that dot-product instructions for small types perform themselves, and zero
    points that can be subtracted from their sums (`loops/transforms/dot.py`)."""
    in_text: set[TensorNode] = set()
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
            in_text.update(*factors)
    return in_text


def _converted(node: TensorNode) -> list[TensorNode]:
    """The conversion of a factor, below a subtraction of its zero point, as a list; else []."""
    node, casts = _unmoved(node), list[TensorNode]()
    if isinstance(node, Elementwise) and node.op in ("add", "sub"):
        casts += [node, _unmoved(node.sources[1])]
        node = _unmoved(node.sources[0])
    return [*casts, node] if isinstance(node, Cast) else []


def _unmoved(node: TensorNode) -> TensorNode:
    """The node below movement."""
    while isinstance(node, MOVEMENT):
        node = node.sources[0]
    return node


def _own(node: TensorNode, model: MachineModel) -> float:
    """The time of a node's own operation."""
    if isinstance(node, (*MOVEMENT, Fuse)):
        return 0.0
    op = node.op if isinstance(node, Elementwise) else ""
    return model.operation_ns(op, node.dtype.itemsize, True)
