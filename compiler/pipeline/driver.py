"""driver: runs the rows of the pipeline on what goes through them. Nothing else calls a row.

    a program                graph, schedule                    `scheduling.py`
    an iteration of a loop   graph, schedule up to fission        the same
    a kernel                 loops, lowered, llvm               `kernels.py`
    its machine code         machine                            the same

What rows make of a unit become its attributes, under the names that the rows give them. What is
there already, because somebody gave it, is not made; a pass that does what choices say runs where
there is such a choice; a check runs where `Options.verify` asks for it: at its place, on a graph
after every pass too, and on loops where every rewrite is recorded. What did not change since it
was found right is not checked again.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, ClassVar

from compiler.core.errors import InternalError, PassError
from compiler.core.node import Node, toposort
from compiler.core.passes import Fact, StageName, Step, out_of_order, who_gives
from compiler.core.trace import Facts, Match, PassRecord, Provenance
from compiler.loops.choices import Choices
from compiler.pipeline import rows as table
from compiler.settings.options import Options


@dataclass(slots=True, kw_only=True, eq=False)
class Unit:
    """A thing that goes through the rows of some stages, and what was made of it so far."""

    rewritten: ClassVar[StageName]
    """The stage whose passes it goes through; the attribute of this name is what they change."""
    describe: ClassVar[Facts]
    """The facts for a picture of a node of that stage."""

    options: Options
    name: str = ""
    """The name of the kernel, where it is one."""
    prefix: str = ""
    """The beginning of the entities of its nodes, e.g. "graph:"."""
    provenance: Provenance[Any] = field(default_factory=Provenance)
    choices: Choices | None = None
    records: list[PassRecord] = field(default_factory=list)
    """The records of the passes, in order."""
    ran: list[tuple[Step, float]] = field(default_factory=list)
    """The rows that ran, in order, with the seconds that each took."""
    facts: set[Fact] = field(default_factory=set)
    """The facts that passes gave, and none has ended."""
    checked: tuple[Any, ...] = ()
    """The values that were found right last."""

    @property
    def root(self) -> Any:
        """The graph or body that the passes change."""
        return getattr(self, self.rewritten)

    def took(self, *stages: StageName) -> float:
        """The seconds that the rows of these stages took so far."""
        return sum(seconds for row, seconds in self.ran if row.stage in stages)


def run(unit: Unit, stage: StageName, after: str = "", until: str = "") -> None:
    """Run the rows of a stage: those behind the row called `after`, up to the one called `until`.

    Raises `PassError` where passes of a user's are not in an order that can run.
    """
    rows = list(_between(table.rows(stage, unit.options.passes), after, until))
    check = next((row for row in rows if row.is_check), None)
    is_numbered = False
    for row in rows:
        if not row.is_pass:
            _run_row(unit, row)
            is_numbered = False
        elif not row.is_chosen or (unit.choices is not None and unit.choices.has(row.name)):
            if not is_numbered:
                unit.provenance.numbers.all(toposort([unit.root]))
                is_numbered = True
            before = unit.root
            _run_pass(unit, row)
            is_new = unit.root is not before or unit.checked  # else the next pass checks it as well
            if is_new and check is not None and (stage == "graph" or unit.options.trace):
                _run_row(unit, check)


def check(unit: Unit, stage: StageName) -> None:
    """Run the checks of a stage on what there is, where the options ask for them."""
    for row in table.rows(stage, unit.options.passes):
        if row.is_check:
            _run_row(unit, row)


def _between(rows: Sequence[Step], after: str, until: str) -> Iterator[Step]:
    """The rows behind `after`, the last of them `until`."""
    names = [row.name for row in rows]
    start = names.index(after) + 1 if after else 0
    end = names.index(until, start) + 1 if until else len(rows)
    yield from rows[start:end]


def call(row: Step, *arguments: Any) -> Any:
    """The result of a row for what it is given; rules of a user's that never end are refused."""
    try:
        return row.function(*arguments)
    except InternalError as error:
        if not row.is_own:
            raise
        hint = "a rule must make something that it does not match again"
        raise PassError(row.name, error.problem, got=error.got, hint=hint) from error


def _run_row(unit: Unit, row: Step) -> None:
    """Run a row that makes something, unless that was given, or one that checks."""
    if row.is_check:
        if unit.options.verify:
            _check(unit, row)
        return
    if getattr(unit, row.makes, None) is not None:
        return
    _refuse_unmet(unit, row)
    start = time.perf_counter()
    arguments = _given(unit, row)
    try:
        result = call(row, *arguments)
    except Exception as error:
        if row.otherwise is None:
            raise
        result = row.otherwise(error)
    setattr(unit, row.makes, result)
    _note(unit, row, time.perf_counter() - start)


def _given(unit: Unit, row: Step) -> tuple[Any, ...]:
    """The values that a row is called with."""
    return tuple(attrgetter(name)(unit) for name in row.takes)


def _run_pass(unit: Unit, row: Step) -> None:
    """Run a pass, and record what it did."""
    _refuse_unmet(unit, row)
    before, is_traced = unit.root, unit.options.trace
    matches: list[Match] | None = [] if is_traced else None
    chosen = (unit.choices,) if row.is_chosen else ()
    start = time.perf_counter()
    after = call(row, before, *chosen, unit.provenance, matches)
    seconds = time.perf_counter() - start
    setattr(unit, unit.rewritten, after)
    unit.records.append(
        PassRecord(
            row.stage, unit.name, row.name, row.because, seconds, before, after,
            tuple(matches or ()), unit.provenance.numbers, type(unit).describe, unit.prefix,
            is_traced, tuple(it.words for it in row.needs), tuple(it.words for it in row.gives),
        )
    )  # fmt: skip
    _note(unit, row, seconds)


def _note(unit: Unit, row: Step, seconds: float) -> None:
    """A row ran: what it gives holds now, and what it ends no more."""
    unit.ran.append((row, seconds))
    unit.facts = (unit.facts | set(row.gives)) - set(row.ends)


def _check(unit: Unit, row: Step) -> None:
    """Check what there is, unless it was found right before; a user's own pass is blamed for it."""
    arguments = _given(unit, row)
    if unit.checked == arguments:
        return
    start = time.perf_counter()
    try:
        call(row, *arguments)
    except InternalError as error:
        last = unit.ran[-1][0]
        if not last.is_own:
            raise
        what = "this pass leaves a program that is broken"
        hint = "a rule may not undo what the passes before it gave; try it before them"
        got = f"{error.problem}; {error.got}"
        raise PassError(last.name, what, got=got, expected=error.expected, hint=hint) from error
    unit.checked = arguments
    _note(unit, row, time.perf_counter() - start)


def _refuse_unmet(unit: Unit, row: Step) -> None:
    """Raise `PassError` where a program lacks what a row needs; it says who would give it.

    The usual passes are in an order that can run.
    """
    if unit.options.passes is None or not row.needs:
        return
    root: Node = unit.root
    rows = unit.options.passes.of(unit.rewritten)
    places = [place for place, each in enumerate(rows) if each == row] or [len(rows)]
    has_run = row.name in [record.name for record in unit.records]
    place = places[-1 if has_run else 0]
    for fact in row.needs:
        wrong = fact.broken(root) if fact.broken else out_of_order(fact, rows, place)
        if wrong:
            hint = who_gives(fact, row.name, rows, place, table.PIPELINE)
            what = "the program is not what this pass needs"
            raise PassError(row.name, what, got=wrong, expected=fact.words, hint=hint)
