"""moved: copies and conversions that cost: kernels that only move elements or change their type.

Reported for a kernel without arithmetic that writes no result of the program, and that the program
asks for: by a conversion, or by a method of `COPIES`. Copies that the compiler inserts itself, for
zero padding or contiguous rows, pay and are not reported. A copy that adds zero padding is not
reported either.
"""

from collections.abc import Iterator

from compiler.core.reason import Number
from compiler.core.text import binary
from compiler.findings.finding import Finding
from compiler.findings.subject import Part, Subject
from compiler.graph.nodes import Cast, Contiguous, TensorNode
from compiler.graph.printer import origins_of

COPIES = frozenset(("contiguous", "clone", "copy"))
"""Methods that ask for a value in memory."""


def moved_only(subject: Subject) -> Iterator[Finding]:
    """Kernels that copy or convert."""
    results = frozenset(subject.schedule.results)
    for part in subject.parts.values():
        items = [subject.schedule.items[it] for it in part.items]
        rows = [subject.schedule.analysis[it] for it in part.items]
        is_kept = any(buffer in results for it in items for buffer in it.operation.writes)
        nodes = [it for it in subject.nodes_of(part.items[0]) if _is_asked(subject, it)]
        is_wanted = is_kept or subject.is_padding(part.name)
        is_idle = not any(row.flops for row in rows) and not is_wanted
        if nodes and is_idle and subject.is_worth(part.ns):
            moved = sum(row.bytes_read + row.bytes_written for row in rows)
            yield _finding(subject, part, nodes, moved)


def _is_asked(subject: Subject, node: TensorNode) -> bool:
    """True if the program asks for a conversion or a copy."""
    if isinstance(node, Cast):
        return True
    origins = origins_of(node, subject.program.provenance)
    return isinstance(node, Contiguous) and any(it.method in COPIES for it in origins)


def _finding(subject: Subject, part: Part, nodes: list[TensorNode], moved: int) -> Finding:
    casts = [node for node in nodes if isinstance(node, Cast)]
    what = f"converts {casts[0].sources[0].dtype} to {casts[0].dtype}" if casts else "copies"
    return Finding(
        "copy",
        f"{subject.takes(part)}, and computes nothing: it {what} ({binary(moved)} moved).",
        _instead(casts), part.ns, part.first, "schedule", "timeline",
        (Number(f"time of it ({subject.how})", part.ns, "ns", "the whole program", subject.total),
         Number("bytes moved", moved, "bytes")),
        *subject.line_of(casts or nodes), subject.brings(part.ns),
    )  # fmt: skip


def _instead(casts: list[Cast]) -> str:
    if casts:
        return (f"convert the data to {casts[0].dtype} once, before the program, or make both "
                "operands of one type from the start.")  # fmt: skip
    return "leave the copy out: what reads the value then reads it where it is, in another order."
