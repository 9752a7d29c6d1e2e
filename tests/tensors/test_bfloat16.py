"""bfloat16 in user programs: types of results, sums, files, and conversion to NumPy."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import compiler
from compiler import Tensor, Variable
from compiler.core import dtypes
from compiler.core.errors import DTypeError
from tests.evaluate import assert_same, evaluate, every_engine

Array = np.ndarray[Any, Any]
BF16 = ml_dtypes.bfloat16


def _normal(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(BF16)


@pytest.mark.parametrize("name", ["bfloat16", "bf16", BF16, np.dtype(BF16), compiler.bfloat16])
def test_names(name: Any) -> None:
    made = Tensor([1.5, 2], dtype=name)
    assert made.dtype is compiler.bfloat16 and made.dtype == name and name == made.dtype
    assert made.numpy().dtype == BF16 and made.numpy().tolist() == [1.5, 2]
    assert {compiler.bfloat16: 1}[np.dtype(BF16)] == 1  # type: ignore[index]


PROMOTED = {
    **dict.fromkeys(("bool", "int8", "uint8", "int16", "int32", "int64", "uint64"), "bfloat16"),
    "bfloat16": "bfloat16", "float16": "float32", "float32": "float32", "float64": "float64",
}  # fmt: skip
"""As PyTorch 2.13 and JAX 0.10 have it; NumPy has no common type for most of these."""


@pytest.mark.parametrize("other", PROMOTED)
def test_common_types(other: str) -> None:
    x, y = Tensor([1.5], dtype="bfloat16"), Tensor([2]).cast(other)
    for made in (x + y, y * x, Tensor([True]).where(x, y)):
        assert made.dtype == PROMOTED[other]
    assert (x + y).numpy().astype(float).tolist() == [2.5 if other == "bool" else 3.5]


@pytest.mark.parametrize("number", [True, 2, 2.5])
def test_python_numbers_are_weak(number: float) -> None:
    x = Tensor([1.5], dtype="bfloat16")
    for made in (x + number, number * x, x.maximum(number), x**number):
        assert made.dtype is compiler.bfloat16


@every_engine
def test_sums_and_products_are_kept_in_float32(engine: str) -> None:
    ones = Tensor.ones(4096, 2, dtype="bfloat16")  # each added in bfloat16 they would stop at 256
    assert_same(evaluate(ones.sum(0), engine), np.array([4096, 4096], BF16))
    assert_same(evaluate(ones.mean(), engine), np.array(1, BF16))
    x, y = _normal(7, 70), _normal(70, 9)
    exact = x.astype(np.float64) @ y.astype(np.float64)
    got = evaluate(Tensor(x) @ Tensor(y), engine).astype(np.float64)
    assert (np.abs(got - exact) <= np.abs(exact) * 2**-8 + 1e-5).all()
    summed = evaluate(Tensor(x).cumsum(1), engine).astype(np.float64)
    exact = np.cumsum(x.astype(np.float64), 1)
    assert (np.abs(summed - exact) <= np.abs(exact) * 2**-8 + 1e-5).all()


@every_engine
def test_what_orders_and_finds(engine: str) -> None:
    x = np.array([3, -0.0, np.nan, 0.5, -np.inf, 100, 0.5], BF16)
    wide = x.astype(np.float32)
    assert_same(evaluate(Tensor(x).sort(), engine), np.sort(wide).astype(BF16))
    assert evaluate(Tensor(x).argmax(), engine) == 2
    assert evaluate(Tensor(x[3:]).argmin(), engine) == 1
    assert np.isnan(evaluate(Tensor(x).max(), engine).astype(float))
    assert_same(evaluate(Tensor(x).isnan(), engine), np.isnan(wide))
    fixed = evaluate(Tensor(x).nan_to_num(), engine).astype(np.float32)
    assert fixed[2] == 0 and fixed[4] == -np.float32(ml_dtypes.finfo(BF16).max)


@every_engine
@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0, 3), (1, 5, 1)], ids=str)
def test_shapes(shape: tuple[int, ...], engine: str) -> None:
    x = _normal(*shape)
    for made, expected in (
        (Tensor(x) * 2, x.astype(np.float32) * 2),
        (Tensor(x).exp().log(), None),
        (Tensor(x).sum(), x.astype(np.float32).sum()),
        (Tensor(x).reshape(-1)[::-1].reshape(*shape), x.reshape(-1)[::-1].reshape(shape)),
    ):
        got = evaluate(made, engine)
        if expected is not None:
            assert_same(got, np.asarray(expected).astype(BF16))


def test_a_variable_axis() -> None:
    rows = Variable("rows", 1, 8)
    x = _normal(5, 6)
    x_of = Tensor(x, symbolic={0: rows})
    assert_same((x_of * 2).sum(0).numpy(), (x.astype(np.float32) * 2).sum(0).astype(BF16))


def test_writes_and_scatters() -> None:
    x = Tensor(_normal(4, 3))
    before = x.numpy().copy()
    x[1:3] = 7.25
    before[1:3] = 7.25
    assert_same(x.numpy(), before)
    base, where = Tensor.zeros(3, dtype="bfloat16"), Tensor([0, 2, 2, 2])
    added = base.scatter_add(0, where, Tensor([0.5, 256, 1, 1], dtype="bfloat16"))
    assert added.numpy().tolist() == [0.5, 0, 258]  # rounded once: 256 + 1 in bfloat16 is 256


def test_random_numbers() -> None:
    values = Tensor.rand(4096, dtype="bfloat16").numpy().astype(float)
    assert values.min() >= 0 and values.max() < 1 and 0.45 < values.mean() < 0.55
    assert abs(Tensor.randn(4096, dtype="bfloat16").numpy().astype(float).std() - 1) < 0.1
    with compiler.default_dtype("bfloat16"):
        assert Tensor.zeros(2).dtype is compiler.bfloat16


@pytest.mark.parametrize("options", [compiler.Options(), compiler.Options(machine="apple-m1")])
def test_check_follows_a_network(options: compiler.Options) -> None:
    x, w, b = Tensor(_normal(9, 16)), Tensor(_normal(16, 8)), Tensor(_normal(8))
    made = ((x @ w + b).gelu() * 3).softmax(-1).max(0)
    report = compiler.compile(made, options=options).check()
    assert report.ok, str(report)
    assert made.dtype is compiler.bfloat16


def test_files(tmp_path: Path) -> None:
    x = _normal(3, 5)
    Tensor(x).save(tmp_path / "x.npy")
    assert_same(Tensor.load(tmp_path / "x.npy").numpy(), x)
    compiler.save(tmp_path / "x.safetensors", {"x": Tensor(x), "y": Tensor(x).float()})
    loaded = Tensor.load(tmp_path / "x.safetensors")
    assert b'"BF16"' in (tmp_path / "x.safetensors").read_bytes()
    assert_same(loaded["x"].numpy(), x)
    assert_same((loaded["x"] + 1).numpy(), (x.astype(np.float32) + 1).astype(BF16))


def test_other_types_of_the_package_are_refused_in_words() -> None:
    for name in ("float8_e3m4", "float6_e2m3fn"):
        array = np.zeros(2, getattr(ml_dtypes, name))
        with pytest.raises(compiler.DataError, match=f"compute with elements of type {name}"):
            Tensor(array)
    with pytest.raises(DTypeError, match="bitcast: the bits "):
        Tensor([1.5], dtype="bfloat16").bitcast("float32")


def test_bits() -> None:
    assert Tensor([1.5], dtype="bfloat16").bitcast("uint16").tolist() == [0x3FC0]
    assert Tensor([0x3FC0], dtype="uint16").bitcast("bfloat16").tolist() == [1.5]
    assert dtypes.bfloat16.itemsize == 2 and dtypes.bfloat16.maximum == float("inf")


def test_the_package_is_loaded_by_those_who_need_it() -> None:
    text = """
import sys
from compiler import Tensor
assert (Tensor([1.0, 2.0]) * 2).tolist() == [2, 4]
assert "ml_dtypes" not in sys.modules
assert Tensor([1.0], dtype="bfloat16").tolist() == [1]
assert "ml_dtypes" in sys.modules
"""
    subprocess.run([sys.executable, "-c", text], check=True)
