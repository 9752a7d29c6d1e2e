"""Which loop axes the index of a node depends on, pushed from a node to its sources.

The axes of a kernel are numbered; the dependence of a node is one bit set of axis numbers per
axis of the node. Movement moves the sets along; a broadcast axis depends on nothing.
"""

from typing import TypeAlias

from compiler.graph.nodes import Expand, Permute, Reshape, Shape, TensorNode

Dependence: TypeAlias = tuple[int, ...]


def union(dependence: Dependence) -> int:
    """All axes a node depends on, as one bit set."""
    result = 0
    for axes in dependence:
        result |= axes
    return result


def source_dependence(node: TensorNode, dependence: Dependence) -> Dependence:
    """The dependence of the source of a movement node (others keep their user's)."""
    match node:
        case Permute():
            table = dict(zip(node.order, dependence, strict=True))
            return tuple(table[axis] for axis in range(len(dependence)))
        case Expand():
            pairs = zip(node.sources[0].shape, node.shape, dependence, strict=True)
            return tuple(0 if extent != new else axes for extent, new, axes in pairs)
        case Reshape():
            return through_reshape(node.shape, node.sources[0].shape, dependence)
        case _:
            return dependence


def through_reshape(new: Shape, old: Shape, dependence: Dependence) -> Dependence:
    """Dependence of `old`'s axes where `new`'s is given: axes that split or join share theirs."""
    result = [0] * len(old)
    for new_axes, old_axes in matching_groups(new, old):
        axes = union(tuple(dependence[i] for i in new_axes))
        for i in old_axes:
            result[i] = axes if old[i] != 1 else 0
    return tuple(result)


def matching_groups(new: Shape, old: Shape) -> list[tuple[list[int], list[int]]]:
    """The shortest runs of axes of both shapes with equal products, left to right."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(new) or j < len(old):
        left, right = [i] if i < len(new) else [], [j] if j < len(old) else []
        a, b = (new[i] if left else 1), (old[j] if right else 1)
        i, j = i + len(left), j + len(right)
        while a != b and (i < len(new) or j < len(old)):
            if (a < b and i < len(new)) or j >= len(old):
                left.append(i)
                a, i = a * new[i], i + 1
            else:
                right.append(j)
                b, j = b * old[j], j + 1
        groups.append((left, right))
    return groups
