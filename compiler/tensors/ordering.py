"""Stable orders of rows: which element of a row comes first, second, … once it is sorted.

Two algorithms, both built from existing nodes, without branches that depend on data:

    counting   an element's position is the number of elements before it: n comparisons per
               element, in two kernels, whatever n is; the reductions vectorise
    merging    blocks sorted by counting are merged in pairs. Each position of a merged pair
               finds by bisection how many elements come from the left block ("merge path"; Odeh,
               Green, Mwassi, Shmueli and Birk, 2012): three kernels for each doubling, one that
               searches, two that move the keys and the order

A sorting network would need log2(n)² / 2 different kernels. The merging kernels differ
only in the width of a block, which is an input: they are one program, compiled once.
"""

from typing import TypeVar

import numpy as np

from compiler.core.dtypes import DType, bool_, int16, int32, int64, uint8
from compiler.device.buffers import new_buffer
from compiler.graph.nodes import (
    LARGEST,
    Bitcast,
    Index,
    Iota,
    Shape,
    TensorNode,
    const,
    elementwise,
)
from compiler.tensors.gathering import counting
from compiler.tensors.indexing import Indexing
from compiler.tensors.joining import Joining
from compiler.tensors.reductions import Reductions
from compiler.tensors.value import cast_to

S = TypeVar("S", bound="Rows")

COUNTED = 4096
"""Elements of a row up to which counting alone, one kernel, sorts it: 1.5 ms there and 0.15 ms for
1,000, no slower than merging then (2026-11-21; the machine is not on record). On one core of an
EPYC with AVX2 (2026-11-23) it took 0.29 ms for 1,000, 1.2 for 2,048 and 4.9 for 4,096, merging
0.18, 0.96 and 1.4; but counting compiled in 0.1 to 0.2 s, merging in 0.6 to 1.2 s."""
BLOCK = 512
"""Elements of a block that is counted before merging begins, a power of two: for 100,000 elements
28 ms, with 128 29 ms, with 32 34 ms (2026-11-21); on two busy cores of an EPYC with AVX2 115 ms,
with 128 113, with 32 130, with 2,048 174 (2026-11-23)."""

_SAME_BITS = {16: int16, 32: int32, 64: int64}


class Rows(Indexing, Joining, Reductions):
    """Tensors with the methods that sorting is written in."""

    __slots__ = ()


def key_of(node: TensorNode, descending: bool) -> TensorNode:
    """Integers in the order of the elements: equal for -0.0 and 0.0, greatest for NaN.

    Before:  f32  -inf … -1.0 -0.0 0.0 1.0 … inf NaN
    After:   i32  the same order, and equal keys for equal elements; all bits inverted if
             `descending`, which turns the order round
    """
    if node.dtype.is_storage:  # not all have their sign in the first bit
        node = cast_to(node, node.dtype.arithmetic)
    key = node
    if node.dtype == bool_:
        key = cast_to(node, uint8)
    elif node.dtype.is_float:
        key = _key_of_float(node, _SAME_BITS[node.dtype.bits])
    return elementwise("not", key) if descending else key


def _key_of_float(node: TensorNode, target: DType) -> TensorNode:
    """The bits, those of negative numbers inverted but for the sign."""
    zero = const(0.0, node.dtype, node.shape)
    plain = elementwise("where", elementwise("eq", node, zero), zero, node)
    bits = Bitcast((plain,), target)
    limit = const(target.maximum, target, node.shape)
    is_negative = elementwise("lt", bits, const(0, target, node.shape))
    turned = elementwise("where", is_negative, elementwise("xor", bits, limit), bits)
    return elementwise("where", elementwise("ne", node, node), limit, turned)


def order_of(key: S, counted: int = COUNTED, block: int = BLOCK) -> S:
    """The sorting order of [rows, n] keys as [rows, n] int64: the index of the first element in
    order, of the second, …

    Elements with equal keys keep their order. Rows of up to `counted` elements are counted in one
    step.
    """
    rows, count = key.shape
    if count <= max(counted, block) and key.size * count <= LARGEST:
        return counted_order(key)
    blocks = -(-count // block)
    key = key.pad((None, (0, blocks * block - count)), key.dtype.maximum).contiguous()
    inside = counted_order(key.reshape(rows, blocks, block))
    first = key._new(counting(inside.shape, 1)).mul(block)
    order = inside.add(first).reshape(key.shape).contiguous()
    row = key._new(counting(key.shape, 0))
    key = _read(key, row, order).contiguous()
    width = block
    while width < key.shape[1]:
        source = merged_places(key, width).contiguous()
        order, key = (_read(table, row, source).contiguous() for table in (order, key))
        width *= 2
    return order.shrink((None, (0, count)))


def counted_order(key: S) -> S:
    """The sorting order of the last axis, [..., n] int64, found by comparing every element with
    every other.

    Padding after a row gets the greatest key, so it comes last.
    """
    count = key.shape[-1]
    place = key._new(Iota((), count, int32))
    own, other = key.unsqueeze(-1), key.unsqueeze(-2)
    is_earlier = place.lt(place.unsqueeze(-1))
    is_before = is_earlier.where(other.le(own), other.lt(own))
    rank = is_before.sum(-1, dtype=int32).contiguous()
    is_there = rank.unsqueeze(-2).eq(place.unsqueeze(-1))
    return is_there.where(place, 0).sum(-1, dtype=int32).cast(int64)


def merged_places(key: S, width: int) -> S:
    """For each position of the merged rows, the current index of its element; blocks of `width`
    keys are sorted.

    `taken` is how many of the first d elements of a merged pair come from the left block: as many
    as do not come after the elements of the right block that would replace them. The number is
    built bit by bit, from the highest power of two down.
    """
    shape = key.shape
    row, at = key._new(counting(shape, 0)), key._new(counting(shape, 1))
    # The width is an input: every doubling runs the same program.
    one = key._new(new_buffer(np.array(width, np.int64), is_lifted=True))
    start = at.bitwise_and(one.mul(-2))
    middle, end = (start.add(one.mul(n)).minimum(shape[1]) for n in (1, 2))
    left, place = middle.sub(start), at.sub(start)
    taken, most = place.sub(end.sub(middle)).maximum(0), place.minimum(left)
    before, opposite = start.sub(1), middle.add(place)
    for bit in reversed(range(shape[1].bit_length())):
        more = taken.add(1 << bit)
        first, second = before.add(more), opposite.sub(more)
        is_left_first = _read(key, row, first).le(_read(key, row, second))
        taken = more.le(most).bitwise_and(is_left_first).where(more, taken)
    first, second = start.add(taken), opposite.sub(taken)
    is_left_first = _read(key, row, first).le(_read(key, row, second))
    is_left = taken.lt(left).bitwise_and(second.ge(end).bitwise_or(is_left_first))
    return is_left.where(first, second)


def _read(table: S, row: S, place: S) -> S:
    return table._new(Index((table.node, row.node, place.node)))


def bisected(table: S, values: S, right: bool, shape: Shape) -> S:
    """For each of `values` [rows, m], the number of elements of the sorted row of `table` [rows, n]
    that come before it.

    Equal elements come before it if `right`. Both operands are keys; the result is int64 of `shape`
    [rows, m].
    """
    row = table._new(counting(shape, 0))
    count = table._new(const(0, int64, shape))
    for bit in reversed(range(table.shape[1].bit_length())):
        more = count.add(1 << bit)
        found = _read(table, row, more.sub(1))
        is_before = found.le(values) if right else found.lt(values)
        count = more.le(table.shape[1]).bitwise_and(is_before).where(more, count)
    return count
