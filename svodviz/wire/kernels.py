"""Each kernel as data for the page: the transforms of its loops, LLVM's remarks, and reasons.

Kernels are in the order of the parts of the stages "loops" to "asm". `text` is what
`Options(loops=…)` takes for the kernel; `tasks` is by how many runs its work is shared, `scratch`
the bytes of scratch memory that each has. Numbers are those behind a reason, see `reasons`.
"""

from typing import TYPE_CHECKING

from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.wire.reasons import number_rows

if TYPE_CHECKING:
    from compiler.llvm.level import Level
    from compiler.loops.choices import Choice, Choices
    from compiler.loops.printer import Loops
    from compiler.program.compilation import Compilation
    from svodviz.data import records


def kernel_rows(compilation: "Compilation", entities: Entities) -> "list[records.KernelRow]":
    """The table of kernels."""
    choices, levels = compilation.choices, compilation.levels
    titles: dict[str, records.Titled] = {}
    for it in compilation.schedule.titles.values():
        titles.setdefault(it.name, {"title": visible(str(it)), "short": visible(it.short)})
    return [
        {**_row(loops, choices[loops.name], levels[loops.name], entities),
         **titles.get(loops.name, {})}
        for loops in compilation.loops
        if loops.name in choices
    ]  # fmt: skip


def tasks_of(compilation: "Compilation") -> dict[str, int]:
    """The number of runs that share the work of each kernel."""
    return {loops.name: _tasks(loops) for loops in compilation.loops}


def cores_of(compilation: "Compilation") -> int:
    """The number of cores that the tasks of one kernel may run on at once."""
    return compilation.options.model.cores


def _row(
    loops: "Loops", choices: "Choices", level: "Level", entities: Entities
) -> "records.KernelRow":
    body = loops.lines[0].entity
    rows = [_choice(it) for it in choices]
    return {
        "name": visible(loops.name),
        "e": -1 if body is None else entities.number(body),
        "choices": rows,
        "refused": [
            (visible(it.kind), visible(it.because), number_rows(it.because))
            for it in choices.refused
        ],
        "text": "; ".join(text for _, text, *_ in rows),
        "level": visible(level.done),
        "because": visible(level.because),
        "numbers": number_rows(level.because),
        "tasks": _tasks(loops),
        "scratch": _scratch(loops),
    }


def _choice(choice: "Choice") -> "records.ChoiceRow":
    """The pass, the choice and its reason, and what was looked at."""
    from compiler.loops.choices import show, word

    because = choice.because
    return word(choice), visible(show(choice)), visible(because), number_rows(because)


def _tasks(loops: "Loops") -> int:
    from compiler.loops.nodes import Range

    ranges = (it for it in loops.nodes if isinstance(it, Range) and it.level == "core")
    return max((it.tasks for it in ranges), default=1)


def _scratch(loops: "Loops") -> int:
    from compiler.loops.nodes import Local

    local = (it for it in loops.nodes if isinstance(it, Local))
    return sum(it.size * it.element.numpy.itemsize for it in local)
