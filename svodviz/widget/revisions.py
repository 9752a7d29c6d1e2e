"""Revisions: the compilations that one explorer has shown, each with its page.

    1  as explore() made it
    2  the function was defined anew: 2 lines of source, 12 lines of assembly changed
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, cast

from compiler.core.text import counted
from svodviz.comparing.changes import Changes
from svodviz.foundation.stages import BY_ID, WITH_GRAPHS
from svodviz.texts.summary import summary_of_page
from svodviz.widget.cells import cell_rows, files_of
from svodviz.widget.live import Live
from svodviz.wire.later import Rest
from svodviz.wire.payload import opening, wire

if TYPE_CHECKING:
    from compiler.core.trace import PassRecord
    from compiler.program.compilation import Compilation
    from svodviz.data import pages, records
    from svodviz.data.states import State
    from svodviz.wire.checks import Checks

MOST_REVISIONS = 10
"""Revisions of one explorer that are kept, the newest: each has all stages. A choice."""
COUNTED = ("source", "loops", "asm")
"""The stages whose changes are counted in words: the source, the loops, the assembly."""


@dataclass(eq=False)
class Revision:
    """A compilation as an explorer shows it; `later` is what its page opened without."""

    number: int
    compilation: "Compilation"
    checks: "Checks | None"
    data: "pages.Wire"
    rest: Rest | None
    between: Changes | None = None
    later: dict[str, object] = field(default_factory=dict)
    recorded: dict[str, object] = field(default_factory=dict)
    changes: "pages.Changes" = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.entities = set(self.data["entities"])
        self.live = Live(self.compilation)
        self._mark(self.data["stages"])

    def _mark(self, stages: "list[records.Stage]") -> None:
        """Notes what changed in these stages."""
        if self.between is None:
            return
        later = cast("pages.Later", self.later)
        names = [*self.data["entities"], *(later["entities"] if later else ())]
        ready = [it for it in stages if not it.get("later")]
        self.changes |= self.between.rows(ready, {name: at for at, name in enumerate(names)})
        if self.rest is None:
            self.between = None  # nothing is compared any more: the compilation before may go

    def arrive(self) -> bool:
        """Makes what its page opened without; whether there was anything."""
        if self.rest is None:
            return False
        later = self.rest.made()
        self.rest = None
        self.entities.update(later["entities"])
        self.later = dict(later)
        self._mark(later["stages"])
        return True

    @cached_property
    def summary(self) -> str:
        """It in a line, as a notebook shows it that cannot show widgets."""
        return summary_of_page(self.data, self.compilation)

    @cached_property
    def cells(self) -> "list[pages.CellRow]":
        """The notebook's cells that made it."""
        return cell_rows(self.compilation)

    def cell_of(self, file: str) -> int:
        """The position of a file among its cells; of a program that is no function, the last."""
        files = files_of(self.compilation)
        return files.index(file) if file in files else len(files) - 1

    @property
    def words(self) -> str:
        """Its changes in words: "2 lines of source, 12 lines of assembly changed"."""
        if not self.changes:
            return ""
        parts = [
            f"{counted(self.changes[id]['count'], 'line')} of {BY_ID[id].label.lower()}"
            for id in COUNTED if id in self.changes and self.changes[id]["count"]
        ]  # fmt: skip
        return f"{', '.join(parts)} changed" if parts else "the printed stages are the same"

    def __repr__(self) -> str:
        return f"Revision({', '.join(it for it in (str(self.number), self.words) if it)})"


def is_same(before: Revision, now: Revision, between: Changes, call: str = "") -> bool:
    """True if nothing that an explorer shows has changed, including the text of the cells.

    The cell of the `call` of explore does not count; `between` are the changes between both.
    """
    texts = {it["text"] for it in before.cells}
    files = files_of(now.compilation)
    new = (it for it, file in zip(now.cells, files, strict=True) if file != call)
    return all(it["text"] in texts for it in new) and between.is_none


def changes(before: Revision, now: "Compilation", call: str = "") -> Changes:
    """The changes from a revision to what follows it, but for the cell of the `call` of explore."""
    files = files_of(now)
    if call not in files:
        return Changes(before.compilation, now)
    row = cell_rows(now)[files.index(call)]
    apart = range(row["first"], row["first"] + row["lines"])
    return Changes(before.compilation, now, apart)


def opened(
    compilation: "Compilation", checks: "Checks | None", *, waits: bool, number: int = 1,
    between: Changes | None = None,
) -> Revision:  # fmt: skip
    """A revision with the data of its page: all of them, unless the rest is to follow."""
    if not waits:
        return Revision(number, compilation, checks, wire(compilation, checks), None, between)
    return Revision(number, compilation, checks, *opening(compilation, checks), between)


def place_in(state: "State", old: Revision, new: Revision, between: Changes) -> "State":
    """The state of an explorer's reader in another revision: the same place, as far as it is there.

    The pass is found by its name, the kernel by its work, the selection by its counterpart in the
    changes `between` both.
    """

    def after(entity: str) -> str:
        partner = between.counterpart(entity) if entity else ""
        return partner if partner in new.entities else ""

    moved: State = {**state}
    if "selected" in state:
        moved["selected"] = after(state["selected"])
    if "path" in state:
        moved["path"] = after(state["path"])
    if "only" in state:
        moved["only"] = [it for it in map(after, state["only"]) if it]
    if state.get("unit") and state.get("stage") in WITH_GRAPHS:
        moved["unit"] = between.unit(state["stage"], state["unit"])
    if "pass" in state:
        moved["pass"] = _pass_in(old.compilation, state["pass"], new.compilation)
        is_same = moved["pass"] < len(new.compilation.passes) and _rewrites(
            old.compilation, state["pass"]
        ) == _rewrites(new.compilation, moved["pass"])
        moved["step"] = state.get("step", -1) if is_same else -1
    return moved


def _pass_in(old: "Compilation", position: int, new: "Compilation") -> int:
    """The position of the same pass in another compilation; 0 if it has none."""
    if position >= len(old.passes):
        return 0
    wanted = old.passes[position]
    alike = [at for at, it in enumerate(old.passes[:position]) if _same_pass(it, wanted)]
    positions = [at for at, it in enumerate(new.passes) if _same_pass(it, wanted)]
    if not positions:
        return max(0, min(position, len(new.passes) - 1))
    return positions[min(len(alike), len(positions) - 1)]


def _same_pass(a: "PassRecord", b: "PassRecord") -> bool:
    return (a.stage, a.kernel, a.name) == (b.stage, b.kernel, b.name)


def _rewrites(compilation: "Compilation", position: int) -> int:
    return len(compilation.passes[position].applied)
