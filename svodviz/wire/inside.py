"""Values inside kernels, of loops and instructions, as data for the page, and what was left out.

The stage "" is all inside kernels, the kernel -1 all of them. Interpreters are slow, so large
kernels are left out; the notes and the inspector say so.
"""

from typing import TYPE_CHECKING

from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.foundation.values import preview_seen

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation
    from svodviz.data import records

MOST_NOTES = 3


def seen_inside(
    compilation: "Compilation", entities: Entities, notes: list[str]
) -> "tuple[dict[str, records.Value], list[records.Unseen]]":
    """Previews of the values by entity, and the rows "unseen"; `notes` get the same in short."""
    from compiler.ask.values import Unseen, values_inside

    unseen: list[Unseen] = []
    try:
        seen = values_inside(compilation, unseen=unseen)
    except Exception as error:
        words = visible(f"no values inside kernels: {type(error).__name__}: {error}")
        notes.append(words)
        return {}, [("", -1, words)]
    rows: list[records.Unseen] = [(it.stage, it.number, visible(it.reason)) for it in unseen]
    notes += _notes(rows, compilation)
    return {str(entities.number(name)): preview_seen(it) for name, it in seen.items()}, rows


def _notes(rows: "list[records.Unseen]", compilation: "Compilation") -> list[str]:
    """Notes on what was left out, each by itself where it is little."""
    if len(rows) > MOST_NOTES:
        kernels = len({number for _, number, _ in rows})
        return [f"no values inside {kernels:,} kernels: the inspector says of each why"]
    return [f"no values {_place(stage, number, compilation)}: {why}" for stage, number, why in rows]


def _place(stage: str, number: int, compilation: "Compilation") -> str:
    """`inside kernels`, `of the loops of k0`"""
    if number < 0:
        return "inside kernels"
    name = visible(compilation.loops[number].name)
    words = {"loops": "of the loops of", "lowered": "of the instructions of"}
    return f"{words.get(stage, 'inside')} {name}"
