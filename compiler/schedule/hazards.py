"""hazards: what reads a buffer that the program writes reads the value it had before.

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
(`outline.py`); that is possible unless one kernel could need both the old value and the new, or
the value assigned reads elements of the target other than the one it is written to
(`in_place.py`). Then what is read is copied first, and the choice is recorded with its reason.
Elsewhere called "write after read".

Relies on: invariant 19 of `graph/verify.py`; equal nodes are one.
Ensures: no assign is computed from its target but through memory, or each element from itself;
nothing else that reads the target of an assign, but through memory, depends on the assign; no
result is the target of an assign.
"""

from compiler.graph.effects import Assign
from compiler.graph.nodes import Contiguous, Sink, TensorNode
from compiler.node import toposort
from compiler.schedule.in_place import reads_what_it_writes
from compiler.schedule.partition import Choice, is_in_memory

OVERWRITTEN = (
    "it reads other elements of the buffer it is assigned to than the one it is written to; "
    "its kernel would overwrite them meanwhile"
)
OUTLIVED = "its old value is needed together with the one that is assigned, or as a result"


def separate(root: Sink) -> tuple[Sink, list[Choice]]:
    """`root` with the copies that its assigns need, and why each is made."""
    order: list[TensorNode] = toposort([root])
    assigns = [node for node in order if isinstance(node, Assign)]
    if not assigns:
        return root, []
    kept: set[TensorNode] = set()
    copied: set[TensorNode] = set()
    readers = {each: _readers(order, each) for each in assigns}
    in_memory = {node for node in order if is_in_memory(node)}
    for each in assigns:
        target, value = each.sources
        is_read = value is target or value in readers[each]
        if target in root.sources or _is_outlived(order, each, readers):
            kept.add(target)
            readers[each] = set()
        elif is_read and not _is_in_place(each, in_memory):
            copied.add(each)
    done: dict[TensorNode, TensorNode] = {}
    for node in order:
        done[node] = node.with_sources(_sources(node, done, kept, copied))
    choices = [Choice(done[node], False, OUTLIVED) for node in order if node in kept]
    choices += [Choice(done[a].sources[1], False, OVERWRITTEN) for a in assigns if a in copied]
    result = done[root]
    assert isinstance(result, Sink)
    return result, choices


def _sources(
    node: TensorNode,
    done: dict[TensorNode, TensorNode],
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
    """Whether the value is in memory anyway, or may be written over what it reads."""
    target, value = assign.sources
    return value in in_memory - {target} or reads_what_it_writes(
        value, target, assign.parts, in_memory - {target}
    )


def _readers(order: list[TensorNode], assign: Assign) -> set[TensorNode]:
    """The nodes whose kernel may read the target's memory, the assign itself aside."""
    target = assign.sources[0]
    reads: set[TensorNode] = set()
    for node in order:
        if node is assign or isinstance(node, Sink):
            continue
        operands = node.sources[1:] if isinstance(node, Assign) else node.sources
        if any(s is target or (s in reads and not is_in_memory(s)) for s in operands):
            reads.add(node)
    return reads


def _is_outlived(
    order: list[TensorNode], assign: Assign, readers: dict[Assign, set[TensorNode]]
) -> bool:
    """Whether something that reads the target can only be computed after the assign.

    What comes after it are its users, theirs, and each assign to what one of these reads.
    """
    after: set[TensorNode] = {assign}
    count = 0
    while count != len(after):
        count = len(after)
        for node in order:
            is_user = any(source in after for source in node.sources)
            if is_user or (isinstance(node, Assign) and readers[node] & after):
                after.add(node)
    return bool(readers[assign] & after)


def uncopied(node: TensorNode, root: Sink) -> TensorNode:
    """`node`, or the value under `root` that it is a copy of."""
    known = set(toposort([root]))
    while node not in known and node.sources:
        node = node.sources[0]
    return node
