"""Ruling 28 and the devices: found by name, shared programs, the safe mode, files as tensors."""

import gc
import json
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler.core import dtypes
from compiler.core.dtypes import DType, float32
from compiler.core.errors import CompileError, DataError, DTypeError, InternalError
from compiler.device import device, disk
from compiler.device.buffers import data
from compiler.device.device import Device
from compiler.device.program import CompiledSpec
from compiler.pipeline import kernels
from compiler.pipeline.kernels import Programs, program_spec
from compiler.program.compilation import Compilation
from compiler.tensor import Tensor
from tests.llvm.programs import PROGRAMS

Array = np.ndarray[Any, Any]


def test_ruling_28_numbered_devices_share_programs() -> None:
    assert Device.get("CPU:0").base_key == Device.get("CPU:1").base_key == "CPU"
    made = compiler.compile(Tensor(np.arange(5.0)) * 3.0)
    (kernel,) = made._kernels
    cache = Programs(4)
    first = cache.get(kernel, Device.get("CPU:0"))
    assert cache.get(kernel, Device.get("CPU:1")) is first
    assert cache.get(kernel, device.INTERPRET) is not first
    assert (cache.hits, cache.misses) == (1, 2)


def test_devices_are_found_by_name() -> None:
    assert Device.get("CPU") is Device.get("CPU:0") is device.CPU
    assert Device.get("CPU:1") is Device.get("CPU:1") is not device.CPU
    assert Device.get("CPU:1").name == "CPU:1"
    assert Device.get("INTERPRET") is device.INTERPRET
    assert Device.get("DISK") is device.DISK


@pytest.mark.parametrize("name", ["", "GPU", "cpu", "CPU:", "CPU:x", "CPU:-1", "CPU:1:2", "CPU:²"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(DataError, match="no such device"):
        Device.get(name)


def _on(made: Compilation, where: Device) -> list[Array]:
    """The results with every program loaded by `where`."""
    items = made._scheduled.items
    held = made.inputs()
    for item in items:
        for buffer in item.operation.writes:
            held[buffer] = where.allocate(buffer.size, buffer.dtype)
        kernel = made.kernel(item.operation.body)
        program = where.load(where.compile(program_spec(kernel, where), 3))
        arguments = item.operation.arguments
        program.execute([held[arguments[slot]].ctypes.data for slot in program.slots])
    return [held[buffer] for item in items[-1:] for buffer in item.operation.writes]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_interpreter_is_a_device_and_agrees_with_machine_code(name: str) -> None:
    made = compiler.compile(PROGRAMS[name]())
    (safe,), (fast,) = (_on(made, where) for where in (device.INTERPRET, device.CPU))
    assert safe.dtype == fast.dtype
    tolerance = {"f": 1e-2 if safe.itemsize == 2 else 1e-5}.get(safe.dtype.kind, 0.0)
    np.testing.assert_allclose(safe, fast, rtol=tolerance, atol=tolerance)


def test_the_interpreter_needs_instructions() -> None:
    made = compiler.compile(Tensor(np.arange(5.0)) * 3.0)
    spec = program_spec(made._kernels[0], device.INTERPRET)
    bare = type(spec)(spec.name, spec.source, spec.device, spec.metadata)
    with pytest.raises(InternalError, match="has no instructions"):
        device.INTERPRET.load(CompiledSpec(bare, 0))


def test_the_disk_executes_and_allocates_nothing() -> None:
    assert not device.DISK.is_executor and device.CPU.is_executor
    made = compiler.compile(Tensor(np.arange(5.0)) * 3.0)
    spec = kernels.program_spec(made._kernels[0], device.DISK)
    with pytest.raises(DataError, match="a disk runs no programs"):
        device.DISK.compile(spec, 3)
    with pytest.raises(DataError, match="a disk runs no programs"):
        device.DISK.load(CompiledSpec(spec, 3))
    with pytest.raises(DataError, match="a disk allocates no memory"):
        device.DISK.allocate(3, float32, "w")


# --- .npy -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4)], ids=str)
def test_npy(dtype: DType, shape: tuple[int, ...], tmp_path: Path) -> None:
    expected = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype.numpy)
    np.save(tmp_path / "w.npy", expected)
    node = disk.read_npy(tmp_path / "w.npy")
    assert (node.shape, node.dtype, node.name, node.device) == (shape, dtype, "w", "DISK")
    np.testing.assert_array_equal(data(node), expected, strict=True)


def test_npy_in_another_order_is_copied(tmp_path: Path) -> None:
    expected = np.arange(6.0).reshape(2, 3)
    for number, array in enumerate((np.asfortranarray(expected), expected.astype(">f8"))):
        np.save(tmp_path / f"{number}.npy", array)
        node = disk.read_npy(tmp_path / f"{number}.npy")
        np.testing.assert_array_equal(data(node), expected, strict=True)


def test_what_is_no_npy_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npy").write_text("not numbers")
    (tmp_path / "empty.npy").write_bytes(b"")
    np.savez(tmp_path / "many.npz", a=np.zeros(2))
    np.save(tmp_path / "objects.npy", np.array([{}, []], object))
    for name in ("text.npy", "empty.npy", "many.npz", "objects.npy"):
        with pytest.raises(DataError, match=f"read {name}"):
            disk.read_npy(tmp_path / name)
    np.save(tmp_path / "complex.npy", np.zeros(2, complex))
    with pytest.raises(DTypeError, match="unknown element type"):
        disk.read_npy(tmp_path / "complex.npy")


# --- safetensors ------------------------------------------------------------------------------


def write(path: Path, tensors: dict[str, Array], pad: int = 0, **changes: Any) -> Path:
    """A safetensors file; `changes` are made to the rows of its header."""
    names = {t.name: short for short, t in disk.ELEMENTS.items()}
    header: dict[str, Any] = {"__metadata__": {"format": "test"}}
    at = 0
    for name, array in tensors.items():
        offsets = [at, at + array.nbytes]
        row = {"dtype": names[array.dtype.name], "shape": list(array.shape)}
        header[name] = row | {"data_offsets": offsets} | changes.get(name, {})
        at += array.nbytes
    text = json.dumps(header).encode() + b" " * pad
    content = b"".join(array.tobytes() for array in tensors.values())
    path.write_bytes(len(text).to_bytes(8, "little") + text + content)
    return path


def test_safetensors_of_every_type_and_at_every_alignment(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    tensors = {t.name: rng.integers(0, 2, (3, 5)).astype(t.numpy) for t in dtypes.ALL}
    tensors |= {"scalar": np.array(2.5), "none": np.zeros((0, 4), "float32")}
    for pad in range(9):
        nodes = disk.read_safetensors(write(tmp_path / "w.safetensors", tensors, pad))
        assert sorted(nodes) == sorted(tensors)
        for name, expected in tensors.items():
            assert nodes[name].device == "DISK" and nodes[name].name == name
            np.testing.assert_array_equal(data(nodes[name]), expected, strict=True)


def test_a_file_without_tensors(tmp_path: Path) -> None:
    assert disk.read_safetensors(write(tmp_path / "w.safetensors", {})) == {}


def test_files_are_read_where_they_are_touched(tmp_path: Path) -> None:
    """A change of the file after it was opened is seen: nothing had been read."""
    tensors = {"v": np.zeros(4), "w": np.zeros(8)}
    path = write(tmp_path / "w.safetensors", tensors)
    length = int.from_bytes(path.read_bytes()[:8], "little")
    write(path, tensors, pad=-length % 8)
    np.save(tmp_path / "x.npy", np.zeros(8))
    nodes = [*disk.read_safetensors(path).values(), disk.read_npy(tmp_path / "x.npy")]
    for file in (path, tmp_path / "x.npy"):
        with file.open("r+b") as opened:
            opened.seek(-8, 2)
            opened.write(np.array(7.0).tobytes())
    assert [data(node).sum() for node in nodes] == [0.0, 7.0, 7.0]
    assert not any(data(node).flags.writeable for node in nodes)


def test_the_map_goes_with_the_last_buffer(tmp_path: Path) -> None:
    path = write(tmp_path / "w.safetensors", {"w": np.ones(8)})
    nodes = disk.read_safetensors(path)
    alive = weakref.ref(data(nodes["w"]))
    del nodes
    gc.collect()
    assert alive() is None


def test_programs_compute_with_tensors_of_files(tmp_path: Path) -> None:
    weights, biases = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    np.save(tmp_path / "w.npy", weights)
    path = write(tmp_path / "b.safetensors", {"odd": np.ones(3, "uint8"), "bias": biases})
    x = Tensor(np.ones((2, 3)))
    w = Tensor._of(disk.read_npy(tmp_path / "w.npy"))
    tensors = {name: Tensor._of(node) for name, node in disk.read_safetensors(path).items()}
    got = (x @ w + tensors["bias"]) * tensors["odd"].sum()
    np.testing.assert_array_equal(got.numpy(), (np.ones((2, 3)) @ weights + biases) * 3)


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "dtype": ({"dtype": "F6_E2M3"}, "tensor w has an unknown element type"),
    "shape": ({"shape": [3, -1]}, "tensor w has no shape"),
    "fraction": ({"shape": [3.5]}, "tensor w has no shape"),
    "size": ({"shape": [4]}, "the data of tensor w does not fit its shape"),
    "negative": ({"data_offsets": [-12, 0]}, "the data of tensor w does not fit its shape"),
    "overlap": ({"data_offsets": [8, 20]}, "tensor w overlaps another or leaves a hole"),
    "no offsets": ({"data_offsets": None}, "the header of tensor w is incomplete"),
    "one offset": ({"data_offsets": [0]}, "the header of tensor w is incomplete"),
}


@pytest.mark.parametrize(("change", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_header_is_refused_by_tensor(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "w.safetensors", {"w": np.ones(3, "float32")}, w=change)
    with pytest.raises(DataError, match=message):
        disk.read_safetensors(path)


def test_a_broken_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "w.safetensors", {"w": np.ones(3, "float32")})
    whole = path.read_bytes()
    contents = {
        "the header is longer than the file": [b"", b"\x01", whole[:20], b"\xff" * 8 + whole[8:]],
        "the tensors are not as long as the file": [whole[:-1], whole + b"\0"],
        "the header is no JSON": [(3).to_bytes(8, "little") + b"{x}"],
        "the header is not a JSON object": [(2).to_bytes(8, "little") + b"[]"],
    }
    for message, files in contents.items():
        for content in files:
            path.write_bytes(content)
            with pytest.raises(CompileError, match=message):
                disk.read_safetensors(path)
