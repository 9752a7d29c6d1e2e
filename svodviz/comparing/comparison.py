"""What two compilations have in common and what not: the data of `compare`.

    Comparison   figures, passes, kernels, and the pairs of every stage
    Figure       one number of both: how many nodes, bytes, instructions, nanoseconds
    PassPair     a pass of both with what it did, or of one alone
    KernelPair   a kernel of both with its figures, or of one alone
    UnitPair     a part of a stage (the program, or one kernel of it) of both, or of one alone

"a" is the first compilation, "b" the second; what one of them lacks is None.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from compiler.core.printable import ShownAsText
from svodviz.comparing.diff_texts import Block, diff_texts, unified
from svodviz.comparing.pair_nodes import Pairing, pair_nodes
from svodviz.foundation.stages import WITH_GRAPHS, Unit
from svodviz.wire.refine import pictured

COMPARED = tuple(id for id in WITH_GRAPHS if id != "source")
"""The stages whose parts are compared."""
# Two programs are the same if these are: the others follow from them.
DECIDING = ("graph", "kernels", "schedule", "loops", "lowered", "llvm")


@dataclass(frozen=True)
class Figure:
    """One number of both sides; `unit` is "", "bytes" or "ns"."""

    name: str
    unit: str
    a: float | None
    b: float | None

    @property
    def is_same(self) -> bool:
        """Whether both have the same number."""
        return self.a == self.b


@dataclass(frozen=True)
class PassSide:
    """What one pass did: its rewrites by rule, and where it stands among all.

    Where the compilation was not traced no rewrites are known, only whether something changed.
    """

    position: int
    changed: bool
    rules: Counter[str]
    is_traced: bool = True

    @property
    def rewrites(self) -> int:
        """How many rewrites it made."""
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
        """Whether both ran it and it did the same."""
        if self.a is None or self.b is None:
            return False
        if self.a.is_traced != self.b.is_traced:
            return True  # what the one without a trace did is not known: no difference is claimed
        return (self.a.changed, self.a.rules) == (self.b.changed, self.b.rules)


@dataclass(frozen=True)
class KernelPair:
    """A kernel by its name in both; `shared` is which part of what they compute is the same."""

    a: str | None
    b: str | None
    is_same: bool
    shared: float
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class UnitPair:
    """A part of a stage in both: its position there, and what it is."""

    stage: str
    name: str
    a: tuple[int, Unit] | None
    b: tuple[int, Unit] | None

    @cached_property
    def blocks(self) -> list[Block]:
        """How the printed lines differ."""
        return diff_texts(self.stage, _lines(self.a), _lines(self.b))

    @cached_property
    def pairing(self) -> Pairing:
        """Which nodes are the same node."""
        graphs = [pictured(self.stage, it[1].stage) if it else _EMPTY for it in (self.a, self.b)]
        return pair_nodes(*graphs)

    @cached_property
    def is_same(self) -> bool:
        """Whether the printed programs are equal but for numbers that follow from counting."""
        return all(tag == "equal" for tag, *_ in self.blocks)

    def unified(self, names: tuple[str, str]) -> list[str]:
        """The unified diff of the printed programs."""
        return unified(self.stage, _lines(self.a), _lines(self.b), names)


def _lines(side: tuple[int, Unit] | None) -> list[str]:
    return [line.text for line in side[1].stage.lines] if side else []


def _empty() -> Any:
    import networkx as nx

    return nx.DiGraph()


_EMPTY = _empty()


@dataclass(frozen=True)
class Comparison(ShownAsText):
    """Two compilations beside each other."""

    a: Any
    b: Any
    names: tuple[str, str]
    passes: tuple[PassPair, ...]
    kernels: tuple[KernelPair, ...]
    stages: dict[str, tuple[UnitPair, ...]]
    missing: dict[str, str] = field(default_factory=dict)
    """Stages that could not be made, with the reason."""
    figures: tuple[Figure, ...] = ()

    @cached_property
    def is_same(self) -> bool:
        """Whether both are the same program, made by the same rewrites."""
        units = (it for stage in DECIDING for it in self.stages.get(stage, ()))
        return all(it.is_same for it in (*self.passes, *units))

    def differs(self, stage: str) -> bool:
        """Whether a stage differs; "passes" is one too."""
        return any(not it.is_same for it in self._rows(stage))

    def _rows(self, stage: str) -> tuple[PassPair, ...] | tuple[UnitPair, ...]:
        return self.passes if stage == "passes" else self.stages.get(stage, ())

    def __str__(self) -> str:
        from svodviz.comparing.comparison_text import comparison_text

        return comparison_text(self)

    def __repr__(self) -> str:
        words = "no difference" if self.is_same else "they differ"
        return f"Comparison({self.names[0]}, {self.names[1]}: {words})"
