"""Tensors that are stored together with selections of their elements.

    p = logits.softmax(-1)
    best = p.max()
    best.item()         computes `best`, and stores `p` too
    (p == best).sum()   at least 1: both are of one program

Two programs may add the terms of a sum in different orders. If `p` were recomputed, its last bits
could differ, and no element would equal `best`. Elementwise operations give the same bits
everywhere; only values that depend on a sum of floats need to be stored.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from compiler.core.node import toposort
from compiler.graph.kinds.effects import Scatter
from compiler.graph.kinds.joins import Cat, Gather
from compiler.graph.kinds.markers import Detach
from compiler.graph.kinds.placement import Copy
from compiler.graph.kinds.scan import Scan
from compiler.graph.nodes import (
    MOVEMENT,
    Bitcast,
    Cast,
    Const,
    Contiguous,
    Elementwise,
    Expand,
    Index,
    Iota,
    Reduce,
    Reshape,
    TensorNode,
)
from compiler.ops.table import COMPARISONS, EXACT, SELECTING
from compiler.tensors.variables import is_realized

FOLDING = (Reduce, Scan, Scatter)
KEEPING = (*MOVEMENT, Bitcast, Cast, Cat, Contiguous, Copy, Detach, Gather, Index)
"""Node kinds whose elements are those of their operands."""
EXACT_KINDS = (Elementwise, Const, Iota, *KEEPING)
"""Node kinds that give the same bits in every program."""


def selected(
    roots: Sequence[TensorNode], order: Sequence[TensorNode],
    held: Callable[[TensorNode], Iterable[Any]],
) -> list[Any]:  # fmt: skip
    """The lazy tensors that elements of `roots` are selected from, and that another program may
    compute with other bits. `order` has all nodes that `roots` need; `held` gives the tensors that
    hold a node."""
    if not any(_selects(node) for node in order):
        return []
    uncertain = _uncertain(order)
    uncertain.difference_update(roots)
    if not uncertain:
        return []
    uncertain &= _below(_selections(roots, order), order)
    return [tensor for node in order if node in uncertain for tensor in held(node)]


def _selects(node: TensorNode) -> bool:
    """True for a maximum, a minimum, and a comparison of two computed floats."""
    if isinstance(node, FOLDING):
        return node.op in SELECTING and node.dtype.is_float
    if not isinstance(node, Elementwise) or node.op not in COMPARISONS:
        return False
    return not any(map(_is_constant, node.sources))


def _is_constant(node: TensorNode) -> bool:
    while isinstance(node, Expand | Reshape):
        node = node.sources[0]
    return isinstance(node, Const | Iota) or not node.dtype.is_float


def _selections(
    roots: Sequence[TensorNode], order: Sequence[TensorNode]
) -> list[TensorNode]:
    """The nodes of which `roots` have exact elements."""
    ends = {node for node in order if not _is_kept(node)}
    return [n for n in toposort(roots, ends) if _selects(n) and not is_realized(n)]


def _is_kept(node: TensorNode) -> bool:
    """True if the elements of the result are those of operands, or truth values and positions of
    them."""
    if _selects(node) or is_realized(node):
        return False
    if isinstance(node, Elementwise):
        return not node.dtype.is_float or node.op in EXACT
    return isinstance(node, KEEPING) or (isinstance(node, Reduce) and not node.dtype.is_float)


def _below(
    selections: Sequence[TensorNode], order: Sequence[TensorNode]
) -> set[TensorNode]:
    """Operands of selections, and the nodes that these are computed from without a sum of
    floats."""
    begins = [source for node in selections for source in node.sources]
    return set(toposort(begins, {node for node in order if is_realized(node) or _adds(node)}))


def _adds(node: TensorNode) -> bool:
    """True for a node that may add floats in an order that the program chooses."""
    if not node.dtype.is_float:
        return False
    if isinstance(node, FOLDING):
        return node.op not in SELECTING
    return not isinstance(node, EXACT_KINDS) and not is_realized(node) and bool(node.sources)


def _uncertain(order: Sequence[TensorNode]) -> set[TensorNode]:
    """The float nodes of `order` that depend on a sum, without those in memory."""
    found: set[TensorNode] = set()
    for node in order:
        if _adds(node) or (found and not found.isdisjoint(node.sources) and not is_realized(node)):
            found.add(node)
    return {node for node in found if node.dtype.is_float}
