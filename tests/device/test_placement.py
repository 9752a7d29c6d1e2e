"""`Tensor.to` and `clone`, the devices that kernels run on, files as sources, memory per device."""

from pathlib import Path

import numpy as np
import pytest

import compiler
from compiler import Device, DeviceError, Options, Tensor
from compiler.core.errors import CompileError, DataError, SizeError
from compiler.device import device
from compiler.device.buffers import data
from compiler.device.disk import read_npy
from compiler.program.compilation import Compilation
from compiler.schedule.items import Kernel, MemoryTransfer
from tests.evaluate import evaluate, every_engine

X = np.arange(12, dtype="f4").reshape(4, 3)


def operations(tensor: Tensor) -> list[Kernel | MemoryTransfer]:
    """The operations of a program, in order."""
    made = Compilation([tensor.node], Options(), "test")
    return [item.operation for item in made.schedule.items]


def test_to_copies_once_and_only_where_it_must() -> None:
    x = Tensor(X)
    assert x.to("CPU").node is x.node and x.to("CPU:0").node is x.node
    (copy,) = operations(x.to("CPU:1").to("CPU:1"))
    assert isinstance(copy, MemoryTransfer)
    assert (copy.source_device, copy.destination_device, copy.nbytes) == ("CPU", "CPU:1", 48)
    (there,) = operations(x.to("CPU:1").to("CPU:2"))
    assert there.devices == ("CPU", "CPU:2")
    assert operations(x.to("CPU:1").to("CPU") + 1)[0].devices == ("CPU",)


def test_the_value_of_a_copy_is_its_own() -> None:
    held = np.ones(3)
    x = Tensor(held)
    copy, clone = x.to("CPU:1").realize(), x.clone().realize()
    held[:] = 7
    assert copy.tolist() == clone.tolist() == [1, 1, 1] and x.tolist() == [7, 7, 7]
    assert (copy.device, clone.device) == ("CPU:1", "CPU")


def test_two_clones_are_two_values() -> None:
    x = Tensor(X)
    both = operations(x.clone() + x.clone())
    assert [type(o) for o in both] == [MemoryTransfer, MemoryTransfer, Kernel]
    once = x.clone()
    assert len(operations(once + once)) == 2


@every_engine
def test_a_part_is_copied_in_pitches(engine: str) -> None:
    moved = Tensor(X)[1:4, ::2].T.to("CPU:1")
    np.testing.assert_array_equal(evaluate(moved + 0.5, engine), X[1:4, ::2].T + 0.5)
    part = operations(Tensor(X)[1:3].to("CPU:1"))
    assert [o.name for o in part] == ["copy"] and part[0].writes[0].shape == (2, 3)


def test_kernels_run_where_their_inputs_are() -> None:
    x = Tensor(X).to("CPU:1")
    _, kernel = operations(x.exp())
    assert kernel.devices == ("CPU:1",) and kernel.writes[0].device == "CPU:1"
    assert x.exp().realize().device == "CPU:1"


def test_operands_on_two_devices_are_refused_where_they_meet() -> None:
    x, y = Tensor(X).to("CPU:1"), Tensor(X)
    with pytest.raises(DeviceError) as error:
        x @ y.T
    page = str(error.value)
    for words in ("mul: the operands are on different devices", "CPU:1 and CPU", "x @ y.T", ".to("):
        assert words in page
    assert (x + 1 + Tensor.ones(4, 3).float()).device == "CPU:1"  # constants have no device
    np.testing.assert_array_equal((x + y.to("CPU:1")).numpy(), X + X)


@pytest.mark.parametrize("name", ("GPU", "", 3, None, ("CPU", "CPU"), ()))
def test_what_is_no_device(name: object) -> None:
    with pytest.raises(DeviceError):
        Tensor(X).to(name)  # type: ignore[arg-type]


def test_nothing_moves_to_files() -> None:
    with pytest.raises(DeviceError, match="nothing can be moved to files"):
        Tensor(X).to("DISK")


@pytest.mark.parametrize("base", ("CPU", "CPU:1", "INTERPRET"))
def test_constants_are_computed_where_they_are_wanted(base: str) -> None:
    made = Tensor.arange(5).to(base)
    (kernel,) = operations(made)
    assert kernel.devices == (base,) and made.realize().device == base
    assert made.tolist() == [0, 1, 2, 3, 4]


# --- files ----------------------------------------------------------------------------------------


@pytest.fixture
def on_disk(tmp_path: Path) -> Tensor:
    np.save(tmp_path / "x.npy", X)
    return Tensor._of(read_npy(tmp_path / "x.npy"))


@every_engine
def test_a_file_is_read_by_kernels_and_by_transfers(on_disk: Tensor, engine: str) -> None:
    assert on_disk.device == "DISK"
    np.testing.assert_array_equal(evaluate(on_disk + on_disk.to("CPU"), engine), X + X)
    np.testing.assert_array_equal(evaluate(on_disk[1:].to("CPU:1") * 2, engine), X[1:] * 2)


def test_where_a_file_is_read(on_disk: Tensor) -> None:
    (kernel,) = operations(on_disk * 2)
    assert kernel.devices == ("CPU",)
    there = Tensor(X).to("CPU:1").realize()
    (kernel,) = operations(on_disk * there)
    assert kernel.devices == ("CPU:1",)  # the first input that is not on disk
    (copy,) = operations(on_disk[2:].to("CPU:1"))
    assert copy.devices == ("DISK", "CPU:1") and copy.nbytes == 24
    assert on_disk.shard(("CPU", "CPU:1"), 0).sum().item() == X.sum()


# --- INTERPRET ------------------------------------------------------------------------------------


def test_a_whole_program_on_the_interpreter() -> None:
    x = Tensor(X)
    y = (x @ x.T).softmax(1).sum(0) + Tensor.rand(4)
    expected = Compilation([y.node], Options(), "fast").run()[0]
    safe = Compilation([y.node], Options(device="INTERPRET"), "safe")
    np.testing.assert_allclose(safe.run()[0], expected, rtol=1e-6)
    assert {type(p).__name__ for p in safe.load().values()} == {"InterpretedProgram"}


def test_a_tensor_on_the_interpreter() -> None:
    y = (Tensor(X).to("INTERPRET") * 2).sum(0)
    made = Compilation([y.node], Options(), "safe")
    assert {type(p).__name__ for p in made.load().values()} == {"InterpretedProgram"}
    assert y.realize().device == "INTERPRET" and y.tolist() == [36, 44, 52]
    assert y.to("CPU").device == "CPU" and y.to("CPU").tolist() == [36, 44, 52]


def test_a_program_on_no_such_device() -> None:
    made = Compilation([(Tensor(X) + 1).node], Options(device="GPU"), "none")
    with pytest.raises(DataError, match="no such device"):
        made.run()
    made = Compilation([(Tensor(X) - 1).node], Options(device="DISK"), "none")
    with pytest.raises(DataError, match="a disk runs no programs"):
        made.run()


# --- memory ---------------------------------------------------------------------------------------


def test_memory_says_what_is_in_use() -> None:
    memory = Device.get("CPU").memory
    assert memory is not None and memory is Device.get("CPU:3").memory
    assert Device.get("DISK").memory is None
    before = memory.use
    held = (Tensor(np.ones(100_000)) + 1).realize()
    assert memory.use.live >= before.live + 800_000 and memory.use.peak >= memory.use.live
    assert data(held.node).ctypes.data % 64 == 0  # type: ignore[arg-type]
    cached = memory.use.cached
    del held
    assert memory.use.cached >= cached + 800_000


def test_a_budget_refuses_a_tensor_by_name() -> None:
    memory = Device.get("CPU").memory
    assert memory is not None
    y = Tensor(np.ones(1 << 16)) + 1
    made = Compilation([y.node], Options(), "large")
    memory.budget = memory.use.live + 1024
    try:
        with pytest.raises(SizeError) as caught:
            made.run()
        assert caught.value.operation == "allocate"
        assert f"at most {memory.budget:,} bytes" in caught.value.expected
    finally:
        memory.budget = None
    assert made.run()[0].sum() == 1 << 17


def test_a_limit_refuses_before_anything_is_allocated() -> None:
    memory = Device.get("CPU").memory
    assert memory is not None
    y = Tensor(np.ones(1 << 12)).to("CPU:1") * 2
    made = Compilation([y.node], Options(memory_limit=1 << 10), "large")
    before = memory.use.live
    with pytest.raises(SizeError, match="does not fit in memory"):
        made.run()
    assert memory.use.live == before


def test_the_devices_are_public() -> None:
    assert compiler.Device.get("CPU") is device.CPU
    assert issubclass(DeviceError, CompileError)
