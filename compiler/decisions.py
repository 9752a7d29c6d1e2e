"""Every choice the compiler made about a program, in words: one list from all that chose."""

from collections.abc import Callable, Iterator, Sequence

from compiler import sharding
from compiler.graph import two_stage
from compiler.graph.nodes import Sink, TensorNode
from compiler.node import toposort
from compiler.schedule.hazards import uncopied
from compiler.scheduling import Scheduled
from compiler.trace import Decision, PassRecord


def decisions(
    made: Scheduled,
    simplest: Sink,
    records: Sequence[PassRecord],
    entity: Callable[[TensorNode], str],
) -> Iterator[Decision]:
    """About fusion, about copies nobody wrote, and about reductions in two stages.

    `simplest` is the program after the graph passes of `records`; `entity` names its nodes.
    """
    known: set[TensorNode] = set(toposort([simplest]))
    for choice in made.choices:
        subject = entity(uncopied(choice.node, known))
        yield Decision(subject, "fuse", choice.is_fused, choice.reason)
    yield from sharding.decisions(records, simplest, entity)
    record = next((r for r in records if r.name == "two_stage"), None)
    if record is not None:
        assert isinstance(record.before, Sink)
        for node, cut in two_stage.reasons(record.before).items():
            yield Decision(entity(node), "two_stage", bool(cut.parts), cut.reason)
