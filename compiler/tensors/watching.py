"""The side effects of a function on tensors while it is captured for `jit`.

During the capture nothing is computed: `realize` is deferred. A request for a value (`numpy()`,
`item()`, `if`) is an error with its source line, because the value would be constant in all later
calls. No random numbers are drawn: each draw is recorded, and every replay draws. After the capture
all tensors are restored.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from compiler.core.errors import JitError
from compiler.core.node import toposort
from compiler.graph.kinds.effects import Assign
from compiler.graph.nodes import Buffer, Const, Iota, TensorNode
from compiler.graph.words import short
from compiler.tensors import live
from compiler.tensors.traced_numbers import NumberIsFixed
from compiler.tensors.variables import is_realized


class NotCapturedError(BaseException):
    """The function does something that cannot be replayed; it is called without a capture instead.

    Not an `Exception`, so that functions that catch those do not catch it. `hint` says what to
    write.
    """

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Draw:
    """A draw of random numbers: the buffers of its key and first counter, and its length."""

    key: Buffer
    first: Buffer
    count: int


@dataclass(frozen=True, slots=True)
class Seed:
    """The generator is seeded with this key."""

    key: int


@dataclass(frozen=True, slots=True)
class Graded:
    """A tensor whose `grad` was read or set: its original gradient, and True if it was read
    first."""

    tensor: Any
    before: Any
    is_read: bool


@dataclass(slots=True)
class Watch:
    """The side effects seen so far."""

    first: int
    """Tensors with this number or a higher one were created by the function."""
    around: frozenset[int] = frozenset()
    """The `id` of each tensor that Python objects outside the function refer to."""
    stand_for: Callable[[Any], TensorNode] | None = None
    """Returns a node that replaces a gradient's node as an input of the capture."""
    assigned: dict[int, tuple[Any, TensorNode]] = field(default_factory=dict)
    """Tensors from outside that were assigned, by number, with their original nodes."""
    values: dict[int, list[TensorNode]] = field(default_factory=dict)
    """The values assigned, by number."""
    graded: dict[int, Graded] = field(default_factory=dict)
    """Tensors whose `grad` was read or set."""
    swapped: dict[int, tuple[Any, TensorNode]] = field(default_factory=dict)
    """Gradients from outside that are inputs, by `id`, with their original nodes."""
    late: list[Any] = field(default_factory=list)
    """Gradients that must be in memory before the function is captured."""
    collecting: dict[int, tuple[Any, bool]] = field(default_factory=dict)
    """Tensors that began or stopped to collect gradients, with True if they did before."""
    asked: dict[int, Any] = field(default_factory=dict)
    """Tensors of which the function asked whether they collect gradients."""
    drawn: list[Draw | Seed] = field(default_factory=list)
    """The function's draws and seeds of the random generator, in order."""
    truths: dict[TensorNode, int] = field(default_factory=dict)
    """The nodes of boolean arguments, with their positions: reading one fixes its value."""
    known: frozenset[TensorNode] = frozenset()
    """The nodes of arguments whose values are fixed."""
    own: set[TensorNode] = field(default_factory=set)
    """The assigns that the function made."""
    pasts: dict[TensorNode, object] = field(default_factory=dict)
    """Values from outside whose history a derivative read, with that history."""

    def note_assigned(self, tensor: Any, value: TensorNode) -> None:
        """Record that a tensor is about to hold `value`."""
        if isinstance(value, Assign):
            self.own.add(value)
        if tensor._number < self.first:
            self.assigned.setdefault(tensor._number, (tensor, tensor.node))
            self.values.setdefault(tensor._number, []).append(value)

    def note_grad(self, tensor: Any, is_read: bool) -> None:
        """Record that the `grad` of a tensor is about to be set, or read; a gradient that is read
        becomes an input."""
        if tensor._number >= self.first or tensor._number in self.graded:
            return
        before = tensor._grad
        self.graded[tensor._number] = Graded(tensor, before, is_read)
        if not is_read or before is None or id(before) in self.swapped:
            return
        if before._number in self.assigned:
            return
        if not is_realized(before.node):
            self.late.append(before)
        elif id(before) not in self.around and self.stand_for is not None:
            self.swapped[id(before)] = before, before.node
            before.node = self.stand_for(before)
            live.note(before)

    def note_collecting(self, tensor: Any, before: bool) -> None:
        """Record that a tensor is about to begin, or to stop, to collect gradients."""
        if tensor._number < self.first:
            self.collecting.setdefault(tensor._number, (tensor, before))

    def note_asked(self, tensor: Any) -> None:
        """Record that the function asks whether a tensor collects gradients."""
        if tensor._number < self.first:
            self.asked.setdefault(tensor._number, tensor)

    def undo(self) -> None:
        """Restore the tensors; may be repeated. A tensor that another thread assigned meanwhile
        keeps that value."""
        for number, (tensor, before) in self.assigned.items():
            if any(tensor.node in live.forms(value) for value in self.values.get(number, ())):
                tensor.node = before
                live.note(tensor)
        for node in self.own:
            live.release(node)
        for each in self.graded.values():
            each.tensor._grad = each.before
        for grad, node in self.swapped.values():
            grad.node = node
            live.note(grad)


class _Watching(threading.local):
    watch: Watch | None = None


STATE = _Watching()


def current() -> Watch | None:
    """The record of the function that is captured on this thread, if any."""
    return STATE.watch


@contextmanager
def aside() -> Iterator[None]:
    """Context without a capture: known values can be computed inside."""
    before, STATE.watch = STATE.watch, None
    try:
        yield
    finally:
        STATE.watch = before


def refuse_reading(name: str) -> None:
    """Raise `NotCapturedError` if a file is read during a capture: its content may change between
    calls."""
    if STATE.watch is not None:
        raise NotCapturedError(f"it reads {name}", "load it outside, or pass its content")


def refuse_value(method: str, node: TensorNode) -> None:
    """Raise `JitError` if a value is requested during a capture.

    Values that depend on boolean arguments alone may be requested. If these are not fixed yet, they
    become fixed (`NumberIsFixed`), and the function is captured for each of their values.
    """
    watch = STATE.watch
    if watch is None:
        return
    order = toposort([node])
    read = {each for each in order if not each.sources and not isinstance(each, Const | Iota)}
    if read and not any(isinstance(each, Assign) for each in order):
        if read <= watch.known:
            return
        if read <= watch.known | watch.truths.keys():
            raise NumberIsFixed(frozenset(watch.truths[n] for n in read if n in watch.truths))
    raise JitError(
        method, "jit captures computations, not their values", got=short(node),
        expected="operations on tensors",
        hint="return the tensor and look at it outside; x.where(…) chooses by data; a number or "
        "flag that decides in Python is an argument named in static=(…)",
    )  # fmt: skip
