"""The derivative of a loop: a backward loop through its iterations, from their stored states.

    forward     as before, and row i of a stack of states is the state before iteration i
    backward    iteration j differentiates i = n - 1 - j: it computes the cotangents of the states,
                and sums for the other inputs of the step, from the derivative of the step at row i

The states of all iterations are stored if they take at most `STORED_BYTES`. Beyond that, a loop of
n iterations becomes sqrt(n) loops of sqrt(n) iterations: only the first state of each inner loop is
stored, and the others are recomputed, as in gradient checkpointing (Griewank, "Achieving
logarithmic growth …", 1992, in two levels).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from compiler.core.dtypes import int64
from compiler.core.node import substitute, toposort
from compiler.core.origin import no_origin
from compiler.graph.kinds.repeat import Repeat, counter_of
from compiler.graph.kinds.shaping import broadcast_node, counting, reshaped
from compiler.graph.nodes import Index, Iota, Param, Sink, TensorNode, Variable, const, elementwise

STORED_BYTES = 64 * 2**20
"""Bytes of loop states that are stored: beyond that, memory is more expensive than recomputation.
Chosen, not measured."""
Pull = Callable[
    [Sequence[TensorNode], Sequence[TensorNode], Sequence[TensorNode]], Sequence[TensorNode]
]
"""From results, their cotangents and inputs to the gradients of the inputs."""


@dataclass(frozen=True, slots=True)
class LoopShares:
    """The cotangents of a loop's sources, and the replacement of each of its states."""

    sources: list[TensorNode | None]
    states: list[TensorNode]


def loop_derivative(
    loop: Repeat, cotangents: Sequence[TensorNode | None], pull: Pull
) -> LoopShares:
    """The derivative of a loop; `cotangents[k]` is that of state k, None if nothing reads it."""
    kept = sum(source.nbytes for source in loop.sources[: loop.states]) * loop.count
    if kept > STORED_BYTES and loop.count > 3:
        return _in_segments(loop, cotangents, pull)
    stacks = _with_stacks(loop)
    count = loop.states
    floats = [k for k in range(count) if loop.sources[k].dtype.is_float]
    rest = [n for n in range(count, len(loop.sources)) if loop.sources[n].dtype.is_float]
    begin = [cotangents[k] or _zeros(loop.sources[k]) for k in floats]
    sums = [_zeros(loop.sources[n]) for n in rest]
    sources = (*begin, *sums, *stacks[count:], *loop.sources[count:])
    with no_origin():
        params = [Param((), n, s.shape, s.dtype) for n, s in enumerate(sources)]
    body = _backward_step(loop, params, floats, rest, pull)
    swept = _looped(sources, body, loop.counter, loop.count)
    shares: list[TensorNode | None] = [None] * len(loop.sources)
    for place, share in zip((*floats, *rest), swept, strict=True):
        shares[place] = share
    return LoopShares(shares, stacks[:count])


def _zeros(node: TensorNode) -> TensorNode:
    return const(0, node.dtype, node.shape)


def _with_stacks(loop: Repeat) -> list[TensorNode]:
    """The final states of the loop, then for each state the stack of its values by iteration."""
    count, n = loop.states, loop.count
    empty = [const(0, s.dtype, (n, *s.shape)) for s in loop.sources[:count]]
    sources = (*loop.sources[:count], *empty, *loop.sources[count:])
    with no_origin():
        params = [Param((), slot, s.shape, s.dtype) for slot, s in enumerate(sources)]
        counter = counter_of(loop.counter, n)
        params_of_step = (*params[:count], *params[2 * count :])
        next_states = _step(loop, params_of_step, counter)
        rows = [_written(params[count + k], params[k], counter) for k in range(count)]
        body = Sink((*next_states, *rows))
    return _looped(sources, body, loop.counter, n)


def _looped(
    sources: Sequence[TensorNode], body: Sink, counter: str, count: int
) -> list[TensorNode]:
    """The states of a new loop; sources that its step does not read are dropped."""
    states = len(body.sources)
    params = sorted((n for n in toposort([body]) if isinstance(n, Param)), key=lambda n: n.slot)
    rest = [param for param in params if param.slot >= states]
    with no_origin():
        new = {
            param: Param((), states + place, param.shape, param.dtype)
            for place, param in enumerate(rest)
        }
        loop_body = substitute(body, {old: it for old, it in new.items() if old is not it})
    kept = (*sources[:states], *(sources[param.slot] for param in rest))
    return [Repeat(kept, loop_body, counter, count, index) for index in range(states)]


def _written(stack: TensorNode, state: TensorNode, counter: TensorNode) -> TensorNode:
    """The stack with the state written to the row of this iteration: see `schedule/carry.py`."""
    count, *rest = stack.shape
    is_it = elementwise("eq", Iota((), count, int64), broadcast_node(counter, (count,)))
    here = broadcast_node(reshaped(is_it, (count, *(1 for _ in rest))), stack.shape)
    row = broadcast_node(reshaped(state, (1, *state.shape)), stack.shape)
    return elementwise("where", here, row, stack)


def _step(loop: Repeat, states: Sequence[TensorNode], counter: TensorNode) -> list[TensorNode]:
    """The next states in iteration `counter`, from `states`: the states and the other inputs."""
    done: dict[TensorNode, TensorNode] = {}
    for node in toposort([loop.body]):
        match node:
            case Param(slot=slot):
                done[node] = states[slot]
            case Variable():
                done[node] = counter
            case Sink():
                break
            case _:
                done[node] = node.with_sources(tuple(done[s] for s in node.sources))
    return [done[root] for root in loop.body.sources]


def _backward_step(
    loop: Repeat, params: Sequence[Param], floats: Sequence[int], rest: Sequence[int], pull: Pull
) -> Sink:
    """The body of the backward loop."""
    counter = counter_of(loop.counter, loop.count)
    last = const(loop.count - 1, int64)
    at = elementwise("sub", last, counter)
    gs, sums = params[: len(floats)], params[len(floats) : len(floats) + len(rest)]
    held = params[len(floats) + len(rest) :]
    states = [_row(stack, at) for stack in held[: loop.states]]
    operands = (*states, *held[loop.states :])
    results = _step(loop, operands, at)
    inputs = [operands[n] for n in (*floats, *rest)]
    cotangents = pull([results[k] for k in floats], gs, inputs)
    added = [
        elementwise("add", total, share)
        for total, share in zip(sums, cotangents[len(floats) :], strict=True)
    ]
    with no_origin():
        return Sink((*cotangents[: len(floats)], *added))


def _row(stack: TensorNode, at: TensorNode) -> TensorNode:
    """Row `at` of a stack."""
    shape = stack.shape[1:]
    places = (
        broadcast_node(at if not axis else counting(shape, axis - 1), shape)
        for axis in range(len(stack.shape))
    )
    return Index((stack, *places))


def _in_segments(
    loop: Repeat, cotangents: Sequence[TensorNode | None], pull: Pull
) -> LoopShares:
    """The derivative with nested loops, of which only the first states are stored."""
    length = math.isqrt(loop.count)
    whole, more = divmod(loop.count, length)
    nested = _nested(loop, length, whole)
    final = nested if not more else _ending(loop, nested, loop.count - more, more)
    wanted = [n for n, s in enumerate(loop.sources) if s.dtype.is_float]
    read = [k for k, g in enumerate(cotangents) if g is not None]
    swept = pull([final[k] for k in read], [g for g in cotangents if g is not None],
                 [loop.sources[n] for n in wanted])  # fmt: skip
    shares: list[TensorNode | None] = [None] * len(loop.sources)
    for place, share in zip(wanted, swept, strict=True):
        shares[place] = share
    return LoopShares(shares, final)


def _nested(loop: Repeat, length: int, count: int) -> list[TensorNode]:
    """The states after `count` times `length` iterations."""
    with no_origin():
        params = [Param((), n, s.shape, s.dtype) for n, s in enumerate(loop.sources)]
        outer = counter_of(loop.counter, count)
        first = elementwise("mul", outer, const(length, int64))
        inside = _shifted(loop, params, first, length)
        body = Sink(tuple(inside))
    return _looped(loop.sources, body, loop.counter, count)


def _ending(
    loop: Repeat, states: Sequence[TensorNode], first: int, count: int
) -> list[TensorNode]:
    """The states after `count` more iterations, starting with iteration `first`."""
    operands = (*states, *loop.sources[loop.states :])
    return _shifted(loop, operands, const(first, int64), count)


def _shifted(
    loop: Repeat, states: Sequence[TensorNode], first: TensorNode, count: int
) -> list[TensorNode]:
    """`count` iterations of the loop, starting with iteration `first`, on sources `states`."""
    name = f"{loop.counter}_part"
    sources = (*states, first)
    with no_origin():
        params = [Param((), n, s.shape, s.dtype) for n, s in enumerate(sources)]
        at = elementwise("add", counter_of(name, count), params[-1])
        body = Sink(tuple(_step(loop, params[:-1], at)))
    return _looped(sources, body, name, count)
