"""Choices: how the loops of one kernel are transformed, as data.

    choice = Tile(axis, size, tail)      axis = axis.0 * size + axis.1; what is left over is a nest
                                         of its own, axis.2 ("peel"), or masked ("mask")
           | Reorder(axes)               these axes from outside to inside, in every nest
           | Pack(slot, at, along)       the tile of an argument that one iteration of `at` reads,
                                         copied to scratch memory in the order in which it is read;
                                         with `along` only by reads that this axis moves
           | CacheRow(axis, into)        values computed along `axis` and again along `into`,
                                         computed once and kept in scratch memory
           | Accumulate(axis, rows, at)  a reduction over `axis` adds to scratch memory, `rows` of
                                         its iterations at a time, for the columns inside `at`
           | Dot(axis, form)             iterations of a sum of products of small types as the
                                         elements of words, which one instruction multiplies and
                                         adds up; "shifted": after one factor is moved by 128
           | Unroll(axis)                iterations side by side
           | Vectorize(axis)             iterations as lanes
           | Parallelize(axis, tasks)    iterations shared out over so many tasks
           | Stream(slot)                stores that go past the caches
           | Prefetch(slot, axis, next)  loads along `axis` also fetch what the iteration of `next`
                                         that follows reads at the same place

An axis is named as it is printed; a part of one by its parts: `i0.1`. In text, one choice per
line, with its reason behind a `#`, or several between semicolons:

    tile i0 16 peel              # 1000 iterations in vectors of 16
    vectorize i0.1; parallelize i0.0 2; stream 0
    pack 1[i1] i1.0              # of in1[i0, r2] * in1[r2, i1] the second

What is printed reads back (`parse`), so choices can be copied, edited and given to
`Options(loops={"k0": …})`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Literal, TypeAlias, TypeVar

from compiler.core.errors import ScheduleError
from compiler.core.passes import renamed_pass
from compiler.core.printable import ShownAsText
from compiler.loops.axis_names import AxisName

Tail = Literal["peel", "mask"]
Form = Literal["plain", "shifted"]


@dataclass(frozen=True, slots=True)
class Tile:
    """Loop tiling: split `axis` into tiles of `size`; the remainder is peeled off or masked."""

    axis: str
    size: int
    tail: Tail = "peel"
    because: str = ""

    @property
    def outer(self) -> AxisName:
        """The loop over the tiles."""
        return AxisName(self.axis).outer

    @property
    def inner(self) -> AxisName:
        """The loop over the iterations of one tile."""
        return AxisName(self.axis).inner

    @property
    def rest(self) -> AxisName:
        """The loop over the remainder."""
        return AxisName(self.axis).rest


@dataclass(frozen=True, slots=True)
class Reorder:
    """Loop interchange: the order of `axes`, outermost first, in every nest that has them."""

    axes: tuple[str, ...]
    because: str = ""


@dataclass(frozen=True, slots=True)
class Pack:
    """Pack the tile of argument `slot` that one iteration of axis `at` reads; "" is the kernel.

    Where an argument is read several times, `along` selects the loads whose index depends on this
    axis or a part of it; "" means all.
    """

    slot: int
    at: str = ""
    because: str = ""
    along: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class CacheRow:
    """Cache a row: values computed along both `axis` and `into` are stored in scratch memory."""

    axis: str
    into: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class Accumulate:
    """Reduce over `axis` into scratch memory, `rows` iterations at a time, inside axis `at`."""

    axis: str
    rows: int
    at: str = ""
    because: str = ""


@dataclass(frozen=True, slots=True)
class Dot:
    """Multiply and sum the iterations of `axis` by a dot-product instruction. "shifted" adds or
    subtracts 128 from the factor shared by all lanes, to change it from signed to unsigned or back.
    """

    axis: str
    form: Form = "plain"
    because: str = ""


@dataclass(frozen=True, slots=True)
class Unroll:
    """Unroll `axis` completely: unroll-and-jam where loops are inside it."""

    axis: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class Vectorize:
    """Vectorise `axis`: its iterations become lanes."""

    axis: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class Parallelize:
    """Parallelise `axis`: its iterations are divided among `tasks` runs of the kernel."""

    axis: str
    tasks: int
    because: str = ""


@dataclass(frozen=True, slots=True)
class Stream:
    """Non-temporal vector stores to argument `slot`: they bypass the caches."""

    slot: int = 0
    because: str = ""


@dataclass(frozen=True, slots=True)
class Prefetch:
    """Loads of argument `slot` along `axis` prefetch what the next iteration of `next` reads."""

    slot: int
    axis: str
    next: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """A choice that was considered and rejected: the pass it is for, and the reason."""

    kind: str
    because: str


Choice: TypeAlias = (
    Tile
    | Reorder
    | Pack
    | CacheRow
    | Accumulate
    | Dot
    | Unroll
    | Vectorize
    | Parallelize
    | Stream
    | Prefetch
)
KINDS: tuple[type[Choice], ...] = (
    Tile, Reorder, Pack, CacheRow, Accumulate, Dot, Unroll, Vectorize, Parallelize, Stream,
    Prefetch,
)  # fmt: skip
Row: TypeAlias = Choice | Refused
WHOLE = frozenset(("size", "tasks", "rows", "slot"))
"""The integer fields of choices."""
READ = re.compile(r"(\d+)\[([\w.]+)\]")
"""A slot, and the axis that selects its loads: `1[i1]`."""
C = TypeVar("C", bound=Choice)


@dataclass(frozen=True, slots=True, repr=False)
class Choices(ShownAsText):
    """The choices for one kernel. Each kind has its pass, which applies them in this order.

    `refused` lists choices that were considered and rejected. It has no effect on the loops and is
    ignored by `==`.
    """

    rows: tuple[Choice, ...] = ()
    refused: tuple[Refused, ...] = field(default=(), compare=False)

    def of(self, kind: type[C]) -> tuple[C, ...]:
        """The choices of one kind, in order."""
        return tuple(row for row in self.rows if isinstance(row, kind))

    def has(self, kind: str) -> bool:
        """True if there is a choice for the pass `kind`, for example "tile"."""
        return any(word(row) == kind for row in self.rows)

    @property
    def is_plain(self) -> bool:
        """True if no axis is vectorised: LLVM vectorises by itself."""
        return not self.has("vectorize")

    def without(self, *starts: str) -> "Choices":
        """These choices without those whose text begins with one of `starts`: "pack", "tile i1".

        Raises `ScheduleError` for a word that is no kind of choice.
        """
        wanted = [start.split() for start in starts]
        for words in wanted:
            _kind_of(words[0] if words else "")
        kept = (r for r in self.rows if not any(_begins(show(r).split(), w) for w in wanted))
        return Choices(tuple(kept), self.refused)

    def __iter__(self) -> Iterator[Choice]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        return "\n".join(map(_described, self.rows)) or "plain"

    def __repr__(self) -> str:
        return f"Choices({text(self)!r})"


PLAIN = Choices()
"""No choices: the loops stay as they are."""


def chosen(rows: Iterable[Row]) -> Choices:
    """The choices in `rows`; refused ones become `refused`."""
    every = tuple(rows)
    refused = tuple(dict.fromkeys(row for row in every if isinstance(row, Refused)))
    return Choices(tuple(row for row in every if not isinstance(row, Refused)), refused)


def word(choice: Choice) -> str:
    """`tile` for a Tile: the name of the pass, and the first word of the text."""
    return word_of(type(choice))


def word_of(kind: type[Choice]) -> str:
    """`cache_row` for CacheRow: the first word of its text."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()


def text(choices: Choices) -> str:
    """The text that `parse` reads, without the reasons."""
    return "; ".join(map(show, choices.rows))


def show(choice: Choice) -> str:
    """`tile i0 16 peel`, `pack 1[i1] i1.0`"""
    values = [_shown(getattr(choice, name)) for name in _written(type(choice))]
    if isinstance(choice, Pack) and choice.along:
        values[0] += f"[{choice.along}]"
    return " ".join([word(choice), *filter(None, values)])


def _written(kind: type[Choice]) -> list[str]:
    """The fields that the text of a choice contains, in order."""
    return [f.name for f in fields(kind) if f.name != "because" and not f.kw_only]


def _shown(value: object) -> str:
    return " ".join(value) if isinstance(value, tuple) else str(value)


def _begins(words: list[str], start: list[str]) -> bool:
    return words[: len(start)] == start


def _described(choice: Choice) -> str:
    return f"{show(choice):<28} # {choice.because}" if choice.because else show(choice)


def parse(description: "str | Choices | Iterable[Choice]") -> Choices:
    """Choices parsed from their text, or collected from an iterable of choices."""
    if isinstance(description, Choices):
        return description
    if not isinstance(description, str):
        is_known = isinstance(description, Iterable)
        choices = tuple(description) if is_known else ()
        if not is_known or not all(isinstance(each, KINDS) for each in choices):
            what, got = "these are no choices about loops", repr(description)
            raise ScheduleError("choices", what, got=got, expected="a text, or choices")
        return Choices(choices)
    if description.strip() == str(PLAIN):
        return PLAIN
    return Choices(tuple(choice for line in description.splitlines() for choice in _line(line)))


def _line(line: str) -> Iterator[Choice]:
    """The choices on one line; they share its reason."""
    code, _, because = line.partition("#")
    for part in code.split(";"):
        if part.strip():
            yield replace(_parsed(part.split()), because=because.strip())


def _kind_of(first: str) -> type[Choice]:
    """The class of a choice by the first word of its text. Raises `ScheduleError` for others."""
    kind = next((k for k in KINDS if word_of(k) == first), None)
    if kind is None:
        raise ScheduleError("choices", "no such choice", got=first,
                            expected=", ".join(map(word_of, KINDS)),
                            hint=renamed_pass(first))  # fmt: skip
    return kind


def _parsed(words: list[str]) -> Choice:
    """One choice from the words of its text."""
    kind = _kind_of(words[0])
    if kind is Reorder:
        return Reorder(tuple(words[1:]))
    names = _written(kind)
    got, expected = " ".join(words), " ".join([words[0], *names])
    along = READ.fullmatch(words[1]) if kind is Pack and words[1:] else None
    selection = {} if along is None else {"along": along[2]}
    shown = words[1:] if along is None else [along[1], *words[2:]]
    values = [int(w) if w.isdigit() else w for w in shown]
    try:
        choice: Choice = kind(*values, **selection)  # type: ignore[arg-type]
    except TypeError as error:
        what = "a choice with too few or too many values"
        raise ScheduleError("choices", what, got=got, expected=expected) from error
    for name, value in zip(names, values, strict=False):
        if isinstance(value, int) != (name in WHOLE):
            kinds = "a whole number" if name in WHOLE else "a word"
            raise ScheduleError("choices", f"{name} has to be {kinds}", got=got, expected=expected)
    return choice
