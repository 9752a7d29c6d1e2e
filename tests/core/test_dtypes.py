"""Element types compared with NumPy's, and the float type of integers."""

import copy
import pickle
import threading

import ml_dtypes
import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.core import dtypes
from compiler.core.errors import DTypeError

EVERY = (*dtypes.ALL, *dtypes.STORED)


@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_equals_what_numpys_type_equals(dtype: dtypes.DType) -> None:
    numpys = dtype.numpy
    same: tuple[object, ...] = (dtype, numpys, numpys.type, dtype.name, dtype.short)
    if not dtype.computed_as:  # NumPy's word for others is that they are some bytes
        same = (*same, numpys.str)
    assert all(dtype == each and each == dtype and (dtype != each) is False for each in same)
    others = (other for other in EVERY if other is not dtype)
    for other in others:
        wrong = (other, other.numpy, other.numpy.type, other.name, other.short)
        assert all(dtype != each and each != dtype and (dtype == each) is False for each in wrong)


@pytest.mark.parametrize("other", [None, 3, "nothing", "", object, list, np.dtype(">f4"), "M8[s]"])
def test_is_unequal_to_anything_else(other: object) -> None:
    assert dtypes.float32 != other and (dtypes.float32 == other) is False


def test_python_types_are_numpys() -> None:
    x = Tensor(np.ones(2))
    assert x.dtype == float and Tensor([1]).dtype == int and (x > 0).dtype == bool
    assert Tensor.rand(2).dtype != float


def test_one_key_with_numpys_type() -> None:
    table = {np.dtype("float32"): "narrow", dtypes.float64: "wide"}
    assert table[dtypes.float32] == "narrow" and table[np.dtype("float64")] == "wide"
    assert len({*EVERY, *(each.numpy for each in EVERY)}) == len(EVERY)


@pytest.mark.parametrize("dtype", dtypes.STORED, ids=str)
def test_types_of_storage(dtype: dtypes.DType) -> None:
    limits = ml_dtypes.finfo if dtype.is_float else ml_dtypes.iinfo
    most = limits(dtype.numpy).max
    assert dtype.maximum == (np.inf if dtype is dtypes.float8_e5m2 else most)
    assert dtype.itemsize == dtype.numpy.itemsize == 1 and dtypes.of_numpy(dtype.numpy) is dtype
    assert dtypes.is_floating(dtype.numpy) == dtype.is_float
    assert dtypes.promote(dtype, dtype, 1) is dtype and pickle.loads(pickle.dumps(dtype)) is dtype
    for other in (dtypes.float32, dtypes.int8, next(t for t in dtypes.STORED if t is not dtype)):
        with pytest.raises(DTypeError, match="no common type with another") as caught:
            dtypes.promote(dtype, other)
        assert f"cast({dtype.computed_as})" in str(caught.value) or other.is_storage
    with pytest.raises(DTypeError, match="only a float type"):
        compiler.default_dtype(dtype)


@pytest.mark.parametrize("name", ["i2", "u2", "i4", "u4"])
def test_numpys_codes_count_bytes(name: str) -> None:
    assert dtypes.parse(name).numpy == np.dtype(name)


def test_numpy_takes_it() -> None:
    assert np.zeros(2, dtypes.float32).dtype == np.float32
    assert np.issubdtype(dtypes.float32, np.floating)


def test_a_copy_is_the_same_type() -> None:
    assert copy.deepcopy(dtypes.int8) is dtypes.int8
    assert pickle.loads(pickle.dumps(dtypes.int8)) is dtypes.int8


MADE = {
    "zeros": lambda: Tensor.zeros(2),
    "ones": lambda: Tensor.ones(2),
    "eye": lambda: Tensor.eye(2),
    "linspace": lambda: Tensor.linspace(0, 1, 3),
    "logspace": lambda: Tensor.logspace(0, 1, 3),
    "tri": lambda: Tensor.tri(2),
    "arange": lambda: Tensor.arange(0, 1, 0.25),
    "full": lambda: Tensor.full((2,), 0.5),
    "list": lambda: Tensor([0.5, 1.5]),
    "number": lambda: Tensor(0.5),
    "rand": lambda: Tensor.rand(2),
    "randn": lambda: Tensor.randn(2),
    "uniform": lambda: Tensor.uniform(2),
    "normal": lambda: Tensor.normal(2),
}


@pytest.mark.parametrize("name", MADE)
def test_default_type(name: str) -> None:
    usual = "float32" if name in ("rand", "randn", "uniform", "normal") else "float64"
    assert MADE[name]().dtype == usual
    for wanted in ("float16", "float32", "float64"):
        with compiler.default_dtype(wanted):
            made = MADE[name]()
            assert made.dtype == wanted and made.numpy().dtype == wanted
    assert MADE[name]().dtype == usual


def test_what_has_a_type_keeps_it() -> None:
    with compiler.default_dtype("float16"):
        assert Tensor(np.ones(2)).dtype == "float64"
        assert Tensor.zeros(2, dtype="float32").dtype == "float32"
        assert Tensor([1, 2]).dtype == "int64" and Tensor.arange(3).dtype == "int64"


def test_set_on_every_thread_inside_on_one() -> None:
    seen: list[object] = []

    def look() -> None:
        seen.append(compiler.get_default_dtype())

    def on_another_thread() -> None:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()

    try:
        compiler.set_default_dtype(np.float32)
        on_another_thread()
        with compiler.default_dtype("float16"):
            look()
            on_another_thread()
        look()
    finally:
        compiler.set_default_dtype()
    look()
    float32 = dtypes.float32
    assert seen == [float32, dtypes.float16, float32, float32, None]


@pytest.mark.parametrize("call", [compiler.set_default_dtype, compiler.default_dtype])
def test_only_floats_are_defaults(call: object) -> None:
    with pytest.raises(DTypeError) as caught:
        call("int8")  # type: ignore[operator]
    page = str(caught.value).splitlines()
    assert page[0].endswith("_default_dtype: only a float type can be the default"[-44:])
    assert page[1:3] == ["  got:      int8", "  expected: float16, bfloat16, float32 or float64"]
    assert "test_dtypes.py:" in page[3] and 'call("int8")' in page[3]
    assert compiler.get_default_dtype() is None
