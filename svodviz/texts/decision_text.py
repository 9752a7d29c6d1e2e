"""Decisions as text: each with its sentence, what it is about, and the numbers looked at.

    ✓ fuse        %4 = reduce max %3 axes (1) f32[64,1]
        computed once per 64, in the loop nest of its only reader; saves 256 bytes
        kernels that read it             1 = 1      at most
        times each element is computed   1 = 1      at most

What left no choice is counted: a line for each reason.
"""

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from svodviz.foundation.escape import visible
from svodviz.wire.reasons import PLAIN

if TYPE_CHECKING:
    from compiler.core.reason import Decision, Number
    from compiler.program.compilation import Compilation


def decision_text(compilation: "Compilation") -> str:
    """All decisions of a compilation, in the order in which they were made."""
    from compiler.core.reason import table

    names = _names(compilation)
    plain: Counter[tuple[str, str]] = Counter()
    parts: list[str] = []
    plain.update((it.kind, it.reason) for it in compilation.decisions if it.kind in PLAIN)
    others = (it for it in compilation.decisions if it.kind not in PLAIN)
    for (subject, _, numbers), group in groupby(others, _same):
        for it in group:
            about = visible(names.get(subject, subject))
            parts.append(f"{'✓' if it.taken else '✗'} {visible(it.kind):<11} {about}")
            parts.append(f"    {visible(it.reason)}")
        parts += [f"        {visible(row)}" for row in table(numbers)]
    if plain:
        parts.append("without a choice:")
    parts += [
        f"    {count:>5} × {kind:<6} {visible(reason)}" for (kind, reason), count in plain.items()
    ]
    return "\n".join(parts)


def _same(it: "Decision") -> "tuple[str, bool, tuple[Number, ...]]":
    """The key of decisions whose numbers are printed once, after them."""
    return it.subject, it.taken, it.numbers


def _names(compilation: "Compilation") -> dict[str, str]:
    """The printed line of each entity that decisions are about."""
    graph = compilation.optimized_graph
    stages = [compilation.graph, graph, compilation.kernels]
    lines = (line for stage in stages for line in stage.lines)
    named = {line.entity: line.text.strip() for line in lines if line.entity}
    return named | {
        loops.entity(loops.body): f"loops of {loops.name}" for loops in compilation.loops
    }
