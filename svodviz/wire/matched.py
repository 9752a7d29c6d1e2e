"""The names that the rule of a rewrite bound, and its time, for the page and exports.

A question names the position of the pass and the number of the rewrite, from 1. There are no
bindings for what is no rule; for a choice about loops what it acted on, and 0 ns.
"""

import time
from typing import TYPE_CHECKING

from svodviz.foundation.escape import visible
from svodviz.foundation.requests import Arguments, Asked, Progress, key_of, request, whole

if TYPE_CHECKING:
    from compiler.core.trace import PassRecord
    from compiler.program.compilation import Compilation
    from svodviz.data import answers

SECONDS = 0.3
"""The time limit of an export for all rewrites; the others are marked as not recorded. A choice."""


@request("matched", is_kept=True)
def answer(explorer: Asked, arguments: Arguments, progress: Progress) -> "answers.Matches":
    """The names that the rule of one rewrite bound."""
    place, step = whole(arguments, "pass"), whole(arguments, "step")
    passes = explorer.compilation.passes
    if not (0 <= place < len(passes) and 0 < step <= len(passes[place].rewrites)):
        raise ValueError(f"there is no rewrite {step} of pass {place}")
    return _row(explorer.compilation, passes[place], step)


def recorded_matches(compilation: "Compilation") -> "answers.Recorded":
    """The answers on all rewrites, as far as time allows."""
    until = time.monotonic() + SECONDS
    answers_by_step: answers.Recorded = {}
    for place, record in enumerate(compilation.passes):
        for step in range(1, 1 + len(record.matches)):
            if time.monotonic() > until:
                return answers_by_step
            key = key_of("matched", {"pass": place, "step": step})
            answers_by_step[key] = _row(compilation, record, step)
    return answers_by_step


def _row(compilation: "Compilation", record: "PassRecord", step: int) -> "answers.Matches":
    from compiler.ask.matched import matched

    match = matched(compilation, record, step) if record.matches else None
    if match is None:
        return {"bindings": [], "ns": 0}
    rows = [(visible(name), visible(value)) for name, value in match.bindings]
    return {"bindings": rows, "ns": match.nanoseconds}
