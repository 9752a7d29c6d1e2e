"""recompiled: count the compilations that each line of the user causes; warn once if they are many.

    loop.py:4  total += x[:i].sum().item()        another shape, another program, at each call

A line is identified by where the data were requested and by the lines that wrote the program, so a
function that runs many different programs does not count as one.
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

from compiler.core.kept import Kept
from compiler.core.node import toposort
from compiler.core.origin import Origin, current
from compiler.graph.nodes import TensorNode

MANY = 8
"""Compilations by one line before the warning: more than a user tries by hand. Not measured."""
KEPT = 1024
"""Lines kept, least recently used first out. A choice."""
HINT = (
    "a size that changes can be a variable (n = compiler.Variable('n', 1, 100); x[: n.bind(i)]), "
    "data that change can be given to one program (plan = compiler.prepare(y); plan.run([data]))"
)
Key: TypeAlias = tuple[Origin, frozenset[tuple[str, int]]]


class RecompiledWarning(UserWarning):
    """One line of a program is compiled again and again."""


@dataclass(frozen=True, slots=True)
class LineCount:
    """The number of compilations that a line of the user caused, and their seconds."""

    line: str
    programs: int
    seconds: float


class Lines(Kept[Key, tuple[int, float]]):
    """The number and the seconds of the compilations that each line caused."""

    @contextmanager
    def compiling(self, nodes: Sequence[TensorNode]) -> Iterator[None]:
        """A context that counts for the line that requested the data of `nodes`."""
        start = time.perf_counter()
        yield
        origin = current()
        if origin is not None:
            self._note(origin, nodes, time.perf_counter() - start)

    def most(self, count: int = 5) -> tuple[LineCount, ...]:
        """The lines that caused most compilations, of those with more than one."""
        rows = sorted(self.items(), key=lambda row: (-row[1][0], row[0][0]))
        return tuple(LineCount(key[0].place, *row) for key, row in rows[:count] if row[0] > 1)

    def _note(self, origin: Origin, nodes: Sequence[TensorNode], seconds: float) -> None:
        lines = (node.origin for node in toposort(nodes) if node.origin is not None)
        key = replace(origin, outer=None), frozenset((it.file, it.line) for it in lines)
        with self.lock:
            times, before = self.held(key) or (0, 0.0)
            times, total = self.keep(key, (times + 1, before + seconds))
        if times == MANY:
            _warn(origin, total)


LINES = Lines(KEPT)


def _warn(origin: Origin, seconds: float) -> None:
    """Warn, at the user's line."""
    page = (
        f"compiled {MANY} times: each time the program of this line had other shapes or numbers\n"
        f"  line:     {origin.address}  {origin.text}\n"
        f"  took:     {seconds:.2f} s so far\n"
        f"  hint:     {HINT}"
    )
    warnings.warn_explicit(page, RecompiledWarning, origin.file, origin.line)
