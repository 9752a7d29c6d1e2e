"""The meaning of the sources of kernel-graph nodes: a storage, and the calls to wait for.

    storage of  After(x, …)               that of x
                MSelect(MStack(…), lane)  that of the lane; a bad lane index is refused
                MStack(a, …)              that of lane 0
    waits of    After(x, waits…)          the calls of the waits, and the waits of x
                MStack | MSelect          those of all lanes
    a wait is   Call | End(Call) | After  (a Store is ignored, anything else is refused)

Numbers in messages are those of the printed kernel graph: `%3` is the fourth node of it.
"""

from collections.abc import Iterator, Sequence
from typing import NoReturn

from compiler.core.errors import ScheduleError
from compiler.core.node import Node, toposort
from compiler.graph.nodes import Store
from compiler.schedule import kinds
from compiler.schedule.kinds import CALLABLE, STORAGE

VALUES = (*STORAGE, kinds.After, kinds.MStack, kinds.MSelect)


class Names:
    """The names of the nodes of a kernel graph in messages, and their ids."""

    def __init__(self, root: Node) -> None:
        self.nodes: list[Node] = toposort([root])
        self.calls: list[kinds.Callable] = [n for n in self.nodes if isinstance(n, CALLABLE)]
        self._numbers = {node: number for number, node in enumerate(self.nodes)}

    def __getitem__(self, node: Node) -> int:
        """The id of a node: its number in the printed kernel graph."""
        return self._numbers[node]

    def describe(self, node: Node) -> str:
        """`call k0 (%3)`: kind, name and id."""
        name = getattr(node, "name", "")
        word = (
            "call"
            if isinstance(node, kinds.Call | kinds.CustomCall)
            else type(node).__name__.lower()
        )
        number = self._numbers.get(node)
        return f"{word} {name}".rstrip() + ("" if number is None else f" (%{number})")

    def refuse(self, node: Node, reason: str, *, got: str = "", expected: str = "") -> NoReturn:
        """Raise the error that names the node and the reason."""
        what = f"{self.describe(node)}: {reason}"
        raise ScheduleError("schedule", what, got=got, expected=expected, origin=node.origin)


def storage_of(node: Node, names: Names) -> kinds.Storage:
    """The storage of a value; raises an error for other nodes, and for bad lane indices."""
    chosen: list[int] = []
    while not isinstance(node, STORAGE):
        match node:
            case kinds.After():
                node = node.sources[0]
            case kinds.MSelect():
                _check_lane(node, names)
                chosen.append(node.lane)
                node = node.sources[0]
            case kinds.MStack():
                if not node.sources:
                    names.refuse(node, "it has no lane")
                node = node.sources[chosen.pop() if chosen else 0]
            case _:
                expected = "Buffer, Param, DefineLocal, After, MStack or MSelect"
                names.refuse(node, "it names no buffer", got=type(node).__name__, expected=expected)
    return node


def _check_lane(select: kinds.MSelect, names: Names) -> None:
    """Refuse a lane the stack does not have; a plain buffer has lane 0."""
    stack = select.sources[0]
    while isinstance(stack, kinds.After):
        stack = stack.sources[0]
    count = len(stack.sources) if isinstance(stack, kinds.MStack) else 1
    if not 0 <= select.lane < count:
        expected = f"0 … {count - 1}"
        names.refuse(select, "it has a bad lane index", got=str(select.lane), expected=expected)


def wrappers_of(node: Node) -> list[Node]:
    """The nodes between a value and its storage, outermost first: aliases of the storage."""
    wrappers: list[Node] = []
    chosen: list[int] = []
    while not isinstance(node, STORAGE):
        wrappers.append(node)
        if isinstance(node, kinds.MSelect):
            chosen.append(node.lane)
        lane = chosen.pop() if isinstance(node, kinds.MStack) and chosen else 0
        node = node.sources[lane]
    return wrappers


def waits_of(value: Node, names: Names) -> list[Node]:
    """The Calls and Ends of calls that a value waits for, each once.

    Waits of other Afters on the same buffer do not count: two Afters are two values of a buffer.
    """
    waits: dict[Node, None] = {}
    seen: set[Node] = set()
    stack = [value]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, kinds.After):
            waits.update(dict.fromkeys(calls_waited_for(node, names)))
            stack.append(node.sources[0])
            stack.extend(afters_waited_for(node))
        elif isinstance(node, kinds.MStack | kinds.MSelect):
            stack.extend(node.sources)
        elif not isinstance(node, (*STORAGE, kinds.Bind)):
            what = "it is no argument"
            names.refuse(node, what, got=type(node).__name__, expected="a buffer or a Bind")
    return list(waits)


def calls_waited_for(after: kinds.After | kinds.Synchronize, names: Names) -> Iterator[Node]:
    """The Calls and Ends among the waits of a node; raises an error for other kinds of nodes."""
    for wait in _waits(after):
        if isinstance(wait, CALLABLE) or (isinstance(wait, kinds.End) and _ends_a_call(wait)):
            yield wait
        elif not isinstance(wait, Store | kinds.After):
            what = f"it waits for {names.describe(wait)}, which is no call"
            expected = "Call, End(Call), Store or After"
            names.refuse(after, what, got=type(wait).__name__, expected=expected)


def afters_waited_for(after: kinds.After | kinds.Synchronize) -> list[kinds.After]:
    """The Afters among the waits of an After, or of a synchronisation."""
    return [wait for wait in _waits(after) if isinstance(wait, kinds.After)]


def _waits(node: kinds.After | kinds.Synchronize) -> tuple[Node, ...]:
    return node.sources[1:] if isinstance(node, kinds.After) else node.sources


def callable_of(wait: Node) -> kinds.Callable:
    """The call behind a Call or an End of one."""
    call = wait.call if isinstance(wait, kinds.End) else wait
    assert isinstance(call, CALLABLE)
    return call


def _ends_a_call(end: kinds.End) -> bool:
    return isinstance(end.call, CALLABLE)


def producers(call: kinds.Callable, names: Names) -> list[Node]:
    """The Calls and Ends that a call waits for through its sources, each once."""
    producing: dict[Node, None] = {}
    values: Sequence[Node] = call.sources
    if isinstance(call, kinds.Synchronize):
        producing.update(dict.fromkeys(calls_waited_for(call, names)))
        values = afters_waited_for(call)
    for value in values:
        producing.update(dict.fromkeys(waits_of(value, names)))
    return list(producing)


def ordering(names: Names) -> Iterator[tuple[Node, kinds.Callable]]:
    """Pairs (wait, call) where the call waits for order alone, not through its arguments.

    `After(x, call, After(y, wait))` runs `call` after `wait`: so a call that writes nothing can be
    ordered.
    """
    for node in names.nodes:
        if isinstance(node, kinds.After):
            before = [w for after in afters_waited_for(node) for w in waits_of(after, names)]
            for later in calls_waited_for(node, names):
                yield from ((wait, callable_of(later)) for wait in before)
