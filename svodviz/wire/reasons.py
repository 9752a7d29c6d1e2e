"""Why something was chosen, as data for the page: sentences, and tables of what was looked at.

    decision  [entity, kind, taken, reason, numbers]
    plain     [kind, reason, numbers, [entity]]       what became of nodes that left no choice
    numbers   [[name, value, sign, limit, name of the limit]]      ready to be read

Many nodes leave no choice, and few reasons are behind them, so each of these is told once.
"""

from typing import Any

from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.wire.scene import Wire

PLAIN = ("inline", "memory")


def number_rows(reason: str) -> list[list[str]]:
    """The numbers behind a reason, in words."""
    from compiler.core.reason import numbers_of

    return [[visible(cell) for cell in number.cells] for number in numbers_of(reason)]


def decision_rows(compilation: Any, entities: Entities) -> Wire:
    """The tables "decisions" and "plain"."""
    rows: list[list[Any]] = []
    plain: dict[tuple[str, str], list[Any]] = {}
    for it in compilation.decisions:
        subject = entities.number(it.subject)
        if it.kind not in PLAIN:
            rows.append([subject, visible(it.kind), bool(it.taken), visible(it.reason),
                         number_rows(it.reason)])  # fmt: skip
            continue
        key = it.kind, it.reason
        if key not in plain:
            plain[key] = [visible(it.kind), visible(it.reason), number_rows(it.reason), []]
        plain[key][3].append(subject)
    return {"decisions": rows, "plain": list(plain.values())}
