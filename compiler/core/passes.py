"""Passes as a value: which run on graph and loops, in which order, and what each of them relies on.

    passes = compiler.PASSES                              # those that run by default
    passes.after("simplify", halve)                       # a rule of one's own (`compiler.rule`)
    passes.without("split_reduction").move("simplify", before="decompose").repeat("loops.coalesce")
    compiler.compile(y, passes=passes)                    # or Options(passes=passes)

A name alone is that of the first pass so called; "loops.simplify" names one of a stage. Any order
can be written down. Whether it can be run is seen pass by pass: a row `needs` facts, `gives` facts
and `ends` facts, and a program that has not what the next pass needs is refused in these words.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, Protocol, TypeAlias

from compiler.core.errors import PassError, renamed
from compiler.core.origin import caller
from compiler.core.printable import ShownAsText, printable, printout

RENAMED = {
    "merge": "cse",
    "reread": "forward_stores",
    "two_stage": "split_reduction",
    "judge": "fission",
    "collapse": "coalesce",
    "keep": "cache_row",
}
"""Earlier names of passes, which are refused with today's."""

StageName = Literal["graph", "schedule", "loops", "lowered", "llvm", "machine"]


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """Something that holds of a program: in words, and how to see the first place where it fails.

    `broken` takes the root of a graph or the body of a kernel, and returns what is wrong there in
    a few words, "" where nothing is. Where a program does not show it, the order of passes says it.
    """

    words: str
    broken: Callable[[Any], str] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One row: in which stage, what it is called, what runs, and why here.

    A pass changes the program of its stage. Another row makes something new of what there is, or,
    where it makes nothing, checks it.
    """

    stage: StageName
    name: str
    function: Callable[..., Any]
    because: str
    is_pass: bool = False
    is_chosen: bool = False
    """True if it applies the choices of a kernel."""
    needs: tuple[Fact, ...] = ()
    gives: tuple[Fact, ...] = ()
    ends: tuple[Fact, ...] = ()
    is_own: bool = False
    """True if a user wrote it: what it leaves behind is then looked at more closely."""
    rules: tuple[Any, ...] = field(default=(), compare=False)
    """The rules that it applies, where it is a set of rules."""
    takes: tuple[str, ...] = ()
    """Unless it is a pass: what it is called with, by name, as earlier rows made it."""
    makes: str = ""
    """The name of what it returns."""
    otherwise: Callable[[Exception], Any] | None = None
    """Makes what stands in for its result where it fails; None: nothing does."""

    @property
    def is_check(self) -> bool:
        """True if it changes nothing, and raises where something is wrong."""
        return not (self.is_pass or self.makes)

    @property
    def place(self) -> str:
        """`graph.simplify`: the name that no pass of another stage has."""
        return f"{self.stage}.{self.name}"


class MakesPass(Protocol):
    """A thing that can stand among passes: a rule, say."""

    def as_pass(self) -> Step:
        """The row that runs it."""
        ...


Added: TypeAlias = "Step | MakesPass"


@dataclass(frozen=True, slots=True, repr=False)
class Passes(ShownAsText):
    """The passes on graph and loops, in order. Each method returns others; nothing is changed."""

    rows: tuple[Step, ...]

    def before(self, name: str, *added: Added) -> "Passes":
        """These, with `added` right before the pass called `name`."""
        return self._with(self._find(name)[0], name, added)

    def after(self, name: str, *added: Added) -> "Passes":
        """These, with `added` right after the pass called `name`, the last of several."""
        return self._with(self._find(name)[-1] + 1, name, added)

    def without(self, *names: str) -> "Passes":
        """These, but for the passes called so."""
        gone = {place for name in names for place in self._find(name)}
        return Passes(tuple(row for place, row in enumerate(self.rows) if place not in gone))

    def move(self, name: str, *, before: str = "", after: str = "") -> "Passes":
        """These, with the pass called `name` at another place of its stage."""
        if bool(before) == bool(after):
            _refuse("move takes one place", f"before={before!r}, after={after!r}", "one of the two")
        row, rest = self.rows[self._find(name)[0]], self.without(name)
        return rest.before(before, row) if before else rest.after(after, row)

    def repeat(self, name: str, times: int = 2) -> "Passes":
        """These, with the pass called `name` so often, one right after the other."""
        if not isinstance(times, int) or times < 1:
            _refuse("a pass is repeated once or more", str(times), "1 or more")
        row = self.rows[self._find(name)[-1]]
        return self.after(name, *[row] * (times - 1))

    def of(self, stage: str) -> tuple[Step, ...]:
        """The passes of one stage."""
        return tuple(row for row in self.rows if row.stage == stage)

    def _find(self, name: str) -> list[int]:
        """The positions of the passes called `name`, all in the stage of the first."""
        positions = [p for p, row in enumerate(self.rows) if name in (row.name, row.place)]
        if not positions:
            names = ", ".join(dict.fromkeys(row.place for row in self.rows))
            hint = renamed_pass(str(name).rpartition(".")[2])
            _refuse(f"there is no pass {name}", str(name), names, hint)
        stage = self.rows[positions[0]].stage
        return [place for place in positions if self.rows[place].stage == stage]

    def _with(self, place: int, name: str, added: tuple[Added, ...]) -> "Passes":
        stage = self.rows[self._find(name)[0]].stage
        rows = tuple(_row(each) for each in added)
        for row in rows:
            if row.stage != stage:
                what = f"{row.name} is a pass on {row.stage}, {name} on {stage}"
                _refuse(what, f"{row.place} next to {stage}.{name}", f"a pass of {row.stage}")
        return Passes((*self.rows[:place], *rows, *self.rows[place:]))

    def __iter__(self) -> Iterator[Step]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        width = max((len(row.place) for row in self.rows), default=0)
        return printout(f"{row.place:<{width}}  {row.because}" for row in self.rows)

    def __repr__(self) -> str:
        return f"Passes({', '.join(printable(row.place) for row in self.rows)})"


def _row(added: Added) -> Step:
    """The row for what a user adds."""
    if isinstance(added, Step):
        return added
    if not hasattr(added, "as_pass"):
        expected = "a rule made with @compiler.rule, or a row of other passes"
        _refuse("this is no pass", type(added).__name__, expected)
    return added.as_pass()


def renamed_pass(name: str) -> str:
    """The hint for the earlier name of a pass; "" for a name that no pass had."""
    return renamed(name, RENAMED[name]) if name in RENAMED else ""


def _refuse(what: str, got: str, expected: str, hint: str = "") -> NoReturn:
    """Raise the error."""
    origin = caller("passes")
    raise PassError("passes", what, got=got, expected=expected, hint=hint, origin=origin)


def out_of_order(fact: Fact, rows: tuple[Step, ...], place: int) -> str:
    """The problem of a fact that is given behind `rows[:place]` only; "" where it is not."""
    before, later = rows[:place], rows[place:]
    giver = next((row.name for row in later if fact in row.gives), "")
    return f"{giver} has not run" if giver and not any(fact in r.gives for r in before) else ""


def who_gives(
    fact: Fact, name: str, rows: tuple[Step, ...], place: int, usual: tuple[Step, ...]
) -> str:
    """For a fact that `name`, behind `rows[:place]`, misses: who gives or ends it, and what to do.

    `usual` are the rows of the usual order.
    """
    ended = next((r.name for r in rows[:place] if fact in r.ends), "")
    if ended:
        return f"{ended} ends it, which stands before: move {name} before {ended}"
    if any(fact in row.gives for row in rows[:place]):
        own_passes = [row.name for row in rows[:place] if row.is_own]
        between = f" ({', '.join(own_passes)}?)" if own_passes else ""
        return f"it was given, and a pass in between{between} took it away"
    later = next((row.name for row in rows[place:] if fact in row.gives), "")
    if later:
        return f"{later} gives it, which comes later: move {name} behind {later}"
    giver = next((row.name for row in usual if fact in row.gives), "nothing")
    return f"{giver} gives it, which these passes leave out: they need it before {name}"
