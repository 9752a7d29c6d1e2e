"""Readable titles of kernels.

    y = (x @ w).relu()      the kernel of both is "k7 matmul+relu 64×32, line 12"

Titles are for tables, pictures and traces. The code of a kernel and its cached results are
identified by its body: equal kernels share them, whatever their titles.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from compiler.core.origin import Origin, short_name
from compiler.core.text import lines as in_lines
from compiler.graph.nodes import LEAVES, MOVEMENT, Cast, Shape, Sink, TensorNode

MOST_OPERATORS = 4
"""The most operators in a title; of more, it has the first, the second and the last."""


@dataclass(frozen=True, slots=True)
class KernelTitle:
    """The kernel's name, the user's operators in it, the shape of its result, and the source lines.

    Casts and movement are listed only if the kernel does nothing else.
    """

    name: str
    operators: tuple[str, ...]
    shape: Shape
    lines: tuple[str, ...]
    """`file:line`, in order."""

    @property
    def work(self) -> str:
        """`matmul+relu`, `mean+sub+…+div`."""
        operators = self.operators
        if len(operators) > MOST_OPERATORS:
            operators = (*operators[:2], "…", operators[-1])
        return "+".join(operators)

    @property
    def short(self) -> str:
        """`k7 matmul+relu`: the short title, for sentences and narrow columns."""
        return f"{self.name} {self.work}".rstrip()

    @property
    def symbol(self) -> str:
        """`k7_matmul_relu`: the title as an assembly symbol."""
        words = (re.sub(r"\W+", "_", it, flags=re.ASCII) for it in self.operators[:MOST_OPERATORS])
        return "_".join((self.name, *filter(None, words)))

    @property
    def place(self) -> str:
        """`line 12`, `lines 9–12`, `model.py:12 … train.py:3`."""
        return _in_words(self.lines)

    @property
    def where(self) -> str:
        """`64×32, line 12`: the part that distinguishes it from kernels with the same operators."""
        extents = "×".join(str(it) for it in self.shape if it != 1) or "1"
        return ", ".join(filter(None, (extents, self.place)))

    def __str__(self) -> str:
        return " ".join(filter(None, (self.name, self.work, self.where)))


def _in_words(lines: tuple[str, ...]) -> str:
    if not lines:
        return ""
    (file, _, first), (other, _, last) = (it.rpartition(":") for it in (lines[0], lines[-1]))
    if file != other:
        return f"{lines[0]} … {lines[-1]}"
    return in_lines(first, last)


def title(
    name: str,
    computed: Iterable[TensorNode],
    origins: Callable[[TensorNode], Iterable[Origin]],
    shape: Shape,
) -> KernelTitle:
    """The title of the kernel `name`, which computes these nodes; `origins` has their lines."""
    nodes = [node for node in computed if not isinstance(node, (*LEAVES, Sink))]
    working = [node for node in nodes if not isinstance(node, (*MOVEMENT, Cast))]
    # A list, as a set would keep any one of equal origins, and these differ in their calls.
    places = [origin for node in working or nodes for origin in origins(node)]
    calls = sorted(places, key=lambda it: (it.call, it))
    lines = sorted({(it.file, it.line) for it in places})
    operators = tuple(dict.fromkeys(it.method for it in calls))
    return KernelTitle(
        name, operators, shape, tuple(f"{short_name(file)}:{line}" for file, line in lines)
    )
