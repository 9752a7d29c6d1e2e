"""`repeat`: a counted loop over tensors, as one program (`fori_loop` in JAX).

    def step(i, v):
        w = a @ v
        return w / w.norm()

    v = compiler.repeat(100, step, Tensor.ones(n))      # lazy, like any other tensor

The step is traced once: its Python side effects happen once, not once per iteration.
"""

import itertools
import operator
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from compiler.core.errors import DataError, DTypeError, ShapeError, located
from compiler.core.node import toposort
from compiler.core.origin import no_origin, state, user_call
from compiler.graph.devices import common_devices
from compiler.graph.kinds.placement import Device, Unique
from compiler.graph.kinds.repeat import Repeat, counter_of
from compiler.graph.nodes import MOVEMENT, Const, Iota, Param, Sink, TensorNode
from compiler.graph.words import short
from compiler.tensors.value import TensorValue

T = TypeVar("T", bound=TensorValue)
MOST_ITERATIONS = 1_000_000
"""The schedule has an item per call of the step: more iterations would fill memory."""
_FIRST_PLACE = 1 << 40
_places = itertools.count(_FIRST_PLACE)


class _Tracing(threading.local):
    """The number of nested steps that this thread is tracing."""

    depth: int = 0


_tracing = _Tracing()


@located
def repeat(count: int, step: Callable[..., Any], *initial: T) -> T | tuple[T, ...]:
    """The state after `count` iterations of `step(i, *state)`, which returns the next state.

    `i` is an int64 tensor of rank 0 that counts from 0. The state is one or more tensors; `initial`
    is the first state. Shapes and types must not change. Tensors from outside that the step uses
    are computed once, before the loop (loop-invariant code motion). Returns a tensor for a state of
    one tensor, else a tuple. Raises `DataError`, `ShapeError` or `DTypeError` if the step returns
    something else.
    """
    trips = _trip_count(count)
    if not callable(step):
        got, expected = type(step).__name__, "a function of the iteration and the state"
        raise DataError("repeat", "the step is not a function", got=got, expected=expected)
    _check_initial(initial)
    first = [tensor.node for tensor in initial]
    places = [Param((), next(_places), node.shape, node.dtype) for node in first]
    counter = counter_of(f"iteration{_tracing.depth}", trips)
    _tracing.depth += 1
    try:
        given = step(initial[0]._new(counter), *(initial[0]._new(place) for place in places))
    finally:
        _tracing.depth -= 1
    new = _checked(given, first)
    if not trips:
        unchanged = tuple(each._same() for each in initial)
        return unchanged if len(initial) > 1 else unchanged[0]
    made = [initial[0]._new(node) for node in _looped(first, new, [*places, counter], trips)]
    return tuple(made) if len(made) > 1 else made[0]


def _trip_count(count: int) -> int:
    try:
        trips = -1 if isinstance(count, bool) else operator.index(count)
    except TypeError:
        trips = -1
    if 0 <= trips <= MOST_ITERATIONS:
        return trips
    expected = f"an integer from 0 to {MOST_ITERATIONS:,}"
    raise DataError("repeat", "invalid number of iterations", got=repr(count), expected=expected)


def _check_initial(initial: Sequence[object]) -> None:
    if not initial:
        hint = "repeat(count, step, *initial)"
        raise DataError("repeat", "there is no state", got="0 tensors", expected="1 or more",
                        hint=hint)  # fmt: skip
    for number, tensor in enumerate(initial):
        if not isinstance(tensor, TensorValue):
            what = f"state {number} is not a tensor"
            raise DataError("repeat", what, got=type(tensor).__name__, expected="Tensor")
        if tensor.node.extents:
            what = f"state {number} has an axis whose extent is a variable"
            raise ShapeError("repeat", what, got=short(tensor.node), expected="fixed extents")


def _checked(given: object, first: Sequence[TensorNode]) -> list[TensorNode]:
    """The nodes of the next state, which must have the shapes and types of the first."""
    found = list(given) if isinstance(given, tuple | list) else [given]
    if len(found) != len(first):
        got, expected = f"{len(found)} tensors", f"{len(first)}, as many as it was given"
        raise DataError("repeat", "the step returns another number of tensors", got=got,
                        expected=expected)  # fmt: skip
    nodes = []
    for number, (tensor, old) in enumerate(zip(found, first, strict=True)):
        if not isinstance(tensor, TensorValue):
            what = f"the step returns no tensor as state {number}"
            raise DataError("repeat", what, got=type(tensor).__name__, expected="Tensor")
        new = tensor.node
        if new.shape != old.shape or new.extents:
            what = f"the step changes the shape of state {number}"
            raise ShapeError("repeat", what, got=short(new), expected=short(old))
        if new.dtype != old.dtype:
            hint = f"cast({old.dtype}) in the step, or give the first state as {new.dtype}"
            what = f"the step changes the type of state {number}"
            raise DTypeError("repeat", what, got=short(new), expected=short(old), hint=hint)
        nodes.append(new)
    return nodes


@user_call
def _looped(
    first: list[TensorNode], new: list[TensorNode], varying: list[TensorNode], trips: int
) -> list[TensorNode]:
    """The nodes of the loop, one per state tensor."""
    *places, counter = varying
    outside = _outside(new, frozenset(varying))
    for node in outside:
        if node.extents:
            what = "the step reads a tensor with an axis whose extent is a variable"
            raise ShapeError("repeat", what, got=short(node), expected="fixed extents")
    with no_origin():
        inside = {
            node: Param((), slot, node.shape, node.dtype)
            for slot, node in enumerate((*places, *outside))
        }
    body = _rebuilt(new, inside)
    name = counter.arguments["name"]
    sources = (*first, *outside)
    common_devices(Repeat(sources, body, name, trips, 0))
    return [Repeat(sources, body, name, trips, index) for index in range(len(first))]


def _outside(new: Sequence[TensorNode], varying: frozenset[TensorNode]) -> list[TensorNode]:
    """The loop-invariant nodes that the step reads, in the order of their first use.

    Constants, devices and movement stay inside: they cost nothing there.
    """
    order = toposort(new)
    changing: set[TensorNode] = set()
    for node in order:
        if node in varying or not changing.isdisjoint(node.sources):
            changing.add(node)
    met = {s for node in changing for s in node.sources} | set(new)
    for node in reversed(order):
        if node in met and node not in changing and isinstance(node, MOVEMENT):
            met.update(node.sources)
    fixed = (node for node in order if node in met and node not in changing)
    return [n for n in fixed if not isinstance(n, (*MOVEMENT, Const, Iota, Device, Unique))]


def _rebuilt(new: Iterable[TensorNode], inside: dict[TensorNode, Param]) -> Sink:
    """The body of the step; each node keeps its own source line."""
    done: dict[TensorNode, TensorNode] = dict(inside)
    roots = list(new)
    outer = state.origin
    try:
        for node in toposort(roots, leaves=inside):
            if node not in done:
                state.origin = node.origin
                done[node] = node.with_sources(tuple(done[s] for s in node.sources))
    finally:
        state.origin = outer
    with no_origin():
        return Sink(tuple(done[root] for root in roots))
