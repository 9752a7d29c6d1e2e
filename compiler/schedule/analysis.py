"""analysis: what each item costs, and which items decide how long the program takes.

The estimate is a roofline: the greater of arithmetic time and memory time, plus the launch.
The figures are those of one core of a current x86-64 server with 512-bit vectors; they order
kernels by cost and are not a measurement. Extents that are variables count as their maxima.
"""

from collections import Counter
from collections.abc import Sequence

from compiler.errors import InternalError
from compiler.graph.nodes import Elementwise, Reduce, Sink, TensorNode
from compiler.node import toposort
from compiler.ops import OPS, REDUCTIONS
from compiler.schedule.items import (
    ItemAnalysis,
    ItemTiming,
    Kernel,
    MemoryTransfer,
    Operation,
    ScheduleItem,
)

OPERATIONS_PER_NS = 20.0
BYTES_PER_NS = 20.0
LAUNCH_NS = 500


def analyse(items: Sequence[ScheduleItem]) -> tuple[ItemAnalysis, ...]:
    """Operations, bytes and estimated time of each item, in the order of the items."""
    by_body: dict[Sink, int] = {}
    result = []
    for item in items:
        operation, count = item.operation, 0
        if isinstance(operation, Kernel):
            if operation.body not in by_body:
                by_body[operation.body] = operations(operation.body)
            count = by_body[operation.body]
        read, written = bytes_of(operation)
        work = max(count / OPERATIONS_PER_NS, (read + written) / BYTES_PER_NS)
        estimate = LAUNCH_NS + round(work)
        result.append(ItemAnalysis(item.item_id, count, read, written, estimate))
    return tuple(result)


def bytes_of(operation: Operation) -> tuple[int, int]:
    """Bytes read and written: those of whole buffers, of a transfer those it copies."""
    if isinstance(operation, MemoryTransfer):
        return operation.nbytes, operation.nbytes
    sides = operation.reads, operation.writes
    read, written = (sum(b.nbytes for b in side) for side in sides)
    return read, written


def operations(body: Sink) -> int:
    """Elementary operations of a kernel body, weighted by `Op.cost`."""
    return sum(_operations_of(node) for node in toposort([body]))


def _operations_of(node: TensorNode) -> int:
    if isinstance(node, Elementwise):
        return node.size * OPS[node.op].cost
    if isinstance(node, Reduce):
        return node.sources[0].size * OPS[REDUCTIONS[node.op].combine].cost
    return 0


def timings(
    items: Sequence[ScheduleItem], analysis: Sequence[ItemAnalysis]
) -> tuple[ItemTiming, ...]:
    """Earliest and latest start of each item if any number could run at once.

    An item without analysis costs 1 ns. Two rows for one item are refused (`InternalError`).
    """
    costs = {a.item_id: a.cost for a in analysis}
    if len(costs) != len(analysis):
        (twice, _), *_ = Counter(a.item_id for a in analysis).most_common(1)
        raise InternalError("analysis", "two rows for one item", got=f"item {twice} twice")
    cost = [costs.get(item.item_id, 1) for item in items]
    earliest = [0] * len(items)
    for item in items:
        earliest[item.item_id] = max((earliest[d] + cost[d] for d in item.depends_on), default=0)
    end = max((e + c for e, c in zip(earliest, cost, strict=True)), default=0)
    latest = [0] * len(items)
    for item in reversed(items):
        i = item.item_id
        latest[i] = min((latest[d] for d in item.dependents), default=end) - cost[i]
    return tuple(ItemTiming(i, earliest[i], latest[i], cost[i]) for i in range(len(items)))


def critical_path(
    items: Sequence[ScheduleItem], times: Sequence[ItemTiming]
) -> tuple[int, ...]:
    """Item ids of the longest chain; among equal ones the lexicographically smallest."""
    if not items:
        return ()
    path = [min(t.item_id for t in times if t.slack == 0 and t.earliest_start == 0)]
    while True:
        last = times[path[-1]]
        following = [d for d in items[last.item_id].dependents if is_critical(last, times[d])]
        if not following:
            return tuple(path)
        path.append(min(following))


def is_critical(producer: ItemTiming, consumer: ItemTiming) -> bool:
    """Whether an edge is critical: both ends are, and the one starts when the other ends."""
    both = producer.slack == 0 and consumer.slack == 0
    return both and producer.finish == consumer.earliest_start
