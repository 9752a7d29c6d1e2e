"""What a function does to tensors besides what it returns, while it is captured for `jit`.

Nothing is computed meanwhile: `realize` waits, and whoever asks for a value (`numpy()`, `item()`,
`if`) is refused with the line, for it would be the value of this one call in all of them.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from compiler.core.errors import JitError
from compiler.graph.kinds.effects import Assign
from compiler.graph.nodes import Buffer, TensorNode
from compiler.graph.words import short
from compiler.tensors import live

Drawn = tuple[Buffer, Buffer, int]


@dataclass(slots=True)
class Watch:
    """What was seen so far."""

    first: int
    """Tensors with this number and beyond were made by the function."""
    assigned: dict[int, tuple[Any, TensorNode]] = field(default_factory=dict)
    """Tensors that were there before and were assigned, by number, with what they held."""
    graded: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    """Tensors whose `grad` was set, with what it was."""
    drawn: list[Drawn] = field(default_factory=list)
    """Key and first counter of each draw of random numbers, and how many it took."""
    own: set[TensorNode] = field(default_factory=set)
    """The assigns that the function made."""

    def note_assigned(self, tensor: Any, before: TensorNode) -> None:
        """A tensor holds something else than `before` now."""
        if isinstance(tensor.node, Assign):
            self.own.add(tensor.node)
        if tensor._number < self.first:
            self.assigned.setdefault(tensor._number, (tensor, before))

    def note_grad(self, tensor: Any) -> None:
        """The `grad` of a tensor is about to be set."""
        if tensor._number < self.first:
            self.graded.setdefault(tensor._number, (tensor, getattr(tensor, "_grad", None)))

    def undo(self) -> None:
        """Tensors hold again what they held."""
        for node in self.own:
            live.release(node)
        for tensor, before in self.assigned.values():
            tensor.node = before
            live.note(tensor)
        for tensor, grad in self.graded.values():
            tensor._grad = grad


class _Watching(threading.local):
    watch: Watch | None = None


_watching = _Watching()


def current() -> Watch | None:
    """The watch of the function that is captured on this thread, if one is."""
    return _watching.watch


@contextmanager
def watched(first: int) -> Iterator[Watch]:
    """What is done inside is seen."""
    outer, _watching.watch = _watching.watch, Watch(first)
    try:
        yield _watching.watch
    finally:
        _watching.watch = outer


def refuse_value(method: str, node: TensorNode) -> None:
    """Raise `JitError` where a value is asked for while a function is captured."""
    if _watching.watch is None:
        return
    raise JitError(
        method, "jit captures what is computed, not what comes out", got=short(node),
        expected="operations on tensors",
        hint="return the tensor and look at it outside; x.where(…) chooses by data; a number or "
        "flag that decides in Python is an argument named in static=(…)",
    )  # fmt: skip
