"""The schedule rows of the pipeline in one place: from the simplest graph to items in order."""

import time
from dataclasses import dataclass, replace

from compiler.core.node import toposort
from compiler.core.options import Options
from compiler.core.origin import Origin
from compiler.core.trace import Provenance
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import Buffer, Contiguous, Param, Sink
from compiler.pipeline.rows import run_passes
from compiler.schedule import verify
from compiler.schedule.hazards import Separated, separate
from compiler.schedule.items import Dependency, ScheduleItem
from compiler.schedule.kinds import Callable
from compiler.schedule.order import ordered
from compiler.schedule.outline import outline
from compiler.schedule.outlined import Outlined, Turn
from compiler.schedule.partition import Choice, partition


@dataclass(frozen=True, slots=True)
class Scheduled:
    """The outcome of the schedule rows."""

    outlined: Outlined
    items: tuple[ScheduleItem, ...]
    dependencies: tuple[Dependency, ...]
    calls: tuple[Callable, ...]
    """For each item the call of the kernel graph that it runs."""
    choices: list[Choice]
    plain: list[Choice]
    """What became of the nodes that left no choice."""


def schedule_program(simplest: Sink, options: Options, seconds: dict[str, float]) -> Scheduled:
    """Cut a program into kernels and order them; `seconds` gets the time of each step."""
    clock = time.perf_counter
    start = clock()
    separated = separate(simplest)
    parts = partition(separated.root, options)
    outlined = outline(separated.root, parts.realized, _turns(separated.root, options))
    _name_originals(outlined, separated)
    cut = clock()
    made = ordered(outlined.root)
    seconds |= {"kernels": cut - start, "schedule": clock() - cut}
    if options.verify:
        verify.verify(outlined.root, made.items, made.dependencies)
    choices = [*separated.choices, *_of_originals(parts.choices, separated)]
    plain = _of_originals(parts.plain, separated)
    return Scheduled(outlined, made.items, made.dependencies, made.calls, choices, plain)


def _of_originals(choices: list[Choice], separated: Separated) -> list[Choice]:
    """The choices, each about the node of the program that its own stands for."""
    if not separated.originals:
        return choices
    known = separated.originals
    return [replace(choice, node=known.get(choice.node, choice.node)) for choice in choices]


def _name_originals(outlined: Outlined, separated: Separated) -> None:
    """What was outlined comes from nodes of the program, also where these were copied first."""
    known = separated.originals
    if not known:
        return
    parents = outlined.origins.parents
    for made, nodes in parents.items():
        parents[made] = frozenset(known.get(node, node) for node in nodes)
    outlined.buffers |= {
        known[node]: holder for node, holder in outlined.buffers.items()
        if node in known and known[node] not in outlined.buffers
    }  # fmt: skip


def _turns(simplest: Sink, options: Options) -> dict[Sink, Turn]:
    """What one turn of each loop computes: its body, after the graph passes, in parts."""
    found: dict[Sink, Turn] = {}
    stack = [simplest]
    while stack:
        loops = (node for node in toposort([stack.pop()]) if isinstance(node, Repeat))
        for body in dict.fromkeys(loop.body for loop in loops):
            if body not in found:
                found[body] = _turn(body, options)
                stack.append(found[body].root)
    return found


def _turn(body: Sink, options: Options) -> Turn:
    """One turn; a state that becomes what another was goes through memory of its own."""
    lines: Provenance[Origin] = Provenance()
    root, records = run_passes("graph", body, lines, options, "turn:")
    states = tuple(
        Contiguous((new,)) if isinstance(new, Param) and new.slot != index else new
        for index, new in enumerate(root.sources)
    )
    root = Sink(states)
    return Turn(root, partition(root, options), records, lines)


def origin_of(made: Scheduled, places: Provenance[Origin], buffer: Buffer) -> Origin | None:
    """The user's line that makes the value of a buffer; the last of several."""
    nodes = made.outlined.origins.of(buffer)
    return max((origin for node in nodes for origin in places.of(node)), default=None)
