"""Every choice the compiler made about a program, in words: one list from all that chose."""

from collections.abc import Callable, Iterator, Sequence

from compiler import sharding
from compiler.graph import two_stage
from compiler.graph.nodes import Buffer, Sink, TensorNode
from compiler.reason import Decision
from compiler.schedule.alive_together import alive_together
from compiler.schedule.calls import KernelGraph
from compiler.schedule.places import shares
from compiler.schedule.share import MemoryPlan
from compiler.scheduling import Scheduled
from compiler.trace import PassRecord


def decisions(
    made: Scheduled,
    simplest: Sink,
    records: Sequence[PassRecord],
    entity: Callable[[TensorNode], str],
) -> Iterator[Decision]:
    """About fusion, about copies nobody wrote, and about reductions in two stages.

    `simplest` is the program after the graph passes of `records`; `entity` names its nodes. What
    left no choice is told as well: it is "inline" in its reader, or in "memory".
    """
    for choice in made.choices:
        yield Decision(entity(choice.node), "fuse", choice.is_fused, choice.reason)
    yield from sharding.decisions(records, simplest, entity)
    record = next((r for r in records if r.name == "two_stage"), None)
    if record is not None:
        assert isinstance(record.before, Sink)
        for node, cut in two_stage.reasons(record.before).items():
            yield Decision(entity(node), "two_stage", bool(cut.parts), cut.reason)
    for choice in made.plain:
        kind = "inline" if choice.is_fused else "memory"
        yield Decision(entity(choice.node), kind, True, choice.reason)


def placing(plan: MemoryPlan | None, kernels: KernelGraph) -> Iterator[Decision]:
    """For each buffer the program makes: whose memory it uses again, and whose it cannot use."""
    if plan is None:
        return
    holders = {node: kernels.entity(node) for node in kernels.nodes if isinstance(node, Buffer)}
    together = alive_together(plan.places)
    for place in plan.places:
        subject = holders.get(place.buffer)
        if subject is None:
            continue
        yield Decision(subject, "share", shares(place), place.reason)
        yield from (Decision(subject, "share", False, why) for why in together[place.buffer])
