"""Copies, devices, clones and shards as nodes: values, devices, printed form, errors."""

import numpy as np
import pytest

import compiler
from compiler.core.errors import DeviceError, InternalError
from compiler.core.node import toposort
from compiler.device.buffers import data, new_buffer
from compiler.graph.devices import common_devices
from compiler.graph.interpret import interpret
from compiler.graph.kinds.placement import Copy, Device, Multi, Unique, copy_to, multi
from compiler.graph.nodes import Buffer, Sink, TensorNode, elementwise
from compiler.graph.verify import verify
from compiler.graph.words import describe_argument
from compiler.tensor import Tensor

X = np.arange(12, dtype="f4").reshape(4, 3)
CPU, OTHER = Device((), "CPU"), Device((), "CPU:1")


def run(node: TensorNode) -> np.ndarray:
    inputs = {n: data(n) for n in toposort([node]) if isinstance(n, Buffer)}
    return interpret([node], inputs)[0]


def test_a_copy_has_the_value_and_its_device() -> None:
    x = new_buffer(X)
    copy = Copy((x, OTHER))
    assert x.devices == ("CPU",) and copy.devices == ("CPU:1",)
    assert copy.device == "CPU:1" and not copy.clone
    np.testing.assert_array_equal(run(copy), X)
    assert describe_argument(copy) == "to CPU:1"
    assert copy_to(x, "CPU") is x and copy_to(x, "CPU:1") is copy


def test_unique_tells_two_clones_apart() -> None:
    x = new_buffer(X)
    first, second = (Copy((x, CPU, Unique((), number))) for number in (1, 2))
    assert first is not second and first.clone and Copy((x, CPU, Unique((), 1))) is first
    np.testing.assert_array_equal(run(elementwise("sub", first, second)), X - X)


@pytest.mark.parametrize(("axis", "expected"), ((0, (8, 3)), (1, (4, 6)), (None, (4, 3))))
def test_a_multi_is_its_shards_in_one(axis: int | None, expected: tuple[int, ...]) -> None:
    shards = new_buffer(X), new_buffer(X if axis is None else X + 1, device="CPU:1")
    node = multi(shards, axis)
    assert node.shape == expected and node.devices == ("CPU", "CPU:1")
    whole = X if axis is None else np.concatenate((X, X + 1), axis)
    np.testing.assert_array_equal(run(node), whole)
    words = "whole" if axis is None else f"axis {axis}"
    assert describe_argument(node) == f"{words} on CPU, CPU:1"


def test_an_empty_shard_is_not_real() -> None:
    node = multi((new_buffer(X), new_buffer(X[:0], device="CPU:1")), 0)
    assert node.real_mask == (True, False) and [place for place, _ in node.real] == [0]
    with pytest.raises(InternalError, match="copies have no lengths"):
        _ = multi((new_buffer(X),), None).lengths


def test_constants_and_files_are_in_no_place() -> None:
    on_disk = new_buffer(X, device="DISK")
    there = new_buffer(X, device="CPU:1")
    assert Tensor.ones(3).node.devices == on_disk.devices == ()
    assert elementwise("add", on_disk, there).devices == ("CPU:1",)


def test_operands_in_different_places_are_refused() -> None:
    here, there = new_buffer(X), new_buffer(X, device="CPU:1")
    both = multi((here, there), None)
    with pytest.raises(DeviceError, match="CPU and CPU:1") as error:
        elementwise("add", here, there)
    assert '.to("CPU")' in error.value.hint
    with pytest.raises(DeviceError, match="CPU, CPU:1 and CPU") as error:
        elementwise("mul", both, here)
    assert ".shard(('CPU', 'CPU:1'))" in error.value.hint
    assert common_devices(Sink(())) == ()


def _buffers(*shapes: tuple[int, ...]) -> tuple[Buffer, ...]:
    return tuple(
        new_buffer(np.zeros(shape, "f4"), device="CPU" if i == 0 else f"CPU:{i}")
        for i, shape in enumerate(shapes)
    )


WRONG: dict[str, TensorNode] = {
    "a copy names no device": Copy((new_buffer(X),)),
    "a copy names no device, but is a clone": Copy((new_buffer(X), Unique((), 1))),
    "a copy to several devices reads no such shards": Copy((new_buffer(X), CPU, OTHER)),
    "is an operand of what is no copy": elementwise("not", CPU),
    "the shards of a multi differ": Multi(_buffers((2, 3), (2, 4)), 0, (True, True)),
    "one shard per device": Multi((new_buffer(X), new_buffer(X)), 0, (True, True)),
    "has not one shard per device": Multi(_buffers((2, 3), (2, 3)), 0, (True,)),
    "wrong about which shards": Multi(_buffers((2, 3), (0, 3)), 0, (True, True)),
    "a shard is itself in shards": multi(
        (multi(_buffers((2, 3), (2, 3)), 0), new_buffer(X, device="CPU:2")), 0
    ),
}


@pytest.mark.parametrize(("what", "node"), WRONG.items(), ids=WRONG)
def test_invariant_30(what: str, node: TensorNode) -> None:
    with pytest.raises(InternalError, match=f"invariant 21: .*{what.partition(',')[0]}"):
        verify(Sink((node,)))


def test_invariant_31() -> None:
    root = Sink((multi(_buffers((2, 3), (2, 3)), 0),))
    verify(root)
    with pytest.raises(InternalError, match="invariant 22"):
        verify(root, is_sharded=True)


def test_the_graph_as_written_shows_them() -> None:
    x = Tensor(X, name="x")
    compilation = compiler.compile(x.shard(("CPU", "CPU:1"), 0).clone() + 1)
    printed = str(compilation.graph)
    for word in ("= device CPU:1", "= unique", "= multi", "axis 0 on CPU, CPU:1", "to CPU, CPU:1"):
        assert word in printed
    assert "multi" not in str(compilation.optimized_graph)
