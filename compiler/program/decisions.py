"""Every choice the compiler made about a program, in words: one list from all that chose."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from compiler.core.node import Node, toposort
from compiler.core.reason import Decision, Reason, numbers_of
from compiler.core.trace import PassRecord
from compiler.findings.widening import widenings
from compiler.graph import split_reduction
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import Buffer, Sink, TensorNode
from compiler.graph.words import describe_argument, operation, short
from compiler.pipeline.scheduling import Scheduled
from compiler.run import sharding
from compiler.schedule.analysis.alive_together import alive_together
from compiler.schedule.analysis.places import shares
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.calls import KernelGraph
from compiler.schedule.kinds import Call, CustomCall, Transfer
from compiler.schedule.outlined import Iteration
from compiler.schedule.partition import Choice


def decisions(
    scheduled: Scheduled,
    simplest: Sink,
    records: Sequence[PassRecord],
    kernels: KernelGraph,
    entity: Callable[[TensorNode], str],
) -> Iterator[Decision]:
    """About fusion, copies nobody wrote, reductions in two stages, and float32 made float64.

    `simplest` is the program after the graph passes of `records`; `entity` names its nodes. What
    left no choice is listed as well: it is "inline" in its reader, or in "memory". The same follows
    about the nodes of each iteration of the program's loops.
    """
    yield from _decisions(scheduled.choices, scheduled.plain, simplest, records, entity)
    written = records[0].before if records else simplest
    assert isinstance(written, Sink)
    for each in widenings(written):
        yield Decision(entity(each.cast), "widen", True, str(each))
    yield from _in_iterations(scheduled, simplest, kernels, entity)


def _decisions(
    choices: Sequence[Choice],
    plain: Sequence[Choice],
    simplest: Sink,
    records: Sequence[PassRecord],
    entity: Callable[[TensorNode], str],
) -> Iterator[Decision]:
    for choice in choices:
        yield Decision(entity(choice.node), "fuse", choice.is_fused, choice.reason)
    yield from sharding.decisions(records, simplest, entity)
    record = next((r for r in records if r.name == "split_reduction"), None)
    if record is not None:
        assert isinstance(record.before, Sink)
        for node, cut in split_reduction.reasons(record.before).items():
            yield Decision(entity(node), "split_reduction", bool(cut.parts), cut.reason)
    for choice in plain:
        kind = "inline" if choice.is_fused else "memory"
        yield Decision(entity(choice.node), kind, True, choice.reason)


def _in_iterations(
    scheduled: Scheduled, simplest: Sink, kernels: KernelGraph, entity: Callable[[TensorNode], str]
) -> Iterator[Decision]:
    """About the nodes of what one iteration of each loop computes.

    The graph has the loop alone. So a decision is about the call that computes the node, or about
    the buffer that holds it, if there is one, else about the loop, and says which node it is.
    """
    calls, buffers = _places(scheduled, kernels)
    for body, loops in _loops(scheduled, simplest).items():
        iteration = scheduled.outlined.iterations[body]
        parts, name = iteration.parts, partial(_entity, iteration)
        nodes = {name(node): node for node in toposort([iteration.root])}
        fusion = _decisions(parts.choices, parts.plain, iteration.root, iteration.records, name)
        carried = ((name(each.node), each) for each in iteration.carried.choices)
        rows = (Decision(it, "carry", c.is_fused, c.reason) for it, c in carried if it in nodes)
        for each in (*fusion, *rows):
            node = nodes[each.subject]
            is_held = not each.taken if each.kind == "fuse" else each.kind == "memory"
            first, second = (buffers, calls) if is_held else (calls, buffers)
            places = first.get(node) or second.get(node) or list(map(entity, loops))
            reason = Reason(f"{_named(iteration, node)}: {each.reason}", *numbers_of(each.reason))
            yield from (replace(each, subject=place, reason=reason) for place in places)


def _entity(iteration: Iteration, node: TensorNode) -> str:
    """The name of a node of an iteration, in the records of the iteration's passes."""
    return f"iteration:{iteration.lines.numbers[node]}"


def _named(iteration: Iteration, node: TensorNode) -> str:
    """`each iteration's reduce sum axes (1) f32[64,1] (power.py:4)`"""
    line = min(iteration.lines.of(node), default=None)
    place = f"({line.place})" if line else ""
    words = operation(node), describe_argument(node), short(node), place
    return " ".join(["each iteration's", *filter(None, words)])


def _loops(scheduled: Scheduled, simplest: Sink) -> dict[Sink, list[Repeat]]:
    """For the body of every loop, of loops inside loops too, the loops of the graph it is of."""
    loops_of: dict[Sink, list[Repeat]] = {}
    stack = [(node, node) for node in toposort([simplest]) if isinstance(node, Repeat)]
    while stack:
        node, outer = stack.pop()
        if outer not in loops_of.setdefault(node.body, []):
            loops_of[node.body].append(outer)
            inner = toposort([scheduled.outlined.iterations[node.body].root])
            stack += [(each, outer) for each in inner if isinstance(each, Repeat)]
    return loops_of


Places: TypeAlias = dict[TensorNode, list[str]]


def _places(scheduled: Scheduled, kernels: KernelGraph) -> tuple[Places, Places]:
    """For nodes of iterations the calls that compute them, and the buffers that hold them."""
    calls: Places = {}
    buffers: Places = {}
    present: set[Node] = set(kernels.nodes)
    for place, nodes in scheduled.outlined.inside_iterations.items():
        is_present = place in present and isinstance(place, Buffer | Call | CustomCall | Transfer)
        for node in nodes if is_present else ():
            entities_of = buffers if isinstance(place, Buffer) else calls
            entities_of.setdefault(node, []).append(kernels.entity(place))
    return calls, buffers


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
