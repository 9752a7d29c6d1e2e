"""What arrives at a page after it has opened: values, and what the machine is told to do.

    later   {"stages": [stage], "entities": [entity], "parents": [[entity]],
             "values", "unseen", "operations": {op: what it means}, "notes": [text]}

The explorer of a large program opens without them in a notebook: its stages from the instructions
on say "later", and name only their kernels. When the cell has shown its result they are made, and
sent as data of their own whose entities follow those that the page has. Who needs them before that
has them made at once: exports, a selection in one of the stages, and a page that was opened in some
other way, which asks. Pages of small programs, and all outside of notebooks, are made in one piece.
"""

from dataclasses import dataclass
from typing import Any

from compiler.core.garbage import put_off
from svodviz.foundation.entities import Entities
from svodviz.foundation.requests import Json, Progress, request
from svodviz.foundation.stages import BY_ID, STAGES
from svodviz.foundation.values import Preview
from svodviz.wire.inside import seen_inside
from svodviz.wire.operations import operation_words
from svodviz.wire.previews import previews
from svodviz.wire.scene import Budget, Wire
from svodviz.wire.stage_rows import stage_row

LARGE = 2_000  # lines of LLVM IR of a program whose page opens without what LLVM makes of them
UNMADE = "it had not been made when this was saved: run its cell again, and wait for its end"


@dataclass(frozen=True)
class Rest:
    """What makes the rest of a page, of which `begun` is the beginning."""

    compilation: Any
    entities: Entities
    placing: Budget
    begun: Wire

    def made(self) -> Wire:
        """What arrives later (see the module's docstring). It waits for LLVM."""
        begin(self.compilation)
        with put_off():
            return self._made()

    def _made(self) -> Wire:
        notes: list[str] = []
        values, unseen = self._values(notes)
        stages = [
            stage_row(row, self.compilation, self.entities, self.placing, notes)
            for row in STAGES
            if row.late
        ]
        known = len(self.begun["entities"])
        return {
            "stages": stages,
            "entities": self.entities.names[known:],
            "parents": self.entities.parents[known:],
            "values": values,
            "unseen": unseen,
            "operations": operation_words(stages, ()),
            "notes": notes,
        }

    def _values(self, notes: list[str]) -> tuple[dict[str, Preview], list[list[Any]]]:
        """What nodes compute, and what loops and instructions inside of kernels do."""
        inside, unseen = seen_inside(self.compilation, self.entities, notes)
        shown = previews(self.compilation, self.begun["stages"], self.entities, notes)
        return shown | inside, unseen


def begin(compilation: Any) -> None:
    """Has LLVM begin with its work, which takes longest, where it is known how."""
    if hasattr(compilation, "begin_listings"):
        compilation.begin_listings()


def joined(data: Wire, later: Wire) -> Wire:
    """The data of a page in one piece; where nothing has arrived, the stages say that."""
    arrived = {it["id"]: it for it in later.get("stages", ())}
    stages = [arrived.get(it["id"]) or _unmade(it) for it in data["stages"]]
    if not later:
        return data | {"stages": stages}
    whole = data | {name: data[name] | later[name] for name in ("operations", "values")}
    whole |= {name: data[name] + later[name] for name in ("entities", "parents", "unseen", "notes")}
    return whole | {"stages": stages}


def _unmade(stage: Wire) -> Wire:
    if not stage.get("later"):
        return stage
    kept = {name: it for name, it in stage.items() if name != "later"}
    return kept | {"missing": UNMADE, "units": []}


def is_later(entity: str) -> bool:
    """Whether an entity is of a stage that may arrive later."""
    row = BY_ID.get(entity.partition(":")[0])
    return row is not None and row.late


def is_large(compilation: Any) -> bool:
    """Whether the page of a compilation is to open without what takes long."""
    return sum(it.line_count for it in compilation.source) > LARGE


@request("arrive")
def answer(explorer: Any, arguments: dict[str, Any], progress: Progress) -> Json:
    """What the page opened without: it is sent as a trait, so that notebooks save it."""
    explorer.arrive()
    return {}
