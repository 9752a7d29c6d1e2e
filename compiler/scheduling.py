"""The schedule rows of the pipeline in one place: from the simplest graph to items in order."""

import time
from dataclasses import dataclass

from compiler.graph.nodes import Sink
from compiler.options import Options
from compiler.schedule import verify
from compiler.schedule.items import Dependency, ScheduleItem
from compiler.schedule.kinds import Callable
from compiler.schedule.order import ordered
from compiler.schedule.outline import Outlined, outline
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


def schedule_program(simplest: Sink, options: Options, seconds: dict[str, float]) -> Scheduled:
    """Cut a program into kernels and order them; `seconds` gets the time of each step."""
    clock = time.perf_counter
    start = clock()
    parts = partition(simplest, options)
    outlined = outline(simplest, parts.realized)
    cut = clock()
    made = ordered(outlined.root)
    seconds |= {"kernels": cut - start, "schedule": clock() - cut}
    if options.verify:
        verify.verify(outlined.root, made.items, made.dependencies)
    return Scheduled(outlined, made.items, made.dependencies, made.calls, parts.choices)
