"""In-place analysis: decides if a value may overwrite its own inputs, element by element.

    x[2:5] = x[2:5] * 2 + y     reads each element that it writes, and no other: in place
    x[1:] = x[:-1]              reads what an earlier element has overwritten: not in place

Each path from the value to the target is a chain of movement and elementwise operations. The
movement of the chain determines the offset and strides at which the target is read. These have to
equal those of the elements that are written.
"""

from collections.abc import Collection

from compiler.core.node import toposort
from compiler.graph.kinds.effects import Custom
from compiler.graph.nodes import (
    Bitcast,
    Cast,
    Elementwise,
    Pad,
    Parts,
    Reshape,
    Shape,
    Shrink,
    TensorNode,
)
from compiler.schedule.pitch import CHOOSING, moved
from compiler.schedule.regions import contiguous_strides

Chain = tuple[TensorNode, ...]
LIMIT = 4096
"""The most paths that are followed: with more, the answer is False. A bound on the work, chosen
and not measured."""


def reads_what_it_writes(
    value: TensorNode, target: TensorNode, parts: Parts, in_memory: Collection[TensorNode] = ()
) -> bool:
    """True if `value`, written to `parts` of `target`, reads only the element it overwrites.

    `parts` is empty for the whole target. Values `in_memory` are loaded, not computed.
    """
    reading = _readers(value, target, in_memory)
    wanted = _written(value.shape, target.shape, parts)
    stack: list[tuple[TensorNode, Chain]] = [(value, ())]
    seen = set(stack)
    while stack:
        node, chain = stack.pop()
        if node is target:
            if _elements(target.shape, chain) != wanted:
                return False
            continue
        below = _below(node, chain)
        if below is None or len(seen) > LIMIT:
            return False
        for source in node.sources:
            if source in reading and (source, below) not in seen:
                seen.add((source, below))
                stack.append((source, below))
    return True


def _readers(
    value: TensorNode, target: TensorNode, in_memory: Collection[TensorNode]
) -> set[TensorNode]:
    """The target, and the values computed from it in the kernel of `value`."""
    readers = {target}
    for node in toposort([value], leaves={target, *in_memory}):
        if node not in in_memory and any(source in readers for source in node.sources):
            readers.add(node)
    return readers


def _below(node: TensorNode, chain: Chain) -> Chain | None:
    """The movement above the sources of `node`; None if an element needs several of theirs."""
    if isinstance(node, (*CHOOSING, Pad)):
        return (*chain, node)
    if isinstance(node, Elementwise | Cast | Bitcast):
        return chain
    if isinstance(node, Custom) and all(s.shape == node.shape for s in node.sources):
        return chain
    return None


def _written(shape: Shape, target: Shape, parts: Parts) -> tuple[Shape, int]:
    """Strides and offset of the elements that are written."""
    strides = contiguous_strides(target)
    if not parts:
        return _plain(shape, strides, 0)
    offset = sum(begin * s for (begin, _, _), s in zip(parts, strides, strict=True))
    steps = tuple(step * s for (_, _, step), s in zip(parts, strides, strict=True))
    return _plain(shape, steps, offset)


def _elements(shape: Shape, chain: Chain) -> tuple[Shape, int] | None:
    """Strides and offset of the target's elements under `chain`, outermost movement first."""
    strides, offset = contiguous_strides(shape), 0
    rest = list(chain)
    while rest:
        node = rest.pop()
        shape = node.shape
        if isinstance(node, Pad):
            if len(rest) < 2 or not _is_thinned(node, rest[-1], rest[-2]):
                return None
            rest.pop()
            shape = rest.pop().shape
            steps = node.shape
            # [count * step] is [count, step], of which column 0 is kept
            pairs = zip(strides, steps, shape[::2], strict=True)
            strides = tuple(n for s, m, c in pairs for n in (s * (m // max(c, 1)), s))
            continue
        place = moved(node, strides, offset)
        if place is None:
            return None
        strides, offset = place
    return _plain(shape, strides, offset)


def _is_thinned(pad: Pad, columns: TensorNode, kept: TensorNode) -> bool:
    """True if every step-th element of the padded axis is taken, and none of the zeros."""
    if not isinstance(columns, Reshape) or not isinstance(kept, Shrink) or 0 in pad.shape:
        return False
    if len(columns.shape) != 2 * len(pad.shape) or any(before for before, _ in pad.widths):
        return False
    pairs = zip(columns.shape[::2], columns.shape[1::2], strict=True)
    counts = zip(pairs, pad.shape, pad.sources[0].shape, strict=True)
    is_split = all(c * step == n and (c - 1) * step < whole for (c, step), n, whole in counts)
    columns_kept = zip(columns.shape[::2], kept.bounds[::2], kept.bounds[1::2], strict=True)
    return is_split and all(
        outer == (0, count) and inner == (0, 1) for count, outer, inner in columns_kept
    )


def _plain(shape: Shape, strides: Shape, offset: int) -> tuple[Shape, int]:
    """Strides with 0 for axes of one element, where they have no effect."""
    return tuple(0 if n == 1 else s for n, s in zip(shape, strides, strict=True)), offset
