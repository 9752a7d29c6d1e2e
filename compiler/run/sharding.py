"""Sharded tensors as programs: their shards, what realising them gives, the bytes that move."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from compiler.core.lazy import loading
from compiler.core.node import toposort
from compiler.core.reason import Decision, Number, Reason
from compiler.core.text import counted
from compiler.core.trace import PassRecord, Provenance
from compiler.device.buffers import held
from compiler.graph.devices import written
from compiler.graph.kinds.placement import Copy, Multi
from compiler.graph.nodes import Buffer, Sink, TensorNode
from compiler.schedule.items import MemoryTransfer, ScheduleItem


@dataclass(frozen=True, slots=True)
class Traffic:
    """The traffic from one device to another in one run: how many transfers, how many bytes."""

    source: str
    destination: str
    transfers: int
    nbytes: int

    def __str__(self) -> str:
        count = counted(self.transfers, "transfer")
        return f"{self.source} → {self.destination} {self.nbytes:,} bytes in {count}"


def traffic(items: Iterable[ScheduleItem]) -> tuple[Traffic, ...]:
    """The transfers of a schedule by pair of devices, in order of first use."""
    sizes_of: dict[tuple[str, str], list[int]] = {}
    for item in items:
        each = item.operation
        if isinstance(each, MemoryTransfer):
            pair = each.source_device, each.destination_device
            sizes_of.setdefault(pair, []).append(each.nbytes)
    return tuple(Traffic(*pair, len(sizes), sum(sizes)) for pair, sizes in sizes_of.items())


def decisions(
    records: Sequence[PassRecord], root: TensorNode, entity: Callable[[TensorNode], str]
) -> Iterator[Decision]:
    """For each copy left in the program under `root` that nobody wrote: why it is made."""
    record = next((r for r in records if r.name == "shard"), None)
    if record is None:
        return
    with loading():
        from compiler.graph.shard import reasons

    before = record.before
    assert isinstance(before, Sink)
    why = reasons(before)
    for node in toposort([root]):
        if isinstance(node, Copy) and node in why:
            words = f"{why[node]}; {node.nbytes:,} bytes to {written(node.devices)}"
            reason = Reason(words, Number("copied", node.nbytes, "bytes"))
            yield Decision(entity(node), "copy", True, reason)


def is_sharded(node: TensorNode) -> bool:
    """True if a value is on several devices."""
    return len(node.devices) > 1


def in_shards(nodes: Sequence[TensorNode]) -> list[TensorNode]:
    """The same values; those on several devices as Multi nodes over shards without any Multi."""
    if all(not is_sharded(node) or _is_in_memory(node) for node in nodes):
        return list(nodes)
    result = laid_out(nodes)
    for node in toposort([result]):
        if isinstance(node, Buffer):
            held(node)  # the data live as long as these nodes from now on
    return list(result.sources)


def laid_out(nodes: Sequence[TensorNode]) -> Sink:
    """The same of values that need have no data."""
    # not at import: most programs are on one device, and what is here then runs in no pipeline
    with loading():
        from compiler.graph.cse import cse
        from compiler.graph.decompose import decompose
        from compiler.graph.differentiate import differentiate
        from compiler.graph.shard import spread

    root = cse(differentiate(Sink(tuple(nodes)), Provenance()), Provenance())
    plain = decompose(root, Provenance())
    assert isinstance(plain, Sink)
    return spread(plain)


def _is_in_memory(node: TensorNode) -> bool:
    return isinstance(node, Multi) and all(isinstance(shard, Buffer) for shard in node.sources)


def flat(nodes: Iterable[TensorNode]) -> list[TensorNode]:
    """The nodes, a Multi replaced by its shards."""
    return [s for n in nodes for s in (n.sources if isinstance(n, Multi) else (n,))]


def regrouped(nodes: Iterable[TensorNode], replacements: Iterable[TensorNode]) -> list[TensorNode]:
    """The nodes made in the place of `flat(nodes)`, with the Multi nodes around them again."""
    values = iter(replacements)
    return [
        node.with_sources(tuple(next(values) for _ in node.sources))
        if isinstance(node, Multi)
        else next(values)
        for node in nodes
    ]
