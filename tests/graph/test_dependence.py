"""Which axes an index depends on, held against what NumPy says about single elements."""

import itertools
import math

import pytest

from compiler import dtypes
from compiler.graph.dependence import (
    matching_groups,
    source_dependence,
    through_reshape,
    union,
)
from compiler.graph.nodes import (
    Buffer,
    Expand,
    Flip,
    Pad,
    Permute,
    Reshape,
    Shape,
    Shrink,
    elementwise,
)

X = Buffer((), 1, (2, 3), dtypes.float32, "x")
ROW = Buffer((), 2, (1, 3), dtypes.float32, "row")
I, J, K = 1, 2, 4


def test_union() -> None:
    assert union((I, 0, I | K)) == I | K
    assert union(()) == 0


def test_movement_moves_the_axes_along() -> None:
    assert source_dependence(Permute((X,), (1, 0)), (I, J)) == (J, I)
    assert source_dependence(Expand((ROW,), (4, 3)), (I, J)) == (0, J)
    assert source_dependence(Expand((X,), (2, 3)), (I, J)) == (I, J)
    assert source_dependence(Reshape((X,), (6,)), (I,)) == (I, I)
    assert source_dependence(Reshape((X,), (3, 2)), (I, J)) == (I | J, I | J)
    assert source_dependence(Reshape((X,), (2, 1, 3)), (I, 0, J)) == (I, J)


def test_other_nodes_keep_the_dependence_of_their_user() -> None:
    given = (I, J)
    for node in (
        Flip((X,), (0,)),
        Pad((X,), ((1, 0), (0, 0))),
        Shrink((X,), ((0, 1), (1, 3))),
        elementwise("neg", X),
    ):
        assert source_dependence(node, given) is given


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
    stated = through_reshape(new, old, tuple(1 << i for i in range(len(new))))
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
