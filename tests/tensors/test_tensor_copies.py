"""Copies of tensors between devices, clones, and devices of tensors; on every engine."""

from pathlib import Path

import numpy as np
import pytest

import compiler
from compiler import DeviceError, Tensor, Variable
from compiler.device.disk import read_npy
from compiler.run.realize import realize
from compiler.schedule.items import Kernel, MemoryTransfer
from tests.evaluate import assert_same, evaluate, every_engine

X = np.arange(24.0).reshape(4, 6)


def transfers(*tensors: Tensor) -> list[MemoryTransfer]:
    """The transfers of a program."""
    items = compiler.compile(list(tensors)).schedule.items
    return [i.operation for i in items if isinstance(i.operation, MemoryTransfer)]


@every_engine
def test_values_on_another_device(engine: str) -> None:
    x = Tensor(X)
    found = (x.to("CPU:1") * 2).sum(axis=0).to("CPU") + x[0]
    assert_same(evaluate(found, engine), (X * 2).sum(axis=0) + X[0])
    assert_same(evaluate((x * 2)[1:3, ::-1].T.to("CPU:1") + 1, engine), (X * 2)[1:3, ::-1].T + 1)
    assert_same(evaluate(Tensor.zeros(3).to("CPU:1"), engine), np.zeros(3))
    assert_same(evaluate(Tensor(np.zeros((0, 2))).clone(), engine), np.zeros((0, 2)))
    assert_same(evaluate(x.sum().clone().clone(), engine), X.sum())


def test_devices_follow_the_inputs() -> None:
    x = Tensor(X)
    far = x.to("CPU:1") + 1
    assert (x.device, far.device, far.sum().clone().device) == ("CPU", "CPU:1", "CPU:1")
    assert x.to("CPU").node is x.node and x.to("CPU:0").node is x.node
    assert far.realize().device == "CPU:1"
    assert not transfers(far * 2)
    kernels = [i.operation for i in compiler.compile(far * 2).schedule.items]
    assert [k.device for k in kernels if isinstance(k, Kernel)] == ["CPU:1"]
    assert all(b.device == "CPU:1" for k in kernels for b in k.writes)


def test_the_interpreter_computes_what_is_copied_to_it() -> None:
    found = (Tensor(X).to("INTERPRET") * 3).sum(axis=1)
    compilation = compiler.compile(found)
    assert "kernel k0 on INTERPRET" in str(compilation.schedule)
    np.testing.assert_array_equal(found.numpy(), (X * 3).sum(axis=1))


def test_movement_alone_is_a_pitched_transfer() -> None:
    part = Tensor(X)[1:3, 2:5]
    (copy,) = transfers(part.to("CPU:1"))
    assert (copy.dims, copy.source_strides, copy.source_offset) == ((2, 3), (6, 1), 8)
    assert (copy.nbytes, copy.devices) == (48, ("CPU", "CPU:1"))
    np.testing.assert_array_equal(part.to("CPU:1").numpy(), X[1:3, 2:5])
    assert "2×3 from 8 strides (6,1)" in str(compiler.compile(part.clone()).kernels)


def test_a_clone_has_memory_of_its_own() -> None:
    x = Tensor(X)
    first, second = x.clone(), x.clone()
    assert len(transfers(first, second)) == 2
    one, other = realize([first.node, second.node])
    assert one is not other and not np.shares_memory(first.numpy(), X)


def test_a_file_is_read_by_a_transfer(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    x = Tensor(X)._new(read_npy(tmp_path / "x.npy"))
    (copy,) = transfers(x.to("CPU:1"))
    assert copy.devices == ("DISK", "CPU:1")
    np.testing.assert_array_equal(x.to("CPU").numpy(), X)
    assert transfers(x.to("CPU"))[0].destination_device == "CPU" and x.device == "DISK"


def test_axes_of_variable_extent_are_copied() -> None:
    n = Variable("n", 1, 10)
    x = Tensor(X, symbolic={0: n})
    found = (x.to("CPU:1") + 1).sum(axis=0)
    np.testing.assert_array_equal(found.numpy(), (X + 1).sum(axis=0))


@pytest.mark.parametrize("rows", [1, 4])
def test_what_a_variable_summed_up_is_sharded(rows: int) -> None:
    x = Tensor(X[:rows], symbolic={0: Variable("n", 1, 4)})
    sharded = (x.sum() + 1).shard(("CPU", "CPU:1"))
    assert sharded.numpy() == X[:rows].sum() + 1


def test_operands_on_different_devices_are_refused() -> None:
    with pytest.raises(DeviceError) as caught:
        (Tensor(X) + Tensor(X).to("CPU:1")).numpy()
    assert "the operands are on different devices" in str(caught.value)
    assert "CPU and CPU:1" in str(caught.value)


@pytest.mark.parametrize("name", ["DISK", "GPU", "", "CPU:x"])
def test_other_devices_are_refused(name: str) -> None:
    with pytest.raises(DeviceError):
        Tensor(X).to(name)


@every_engine
def test_constants_in_memory_are_copied_to_where_they_are_read(engine: str) -> None:
    array = np.arange(4.0)
    here, there = Tensor(array), Tensor(array).to("CPU:1")
    weights = (Tensor.arange(4.0) * 2).contiguous()
    assert_same(evaluate(weights.flip(0) + weights + there, engine), array + 6)
    both = (weights + there).to("CPU") + weights + here
    assert_same(evaluate(both, engine), array * 6)
    total = Tensor.arange(4.0).sum().contiguous()
    assert_same(evaluate(total.to("CPU:1") * there, engine), array * 6)
