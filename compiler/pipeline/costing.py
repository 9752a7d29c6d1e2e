"""The costs and savings of a schedule: every analysis of it in one place."""

from collections.abc import Mapping, Sequence
from typing import Any

from compiler.core.trace import Numbering
from compiler.graph.nodes import Buffer, Sink, TensorNode
from compiler.loops.count import count
from compiler.loops.nodes import Body
from compiler.loops.space import iteration_space
from compiler.machines.model import MachineModel
from compiler.pipeline.scheduling import Scheduled
from compiler.schedule.analysis import costs, footprint
from compiler.schedule.analysis.buffer_layout import buffer_infos
from compiler.schedule.analysis.opportunities import opportunities, taken
from compiler.schedule.analysis.own_work import OwnWork, own_work
from compiler.schedule.analysis.share import share
from compiler.schedule.calls import buffer_of
from compiler.schedule.items import ScheduleItem


def figures(
    scheduled: Scheduled, results: Sequence[Buffer], loops: Mapping[Sink, Body], model: MachineModel
) -> dict[str, Any]:
    """The fields of a `Schedule` that follow from its items and the loops of its kernels."""
    items = scheduled.items
    works = {body: count(loop) for body, loop in loops.items()}
    plan = share(items, results)
    analysis = costs.analyse(items, works, model, plan)
    times = costs.timings(items, analysis)
    outlined = scheduled.outlined
    inside = outlined.inside_iterations
    computed = [outlined.origins.of(c) | inside.get(c, frozenset()) for c in scheduled.calls]
    of_loops = (choice for it in outlined.iterations.values() for choice in it.parts.choices)
    spaces = {body: iteration_space(loop, works[body], model=model) for body, loop in loops.items()}
    return {
        "analysis": analysis,
        "times": times,
        "critical_path": costs.critical_path(items, times),
        "lifetimes": footprint.lifetimes(items, results),
        "peak_bytes": footprint.peak_bytes(items, results),
        "itemwise_bytes": footprint.itemwise_bytes(items),
        "memory_plan": plan,
        "opportunities": (
            *opportunities(items, analysis, results, _reasons(scheduled), model, works, plan),
            *taken(items, computed, [*scheduled.choices, *of_loops], analysis, model),
        ),
        "spaces": tuple(spaces.get(_body(item)) for item in items),
        "works": tuple(works.get(_body(item)) for item in items),
        "buffers": buffer_infos(_inputs(items), results, plan),
    }


def shares(
    scheduled: Scheduled, numbers: Numbering
) -> tuple[tuple[tuple[TensorNode, OwnWork], ...], ...]:
    """For each item which nodes of the graph do how much of its work, by their numbers."""
    held = scheduled.outlined.buffers
    by_call: dict[Any, tuple[tuple[TensorNode, OwnWork], ...]] = {}
    for call in scheduled.calls:
        if call not in by_call:
            nodes = sorted(scheduled.outlined.origins.of(call), key=numbers.__getitem__)
            rows = own_work(nodes, held)
            by_call[call] = tuple((node, rows[node]) for node in nodes if node in rows)
    return tuple(by_call[call] for call in scheduled.calls)


def _body(item: ScheduleItem) -> Any:
    return getattr(item.operation, "body", None)


def _inputs(items: Sequence[ScheduleItem]) -> tuple[Buffer, ...]:
    """The buffers that the program does not make."""
    touched = (b for i in items for b in (*i.operation.reads, *i.operation.writes))
    return tuple(dict.fromkeys(b for b in touched if b.unique >= 0))


def _reasons(scheduled: Scheduled) -> dict[Buffer, str]:
    """For each buffer why its value was not computed where it is read."""
    kept = {choice.node: choice.reason for choice in scheduled.choices if not choice.is_fused}
    outside = {
        buffer_of(holder): kept[node]
        for node, holder in scheduled.outlined.buffers.items()
        if node in kept
    }
    return outside | scheduled.outlined.reasons
