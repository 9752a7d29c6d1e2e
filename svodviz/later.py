"""What arrives at a page after it has opened: the stages that LLVM works on for long.

    later   {"stages": [stage], "entities": [entity], "parents": [[entity]],
             "operations": {op: what it means}, "notes": [text]}

The explorer of a large program opens without them in a notebook: their stages say "later", and name
only their kernels. When the cell has shown its result they are made, and sent as data of their own
whose entities follow those that the page has. Who needs them before that has them made at once:
exports, a selection in one of them, and a page that was opened in some other way, which asks.
Pages of small programs, and all outside of notebooks, are made in one piece.
"""

from dataclasses import dataclass
from typing import Any

from compiler.garbage import put_off
from svodviz.entities import Entities
from svodviz.operations import operation_words
from svodviz.requests import Json, Progress, request
from svodviz.scene import Budget, Wire
from svodviz.stage_rows import stage_row
from svodviz.stages import BY_ID, STAGES

LARGE = 2_000  # lines of LLVM IR of a program whose page opens without what LLVM makes of them
UNMADE = "it had not been made when this was saved: run its cell again, and wait for its end"


@dataclass(frozen=True)
class Rest:
    """What makes the rest of a page; `entities` are those of its beginning."""

    compilation: Any
    entities: Entities
    placing: Budget

    def made(self) -> Wire:
        """The stages that arrive later (see the module's docstring). It waits for LLVM."""
        with put_off():
            return self._made()

    def _made(self) -> Wire:
        known, notes = len(self.entities), list[str]()
        stages = [
            stage_row(row, self.compilation, self.entities, self.placing, notes)
            for row in STAGES
            if row.is_later
        ]
        return {
            "stages": stages,
            "entities": self.entities.names[known:],
            "parents": self.entities.parents[known:],
            "operations": operation_words(stages, ()),
            "notes": notes,
        }


def joined(data: Wire, later: Wire) -> Wire:
    """The data of a page in one piece; where nothing has arrived, the stages say that."""
    arrived = {it["id"]: it for it in later.get("stages", ())}
    stages = [arrived.get(it["id"]) or _unmade(it) for it in data["stages"]]
    if not later:
        return data | {"stages": stages}
    added = {name: data[name] + later[name] for name in ("entities", "parents", "notes")}
    return data | {"stages": stages, "operations": data["operations"] | later["operations"]} | added


def _unmade(stage: Wire) -> Wire:
    if not stage.get("later"):
        return stage
    kept = {name: it for name, it in stage.items() if name != "later"}
    return kept | {"missing": UNMADE, "units": []}


def is_later(entity: str) -> bool:
    """Whether an entity is of a stage that may arrive later."""
    row = BY_ID.get(entity.partition(":")[0])
    return row is not None and row.is_later


def is_large(compilation: Any) -> bool:
    """Whether the page of a compilation is to open without what LLVM makes of it."""
    return sum(len(it.lines) for it in compilation.source) > LARGE


@request("arrive")
def answer(explorer: Any, arguments: dict[str, Any], progress: Progress) -> Json:
    """What the page opened without: it is sent as a trait, so that notebooks save it."""
    explorer.arrive()
    return {}
