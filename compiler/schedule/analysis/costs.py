"""analysis: the costs of each item, and the critical path of the program.

If a kernel's loops are known (`loops/count.py`), the estimate is the maximum of the time for
computing and those for moving data at each cache level, on a machine model (`work.py`,
`machine.py`), with as many threads as the kernel has tasks and the model has cores. If not, it is
the roofline of one thread: the greater of arithmetic time and memory time, plus the launch. The
roofline ranks kernels by cost but is no prediction. Dynamic extents count as their maxima.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from compiler.core.errors import InternalError
from compiler.core.node import toposort
from compiler.graph.kinds.effects import Scatter
from compiler.graph.kinds.scan import Scan
from compiler.graph.nodes import Buffer, Elementwise, Param, Reduce, Sink, Store, TensorNode
from compiler.machines.model import DEFAULT, MachineModel
from compiler.ops.table import OPS, REDUCTIONS
from compiler.ops.updates import UPDATES
from compiler.schedule.analysis.reuse import last_touched
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.analysis.traffic import Since
from compiler.schedule.analysis.work import Work, bound, estimate
from compiler.schedule.items import (
    HostCallback,
    ItemAnalysis,
    ItemTiming,
    Kernel,
    MemoryTransfer,
    Operation,
    ScheduleItem,
    Synchronization,
)

OPERATIONS_PER_NS = 20.0
"""The peak of one core if loops are not known: an elementwise chain in the L1 cache reached 20.6
with 512-bit vectors (Xeon, AVX-512, November 2026)."""
BYTES_PER_NS = 20.0
"""The bandwidth of one core: 18 to 20 from arrays larger than the caches (same machine)."""
LAUNCH_NS = 500
"""The overhead of a foreign call: 460 ns with ctypes (same machine)."""
TOLERANCE = 1e-9
"""The share of the program's time up to which slack counts as none. Times are usually integers,
whose sums are exact. In schedules written by hand they may be fractions, and sums along paths of
equal length then differ in their last bits: by 1e-13 for a thousand items."""


def analyse(
    items: Sequence[ScheduleItem],
    works: Mapping[Sink, Work] | None = None,
    model: MachineModel = DEFAULT,
    plan: MemoryPlan | None = None,
) -> tuple[ItemAnalysis, ...]:
    """Operations, bytes and estimated time of each item, in the order of the items.

    `works` has the work of bodies whose loops are known; `plan` states which buffers share memory.
    """
    by_body: dict[Sink, int] = {}
    result, since = [], last_touched(items, plan)
    for item in items:
        operation, count, parts = item.operation, 0, None
        if isinstance(operation, Kernel):
            if operation.body not in by_body:
                by_body[operation.body] = operations(operation.body)
            count = by_body[operation.body]
            parts = (works or {}).get(operation.body)
        read, written = bytes_of(operation)
        work = max(count / OPERATIONS_PER_NS, (read + written) / BYTES_PER_NS)
        row = ItemAnalysis(
            item.item_id, count, read, written, LAUNCH_NS + round(work),
            bound=_bound(operation, count, read + written),
        )  # fmt: skip
        result.append(row if parts is None else _refined(row, parts, model, since[item.item_id]))
    return tuple(result)


def _bound(operation: Operation, count: int, nbytes: int) -> str:
    """The bottleneck by the roofline alone."""
    if isinstance(operation, Synchronization | HostCallback):
        return ""
    times = {
        "launch": LAUNCH_NS,
        "computing": count / OPERATIONS_PER_NS,
        "memory": nbytes / BYTES_PER_NS,
    }
    return max(times, key=lambda name: times[name])


def _refined(row: ItemAnalysis, work: Work, model: MachineModel, since: Since) -> ItemAnalysis:
    """The row, refined by the known loops of the kernel."""
    time = round(estimate(work, model, since))
    return replace(
        row, estimated_ns=time, registers=work.registers, occupancy=round(work.occupancy, 3),
        bound=bound(work, model, since),
    )  # fmt: skip


def bytes_of(operation: Operation) -> tuple[int, int]:
    """Bytes read and written: of whole buffers, or of the region that is copied or written."""
    if isinstance(operation, MemoryTransfer):
        return operation.nbytes, operation.nbytes
    sides = operation.reads, operation.writes
    parts = _parts_of(operation) if isinstance(operation, Kernel) else {}
    read, written = (sum(parts.get(b, b.nbytes) for b in side) for side in sides)
    return read, written


def _parts_of(kernel: Kernel) -> dict[Buffer, int]:
    """The bytes written to each buffer of which the kernel writes only a part."""
    stores = [s for s in kernel.body.sources if isinstance(s, Store) and s.parts]
    slots = [(s.sources[0], s.sources[1].nbytes) for s in stores]
    return {kernel.arguments[p.slot]: n for p, n in slots if isinstance(p, Param)}


def operations(body: Sink) -> int:
    """Elementary operations of a kernel body, weighted by `Op.cost`."""
    return sum(operations_of(node) for node in toposort([body]))


def operations_of(node: TensorNode) -> int:
    """Elementary operations of one node, weighted by `Op.cost`; 0 for movement."""
    if isinstance(node, Elementwise):
        return node.size * OPS[node.op].cost
    if isinstance(node, Reduce):
        return node.sources[0].size * OPS[REDUCTIONS[node.op].combine].cost
    if isinstance(node, Scan):
        return node.size * OPS[REDUCTIONS[node.op].combine].cost
    if isinstance(node, Scatter):
        combine = UPDATES[node.op].combine
        return node.sources[1].size * (OPS[combine].cost if combine else 0)
    return 0


def timings(
    items: Sequence[ScheduleItem], analysis: Sequence[ItemAnalysis]
) -> tuple[ItemTiming, ...]:
    """Earliest and latest start of each item with unlimited parallelism.

    An item without analysis costs 1 ns. Slack of up to `TOLERANCE` counts as none. Raises
    `InternalError` for two rows of one item.
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
    starts = zip(earliest, latest, strict=True)
    latest = [early if late - early <= TOLERANCE * end else late for early, late in starts]
    return tuple(ItemTiming(i, earliest[i], latest[i], cost[i]) for i in range(len(items)))


def critical_path(items: Sequence[ScheduleItem], times: Sequence[ItemTiming]) -> tuple[int, ...]:
    """The item ids of the critical path; of equal paths, the lexicographically smallest.

    Items of the other paths are critical, too: `critical_items` has all of them.
    """
    if not items:
        return ()
    path = [min(t.item_id for t in times if t.is_critical and t.earliest_start == 0)]
    while True:
        last = times[path[-1]]
        following = [d for d in items[last.item_id].dependents if is_critical(last, times[d])]
        if not following:
            return tuple(path)
        path.append(min(following))


def critical_items(times: Sequence[ItemTiming]) -> tuple[int, ...]:
    """The ids of all items without slack: those on any path of maximal length."""
    return tuple(time.item_id for time in times if time.is_critical)


def is_critical(producer: ItemTiming, consumer: ItemTiming) -> bool:
    """True if an edge is critical: both items are, and one starts when the other ends."""
    both = producer.is_critical and consumer.is_critical
    return both and math.isclose(producer.finish, consumer.earliest_start, rel_tol=TOLERANCE)
