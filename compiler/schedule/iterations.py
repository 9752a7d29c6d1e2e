"""The loop of a `Repeat` as calls that a range of the kernel graph repeats.

    state 0 ──transfer──▶ S0        before the loop
    S0, … ──calls──▶ N0             in every iteration, under range 0 … count
    N0 ──transfer──▶ S0             in every iteration, once all its calls have read the old state

Each call of an iteration is closed with an End, so that all belong to the loop, whether they read
its counter or not. A state that no iteration changes is not carried over; of one that gets a row in
each iteration (`carry.py`) the row is, to its place.
"""

from collections.abc import Callable

from compiler.core.node import Node, toposort
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import Buffer, Param, TensorNode
from compiler.schedule.kinds import After, Bind, DefineVar, End, Range, Transfer, buffer_of
from compiler.schedule.operations import device_of
from compiler.schedule.outlined import Outlined
from compiler.schedule.pitch import pitched

Add = Callable[[Outlined, TensorNode], None]


def add_loop(result: Outlined, node: Repeat, add: Add) -> None:
    """Outline the loop of `node`, unless a node of the same loop has been; `add` outlines one."""
    if node.loop not in result.loops:
        result.loops[node.loop] = _loop(result, node, add)
    result.buffers[node] = result.loops[node.loop][node.index]


def _loop(result: Outlined, node: Repeat, add: Add) -> list[Node]:
    """The nodes that hold the states after the last iteration."""
    rest = [result.holder(source) for source in node.sources[node.states :]]
    first = [result.holder(pitched(source)[0]) for source in node.sources[: node.states]]
    placed = [b for b in map(buffer_of, (*first, *rest)) if b not in result.placeless]
    states = [_first(result, node, each, placed) for each in node.sources[: node.states]]
    loop = Range((), next(result.ranges), 0, node.count)
    counter = Bind((DefineVar((), node.counter, 0, node.count - 1), loop))
    iteration, inner = result.iterations[node.body], result.inside(node, counter)
    holders = (*states, *rest)
    parameters = (n for n in toposort([iteration.root]) if isinstance(n, Param))
    inner.buffers.update((param, holders[param.slot]) for param in parameters)
    for each in iteration.parts.realized:
        add(inner, each)
    for choice in iteration.kept:
        if choice.node in inner.buffers:
            result.reasons[buffer_of(inner.buffers[choice.node])] = choice.reason
    read = tuple(inner.runs)
    for index, (state, new) in enumerate(zip(states, iteration.root.sources, strict=True)):
        if not (isinstance(new, Param) and new.slot == index):
            row = iteration.carried.rows.get(index)
            place = (counter,) if row is not None and row.step else ()
            region = row.region(node.sources[index].shape) if row is not None else None
            sources = (After((state, *read)), inner.buffers[new], *place)
            inner.runs.append(Transfer(sources, "carry", region))
    ends = [End((run, loop)) for run in inner.runs]
    result.runs += ends
    for source in node.sources[node.states :]:
        result.readers.setdefault(source, []).extend(ends)
    last = [After((state, *ends)) if ends else state for state in states]
    for made in (loop, *counter.sources[:1], counter, *inner.runs, *ends, *last):
        result.note(made, frozenset((node,)))
    return last


def _first(result: Outlined, node: Repeat, source: TensorNode, placed: list[Buffer]) -> Node:
    """A new buffer with the first value of a state: where it is, else where `placed` are."""
    base, region = pitched(source)
    holder = result.holder(base)
    held = buffer_of(holder)
    buffer = result.new_buffer(source, device_of(placed if held in result.placeless else [held]))
    if not placed:
        result.placeless.add(buffer)
    call = Transfer((buffer, holder), "start", region)
    result.runs.append(call)
    result.readers.setdefault(base, []).append(call)
    after = After((buffer, call))
    for made in (buffer, call, after):
        result.note(made, frozenset((node,)))
    return after
