"""parallelize: the iterations of an axis are divided among several runs of the kernel.

    Choice:  parallelize i0 2
    Before:  for i0 in 512
               %0 = in1[i0]
               %1 = exp(%0)
               out[i0] = %1
    After:   for i0 in 512   over 2 tasks
               %0 = in1[i0]
               %1 = exp(%0)
               out[i0] = %1

Run k of n executes the iterations from 512*k // n on. The runs may be concurrent, on several cores,
so none may read what another writes: no updates, no reductions. A nest without the axis, such as
the remainder of tiles, is executed by the first run.

Relies on: `reorder` has made the axis outermost.
Ensures: the same values in any order of the runs.
"""

from typing import Any

from compiler.core.trace import Match, Provenance
from compiler.loops.choices import Choices, Parallelize
from compiler.loops.nodes import Body, Range, Store
from compiler.loops.transforms.axes import axes, find, record, refuse, swapped_body
from compiler.loops.transforms.levels import at_level


def parallelize(
    body: Body, choices: Choices, provenance: Provenance[Any], matches: list[Match] | None = None
) -> Body:
    """`body` with the iterations of every axis that a Parallelize names divided among tasks."""
    for choice in choices.of(Parallelize):
        axis = find(axes(body), choice.axis, choice, choices)
        if axis is None:
            continue
        _check(body, axis, choice)
        core = at_level(axis, "core", choice.tasks)
        shared = swapped_body(body, {axis: core}, provenance)
        record(matches, choice, body, shared)
        body = shared
    return body


def _check(body: Body, axis: Range, choice: Parallelize) -> None:
    """Refuse an axis whose iterations cannot run concurrently."""
    if choice.tasks < 2:
        refuse(choice, f"{axis.name} over {choice.tasks} tasks", "2 or more")
    if axis.role != "normal":
        what = f"the iterations of {axis.name} depend on one another"
        refuse(choice, what, "an axis of the output")
    if axis.level != "loop":
        refuse(choice, f"{axis.name} has a level already", "one choice of a level")
    if not all(isinstance(nest, Store) for nest in body.sources):
        refuse(choice, "updates read what the stores wrote, so they run in order", "no updates")
    owners = [n for n in body.sources if isinstance(n, Store) and axis in n.ranges]
    if not owners:
        refuse(choice, f"{axis.name} is an axis of scratch memory", "an axis of the output")
    for store in owners:
        outside = store.ranges[0]
        if outside is not axis:
            refuse(choice, f"{axis.name} is inside {outside.name}", "the outermost loop")
    others = {r.tasks for r in axes(body).values() if r.level == "core"}
    if others - {choice.tasks}:
        refuse(choice, f"another axis has {max(others)} tasks", "the same number everywhere")
