"""float8, float4, integers of 4 and 2 bits in user programs: moved, computed, in files."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import compiler
from compiler import DataError, Tensor
from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.errors import DTypeError
from tests.evaluate import Cases, assert_same, every_engine

Array = np.ndarray[Any, Any]
each_type = pytest.mark.parametrize("dtype", dtypes.STORED, ids=str)
NUMBERED = tuple(t for t in dtypes.STORED if t is not dtypes.float8_e8m0fnu)
"""Those with zero and arithmetic worth its name; the other has powers of two."""


def _data(dtype: DType) -> Array:
    bits = np.random.default_rng(1).integers(0, 2**dtype.width, (4, 6), dtype=np.uint8)
    wide = bits.view(dtype.numpy).astype(np.float32)
    return np.where(np.isfinite(wide), wide, 1).astype(dtype.numpy)


@each_type
def test_names(dtype: DType) -> None:
    array = np.array([1, 1], dtype.numpy)
    for name in (dtype.name, dtype.short, dtype.numpy, dtype.numpy.type, dtype):
        made = Tensor([1, 1], dtype=name)
        assert made.dtype is dtype and made.numpy().dtype == dtype.numpy
        assert_same(made.numpy(), array)
    assert getattr(compiler, dtype.name) is dtype
    assert f"{dtype.short}[2]" in repr(Tensor(array))


@each_type
@every_engine
def test_what_moves_and_chooses(dtype: DType, engine: str) -> None:
    x = _data(dtype)
    made, where = Tensor(x), np.arange(24).reshape(4, 6) % 3 == 0
    cases = Cases(engine)
    for got, expected in (
        (made.T.flip(0)[1:4], x.T[::-1][1:4]),
        (made.cat(made, dim=1).reshape(-1), np.concatenate([x, x], 1).reshape(-1)),
        (Tensor(where).where(made, made.flip(1)), np.where(where, x, x[:, ::-1])),
        (made.take([2, 0, 2], 0), x[[2, 0, 2]]),
    ):
        cases.same(got.bitcast("uint8"), expected.view(np.uint8))
    cases.check()


@pytest.mark.parametrize("dtype", NUMBERED, ids=str)
@every_engine
def test_what_computes_is_rounded_once(dtype: DType, engine: str) -> None:
    x = _data(dtype)
    wide, made = x.astype(dtype.arithmetic.numpy), Tensor(x)
    with np.errstate(all="ignore"):
        product, order = (wide * wide).astype(dtype.numpy), np.sort(wide, 1).astype(dtype.numpy)
    cases = Cases(engine)
    cases.same(made * made, product)
    cases.same(made.sort(1), order, has_signed_zeros=False)
    cases.same(made < 1, wide < 1)
    cases.same(made.max(0), wide.max(0).astype(dtype.numpy), has_signed_zeros=False)
    cases.check()


def test_sums_are_kept_wide() -> None:
    ones = Tensor.ones(300, dtype="float8_e4m3fn")  # each added in it they would stop at 16
    assert ones.sum().item() == 288 and Tensor.ones(20, dtype="int4").sum().item() == 20
    assert (Tensor([7], dtype="int4") + 3).tolist() == [-6]


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "int4"])
def test_weights_of_a_layer(dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(shape).astype(np.float32) * 3 for shape in ((4, 16), (16, 8)))
    kept = Tensor(w).cast(dtype).realize()
    scales = Tensor(rng.random(8).astype(np.float32))
    made = (Tensor(x) @ (kept.float() * scales)).relu()
    exact = np.maximum(x @ (kept.numpy().astype(np.float32) * scales.numpy()), 0)
    np.testing.assert_allclose(made.numpy(), exact, 1e-5, 1e-5)
    assert compiler.compile(made).check().ok
    assert compiler.compile(made.cast("float8_e5m2")).check().ok


@each_type
def test_beside_another_type_it_is_refused_in_words(dtype: DType) -> None:
    x = Tensor(_data(dtype))
    with pytest.raises(DTypeError, match="add: a type of storage has no common type") as caught:
        x + Tensor.ones(6)
    page = str(caught.value)
    assert f"{dtype}" in page and "float64" in page and f"cast({dtype.computed_as})" in page
    assert "x + Tensor.ones(6)" in page
    with pytest.raises(DTypeError, match="needs a float type"):
        Tensor.rand(3, dtype=dtype)
    if dtype.is_integer:
        with pytest.raises(DTypeError, match="no common type"):
            x * 0.5
        with pytest.raises(DataError, match="does not fit into"):
            x + (int(dtype.maximum) + 1)


def test_signs_of_zero() -> None:
    for dtype in (dtypes.float8_e4m3fn, dtypes.float8_e5m2, dtypes.float4_e2m1fn):
        assert Tensor([-0.0, 0.0, -1.0], dtype=dtype).signbit().tolist() == [True, False, True]


@each_type
def test_npy(dtype: DType, tmp_path: Path) -> None:
    path, x = tmp_path / "x.npy", _data(dtype)
    Tensor(x).save(path)
    loaded = Tensor.load(path, dtype=dtype)
    assert isinstance(loaded, Tensor)
    assert_same(loaded.numpy(), x)
    with pytest.raises(DTypeError, match="does not say which type") as caught:
        Tensor.load(path)
    assert str(dtype) in str(caught.value)
    with pytest.raises(DTypeError, match="elements of another type"):
        Tensor.load(path, dtype="float32")


def test_npy_of_known_types_is_not_read_as_another(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(4, np.float32))
    with pytest.raises(DTypeError, match="elements of another type"):
        Tensor.load(tmp_path / "x.npy", dtype="int8")
    np.save(tmp_path / "b.npy", np.ones(4, ml_dtypes.bfloat16))
    loaded = Tensor.load(tmp_path / "b.npy")
    assert isinstance(loaded, Tensor) and loaded.dtype is compiler.bfloat16


def test_safetensors(tmp_path: Path) -> None:
    path, floats = tmp_path / "x.safetensors", [t for t in dtypes.STORED if t.is_float]
    compiler.save(path, {t.name: Tensor(_data(t)) for t in floats})
    loaded = Tensor.load(path)
    assert isinstance(loaded, dict)
    for dtype in floats:
        assert_same(loaded[dtype.name].numpy().view(np.uint8), _data(dtype).view(np.uint8))
    text = path.read_bytes()
    names = (b"F8_E4M3", b"F8_E5M2", b"F8_E4M3FNUZ", b"F8_E5M2FNUZ", b"F8_E8M0", b"F4")
    assert all(b'"' + name + b'"' in text for name in names)
    size = int.from_bytes(text[:8], "little")
    assert len(text) == 8 + size + 5 * 24 + 12  # two of 4 bits share a byte


@pytest.mark.parametrize(
    "given", [np.zeros(2, ml_dtypes.int4), np.zeros(3, ml_dtypes.float4_e2m1fn)]
)
def test_what_safetensors_cannot_hold(given: Array, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the format cannot hold tensor x"):
        compiler.save(tmp_path / "x.safetensors", {"x": Tensor(given)})
