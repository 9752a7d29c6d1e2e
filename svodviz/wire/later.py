"""Data that arrive at a page after it has opened: values, and the stages from LLVM on.

The explorer of a large program opens without them in a notebook: its stages from the instructions
on say "later", and name only their kernels. When the cell has shown its result they are made, and
sent as data of their own whose entities follow those that the page has. Who needs them before that
has them made at once: exports, a selection in one of the stages, and a page that was opened in some
other way, which asks. Pages of small programs, and all outside of notebooks, are made in one piece.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from compiler.core.garbage import put_off
from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.foundation.requests import Arguments, Asked, Progress, request
from svodviz.foundation.stages import BY_ID, STAGES
from svodviz.foundation.values import preview_seen
from svodviz.wire.modules import module_codes
from svodviz.wire.operations import operation_words
from svodviz.wire.previews import previews
from svodviz.wire.scene import Budget
from svodviz.wire.stage_rows import stage_row

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation
    from svodviz.data import pages, records

LARGE = 2_000
"""Lines of LLVM IR of a program whose page opens without what LLVM makes of them: about a
second. Measured 2026-11-23 on two cores of an AMD EPYC, busy with other work: 2.7 s for the 5,492
lines of a transformer. How long a reader waits is a choice."""
MOST_NOTES = 3
UNMADE = "it had not been made when this was saved: run its cell again, and wait for its end"


@dataclass(frozen=True)
class Rest:
    """The rest of a page, to be made, of which `begun` is the beginning."""

    compilation: "Compilation"
    entities: Entities
    placing: Budget
    begun: "pages.Wire"

    def made(self) -> "pages.Later":
        """The data that arrive later. It waits for LLVM."""
        self.compilation.begin_listings()
        with put_off():
            return self._made()

    def _made(self) -> "pages.Later":
        notes: list[str] = []
        values, unseen = self._values(notes)
        stages = [
            stage_row(row, self.compilation, self.entities, self.placing, notes)
            for row in STAGES
            if row.late
        ]
        begun_count = len(self.begun["entities"])
        rest: pages.Later = {
            "stages": stages,
            "entities": self.entities.names[begun_count:],
            "parents": self.entities.parents[begun_count:],
            "values": values,
            "unseen": unseen,
            "operations": operation_words(stages, ()),
            "notes": notes,
        }
        if "modules" in self.begun:
            rest["codes"] = module_codes(self.compilation)
        return rest

    def _values(self, notes: list[str]) -> "tuple[dict[str, records.Value], list[records.Unseen]]":
        """The values of nodes, and of loops and instructions inside of kernels."""
        inside, unseen = seen_inside(self.compilation, self.entities, notes)
        shown = previews(self.compilation, self.begun["stages"], self.entities, notes)
        return shown | inside, unseen


def joined(data: "pages.Wire", later: "pages.Later | None") -> "pages.Wire":
    """The data of a page in one piece; where nothing has arrived, the stages say that."""
    if not later:
        return {**data, "stages": [_unmade(it) for it in data["stages"]]}
    arrived = {it["id"]: it for it in later["stages"]}
    whole: pages.Wire = {
        **data,
        "stages": [arrived.get(it["id"]) or _unmade(it) for it in data["stages"]],
        "operations": data["operations"] | later["operations"],
        "values": data["values"] | later["values"],
        "entities": data["entities"] + later["entities"],
        "parents": data["parents"] + later["parents"],
        "unseen": data["unseen"] + later["unseen"],
        "notes": data["notes"] + later["notes"],
    }
    if "codes" in later:
        whole["codes"] = later["codes"]
    return whole


def _unmade(stage: "records.Stage") -> "records.Stage":
    if not stage.get("later"):
        return stage
    return {
        "id": stage["id"], "label": stage["label"], "view": stage["view"], "missing": UNMADE,
        "units": [], "seconds": stage["seconds"],
    }  # fmt: skip


def is_later(entity: str) -> bool:
    """True if an entity is of a stage that may arrive later."""
    row = BY_ID.get(entity.partition(":")[0])
    return row is not None and row.late


def is_large(compilation: "Compilation") -> bool:
    """True if the page of a compilation is to open before the slow stages are ready."""
    return sum(it.line_count for it in compilation.source) > LARGE


class Arriving(Asked, Protocol):
    """A page that may have opened without what takes long."""

    def arrive(self) -> None:
        """Waits until the page has it."""


@request("arrive")
def answer(explorer: Arriving, arguments: Arguments, progress: Progress) -> dict[str, object]:
    """The part that the page opened without: it is sent as a trait, so that notebooks save it."""
    explorer.arrive()
    return {}


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
