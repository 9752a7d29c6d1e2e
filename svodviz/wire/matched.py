"""What the rule of a rewrite bound, and its time: asked from the page, and recorded in exports.

    question  {"pass": position, "step": number of the rewrite, from 1}
    answer    {"bindings": [[name, value]], "ns": of one run}; no bindings for what is no rule;
              for a choice about loops what it acted on, and 0 ns
"""

import time
from typing import Any

from svodviz.foundation.escape import visible
from svodviz.foundation.requests import Json, Progress, key_of, request

SECONDS = 0.3
"""How long an export asks for all rewrites; those left out say that they were not recorded."""


@request("matched", is_kept=True)
def answer(explorer: Any, arguments: dict[str, Any], progress: Progress) -> Json:
    """What the rule of one rewrite bound."""
    place, step = int(arguments.get("pass", -1)), int(arguments.get("step", 0))
    passes = explorer.compilation.passes
    if not (0 <= place < len(passes) and 0 < step <= len(passes[place].rewrites)):
        raise ValueError(f"there is no rewrite {step} of pass {place}")
    return _row(explorer.compilation, passes[place], step)


def recorded_matches(compilation: Any) -> dict[str, Json]:
    """The answers on all rewrites, as far as time allows."""
    until = time.monotonic() + SECONDS
    found: dict[str, Json] = {}
    for place, record in enumerate(compilation.passes):
        for step in range(1, 1 + len(getattr(record, "matches", ()))):
            if time.monotonic() > until:
                return found
            key = key_of("matched", {"pass": place, "step": step})
            found[key] = _row(compilation, record, step)
    return found


def _row(compilation: Any, record: Any, step: int) -> Json:
    from compiler.ask.matched import matched

    found = matched(compilation, record, step) if hasattr(record, "matches") else None
    if found is None:
        return {"bindings": [], "ns": 0}
    rows = [[visible(name), visible(value)] for name, value in found.bindings]
    return {"bindings": rows, "ns": found.nanoseconds}
