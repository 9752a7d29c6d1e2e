"""Element types: promotion, kinds, limits, and the namespace's information about itself."""

import numpy as np
import pytest

from compiler import array_api as xp
from compiler.core.errors import DataError, DeviceError, DTypeError

INFO = xp.__array_namespace_info__()
NAMES = ["bool", "float32", "float64", "int16", "int32", "int64", "int8", "uint16", "uint32",
         "uint64", "uint8"]  # fmt: skip


def test_types_are_those_of_the_standard_that_are_not_complex() -> None:
    assert sorted(INFO.dtypes()) == NAMES
    assert all(INFO.dtypes()[name] == getattr(xp, name) for name in NAMES)
    assert sorted(INFO.dtypes(kind="unsigned integer")) == ["uint16", "uint32", "uint64", "uint8"]
    assert sorted(INFO.dtypes(kind=("bool", "real floating"))) == ["bool", "float32", "float64"]
    assert INFO.dtypes(kind="complex floating") == {}
    assert INFO.default_dtypes() == {
        "real floating": xp.float64, "complex floating": None, "integral": xp.int64,
        "indexing": xp.int64,
    }  # fmt: skip
    assert INFO.capabilities() == {
        "boolean indexing": True, "data-dependent shapes": True, "max dimensions": None,
    }  # fmt: skip


def test_every_device_computes() -> None:
    assert INFO.default_device() == xp.ones(3).device == "CPU"
    for device in INFO.devices():
        made = xp.arange(3, device=device)
        assert made.device == device and xp.zeros_like(made).device == device
        assert (made + made.to_device(device)).tolist() == [0, 2, 4]
    with pytest.raises(DeviceError, match="a processor has no streams"):
        xp.ones(3).to_device("CPU", stream=1)


@pytest.mark.parametrize("first", NAMES)
@pytest.mark.parametrize("second", NAMES)
def test_promotion(first: str, second: str) -> None:
    one, other = getattr(xp, first), getattr(xp, second)
    expected = np.result_type(first, second)
    assert xp.result_type(one, other) == expected
    assert xp.result_type(xp.ones(2, dtype=one), other) == expected
    assert xp.can_cast(one, other) == (expected == np.dtype(second))


def test_numbers_have_a_kind_only() -> None:
    assert xp.result_type(xp.int8, 3) == xp.int8
    assert xp.result_type(xp.float32, xp.ones(1, dtype=xp.int8), 2.5) == xp.float32
    assert xp.result_type(xp.int32, 2.5) == xp.float64
    with pytest.raises(DataError, match="nothing here has a type"):
        xp.result_type(1, 2.5)


def test_kinds() -> None:
    assert xp.isdtype(xp.int8, "integral") and xp.isdtype(xp.int8, xp.int8)
    assert xp.isdtype(xp.bool, ("numeric", "bool")) and not xp.isdtype(xp.bool, "numeric")
    assert not xp.isdtype(xp.float32, "complex floating")
    with pytest.raises(DataError, match="no such kind"):
        xp.isdtype(xp.int8, "rational")


def test_limits() -> None:
    for name in ("float32", "float64"):
        found, expected = xp.finfo(getattr(xp, name)), np.finfo(name)
        assert (found.bits, found.eps, found.max) == (expected.bits, expected.eps, expected.max)
        assert found.smallest_normal == expected.smallest_normal and found.min == expected.min
        assert type(found.eps) is float and found.dtype == name
    assert xp.finfo(xp.bfloat16).eps == 2**-7
    small = xp.iinfo(xp.ones(2, dtype=xp.int8))
    assert (small.bits, small.min, small.max) == (8, -128, 127)
    with pytest.raises(DTypeError, match="no integer type"):
        xp.iinfo(xp.float32)
    with pytest.raises(DTypeError, match="not a float type"):
        xp.finfo(xp.int8)


def test_astype_is_a_tensor_of_its_own() -> None:
    x = xp.asarray([1.0, 2.0])
    own = xp.astype(x, xp.float64)
    own[0] = 9
    assert x.tolist() == [1, 2] and own.tolist() == [9, 2]
    assert xp.astype(x, xp.float64, copy=False) is x
