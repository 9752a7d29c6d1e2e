"""The views of the centre pane: one row each; their classes stand in `js/views/views.js`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svodviz.data import pages


@dataclass(frozen=True)
class ViewRow:
    """A view: in which stages it is offered, and what a stage must have for it.

    `stages` are ids of the ribbon, empty for all; `needs` a drawing ("scene"; passes have one),
    lines ("text"), or a schedule that was recorded.
    """

    id: str
    label: str
    stages: tuple[str, ...] = ()
    needs: "pages.Needs" = ""


VIEWS = (
    ViewRow("modules", "Modules", ("modules",)),
    ViewRow("run", "Times", ("run",), "schedule"),
    ViewRow("timeline", "Timeline", ("schedule", "run"), "schedule"),
    ViewRow("memory", "Memory", ("schedule",), "schedule"),
    ViewRow("fusion", "Fusion", ("schedule",), "schedule"),
    ViewRow("llvm_passes", "Passes of LLVM", ("llvm_passes",)),
    ViewRow("machine", "Machine code", ("asm",), "text"),
    ViewRow("graph", "Graph", needs="scene"),
    ViewRow("text", "Text", needs="text"),
    ViewRow("columns", "Columns"),
    ViewRow("playground", "Playground", ("loops",), "text"),
)
BY_ID = {row.id: row for row in VIEWS}


def view_rows() -> "list[pages.View]":
    """The views for the page, in the order of their buttons."""
    return [(row.id, row.label, list(row.stages), row.needs) for row in VIEWS]
