"""Storage types: every value and every rounding against ml_dtypes, on every engine."""

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.trace import Provenance
from compiler.device.buffers import new_buffer
from compiler.graph.decompose import decompose
from compiler.graph.nodes import Bitcast, Cast, Sink, TensorNode
from compiler.graph.storage import FORMATS
from compiler.graph.verify import verify
from compiler.ops import references
from compiler.tensor import Tensor
from tests.device.c.test_source import Kernels, needs_cc
from tests.evaluate import assert_same, evaluate, every_engine

Array = np.ndarray[Any, Any]
FLOATS = tuple(t for t in dtypes.STORED if t.is_float)
INTEGERS = tuple(t for t in dtypes.STORED if t.is_integer)
each_type = pytest.mark.parametrize("dtype", dtypes.STORED, ids=str)


def every_value(dtype: DType) -> Array:
    """All elements of a type."""
    return np.arange(2**dtype.width, dtype=np.uint8).view(dtype.numpy)


@functools.cache
def telling(dtype: DType) -> Array:
    """float32 whose rounding tells: ties and their neighbours, all exponents, NaN of both signs,
    what is below, between and beyond all numbers of a type."""
    wide = every_value(dtype).astype(np.float64)
    distinct = np.unique(wide[np.isfinite(wide)])
    ties = ((distinct[1:] + distinct[:-1]) / 2).astype(np.float32)
    near = [np.nextafter(ties, np.float32(end)) for end in (-np.inf, np.inf)]
    rng = np.random.default_rng(0)
    any_bits = rng.integers(0, 2**32, 3000, dtype=np.uint32).view(np.float32)
    sizes = np.exp2(rng.integers(-30, 20, 3000))
    small = (rng.standard_normal(3000) * sizes).astype(np.float32)
    ends = np.array([0, np.inf, np.nan, 1e-45, 2**-127, 3e38, 464, 465, 61439, 61440, 6, 7])
    most = float(distinct[-1]) * np.array([1, 1.01, 1.0625, 1.07, 1.125, 1.13, 1.2, 1.26, 1.5, 2])
    with np.errstate(over="ignore"):
        positive = np.concatenate([ends, most]).astype(np.float32)
    return np.concatenate([distinct.astype(np.float32), ties, *near, any_bits, small, positive,
                           -positive])  # fmt: skip


@each_type
@every_engine
def test_every_value_is_what_it_means(dtype: DType, engine: str) -> None:
    got = evaluate(Tensor(every_value(dtype)).cast(dtype.arithmetic), engine)
    expected = every_value(dtype).astype(dtype.arithmetic.numpy)
    bits = np.uint32 if dtype.is_float else np.uint8
    assert_same(got.view(bits), expected.view(bits))


@each_type
@every_engine
def test_rounding(dtype: DType, engine: str) -> None:
    x = telling(dtype)
    with np.errstate(all="ignore"):
        expected = x.astype(dtype.numpy) if dtype.is_float else references.cast(x, dtype)
    got = evaluate(Tensor(x).cast(dtype), engine)
    assert_same(got.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_every_float16_and_bfloat16(dtype: DType) -> None:
    for kind in (dtypes.float16, dtypes.bfloat16):
        x = np.arange(2**16, dtype=np.uint16).view(kind.numpy)
        with np.errstate(all="ignore"):
            expected = x.astype(np.float32).astype(dtype.numpy)
        assert_same(Tensor(x).cast(dtype).numpy().view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@every_engine
def test_other_types_go_through_float32(dtype: DType, engine: str) -> None:
    for x in (np.array([1.0625 + 2**-40, -3.3, 1e300]), np.array([17, 2**24 + 1, -9]),
              np.array([True, False])):  # fmt: skip
        with np.errstate(all="ignore"):
            expected = x.astype(np.float32).astype(dtype.numpy)
        got = evaluate(Tensor(x).cast(dtype), engine)
        assert_same(got.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@every_engine
def test_integers_wrap_and_floats_saturate(dtype: DType, engine: str) -> None:
    x = np.array([-300, -17, -9, -8, -3, -1, 0, 1, 2, 3, 4, 7, 8, 15, 16, 200])
    span = int(dtype.maximum) - int(dtype.minimum) + 1
    wrapped = (x - int(dtype.minimum)) % span + int(dtype.minimum)
    got = evaluate(Tensor(x).cast(dtype), engine)
    assert_same(got.astype(np.int64), wrapped)
    floats = np.array([np.nan, -np.inf, np.inf, 1.9, -1.9, 1e9, -1e9, 0.0])
    held = np.trunc(np.nan_to_num(floats).clip(float(dtype.minimum), float(dtype.maximum)))
    assert_same(evaluate(Tensor(floats).cast(dtype), engine).astype(np.float64), held + 0.0)
    bytes_of = np.arange(256, dtype=np.uint8).view(dtype.numpy)  # the upper bits say nothing
    assert_same(evaluate(Tensor(bytes_of).cast("int32"), engine), bytes_of.astype(np.int32))


@each_type
def test_later_stages_see_bytes(dtype: DType) -> None:
    x = Tensor(every_value(dtype))
    root = decompose(Sink(((x + x).node, x.cast("int64").node)), Provenance())
    verify(root, is_decomposed=True)
    waiting: list[TensorNode] = [root]
    while waiting:
        node = waiting.pop()
        waiting += node.sources
        if isinstance(node, Cast):
            assert not node.target.is_storage and not node.sources[0].dtype.is_storage


def test_formats_are_complete() -> None:
    assert {*FORMATS, "float8_e8m0fnu"} == {t.name for t in FLOATS}


@needs_cc
def test_in_c(tmp_path: Path) -> None:
    kernels = Kernels()
    for dtype in dtypes.STORED:
        values, x = every_value(dtype), telling(dtype)
        wide = Cast((new_buffer(values),), dtypes.float32)
        kernels.add(f"{dtype} read", wide, values.astype(np.float32), 0.0)
        with np.errstate(all="ignore"):
            expected = x.astype(dtype.numpy) if dtype.is_float else references.cast(x, dtype)
        bits = Bitcast((Cast((new_buffer(x),), dtype),), dtypes.uint8)
        kernels.add(f"{dtype} written", bits, expected.view(np.uint8), 0.0)
    kernels.check(tmp_path)
