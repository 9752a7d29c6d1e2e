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
the value assigned reads the target, which is being overwritten. Then what is read is copied first,
and the choice is recorded with its reason. Elsewhere called "write after read".

Relies on: invariant 17 of `graph/verify.py`; equal nodes are one.
Ensures: no assign is computed from its target but through memory; nothing that reads the target
of an assign, but through memory, depends on the assign; no result is the target of an assign.
"""

from compiler.graph.nodes import Assign, Contiguous, Sink, TensorNode
from compiler.node import toposort
from compiler.schedule.partition import Choice

OVERWRITTEN = "it reads the buffer it is assigned to, which its kernel would overwrite meanwhile"
OUTLIVED = "its old value is needed together with the one that is assigned, or as a result"


def separate(root: Sink) -> tuple[Sink, list[Choice]]:
    """`root` with the copies that its assigns need, and why each is made."""
    order: list[TensorNode] = toposort([root])
    assigns = [node for node in order if isinstance(node, Assign)]
    if not assigns:
        return root, []
    kept: set[TensorNode] = set()
    copied: set[TensorNode] = set()
    for each in assigns:
        reads = _readers(order, each)
        if _is_outlived(order, each, reads):
            kept.add(each.sources[0])
        elif each.sources[1] in reads or each.sources[1] is each.sources[0]:
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


def _readers(order: list[TensorNode], assign: Assign) -> set[TensorNode]:
    """The nodes that are computed from the target's memory in the kernel they are in."""
    target = assign.sources[0]
    depends = _dependents(order, assign)
    reads: set[TensorNode] = set()
    for node in order:
        if node is assign or isinstance(node, Sink):
            continue
        read = node.sources[1:] if isinstance(node, Assign) else node.sources
        is_reader = any(s is target or s in reads for s in read)
        if is_reader and not (isinstance(node, Contiguous) and node not in depends):
            reads.add(node)
    return reads


def _dependents(order: list[TensorNode], assign: Assign) -> set[TensorNode]:
    """`assign` and all that is computed from it."""
    found: set[TensorNode] = {assign}
    for node in order:
        if any(s in found for s in node.sources):
            found.add(node)
    return found


def _is_outlived(order: list[TensorNode], assign: Assign, reads: set[TensorNode]) -> bool:
    """Whether the old value of the target is needed where the new one is, or is a result."""
    root = order[-1]
    if assign.sources[0] in root.sources:
        return True
    return any(node in reads for node in _dependents(order, assign))
