"""Decisions as data for the page: sentences, and tables of the numbers compared.

Many nodes have no alternative, for few distinct reasons: each reason is sent once.
"""

from typing import TYPE_CHECKING

from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation
    from svodviz.data import records

PLAIN = ("inline", "memory")


def number_rows(reason: str) -> "records.Numbers":
    """The numbers behind a reason, in words."""
    from compiler.core.reason import numbers_of

    return [[visible(cell) for cell in number.cells] for number in numbers_of(reason)]


def decision_rows(compilation: "Compilation", entities: Entities) -> "records.DecisionTables":
    """The tables "decisions" and "plain"."""
    rows: list[records.DecisionRow] = []
    plain: dict[tuple[str, str], records.PlainRow] = {}
    for it in compilation.decisions:
        subject = entities.number(it.subject)
        if it.kind not in PLAIN:
            rows.append((subject, visible(it.kind), it.taken, visible(it.reason),
                         number_rows(it.reason)))  # fmt: skip
            continue
        key = it.kind, it.reason
        if key not in plain:
            plain[key] = visible(it.kind), visible(it.reason), number_rows(it.reason), []
        plain[key][3].append(subject)
    return {"decisions": rows, "plain": list(plain.values())}
