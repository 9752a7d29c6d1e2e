"""hazards: inserts copies, so that readers of an overwritten buffer see its old value (WAR).

    Before:  %0 = buffer x             f32[4]
             %1 = flip %0 (0)          f32[4]
             %2 = assign %0 %1         f32[4]
             sink %2
    After:   %0 = buffer x             f32[4]
             %1 = flip %0 (0)          f32[4]
             %2 = contiguous %1        f32[4]
             %3 = assign %0 %2         f32[4]
             sink %3

An assign writes to the memory of its target. Kernels that read the target run before it
(`outline.py`). That fails in two cases: a kernel needs both the old value and the new one, or the
assigned value reads other elements of the target than the one it is written to (`in_place.py`).
Then the value that is read is copied first, and the decision is recorded with its reason. The same
holds for loop states that swap values: each goes through its own memory. The field calls this a
write-after-read (WAR) hazard.

Relies on: invariant 19 of `graph/verify.py`; equal nodes are one.
Ensures: the value of an assign reads its target through a copy, or reads only the element that it
overwrites; other readers of the target do not depend on the assign, except through a copy; no
result is the target of an assign.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from compiler.core.node import toposort, users
from compiler.core.reason import Number, Reason
from compiler.graph.kinds.effects import Assign
from compiler.graph.kinds.markers import Later
from compiler.graph.nodes import Contiguous, Param, Sink, TensorNode
from compiler.schedule.in_place import reads_what_it_writes
from compiler.schedule.kahn import never_free
from compiler.schedule.partition import Choice, is_in_memory, partition
from compiler.settings.options import Options

Users: TypeAlias = dict[TensorNode, list[TensorNode]]
OVERWRITTEN = (
    "it reads other elements of the buffer it is assigned to than the one it is written to; "
    "its kernel would overwrite them too early"
)
OUTLIVED = "its old value is needed together with the one that is assigned, or as a result"


@dataclass(frozen=True, slots=True)
class Separated:
    """A program with the copies that its assigns need, and the reason for each copy.

    `originals` has, for each new node, the node that it copies or replaces.
    """

    root: Sink
    choices: list[Choice] = field(default_factory=list)
    originals: dict[TensorNode, TensorNode] = field(default_factory=dict)


def separate(root: Sink, options: Options) -> Separated:
    """`root`, a program or an iteration of a loop, with the copies that its assigns need."""
    root = _with_states_apart(root)
    order: list[TensorNode] = toposort([root])
    assigns = [node for node in order if isinstance(node, Assign)]
    if not assigns:
        return Separated(root)
    hazards = _Hazards(order, assigns)
    stored = hazards.store(root, options) if any(map(hazards.is_outlived, assigns)) else set()
    outlived, overwritten = _copied(root, assigns, hazards)
    replaced: dict[TensorNode, TensorNode] = {}
    read: dict[TensorNode, TensorNode] = {}
    """The replacement of each node that its users read."""
    for node in order:
        new = replaced[node] = node.with_sources(_sources(node, read, outlived, overwritten))
        read[node] = Contiguous((new,)) if node in stored else new
    choices = [_choice(node, OUTLIVED) for node in order if node in outlived]
    choices += [_choice(a.sources[1], OVERWRITTEN) for a in assigns if a in overwritten]
    result = replaced[root]
    assert isinstance(result, Sink)
    return Separated(result, choices, _originals(replaced, read))


class _Hazards:
    """The readers of each assign's target, if the values in `in_memory` end their kernels."""

    def __init__(self, order: list[TensorNode], assigns: list[Assign]) -> None:
        self.order, self.assigns = order, assigns
        self.reading = users(node for node in order if not isinstance(node, Sink))
        self.in_memory = {n for n in order if is_in_memory(n) and not isinstance(n, Later)}
        self._update()

    def _update(self) -> None:
        self.readers = {a: _readers(a, self.reading, self.in_memory) for a in self.assigns}
        self.circular = _circular(self.order, self.readers)

    def is_outlived(self, assign: Assign) -> bool:
        """True if the target's old value is needed together with the new one."""
        return assign in self.circular and _is_outlived(assign, self.reading, self.readers)

    def store(self, root: Sink, options: Options) -> set[TensorNode]:
        """Let the values that are stored in any case end their kernels; returns those of them that
        read an old value."""
        stored = _written(root, options) - self.in_memory
        self.in_memory |= stored
        self._update()
        return stored & {node for reads in self.readers.values() for node in reads}


def _copied(
    root: Sink, assigns: list[Assign], hazards: _Hazards
) -> tuple[set[TensorNode], set[TensorNode]]:
    """The targets that are copied before they are overwritten, and the assigns whose value is."""
    outlived, overwritten = set[TensorNode](), set[TensorNode]()
    for each in assigns:
        target, value = each.sources
        is_read = value is target or value in hazards.readers[each]
        if target in root.sources or hazards.is_outlived(each):
            outlived.add(target)
            hazards.readers[each] = set()
        elif is_read and not _is_in_place(each, hazards.in_memory):
            overwritten.add(each)
    return outlived, overwritten


def _written(root: Sink, options: Options) -> set[TensorNode]:
    """The values that `partition` would write to memory without any copies."""
    results = set(root.sources)
    realized = partition(root, options).realized
    return {n for n in realized if n not in results and not isinstance(n, Later)}


def _with_states_apart(root: Sink) -> Sink:
    """An iteration in which no next state is just another state: such ones are copied.

    The other state may be written before it is read. The results of a program are no states.
    """
    states = tuple(
        Contiguous((new,)) if isinstance(new, Param) and new.slot != index else new
        for index, new in enumerate(root.sources)
    )
    return root if states == root.sources else Sink(states)


def _originals(
    replaced: Mapping[TensorNode, TensorNode], read: Mapping[TensorNode, TensorNode]
) -> dict[TensorNode, TensorNode]:
    """For each new node the node that it replaces."""
    originals = {new: old for old, new in [*replaced.items(), *read.items()]}
    for node, replacement in replaced.items():
        pairs = zip(replacement.sources, node.sources, strict=True)
        originals |= {new: old for new, old in pairs if new is not read[old]}
    return {new: old for new, old in originals.items() if new not in replaced}


def _choice(node: TensorNode, why: str) -> Choice:
    """The decision that a value is copied, with its bytes."""
    return Choice(node, False, Reason(why, Number("copied", node.nbytes, "bytes")))


def _sources(
    node: TensorNode,
    read: Mapping[TensorNode, TensorNode],
    outlived: set[TensorNode],
    overwritten: set[TensorNode],
) -> tuple[TensorNode, ...]:
    """The new sources of a node, copied where they have to be."""
    result = []
    for operand, source in enumerate(node.sources):
        is_target = isinstance(node, Assign) and operand == 0
        is_copied = not is_target and (source in outlived or node in overwritten)
        new = read[source]
        result.append(Contiguous((new,)) if is_copied else new)
    return tuple(result)


def _is_in_place(assign: Assign, in_memory: set[TensorNode]) -> bool:
    """True if the value is in memory anyway, or may overwrite its inputs element by element."""
    target, value = assign.sources
    return value in in_memory - {target} or reads_what_it_writes(
        value, target, assign.parts, in_memory - {target}
    )


def _readers(assign: Assign, reading: Users, in_memory: set[TensorNode]) -> set[TensorNode]:
    """The nodes whose kernel may read the target's memory, except the assign itself."""
    reads: set[TensorNode] = set()
    stack = [assign.sources[0]]
    while stack:
        read = stack.pop()
        for node in reading[read]:
            is_read = not isinstance(node, Assign) or node.sources[1] is read
            if is_read and node is not assign and node not in reads:
                reads.add(node)
                stack += () if node in in_memory else (node,)
    return reads


def _circular(order: list[TensorNode], readers: dict[Assign, set[TensorNode]]) -> set[TensorNode]:
    """Nodes on a cycle, or after one, if each assign waits for the readers of its target.

    Only for assigns among these can an old value be needed too late.
    """
    places = {node: place for place, node in enumerate(order)}
    edges = [(places[s], place) for node, place in places.items() for s in node.sources]
    edges += [(places[node], places[a]) for a, reads in readers.items() for node in reads]
    return {order[place] for place in never_free(len(order), edges)}


def _is_outlived(assign: Assign, reading: Users, readers: dict[Assign, set[TensorNode]]) -> bool:
    """True if a reader of the target can only be computed after the assign.

    After the assign come its users, transitively, and each assign to a buffer that one of them
    reads.
    """
    overwriting: dict[TensorNode, list[Assign]] = {}
    for each, reads in readers.items():
        for node in reads:
            overwriting.setdefault(node, []).append(each)
    after: set[TensorNode] = {assign}
    stack: list[TensorNode] = [assign]
    while stack:
        node = stack.pop()
        later = {*reading[node], *overwriting.get(node, ())} - after
        after |= later
        stack += later
    return bool(readers[assign] & after)
