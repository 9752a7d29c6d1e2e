"""Regions of transfers: which elements they copy, and those that are refused."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from compiler.core.dtypes import float32, int8
from compiler.core.errors import ScheduleError
from compiler.graph.nodes import Buffer, Expand, Flip, Pad, Permute, Reshape, Shrink, TensorNode
from compiler.schedule.items import MemoryTransfer
from compiler.schedule.kinds import Region
from compiler.schedule.order import order
from compiler.schedule.pitch import pitched
from compiler.schedule.regions import contiguous_strides, copy
from compiler.schedule.strict.builder import KernelGraphBuilder
from compiler.schedule.strict.instantiate import create_schedule
from compiler.schedule.strict.run import run_schedule

Array = np.ndarray[Any, Any]


def test_strides_of_empty_axes_count_as_one() -> None:
    assert contiguous_strides((2, 0, 3)) == (3, 3, 1)
    assert contiguous_strides(()) == ()
    assert contiguous_strides((4, 5)) == (5, 1)


REGIONS = (
    (Region((2, 3), (6, 1), None, 7), lambda x: x.reshape(4, 6)[1:3, 1:4]),
    (Region((3, 2), (1, 6), None, 1), lambda x: x.reshape(4, 6)[:2, 1:4].T),
    (Region((4,), (-1,), None, 3), lambda x: x[3::-1]),
    (Region((), None, None, 5), lambda x: x[5:6]),
    (Region((2, 0), (6, 1)), lambda x: x[:0]),
    (Region((3, 2), (0, 1)), lambda x: np.tile(x[:2], 3)),
)


@pytest.mark.parametrize(("region", "expected"), REGIONS)
def test_a_source_region_is_packed(region: Region, expected: Callable[[Array], Array]) -> None:
    source, into = np.arange(24), np.full(24, -1)
    copy(region, into, source)
    want = expected(source).reshape(-1)
    np.testing.assert_array_equal(into[: want.size], want)
    assert (into[want.size :] == -1).all()


def test_a_pitched_destination_leaves_the_rest_alone() -> None:
    into = np.zeros((4, 5), np.int64)
    copy(Region((2, 3), None, (5, 1), 0, 6), into.reshape(-1), np.arange(6))
    assert into.tolist() == [[0] * 5, [0, 0, 1, 2, 0], [0, 3, 4, 5, 0], [0] * 5]


def test_overlapping_memory_is_read_before_it_is_written() -> None:
    array = np.arange(8)
    copy(Region((7,), None, None, 0, 1), array, array)
    assert array.tolist() == [0, 0, 1, 2, 3, 4, 5, 6]


WRONG = (
    (Region((2, 3), (6, 1), None, 20), "its region reaches outside the source"),
    (Region((3,), (-1,), None, 1), "its region reaches outside the source"),
    (Region((4, 7)), "its region reaches outside the source"),
    (Region((12,), None, None, 0, 1), "its region reaches outside the destination"),
    (Region((2, 3), (6,)), "its source has not one stride for each axis"),
    (Region((2, 3), None, (6, 1, 1)), "its destination has not one stride for each axis"),
    (Region((-1,)), "an extent of its region is negative"),
    (Region((3, 2), None, (0, 1)), "may go to one place of the destination"),
    (Region((3, 3), None, (2, 1)), "may go to one place of the destination"),
)


@pytest.mark.parametrize(("region", "problem"), WRONG)
def test_wrong_regions_are_refused(b: KernelGraphBuilder, region: Region, problem: str) -> None:
    source, into = b.input("x", np.zeros(24, np.float32)), b.buffer("t", (12,), float32)
    root = b.sink(b.after(into, b.transfer(into, source, region)))
    for schedule in (lambda: order(root), lambda: create_schedule(root, b.inputs)):
        with pytest.raises(ScheduleError, match="transfer copy") as caught:
            schedule()
        assert problem in str(caught.value)


@pytest.mark.parametrize("strides", [(4, 1), (1, 3), (6, 1), (1, 4)])
def test_a_pitched_destination_is_written_once_per_element(
    b: KernelGraphBuilder, strides: tuple[int, int]
) -> None:
    source, into = b.input("x", np.arange(24, dtype=np.float32)), b.buffer("t", (24,), float32)
    region = Region((3, 2) if strides[0] > 1 else (3, 3), None, strides)
    root = b.sink(b.after(into, b.transfer(into, source, region)))
    (item,), _ = order(root)
    assert isinstance(item.operation, MemoryTransfer) and item.operation.is_pitched
    assert replace(item.operation, destination_strides=None).is_pitched is False
    assert replace(item.operation, destination_strides=None, source_strides=strides).is_pitched


def test_other_sizes_and_types_are_refused(b: KernelGraphBuilder) -> None:
    source = b.input("x", np.zeros(4, np.float32))
    others = ((b.buffer("t", (5,), float32), "sizes"), (b.buffer("t", (4,), int8), "type"))
    for into, word in others:
        root = b.sink(b.after(into, b.transfer(into, source)))
        with pytest.raises(ScheduleError, match=f"buffers of different {word}"):
            create_schedule(root, b.inputs)


def test_a_strict_schedule_transfers_to_where_the_destination_is(b: KernelGraphBuilder) -> None:
    source = b.input("x", np.arange(6, dtype=np.float32), "DISK")
    into = Buffer((), 77, (3,), float32, "t", "CPU:1")
    region = Region((3,), (2,), None, 1)
    root = b.sink(b.after(into, b.transfer(into, source, region)))
    schedule = create_schedule(root, b.inputs)
    assert [buffer.device for buffer in schedule.items[0].buffers] == ["CPU:1", "DISK"]
    assert run_schedule(schedule)[0].tolist() == [1, 3, 5]
    (item,), _ = order(root)
    assert item.operation.devices == ("DISK", "CPU:1")
    assert item.operation.nbytes == 12


# --- which region a copy of moved elements is -------------------------------------------------

X = Buffer((), 1, (4, 6), float32, "x")


def values(node: TensorNode, array: Array) -> Array:
    """An array after movement."""
    if node is X:
        return array
    x = values(node.sources[0], array)
    match node:
        case Reshape(new_shape=shape):
            return x.reshape(shape)
        case Permute(order=axes):
            return x.transpose(axes)
        case Expand(new_shape=shape):
            return np.broadcast_to(x, shape)
        case Shrink(bounds=bounds):
            return x[tuple(slice(a, b) for a, b in bounds)]
        case Flip(axes=axes):
            return np.flip(x, axes)
    raise AssertionError(node)


STEPS = (
    lambda x: Permute((x,), tuple(reversed(range(len(x.shape))))),
    lambda x: Flip((x,), (0,)),
    lambda x: Shrink((x,), tuple((n // 3, n) for n in x.shape)),
    lambda x: Reshape((x,), (1, *x.shape, 1)),
    lambda x: Reshape((x,), (x.size,)),
    lambda x: Reshape((x,), (x.size // 2, 2) if x.size % 2 == 0 else (x.size,)),
    lambda x: Expand((Reshape((x,), (1, *x.shape)),), (2, *x.shape)),
)


@pytest.mark.parametrize("first", range(len(STEPS)))
def test_movement_is_a_region_or_is_computed(first: int) -> None:
    for rest in itertools.product(STEPS, repeat=2):
        node: TensorNode = X
        for step in (STEPS[first], *rest):
            node = step(node)
        _check(node)


def _check(node: TensorNode) -> None:
    array = np.arange(24.0).reshape(4, 6)
    expected = values(node, array).reshape(-1)
    base, region = pitched(node)
    if base is node:
        assert not np.shares_memory(values(node, array), array), "NumPy needs a copy as well"
        return
    assert base is X
    into = np.zeros(node.size)
    copy(region or Region(base.shape), into, array.reshape(-1))
    np.testing.assert_array_equal(into, expected)


def test_a_pad_is_no_region() -> None:
    node = Shrink((Pad((X,), ((1, 0), (0, 0))),), ((0, 2), (0, 6)))
    assert pitched(node) == (node.sources[0], Region((2, 6), (6, 1)))
