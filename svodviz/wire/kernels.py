"""Each kernel as data for the page: how its loops were transformed, what LLVM did, and why.

    kernel  {"name", "e": entity of its loops, "choices": [[pass, choice, reason, numbers]],
             "refused": [[pass, reason, numbers]], "text", "level", "because", "numbers", "tasks",
             "scratch"}

Kernels are in the order of the parts of the stages "loops" to "asm". `text` is what
`Options(loops=…)` takes for the kernel; `tasks` is by how many runs its work is shared, `scratch`
the bytes of scratch memory that each has. Numbers are those behind the reason before them, see
`reasons`. A compilation that says none of it has no rows.
"""

from itertools import zip_longest
from typing import Any

from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.wire.reasons import number_rows
from svodviz.wire.scene import Wire


def kernel_rows(compilation: Any, entities: Entities) -> list[Wire]:
    """The table of kernels."""
    choices = getattr(compilation, "choices", {})
    levels = getattr(compilation, "levels", {})
    return [
        _row(loops, choices.get(loops.name, ()), levels.get(loops.name), entities)
        for loops in compilation.loops
        if loops.name in choices or loops.name in levels
    ]


def tasks_of(compilation: Any) -> dict[str, int]:
    """By how many runs the work of each kernel is shared."""
    return {str(loops.name): _tasks(loops) for loops in compilation.loops}


def _row(loops: Any, choices: Any, level: Any, entities: Entities) -> Wire:
    body = loops.lines[0].entity
    rows = [_choice(*it) for it in zip_longest(_printed(choices), getattr(choices, "rows", ()))]
    because = getattr(level, "because", "")
    return {
        "name": visible(loops.name),
        "e": -1 if body is None else entities.number(body),
        "choices": rows,
        "refused": [
            [visible(it.kind), visible(it.because), number_rows(it.because)]
            for it in getattr(choices, "refused", ())
        ],
        "text": "; ".join(text for _, text, *_ in rows),
        "level": visible(getattr(level, "done", "")),
        "because": visible(because),
        "numbers": number_rows(because),
        "tasks": _tasks(loops),
        "scratch": sum(_scratch(node) for node in getattr(loops, "nodes", ())),
    }


def _printed(choices: Any) -> list[str]:
    return str(choices).splitlines() if len(choices) else []


def _choice(line: str, choice: Any) -> list[Any]:
    """The pass, the choice and its reason in a line of printed choices, and what was looked at."""
    text, _, because = line.partition("#")
    words = visible(" ".join(text.split()))
    numbers = number_rows(getattr(choice, "because", ""))
    return [words.split(" ")[0], words, visible(because.strip()), numbers]


def _tasks(loops: Any) -> int:
    ranges = (it for it in getattr(loops, "nodes", ()) if getattr(it, "level", "") == "core")
    return max((int(it.tasks) for it in ranges), default=1)


def _scratch(node: Any) -> int:
    is_local = type(node).__name__ == "Local"
    return int(node.size) * int(node.element.numpy.itemsize) if is_local else 0
