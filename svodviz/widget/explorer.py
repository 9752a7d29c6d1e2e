"""The widget: one compilation, every stage linked, in a notebook or as a page of its own."""

import contextlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import traitlets
from IPython import get_ipython

from compiler.core.errors import Renamed
from compiler.core.garbage import put_off
from svodviz.comparing.changes import Changes
from svodviz.data.states import State, names_of
from svodviz.drawing import layout_jobs  # noqa: F401 - the page asks it
from svodviz.exporting.export import Maker, export_html
from svodviz.exporting.page_widget import PageWidget
from svodviz.exporting.picture import stand_ins, still
from svodviz.foundation import views
from svodviz.foundation.packing import packed_trait
from svodviz.foundation.requests import respond
from svodviz.foundation.stages import BY_ID
from svodviz.foundation.subject import compilation_of, is_explorable, is_tensor, name_of
from svodviz.widget import following
from svodviz.widget.plain_script import is_script, show_page
from svodviz.widget.revisions import MOST_REVISIONS, Revision, changes, is_same, opened, place_in
from svodviz.widget.side_by_side import SideBySide, side_by_side
from svodviz.wire.checks import Checks, check_all
from svodviz.wire.checks import tried as bisected
from svodviz.wire.grounds import recorded as tried
from svodviz.wire.later import is_large, is_later, joined
from svodviz.wire.machine_code import recorded, recorded_hot
from svodviz.wire.matched import recorded_matches
from svodviz.wire.measured import SECONDS, recorded_run

if TYPE_CHECKING:
    from traitlets.utils.bunch import Bunch

    from compiler.ask.bisect import Bisection
    from compiler.program.compilation import Compilation
    from svodviz.data import pages
    from svodviz.exporting.page_widget import MimeBundle

STATE_NAMES = names_of(State)
FOLDINGS = ("", "none", "module", "kernel", "pass", "depth")
LEVELS = (-1, 1, 2, 3)
MOST_LLVM_PASSES = 10_000
PANELS = ("passes", "inspector")
OVERLAYS = ("", "ns", "measured", "bytes", "flops", "intensity")


class Explorer(PageWidget):
    """An explorer of one compilation.

    `state` is a dict of stage, unit (position of the kernel), view, pass (position), step (-1 for
    the whole pass, 0 before its first rewrite), selected (an entity), path (an entity: the other
    end of the highlighted paths), columns (stages), shares (of the width, one number for each
    column), panels (whether "passes" and "inspector" are open, where
    the reader chose), sizes (of "passes", "inspector", and it as a "drawer", in pixels),
    folding (by what a graph is folded, "" for what suits it), open (its groups that are not),
    only (entities that alone are drawn, with their neighbours), filtered (whether texts show only
    what is related to the selection), across (whether graphs lead from
    left to right), overlay (the cost laid over it),
    critical (whether only the critical path stands out), machine (whose assembly, "" for this one),
    level (which of LLVM's passes, -1 for those of the code that runs) and llvm_pass (position).
    It is the one trait that page and Python share; assigning some of its names changes only those.
    `selected` is the compiler's own object: a node, an item, an instruction, a line (see `live`);
    such an object, a tensor or an entity may be assigned, and `observe` works on both. `recorded`
    are answers that exports have. `later` is what the page of a large program opened without (see
    `later`); it is empty until it has arrived, and where everything was there from the start.

    In a notebook it follows the name that its program is bound to (see `following`): `revisions`
    holds the compilations that it has shown; `revision` is the number of the one on screen, and
    may be assigned. `changes` and `live` report both to the page.
    """

    later = packed_trait()
    recorded = traitlets.Dict().tag(sync=True)
    selected = traitlets.Any(None, allow_none=True)
    revision = traitlets.Int(1).tag(sync=True)
    changes = packed_trait()
    live = traitlets.Dict().tag(sync=True)
    edition = Renamed("revision")
    editions = Renamed("revisions")

    def __init__(
        self, compilation: "Compilation", checks: Checks | None = None, **state: object
    ) -> None:
        self.bisection: Bisection | None = None
        self._problem: pages.Problem | None = None
        self._current = 1  # the revision of what the notebook has
        with put_off():
            waits = is_large(compilation) and after_cell(self._after_cell)
            self._shown = opened(compilation, checks, waits=waits)
            self.revisions: tuple[Revision, ...] = (self._shown,)
            super().__init__(wire=self._shown.data, state=state, live=self._live_row())
        self.on_msg(lambda _, content, buffers: respond(self, content, self.send))

    @property
    def compilation(self) -> "Compilation":
        """The compilation on screen."""
        return self._shown.compilation

    @property
    def checks(self) -> Checks | None:
        """The checks of its passes, if asked for."""
        return self._shown.checks

    def _after_cell(self) -> None:
        if not self.ended:
            self.arrive()

    def arrive(self) -> None:
        """Waits until the page has what it opened without (see `later`); once is enough."""
        revision = self._shown
        if not revision.arrive():
            return
        with self.hold_sync():
            self.later = revision.later
            self.changes = revision.changes
            self.live = self._live_row()

    # -- revisions ------------------------------------------------------------------------------

    def follow(
        self, compilation: "Compilation", checks: Checks | None = None, *, in_cell: bool = False
    ) -> None:
        """Shows another compilation of the program as the next revision, at the same place.

        One that is the same, its text included, is none. `in_cell`: what takes long waits until the
        cell that runs is over; else it is made now, after the page has the rest.
        """
        self._problem = None
        waits = is_large(compilation) and (not in_cell or after_cell(self._after_cell))
        program = following.program_followed(self)
        call = program.call if program and in_cell else ""
        between = changes(self._shown, compilation, call)
        number = self.revisions[-1].number + 1
        revision = opened(compilation, checks, waits=waits, number=number, between=between)
        if not is_same(self._shown, revision, between, call):
            self.revisions = (*self.revisions, revision)[-MOST_REVISIONS:]
            self._current = number
            self._turn_to(revision, between)
        elif in_cell:
            self._renew(revision, between)
        else:
            self._current = self._shown.number
            self.live = self._live_row()
        if not in_cell:
            self.arrive()

    def _renew(self, revision: Revision, between: Changes) -> None:
        """Shows a new compilation of the same program: with checks, or with more recorded."""
        before = self._shown
        revision.number, revision.changes = before.number, before.changes
        self.revisions = tuple(revision if it is before else it for it in self.revisions)
        self._current = revision.number
        recorded = self.recorded
        self._turn_to(revision, between)
        self.recorded = recorded

    def stumble(self, problem: "pages.Problem | None") -> None:
        """Shows why there is no next revision; the last good one stays on screen."""
        self._problem = problem
        self.live = self._live_row()

    def _turn_to(self, revision: Revision, between: Changes) -> None:
        """Shows a revision, at the place where the reader is: by the changes from this one."""
        before, self._shown = self._shown, revision
        before.recorded = self.recorded
        state = place_in(cast("State", self.state), before, revision, between)
        # In one message: the page never has the data of one revision and the state of another.
        with self.hold_sync():
            self.wire, self.later = dict(revision.data), revision.later
            self.recorded, self.changes = revision.recorded, revision.changes
            self.revision = revision.number
            self.live = self._live_row()
            self.state = dict(state)
        self.selected = self.state.get("selected", "")

    def _live_row(self) -> "dict[str, object]":
        program = following.program_followed(self)
        cells = self._shown.cells if program else []
        row: pages.LiveRow = {
            "first": self.revisions[0].number, "count": self.revisions[-1].number,
            "current": self._current, "words": self._shown.words,
            "names": list(program.names) if program else [],
            "cells": cells, "cell": self._shown.cell_of(program.file) if program else -1,
            "problem": self._problem,
        }  # fmt: skip
        return dict(row)

    @traitlets.validate("revision")
    def _known_revision(self, proposal: "Bunch") -> int:
        numbers = [it.number for it in self.revisions]
        if proposal["value"] not in numbers:
            raise traitlets.TraitError(f"revision: {proposal['value']}; there are {numbers}")
        return int(proposal["value"])

    @traitlets.observe("revision")
    def _show_revision(self, change: "Bunch") -> None:
        if change["new"] != self._shown.number:
            revision = next(it for it in self.revisions if it.number == change["new"])
            between = Changes(self.compilation, revision.compilation)
            self._turn_to(revision, between)

    def close(self) -> None:
        """Answers no more, and follows no more (see `PageWidget.close`)."""
        following.leave(self)
        super().close()

    # -- state ---------------------------------------------------------------------------------

    @traitlets.validate("state")
    def _sound_state(self, proposal: "Bunch") -> dict[str, object]:
        """The state as it becomes: what is not named stays; TraitError for what cannot be."""
        wanted: State = proposal["value"]
        unknown = sorted(set(wanted) - set(STATE_NAMES))
        if unknown:
            raise traitlets.TraitError(f"state: unknown {unknown}; names are {list(STATE_NAMES)}")
        self._check("stage", wanted, [stage["id"] for stage in self._data["stages"]])
        self._check("view", wanted, views.BY_ID)
        self._check("pass", wanted, range(max(1, len(self._data["passes"]))))
        self._arrive_for(wanted.get("selected"), wanted.get("path"), *wanted.get("only", ()))
        self._check("selected", wanted, self._shown.entities | {""})
        self._check("path", wanted, self._shown.entities | {""})
        self._check("folding", wanted, FOLDINGS)
        self._check("overlay", wanted, OVERLAYS)
        self._check("across", wanted, (False, True))
        self._check("filtered", wanted, (False, True))
        self._check("critical", wanted, (False, True))
        self._check("machine", wanted, ("", *(id for id, *_ in self._data["machines"])))
        self._check("level", wanted, LEVELS)
        self._check("llvm_pass", wanted, range(MOST_LLVM_PASSES))
        for entity in wanted.get("only", ()):
            self._check("only", {"only": entity}, self._shown.entities)
        for stage in wanted.get("columns", ()):
            self._check("columns", {"columns": stage}, BY_ID)
        self._check_room(wanted)
        kept = {name: value for name, value in self.state.items() if name not in wanted}
        if wanted.get("stage", kept.get("stage")) != self.state.get("stage"):
            # Another stage opens in the view and at the kernel that suit it.
            kept = {name: value for name, value in kept.items() if name not in ("view", "unit")}
        return {**kept, **wanted}

    def _check_room(self, wanted: State) -> None:
        """TraitError for panels that do not exist, and for sizes that are none."""
        for panel, is_open in wanted.get("panels", {}).items():
            self._check("panels", {"panels": panel}, PANELS)
            self._check("panels", {"panels": is_open}, (False, True))
        for panel, size in wanted.get("sizes", {}).items():
            self._check("sizes", {"sizes": panel}, (*PANELS, "drawer"))
            if not size > 0:
                raise traitlets.TraitError(f"state: {panel} has the size {size}; expected pixels")
        if any(not share > 0 for share in wanted.get("shares", ())):
            raise traitlets.TraitError("state: shares are the widths of columns, each above 0")

    def _check(self, name: str, wanted: Mapping[str, object], allowed: Collection[object]) -> None:
        if name in wanted and wanted[name] not in allowed:
            few = list(allowed) if len(allowed) <= 12 else f"{len(allowed):,} known ones"
            raise traitlets.TraitError(f"state: {name} is {wanted[name]!r}; expected one of {few}")

    def _arrive_for(self, *entities: object) -> None:
        """Waits for stages on their way, so that what is named is there."""
        if any(isinstance(it, str) and is_later(it) for it in entities):
            self.arrive()

    @traitlets.validate("selected")
    def _known_object(self, proposal: "Bunch") -> object:
        """The object itself, also where its entity was given. TraitError for what is unknown."""
        value = proposal["value"]
        try:
            entity = self._shown.live.entity(value)
        except LookupError as error:
            raise traitlets.TraitError(f"selected: {error}") from None
        self._arrive_for(entity)
        self._check("selected", {"selected": entity}, self._shown.entities | {""})
        # Here and not where it is observed: two lines may be equal, and still be two places.
        if self.state.get("selected", "") != entity:
            self.state = {"selected": entity}
        target = value.node if is_tensor(value) else value
        return self._shown.live.object(entity) if isinstance(value, str) else target

    @traitlets.observe("state")
    def _follow_state(self, change: "Bunch") -> None:
        self.selected = change["new"].get("selected", "")

    @traitlets.observe("selected")
    def _clear(self, change: "Bunch") -> None:
        """None is never validated: what it clears is cleared here."""
        if change["new"] is None and self.state.get("selected"):
            self.state = {"selected": ""}

    def record_machine_code(self) -> None:
        """Asks LLVM all that the page can ask: a page without Python has the answers."""
        self.recorded = {**self.recorded, **recorded(self.compilation)}

    def record_run(self, seconds: float = SECONDS) -> None:
        """Runs the program for about so long: the page shows what each item takes, exports too."""
        self.recorded = {**self.recorded, **recorded_run(self.compilation, seconds)}

    def record_hot(self) -> None:
        """Runs each kernel: its machine code shows which instructions its time goes to."""
        self.recorded = {**self.recorded, **recorded_hot(self.compilation)}

    def export_html(
        self, path: str | Path | None = None, *, machine_code: bool = False,
        maker: Maker = "Python",
    ) -> str:  # fmt: skip
        """The explorer as one HTML page without requests, in its present state.

        What was asked of LLVM is in it; with `machine_code` all that can be asked: its passes on
        every kernel, and the assembly of other machines. Returns the page's text, and writes it to
        `path` where one is given.
        """
        if machine_code:
            self.record_machine_code()
        answers = {**recorded_matches(self.compilation), **self.recorded}
        self.arrive()
        data: pages.Wire = {
            **joined(self._data, cast("pages.Later", self.later)),
            "recorded": answers, "playground": tried(self.compilation),
        }  # fmt: skip
        picture = still(self.compilation)
        return export_html(data, path, state=self.state, picture=picture, maker=maker)

    @property
    def _data(self) -> "pages.Wire":
        return self._shown.data

    def __repr__(self) -> str:
        return f"Explorer of {self._shown.summary}"

    def _repr_mimebundle_(self, **arguments: object) -> "MimeBundle":
        """The widget with what stands in for it: text, and a picture where no widget can run."""
        data, metadata = self._bundle(**arguments)
        caption = f"graph of {name_of(self.compilation)}"
        return data | stand_ins(repr(self), still(self.compilation), caption), metadata


Shown = Explorer | SideBySide
_listeners: list[Callable[[Shown], None]] = []


def listen(listener: Callable[[Shown], None]) -> Callable[[], None]:
    """Calls `listener` with all that `explore` makes, until the answer is called."""
    _listeners.append(listener)
    return lambda: _listeners.remove(listener)


def explore(
    subject: object,
    *inputs: object,
    check: bool = False,
    machine_code: bool = False,
    measure: bool | float = False,
    **state: object,
) -> Shown:
    """An explorer of a Tensor, a list of them, a Compilation, or a function on example inputs.

    `explore(a, b)` shows two tensors or compilations side by side (see `SideBySide`). Keyword
    arguments open it in a state: `explore(y, stage="schedule")` (see `Explorer`). With `check`,
    every pass and stage is run and marked ✓ or ✗. With `machine_code` LLVM is asked now for what
    the page could ask later, so that a saved notebook has the answers. With `measure`, True or how
    many seconds, the program is run and every item timed; of two, one run of each. Raises TypeError
    where there is nothing to explore, TraitError for a state that it cannot be in.

    In a notebook it follows the names of what it was given (see `following`), and the same call in
    a cell that is run again gives the same explorer, with what is new as its next revision.

    In a plain script it is written as a page, which the browser opens if there is a screen; where
    it is written to is printed on standard error.
    """
    try:
        shown = _shown(subject, inputs, check, bool(measure), state)
    except traitlets.TraitError as error:
        # The words say what was wrong in the call: how traits were set is no help.
        raise error.with_traceback(None) from None
    if machine_code and isinstance(shown, Explorer):
        shown.record_machine_code()
    if measure and isinstance(shown, Explorer):
        shown.record_run(SECONDS if measure is True else measure)
        if machine_code:
            shown.record_hot()
    for listener in list(_listeners):
        listener(shown)
    if not _listeners and is_script():
        show_page(shown, name_of(shown.compilation))
    return shown


def _shown(
    subject: object, inputs: tuple[object, ...], check: bool, is_measured: bool,
    state: Mapping[str, object],
) -> Shown:  # fmt: skip
    """One program, or two side by side."""
    if len(inputs) == 1 and is_explorable(subject) and is_explorable(inputs[0]):
        return side_by_side(subject, inputs[0], measure=is_measured, **state)
    compilation = compilation_of(subject, *inputs)
    checks = check_all(compilation) if check else None
    program = following.program_of(subject, inputs, **state)
    if program is None:
        return Explorer(compilation, checks, **state)
    earlier = following.earlier(program)
    if earlier is None:
        earlier = Explorer(compilation, checks, **state)
        following.follow(earlier, program)
        earlier.stumble(None)  # and says what it follows
        return earlier
    return _again(earlier, program, compilation, checks)


def _again(
    earlier: Explorer, program: following.Program, compilation: "Compilation", checks: Checks | None
) -> Explorer:
    """The explorer that this call made when its cell ran before, with what it gives now.

    It is the same one, so that it is at the same place, also in a tab of its own.
    """
    before = following.follow(earlier, program)
    earlier.follow(compilation, checks, in_cell=True)
    if before is not None and program.state != before.state:
        earlier.state = dict(program.state)
    return earlier


def bisect(subject: object, *inputs: object) -> Explorer:
    """An explorer at the first wrong rewrite of what `explore` takes; at the graph if all is right.

    Its `bisection` says what was found, and every run of the search: print it.
    """
    from compiler.ask.bisect import bisect as search

    compilation = compilation_of(subject, *inputs, by="bisect")
    culprit = search(compilation)
    state: dict[str, object] = {}
    if culprit.place >= 0:
        # Unfolded, so that the wrong node itself is visible, not the call that contains it.
        state = {"stage": "passes", "pass": culprit.place, "step": culprit.step or -1,
                 "view": "graph", "folding": "none"}  # fmt: skip
        if culprit.match is not None:
            state["selected"] = compilation.passes[culprit.place].entity(culprit.match.after)
    explorer = Explorer(compilation, bisected(culprit), **state)
    explorer.bisection = culprit
    return explorer


def after_cell(action: Callable[[], object]) -> bool:
    """Has `action` called when the cell that runs now has shown its result; False without cells.

    The cell is over only then: who runs a notebook from end to end has everything in it.
    """
    shell = get_ipython()
    if getattr(shell, "kernel", None) is None:
        return False

    def once(*_: object) -> None:
        shell.events.unregister("post_run_cell", once)
        with contextlib.suppress(KeyboardInterrupt):  # a page that is looked at asks again
            action()

    shell.events.register("post_run_cell", once)
    return True
