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
    kept: set[TensorNode] = set()
    copied: set[TensorNode] = set()
    written: set[TensorNode] = set()
    in_memory = {n for n in order if is_in_memory(n) and not isinstance(n, Later)}
    reading = users(node for node in order if not isinstance(node, Sink))
    readers = {each: _readers(each, reading, in_memory) for each in assigns}
    circular = _circular(order, readers)
    if any(each in circular and _is_outlived(each, reading, readers) for each in assigns):
        # a value that is stored anyway ends the kernels that read an old value
        written = _written(root, options) - in_memory
        in_memory |= written
        readers = {each: _readers(each, reading, in_memory) for each in assigns}
        circular = _circular(order, readers)
        written &= {node for reads in readers.values() for node in reads}
    for each in assigns:
        target, value = each.sources
        is_read = value is target or value in readers[each]
        if target in root.sources or (each in circular and _is_outlived(each, reading, readers)):
            kept.add(target)
            readers[each] = set()
        elif is_read and not _is_in_place(each, in_memory):
            copied.add(each)
    done: dict[TensorNode, TensorNode] = {}
    seen: dict[TensorNode, TensorNode] = {}
    """The replacement of each node that its users read."""
    for node in order:
        made = done[node] = node.with_sources(_sources(node, seen, kept, copied))
        seen[node] = Contiguous((made,)) if node in written else made
    choices = [_choice(node, OUTLIVED) for node in order if node in kept]
    choices += [_choice(a.sources[1], OVERWRITTEN) for a in assigns if a in copied]
    result = done[root]
    assert isinstance(result, Sink)
    return Separated(result, choices, _originals(done, seen))


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
    done: Mapping[TensorNode, TensorNode], seen: Mapping[TensorNode, TensorNode]
) -> dict[TensorNode, TensorNode]:
    """For each new node the node that it replaces."""
    found = {made: node for node, made in [*done.items(), *seen.items()] if made not in done}
    for node, made in done.items():
        pairs = zip(made.sources, node.sources, strict=True)
        found |= {new: old for new, old in pairs if new is not seen[old] and new not in done}
    return found


def _choice(node: TensorNode, why: str) -> Choice:
    """The decision that a value is copied, with its bytes."""
    return Choice(node, False, Reason(why, Number("copied", node.nbytes, "bytes")))


def _sources(
    node: TensorNode,
    done: Mapping[TensorNode, TensorNode],
    kept: set[TensorNode],
    copied: set[TensorNode],
) -> tuple[TensorNode, ...]:
    """The new sources of a node, copied where they have to be."""
    result = []
    for operand, source in enumerate(node.sources):
        is_target = isinstance(node, Assign) and operand == 0
        is_copied = (source in kept and not is_target) or (node in copied and not is_target)
        made = done[source]
        result.append(Contiguous((made,)) if is_copied else made)
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
        found = {*reading[node], *overwriting.get(node, ())} - after
        after |= found
        stack += found
    return bool(readers[assign] & after)
