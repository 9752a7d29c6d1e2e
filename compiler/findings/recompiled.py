"""recompiled: numbers and shapes that compile anew at every call.

A line whose programs differ in numbers alone compiles four times (`run/numbers.py`); one that has
had `MANY` programs compiled will compile more. Reported for a program made by such lines. Programs
are counted when data are read, so a program that is only explored has none.
"""

from collections.abc import Iterator
from typing import TypeAlias

from compiler.core.node import toposort
from compiler.core.origin import Origin
from compiler.core.reason import Number
from compiler.core.text import duration
from compiler.findings.finding import Finding
from compiler.findings.subject import Subject
from compiler.run.recompiled import HINT, LINES, MANY

Lines: TypeAlias = frozenset[tuple[str, int]]
"""Files and lines."""


def recompiled(subject: Subject) -> Iterator[Finding]:
    """The line that most programs like this one were compiled for."""
    origins = {it for node in toposort([subject.program.written]) if (it := node.origin)}
    lines = {(it.file, it.line) for it in origins}
    found: list[tuple[int, float, Origin, Lines]] = [
        (programs, seconds, asked, wrote)
        for (asked, wrote), (programs, seconds) in LINES.items()
        if programs >= MANY and wrote and wrote <= lines
    ]
    if not found:
        return
    programs, seconds, asked, wrote = max(found, key=lambda row: row[:2])
    yield Finding(
        "recompiled",
        f"Asking for data at {asked.place} had {programs} programs compiled, each for other shapes "
        f"or numbers: {duration(1e9 * seconds / programs)} (measured) each time.",
        f"{HINT}.", 1e9 * seconds / programs, _entity(subject, wrote), "graph", "graph",
        (Number("programs compiled", programs, "", "reported from", MANY),
         Number("each compilation", 1e9 * seconds / programs, "ns", "one run", subject.total)),
        *subject.line_at(max(it for it in origins if (it.file, it.line) in wrote)),
        f"about {duration(1e9 * seconds / programs)} less at each call",
    )  # fmt: skip


def _entity(subject: Subject, lines: Lines) -> str:
    """The first node of the program that these lines made."""
    nodes = (it for it in toposort([subject.program.written]) if it.origin is not None)
    first = next(it for it in nodes if it.origin and (it.origin.file, it.origin.line) in lines)
    return subject.program.entity(first)
