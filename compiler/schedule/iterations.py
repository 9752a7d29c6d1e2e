"""The loop of a `Repeat` as calls that a range of the kernel graph repeats.

    state 0 ──transfer──▶ S0        before the loop
    S0, … ──calls──▶ N0             in every iteration, under range 0 … count
    N0 ──transfer──▶ S0             in every iteration, once whatever reads the old state has run

Each call of an iteration is closed with an End, so that all belong to the loop, whether they read
its counter or not. A state that does not change is not copied; of a state that gets one new row per
iteration (`carry.py`), only the row is copied into place.
"""

from collections.abc import Callable, Mapping, Sequence

from compiler.core.node import Node, toposort
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import Buffer, Param, TensorNode
from compiler.schedule.kinds import After, Bind, DefineVar, End, Range, Transfer, buffer_of
from compiler.schedule.operations import device_of
from compiler.schedule.outlined import Outlined
from compiler.schedule.pitch import pitched

Add = Callable[[Outlined, TensorNode], None]


def add_loop(result: Outlined, node: Repeat, add: Add) -> None:
    """Outline the loop of `node`, once for all nodes of the loop; `add` outlines a node."""
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
    readers = _readers(inner.runs)
    carried = _carries(inner, node, states, readers)
    inner.runs += carried.values()
    ends = {run: End((run, loop)) for run in inner.runs}
    result.runs += ends.values()
    for source, holder in zip(node.sources[node.states :], rest, strict=True):
        waits = [ends[run] for run in readers.get(buffer_of(holder), ())]
        result.readers.setdefault(source, []).extend(waits)
    last = [_last(state, ends, carried.get(index)) for index, state in enumerate(states)]
    if ends:  # this state is read: whoever reads it waits for all calls of the loop
        last[node.index] = After((states[node.index], *ends.values()))
    for new in (loop, *counter.sources[:1], counter, *inner.runs, *ends.values(), *last):
        result.note(new, frozenset((node,)))
    return last


def _carries(
    inner: Outlined, node: Repeat, states: Sequence[Node], readers: Mapping[Buffer, Sequence[Node]]
) -> dict[int, Node]:
    """For each state that changes, the transfer that copies the next state into its buffer.

    It waits for the readers of the old state, but not for calls on other devices.
    """
    iteration, counter = inner.iterations[node.body], inner.counter
    assert counter is not None
    changing = {
        index: new
        for index, new in enumerate(iteration.root.sources)
        if not (isinstance(new, Param) and new.slot == index)
    }
    apart = _Apart({buffer_of(states[index]) for index in changing}, inner.runs)
    for index, new in changing.items():
        apart.join(buffer_of(states[index]), buffer_of(inner.buffers[new]))
    carried: dict[int, Node] = {}
    for index, new in changing.items():
        state = states[index]
        row = iteration.carried.rows.get(index)
        place = (counter,) if row is not None and row.step else ()
        region = row.region(node.sources[index].shape) if row is not None else None
        before = [*readers.get(buffer_of(state), ()), *apart.link(buffer_of(state), carried)]
        held = After((state, *before)) if before else state
        carried[index] = Transfer((held, inner.buffers[new], *place), "carry", region)
    return carried


class _Apart:
    """The connected components of an iteration's buffers: all calls of a loop must be connected."""

    def __init__(self, states: set[Buffer], runs: Sequence[Node]) -> None:
        self.above: dict[Buffer, Buffer] = {}
        self.linked: set[Buffer] = set()
        """One buffer of each component that is connected with the first."""
        arguments = [_arguments(run) for run in runs]
        changed = states.union(each[0] for each in arguments)
        for each in arguments:
            for buffer in each[1:]:
                if buffer in changed:
                    self.join(each[0], buffer)

    def of(self, buffer: Buffer) -> Buffer:
        """The representative of the component of a buffer."""
        path = []
        while (holder := self.above.get(buffer, buffer)) is not buffer:
            path.append(buffer)
            buffer = holder
        self.above.update(dict.fromkeys(path, buffer))
        return buffer

    def join(self, left: Buffer, right: Buffer) -> None:
        """Merge the components of two buffers: a call has both as arguments."""
        self.above[self.of(left)] = self.of(right)

    def link(self, state: Buffer, carried: Mapping[int, Node]) -> list[Node]:
        """The transfers that the one to `state` waits for only to connect two components."""
        holder = self.of(state)
        is_first = not self.linked
        is_linked = holder in self.linked
        self.linked.add(holder)
        return [] if is_first or is_linked else [next(iter(carried.values()))]


def _arguments(run: Node) -> list[Buffer]:
    """The buffers of a run of an iteration, inner loops included; it writes the first."""
    call = run.call if isinstance(run, End) else run
    return [buffer_of(each) for each in call.sources if not isinstance(each, Bind)]


def _readers(runs: Sequence[Node]) -> dict[Buffer, list[Node]]:
    """For each buffer the runs of an iteration, inner loops included, that it is an argument of."""
    readers: dict[Buffer, dict[Node, None]] = {}
    for run in runs:
        for buffer in _arguments(run):
            readers.setdefault(buffer, {})[run] = None
    return {buffer: list(runs) for buffer, runs in readers.items()}


def _last(state: Node, ends: Mapping[Node, Node], carry: Node | None) -> Node:
    """The node that holds a state after the loop: the state itself if it never changes."""
    return state if carry is None else After((state, ends[carry]))


def _first(result: Outlined, node: Repeat, source: TensorNode, placed: list[Buffer]) -> Node:
    """A new buffer with the initial value of a state, on its device, else on that of `placed`."""
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
    for new in (buffer, call, after):
        result.note(new, frozenset((node,)))
    return after
