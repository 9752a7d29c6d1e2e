"""Loading and saving tensors."""

import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, Options, SizeError, Tensor, compile
from compiler.core import dtypes
from compiler.device.buffers import data
from compiler.graph.nodes import Buffer
from tests.device.test_device import write
from tests.evaluate import assert_same, evaluate, every_engine

RNG = np.random.default_rng(29)
WEIGHTS = RNG.standard_normal((3, 4)).astype(np.float32)


def loaded(path: Path) -> Tensor:
    """The tensor of a .npy file."""
    tensor = Tensor.load(path)
    assert isinstance(tensor, Tensor)
    return tensor


def named(path: Path) -> dict[str, Tensor]:
    """The tensors of a .safetensors file."""
    tensors = Tensor.load(path)
    assert isinstance(tensors, dict)
    return tensors


def is_mapped(tensor: Tensor) -> bool:
    """True if the data are those of the file, without a copy."""
    assert isinstance(tensor.node, Buffer)
    owner: Any = data(tensor.node)
    while isinstance(owner, np.ndarray) and not isinstance(owner.base, mmap.mmap):
        owner = owner.base
    return owner is not None


@every_engine
def test_engines_read_files_in_place(engine: str, tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", WEIGHTS)
    odd = write(tmp_path / "odd.safetensors", {"a": np.ones(3, "uint8"), "w": WEIGHTS}, 1)
    for w in (loaded(tmp_path / "w.npy"), named(odd)["w"]):
        assert isinstance(w.node, Buffer) and w.node.device == "DISK"
        got = evaluate(w[1:].flip(1) * 2 + w.sum(), engine)
        assert_same(got, WEIGHTS[1:, ::-1] * 2 + WEIGHTS.sum(), rtol=1e-5)


def test_only_what_lies_badly_is_copied(tmp_path: Path) -> None:
    tensors = {"byte": np.ones(1, "uint8"), "w": WEIGHTS, "last": np.ones(2, "uint8")}
    path = write(tmp_path / "w.safetensors", tensors)
    length = int.from_bytes(path.read_bytes()[:8], "little")
    found = named(write(path, tensors, pad=-length % 8))
    in_place = {name: is_mapped(t) for name, t in found.items()}
    assert in_place == {"byte": True, "w": False, "last": True}
    np.testing.assert_array_equal(found["w"].numpy(), WEIGHTS)


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)], ids=str)
def test_round_trips(dtype: dtypes.DType, shape: tuple[int, ...], tmp_path: Path) -> None:
    array = RNG.integers(0, 2, shape).astype(dtype.numpy)
    Tensor(array).save(tmp_path / "x.npy")
    assert_same(loaded(tmp_path / "x.npy").numpy(), array)
    assert_same(np.load(tmp_path / "x.npy").view(dtype.numpy), array)
    path = tmp_path / "x.safetensors"
    compiler.save(path, {"odd": Tensor([True]), "x": Tensor(array), "é": Tensor(array) + array})
    found = named(path)
    assert_same(found["x"].numpy(), array)
    assert_same(found["é"].numpy(), array + array)
    assert all(is_mapped(t) for t in found.values() if t.size)


def test_a_file_can_replace_what_was_loaded_from_it(tmp_path: Path) -> None:
    path = tmp_path / "w.npy"
    Tensor(WEIGHTS).save(path)
    w = loaded(path)
    w[:1].save(path)
    np.testing.assert_array_equal(w.numpy(), WEIGHTS)
    np.testing.assert_array_equal(loaded(path).numpy(), WEIGHTS[:1])
    assert [p.name for p in tmp_path.iterdir()] == ["w.npy"]


def test_a_file_larger_than_the_memory_allowed(tmp_path: Path) -> None:
    """A gigabyte, of which nothing is stored but a row, and nothing is read but that."""
    path = tmp_path / "large.npy"
    array = np.lib.format.open_memmap(path, "w+", np.float64, (2**15, 2**12))
    array[7] = np.arange(2**12)
    array.flush()
    del array
    before = resident_bytes()
    x, options = loaded(path), Options(memory_limit=2**16)
    (got,) = compile(x[7] * 2, options).run()
    np.testing.assert_array_equal(got, np.arange(2**12) * 2.0)
    assert resident_bytes() - before < 2**27
    with pytest.raises(SizeError, match="does not fit in memory"):
        compile(x * 2, options).run()


def resident_bytes() -> int:
    """Bytes of memory this process holds, where the system says so."""
    numbers = Path("/proc/self/statm")
    return int(numbers.read_text().split()[1]) * 4096 if numbers.exists() else 0


def test_truth_values_of_files_are_made_some(tmp_path: Path) -> None:
    path = write(tmp_path / "t.safetensors", {"t": np.array([True, False, True])})
    path.write_bytes(path.read_bytes()[:-3] + bytes([2, 0, 255]))
    assert named(path)["t"].cast("int32").tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda p: Tensor.load(p / "x.txt"), "load: unknown kind of file"),
        (lambda p: Tensor(1).save(p / "x"), "save: unknown kind of file"),
        (lambda p: Tensor(1).save(p / "x.safetensors"), "this file holds tensors by name"),
        (lambda p: compiler.save(p / "x.npy", {"x": Tensor(1)}), "save: a .npy file does not"),
        (lambda p: compiler.save(p / "x.safetensors", Tensor(1)), "does not hold that"),
        (lambda p: compiler.save(p / "x.safetensors", {"x": 1}), "does not hold that"),
        (lambda p: compiler.save(p / "x.safetensors", {"__metadata__": Tensor(1)}), "no name"),
    ],
)
def test_refusals(use: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=text):
        use(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for name in ("x.npy", "x.safetensors"):
        with pytest.raises(FileNotFoundError):
            Tensor.load(tmp_path / name)
