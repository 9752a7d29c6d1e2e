"""What a function does to tensors besides what it returns, while it is captured for `jit`.

Nothing is computed meanwhile: `realize` waits, and whoever asks for a value (`numpy()`, `item()`,
`if`) is refused with the line, for it would be the value of this one call in all of them. No random
number is drawn: each draw is noted, and every replay draws. Afterwards all is as it was before.
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
    """A function does what no replay can do; it is called without a capture then.

    No `Exception`: a function that catches those does not catch it. `hint` says what to write.
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
    """The generator gets this key."""

    key: int


@dataclass(frozen=True, slots=True)
class Graded:
    """A tensor whose `grad` was read or set: what that was, and whether it was read first."""

    tensor: Any
    before: Any
    is_read: bool


@dataclass(slots=True)
class Watch:
    """What was seen so far."""

    first: int
    """Tensors with this number and beyond were made by the function."""
    around: frozenset[int] = frozenset()
    """The `id` of each tensor that Python objects around the function hold."""
    stand_for: Callable[[Any], TensorNode] | None = None
    """A node in the place of a gradient's, which is an input of the capture."""
    assigned: dict[int, tuple[Any, TensorNode]] = field(default_factory=dict)
    """Tensors that were there before and were assigned, by number, with what they held."""
    values: dict[int, list[TensorNode]] = field(default_factory=dict)
    """What they were assigned, by number."""
    graded: dict[int, Graded] = field(default_factory=dict)
    """Tensors whose `grad` was read or set."""
    swapped: dict[int, tuple[Any, TensorNode]] = field(default_factory=dict)
    """Gradients that were there before and are inputs, by `id`, with what they held."""
    late: list[Any] = field(default_factory=list)
    """Gradients that are to be in memory before the function is captured."""
    collecting: dict[int, tuple[Any, bool]] = field(default_factory=dict)
    """Tensors that began or stopped to collect gradients, with whether they did before."""
    asked: dict[int, Any] = field(default_factory=dict)
    """Tensors of which it was asked whether they collect gradients."""
    drawn: list[Draw | Seed] = field(default_factory=list)
    """What the function does to the generator of random numbers, in order."""
    truths: dict[TensorNode, int] = field(default_factory=dict)
    """The nodes of arguments that are truth values, with their places: to ask for them fixes
    them."""
    known: frozenset[TensorNode] = frozenset()
    """Those that are fixed."""
    own: set[TensorNode] = field(default_factory=set)
    """The assigns that the function made."""
    pasts: dict[TensorNode, object] = field(default_factory=dict)
    """Values from around the function whose history a derivative read, with that."""

    def note_assigned(self, tensor: Any, value: TensorNode) -> None:
        """A tensor is about to hold `value`."""
        if isinstance(value, Assign):
            self.own.add(value)
        if tensor._number < self.first:
            self.assigned.setdefault(tensor._number, (tensor, tensor.node))
            self.values.setdefault(tensor._number, []).append(value)

    def note_grad(self, tensor: Any, is_read: bool) -> None:
        """The `grad` of a tensor is about to be set, or read: what is there is an input then."""
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
        """A tensor is about to begin, or to stop, to collect gradients."""
        if tensor._number < self.first:
            self.collecting.setdefault(tensor._number, (tensor, before))

    def note_asked(self, tensor: Any) -> None:
        """It is asked whether a tensor collects gradients."""
        if tensor._number < self.first:
            self.asked.setdefault(tensor._number, tensor)

    def undo(self) -> None:
        """Tensors hold again what they held; may be repeated. One that another thread assigned
        meanwhile keeps that."""
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
    """The watch of the function that is captured on this thread, if one is."""
    return STATE.watch


@contextmanager
def aside() -> Iterator[None]:
    """Inside, no function is captured: what is known can be computed."""
    before, STATE.watch = STATE.watch, None
    try:
        yield
    finally:
        STATE.watch = before


def refuse_reading(name: str) -> None:
    """Raise `NotCapturedError` where a file is read while a function is captured: another call may
    find another one."""
    if STATE.watch is not None:
        raise NotCapturedError(f"it reads {name}", "load it outside, or pass what it holds")


def refuse_value(method: str, node: TensorNode) -> None:
    """Raise `JitError` where a value is asked for while a function is captured.

    What follows from truth values that are given alone may be asked for: where these are not fixed
    yet they are (`NumberIsFixed`), and the function is captured for each value.
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
        method, "jit captures what is computed, not what comes out", got=short(node),
        expected="operations on tensors",
        hint="return the tensor and look at it outside; x.where(…) chooses by data; a number or "
        "flag that decides in Python is an argument named in static=(…)",
    )  # fmt: skip
