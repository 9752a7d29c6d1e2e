"""The index under which a node is read, checked against NumPy for single elements."""

import itertools
import math

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.node import toposort
from compiler.graph import nodes
from compiler.graph.dependence import (
    ZERO,
    Dependence,
    loop_index,
    matching_groups,
    source_dependence,
    through_reshape,
    union,
)
from compiler.graph.interpret import interpret
from compiler.graph.nodes import Shape, TensorNode, elementwise

X = nodes.Buffer((), 1, (2, 3), dtypes.float32, "x")
ROW = nodes.Buffer((), 2, (1, 3), dtypes.float32, "row")
SQUARE = nodes.Buffer((), 3, (4, 4), dtypes.int64, "square")
ROWS, COLUMNS = loop_index(0, 9), loop_index(1, 9)


def axes(dependence: Dependence) -> tuple[int, ...]:
    return tuple(index.axes for index in dependence)


def test_loop_indices() -> None:
    assert (ROWS.axes, COLUMNS.axes) == (1, 2)
    assert loop_index(0, 1) is ZERO
    assert loop_index(4, 9) is loop_index(4, 9) is not loop_index(5, 9)
    assert union((ROWS, ZERO, loop_index(2, 5))) == 5
    assert union(()) == 0


def test_movement_moves_the_indices_along() -> None:
    assert source_dependence(nodes.Permute((X,), (1, 0)), (ROWS, COLUMNS)) == (COLUMNS, ROWS)
    assert source_dependence(nodes.Expand((ROW,), (4, 3)), (ROWS, COLUMNS)) == (ZERO, COLUMNS)
    assert source_dependence(nodes.Expand((X,), (2, 3)), (ROWS, COLUMNS)) == (ROWS, COLUMNS)
    assert source_dependence(nodes.Reshape((X,), (2, 1, 3)), (ROWS, ZERO, COLUMNS)) == (
        ROWS,
        COLUMNS,
    )
    assert axes(source_dependence(nodes.Reshape((X,), (6,)), (ROWS,))) == (1, 1)
    assert axes(source_dependence(nodes.Reshape((X,), (3, 2)), (ROWS, COLUMNS))) == (3, 3)


def test_a_change_of_an_index_keeps_its_loops_and_shows() -> None:
    moved: tuple[TensorNode, ...] = (
        nodes.Flip((X,), (0,)),
        nodes.Pad((X,), ((1, 0), (0, 0))),
        nodes.Shrink((X,), ((1, 2), (0, 3))),
        nodes.Pad((X,), ((2, 0), (0, 0))),
    )
    found = [source_dependence(node, (ROWS, COLUMNS)) for node in moved]
    assert all(axes(each) == (1, 2) and each[1] == COLUMNS for each in found)
    assert len({each[0] for each in (*found, (ROWS, COLUMNS))}) == 5


def test_other_nodes_keep_the_dependence_of_their_user() -> None:
    inputs = (ROWS, COLUMNS)
    assert source_dependence(elementwise("neg", X), inputs) is inputs


def chains() -> list[TensorNode]:
    """Every chain of up to three movements of a square that ends in a square."""
    steps = (
        lambda n: nodes.Flip((n,), (0,)),
        lambda n: nodes.Flip((n,), (0, 1)),
        lambda n: nodes.Permute((n,), (1, 0)),
        lambda n: nodes.Reshape((nodes.Reshape((n,), (16,)),), (4, 4)),
        lambda n: nodes.Reshape((nodes.Permute((nodes.Reshape((n,), (2, 8)),), (1, 0)),), (4, 4)),
        lambda n: nodes.Expand((nodes.Shrink((n,), ((0, 1), (0, 4))),), (4, 4)),
        lambda n: nodes.Expand((nodes.Shrink((n,), ((2, 3), (0, 4))),), (4, 4)),
    )
    found: list[TensorNode] = [SQUARE]
    for _ in range(3):
        found += [step(node) for node in found for step in steps]
    return list(dict.fromkeys(found))


def test_reads_under_equal_indices_read_the_same_elements() -> None:
    data = np.arange(16).reshape(4, 4)
    seen: dict[Dependence, np.ndarray[tuple[int, ...], np.dtype[np.int64]]] = {}
    for chain in chains():
        dependence: Dependence = (loop_index(0, 4), loop_index(1, 4))
        for node in reversed(toposort([chain])[1:]):
            dependence = source_dependence(node, dependence)
        (value,) = interpret([chain], {SQUARE: data})
        np.testing.assert_array_equal(seen.setdefault(dependence, value), value)
        for axis in range(2):
            is_constant = (value == np.take(value, [0], axis)).all()
            assert union(dependence) >> axis & 1 or is_constant
    assert len(seen) > 20


SHAPES: tuple[tuple[Shape, Shape], ...] = (
    ((6,), (2, 3)),
    ((2, 3), (6,)),
    ((4, 6), (2, 2, 6)),
    ((4, 6), (8, 3)),
    ((2, 3, 4), (6, 4)),
    ((2, 3, 4), (2, 12)),
    ((2, 3, 4), (4, 3, 2)),
    ((1, 6, 1), (2, 1, 3)),
    ((1,), ()),
    ((), (1, 1)),
    ((2, 1, 3), (2, 3)),
    ((3, 2), (1, 3, 1, 2, 1)),
    ((0, 3), (3, 0)),
    ((2, 0, 5), (10, 0)),
)


@pytest.mark.parametrize(("new", "old"), SHAPES, ids=str)
def test_groups_cover_both_shapes_with_equal_products(new: Shape, old: Shape) -> None:
    groups = matching_groups(new, old)
    assert [i for left, _ in groups for i in left] == list(range(len(new)))
    assert [j for _, right in groups for j in right] == list(range(len(old)))
    if math.prod(new):
        for left, right in groups:
            assert math.prod(new[i] for i in left) == math.prod(old[j] for j in right)


@pytest.mark.parametrize(("new", "old"), SHAPES, ids=str)
def test_a_reshape_never_forgets_an_axis(new: Shape, old: Shape) -> None:
    """Wherever an index of `old` changes with one axis of `new`, the dependence says so."""
    loops = tuple(loop_index(i, extent) for i, extent in enumerate(new))
    stated = axes(through_reshape(new, old, loops))
    real = [0] * len(old)
    for index in itertools.product(*map(range, new)):
        here = position(index, new, old)
        for axis in range(len(new)):
            for value in range(new[axis]):
                there = position((*index[:axis], value, *index[axis + 1 :]), new, old)
                for j, (a, b) in enumerate(zip(here, there, strict=True)):
                    real[j] |= (1 << axis) if a != b else 0
    assert all(found & ~said == 0 for found, said in zip(real, stated, strict=True))
    assert all(not said for said, extent in zip(stated, old, strict=True) if extent == 1)


def position(index: tuple[int, ...], new: Shape, old: Shape) -> tuple[int, ...]:
    """The index into `old` of the element at `index` of `new`, both row-major."""
    flat = 0
    for value, extent in zip(index, new, strict=True):
        flat = flat * extent + value
    result = []
    for extent in reversed(old):
        result.append(flat % extent)
        flat //= extent
    return tuple(reversed(result))
