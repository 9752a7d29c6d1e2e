"""The common parts and the differences of two compilations: the data of `compare`.

    Comparison   figures, passes, kernels, and the pairs of every stage
    Figure       one number of both: how many nodes, bytes, instructions, nanoseconds
    PassPair     a pass of both with what it did, or of one alone
    KernelPair   a kernel of both with its figures, or of one alone
    UnitPair     a part of a stage (the program, or one kernel of it) of both, or of one alone

"a" is the first compilation, "b" the second; what one of them lacks is None. Printed, which is
what `print(svodviz.compare(a, b))` and `svodviz diff` show, it has signs:

    −  only in the first        +  only in the second        ~  in both, but different
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from compiler.core.printable import ShownAsText
from compiler.core.text import aligned, counted, duration
from compiler.core.trace import empty_graph
from svodviz.comparing.diff_texts import diff_texts, unified
from svodviz.comparing.pair_nodes import Pairing, pair_nodes
from svodviz.foundation.escape import visible
from svodviz.foundation.stages import WITH_GRAPHS, Unit
from svodviz.wire.refine import pictured

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation
    from svodviz.data.pages import DiffBlock, FigureUnit

COMPARED = tuple(id for id in WITH_GRAPHS if id != "source")
"""The stages whose parts are compared."""
# Two programs are the same if these are: the others follow from them.
DECIDING = ("graph", "kernels", "schedule", "loops", "lowered", "llvm")


MOST_LISTED = 40
ONLY_A: Final = "−"
ONLY_B: Final = "+"
DIFFERENT: Final = "~"
EQUAL: Final = "="


@dataclass(frozen=True)
class Figure:
    """One number of both sides."""

    name: str
    unit: "FigureUnit"
    a: float | None
    b: float | None

    @property
    def is_same(self) -> bool:
        """True if both have the same number."""
        return self.a == self.b


@dataclass(frozen=True)
class PassSide:
    """The work of one pass: its rewrites by rule, and where it stands among all.

    Where the compilation was not traced no rewrites are known, only whether something changed.
    """

    position: int
    changed: bool
    rules: Counter[str]
    is_traced: bool = True

    @property
    def rewrites(self) -> int:
        """The number of its rewrites."""
        return sum(self.rules.values())


@dataclass(frozen=True)
class PassPair:
    """A pass over the graph (`kernel` is "") or over a kernel's loops."""

    stage: str
    kernel: str
    name: str
    a: PassSide | None
    b: PassSide | None

    @property
    def is_same(self) -> bool:
        """True if both ran it with the same effect."""
        if self.a is None or self.b is None:
            return False
        if self.a.is_traced != self.b.is_traced:
            return True  # what the one without a trace did is not known: no difference is claimed
        return (self.a.changed, self.a.rules) == (self.b.changed, self.b.rules)


@dataclass(frozen=True)
class KernelPair:
    """A kernel by its name in both; `shared` is the common share of their computations."""

    a: str | None
    b: str | None
    is_same: bool
    shared: float
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class UnitPair:
    """A unit of a stage in both: its positions, and its content."""

    stage: str
    name: str
    a: tuple[int, Unit] | None
    b: tuple[int, Unit] | None

    @cached_property
    def blocks(self) -> "list[DiffBlock]":
        """The diff of the printed lines."""
        return diff_texts(self.stage, _lines(self.a), _lines(self.b))

    @cached_property
    def pairing(self) -> Pairing:
        """The pairs of nodes that are the same."""
        a, b = (pictured(it[1].stage) if it else empty_graph() for it in (self.a, self.b))
        return pair_nodes(a, b)

    @cached_property
    def is_same(self) -> bool:
        """True if the printed programs are equal except for numbering."""
        return all(tag == "equal" for tag, *_ in self.blocks)

    def unified(self, names: tuple[str, str]) -> list[str]:
        """The unified diff of the printed programs."""
        return unified(self.stage, _lines(self.a), _lines(self.b), names)


def _lines(side: tuple[int, Unit] | None) -> list[str]:
    return [line.text for line in side[1].stage.lines] if side else []


@dataclass(frozen=True)
class Comparison(ShownAsText):
    """Two compilations compared."""

    a: "Compilation"
    b: "Compilation"
    names: tuple[str, str]
    passes: tuple[PassPair, ...]
    kernels: tuple[KernelPair, ...]
    stages: dict[str, tuple[UnitPair, ...]]
    missing: dict[str, str] = field(default_factory=dict)
    """Stages that were not compiled, with the reason."""
    figures: tuple[Figure, ...] = ()

    @cached_property
    def is_same(self) -> bool:
        """True if both are the same program, by the same rewrites."""
        units = (it for stage in DECIDING for it in self.stages.get(stage, ()))
        return all(it.is_same for it in self.passes) and all(it.is_same for it in units)

    def differs(self, stage: str) -> bool:
        """True if a stage differs; "passes" counts as a stage."""
        if stage == "passes":
            return not all(it.is_same for it in self.passes)
        return not all(it.is_same for it in self.stages.get(stage, ()))

    def __str__(self) -> str:
        return comparison_text(self)

    def __repr__(self) -> str:
        words = "no difference" if self.is_same else "they differ"
        return f"Comparison({self.names[0]}, {self.names[1]}: {words})"


# -- in words --------------------------------------------------------------------------------------


def comparison_text(comparison: Comparison) -> str:
    """The differences, in aligned columns; one line if there are none."""
    first, second = comparison.names
    head = [f"a  {first}", f"b  {second}"]
    if comparison.is_same:
        return "\n".join([*head, "no difference"])
    parts = [head, figure_lines(comparison), _passes(comparison), _kernels(comparison)]
    parts += [[f"{stage} is missing: {why}"] for stage, why in comparison.missing.items()]
    return "\n\n".join("\n".join(part) for part in parts if part)


def figure_lines(comparison: Comparison) -> list[str]:
    """The numbers of both, in aligned columns."""
    rows = [
        (EQUAL if it.is_same else DIFFERENT, it.name, written(it.a, it.unit),
         written(it.b, it.unit), change(it))
        for it in comparison.figures
    ]  # fmt: skip
    return _table(("", "", "a", "b", "change"), rows, right=(2, 3, 4))


def written(number: float | None, unit: str = "") -> str:
    """`1,536 bytes`, `6.2 µs`, "–" where there is none."""
    if number is None:
        return "–"
    if unit == "ns":
        return duration(number)
    return f"{round(number):,}{f' {unit}' if unit else ''}"


def change(figure: Figure) -> str:
    """The difference, and the ratio where it is more informative."""
    if figure.a is None or figure.b is None or figure.is_same:
        return ""
    if figure.unit == "ns" and figure.a > 0:
        return f"× {figure.b / figure.a:.2f}"
    sign = "+" if figure.b > figure.a else "−"
    return f"{sign}{abs(round(figure.b - figure.a)):,}"


def _passes(comparison: Comparison) -> list[str]:
    rows = [
        (_mark(it.a, it.b), f"{it.stage} {it.kernel}".strip(), it.name, did(it.a), did(it.b),
         rules(it))
        for it in comparison.passes if not it.is_same
    ]  # fmt: skip
    title = f"passes: {len(rows)} of {len(comparison.passes)} differ"
    return [title, *_table(("", "", "", "a", "b", ""), rows)] if rows else []


def did(side: PassSide | None) -> str:
    """The work of a pass, in two words."""
    if side is None:
        return "–"
    if not side.is_traced:
        return "not traced"
    if not side.rewrites:
        return "changed" if side.changed else "nothing"
    return counted(side.rewrites, "rewrite")


def rules(pair: PassPair) -> str:
    """The rules that fired more often or less: `+2 mul_one, −1 fold`."""
    mine = pair.a.rules if pair.a else {}
    theirs = pair.b.rules if pair.b else {}
    names = dict.fromkeys([*mine, *theirs])
    changes = {it: theirs.get(it, 0) - mine.get(it, 0) for it in names}
    return ", ".join(f"{'+' if n > 0 else '−'}{abs(n)} {it}" for it, n in changes.items() if n)


def _kernels(comparison: Comparison) -> list[str]:
    rows = [
        (_kernel_mark(it), visible(it.a or "–"), visible(it.b or "–"), kernel_words(it))
        for it in comparison.kernels
    ]
    differ = sum(not it.is_same for it in comparison.kernels)
    title = f"kernels: {differ} of {len(rows)} differ"
    return [title, *_table(("", "a", "b", ""), rows)] if rows else []


def _kernel_mark(pair: KernelPair) -> str:
    return EQUAL if pair.is_same else _mark(pair.a, pair.b)


def kernel_words(pair: KernelPair) -> str:
    """The differences between two kernels, or the properties of one without a partner."""
    if pair.a is None or pair.b is None:
        return ", ".join(
            f"{it.name} {written(it.b if pair.a is None else it.a, it.unit)}"
            for it in pair.figures if (it.b if pair.a is None else it.a) is not None
        )  # fmt: skip
    differing = [it for it in pair.figures if not it.is_same]
    if pair.is_same and not differing:
        return "same code"
    words = [f"{it.name} {written(it.a, it.unit)} → {written(it.b, it.unit)}" for it in differing]
    same = "same instructions, " if pair.is_same else ""
    return same + (", ".join(words) or "other instructions, as many")


def _mark(a: object, b: object) -> str:
    if a is None:
        return ONLY_B
    return ONLY_A if b is None else DIFFERENT


def _table(
    head: tuple[str, ...], rows: Sequence[tuple[str, ...]], right: tuple[int, ...] = ()
) -> list[str]:
    """Rows in columns below their heads, and the number of rows left out."""
    lines = aligned([head, *rows[:MOST_LISTED]], right)
    left = len(rows) - MOST_LISTED
    return [*lines, *([f"… {left:,} more"] if left > 0 else [])]
