"""Every operation and conversion on edge values, in 1, 2, 8 and 16 lanes: lowered interpreter and
machine code against the references."""

import ctypes
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.llvm import jit, mathematics
from compiler.llvm.emit import emit
from compiler.lowered.interpret import interpret
from compiler.lowered.verify import verify
from tests.evaluate import NUMPYS
from tests.lowered.operation_programs import Array, Kernel, Result, conversions, elementwise

LANES = (1, 2, 8, 16)
KERNELS = {"elementwise": elementwise, "conversions": conversions}
TOLERANCE = {"interpreter": 0, "machine": 5}
"""Units in the last place of elementary functions: our 4 and one of NumPy."""


def interpreted(kernel: Kernel) -> list[Array]:
    """The results of the lowered interpreter."""
    buffers = kernel.buffers()
    with np.errstate(all="ignore"):
        interpret(kernel.instructions, buffers)
    return np.split(buffers[0], len(kernel.results))


def compiled(kernel: Kernel, level: int) -> list[Array]:
    """The results of machine code."""
    buffers = kernel.buffers()
    text = "\n".join(line.text for line in emit("kernel", kernel.instructions))
    loaded = jit.load(text, "kernel", len(buffers), level)
    loaded.entry(*[ctypes.c_void_p(b.ctypes.data) for b in buffers])
    for given, after in zip(kernel.inputs, buffers[1:], strict=True):
        assert given.tobytes() == after.tobytes(), "an input was written"
    return np.split(buffers[0], len(kernel.results))


def check(result: Result, got: Array, tolerance: int) -> None:
    """Equal to the bit, except for the payload of NaN, zeros of max and min, and rounding."""
    expected = result.expected
    assert got.dtype == expected.dtype
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(got, expected, result.name)
    elif result.op == "bitcast":
        plain = ~np.isnan(expected)
        assert got[plain].tobytes() == expected[plain].tobytes()
    elif result.op in mathematics.OPERATIONS:
        np.testing.assert_array_max_ulp(got, expected, tolerance)
    else:
        is_equal = np.logical_or.reduce([same(got, e) for e in (expected, *result.others)])
        zeros = (got == 0) & (expected == 0)
        is_equal |= zeros & (result.op in ("max", "min"))
        wrong = np.flatnonzero(~is_equal)
        assert not len(wrong), f"{result.name}: {got[wrong[:5]]}, not {expected[wrong[:5]]}"


def same(a: Array, b: Array) -> Array:
    """Where two arrays have equal values of equal sign, or NaN."""
    return ((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("dtype", NUMPYS, ids=str)
@pytest.mark.parametrize("kind", KERNELS)
def test_on_edge_values(kind: str, dtype: DType, lanes: int) -> None:
    for kernel in KERNELS[kind](dtype, lanes):
        verify(kernel.instructions)
        runs: tuple[tuple[Callable[[Kernel], list[Array]], int], ...] = (
            (interpreted, TOLERANCE["interpreter"]),
            (partial(compiled, level=0), TOLERANCE["machine"]),
            (partial(compiled, level=2), TOLERANCE["machine"]),
        )
        for run, tolerance in runs:
            for result, got in zip(kernel.results, run(kernel), strict=True):
                check(result, got, tolerance)


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.float32, dtypes.float64], ids=str)
def test_zeros_and_nan_of_max_and_min(dtype: DType) -> None:
    """The greater zero is the positive one, in any order and on any number of lanes."""
    zeros = np.array([0.0, -0.0, 0.0, -0.0, np.nan, 1.0, np.nan, np.inf], dtype.numpy)
    others = np.array([-0.0, 0.0, 0.0, -0.0, 1.0, np.nan, -np.inf, np.nan], dtype.numpy)
    for lanes in LANES:
        kernel = elementwise(dtype, lanes)[0]
        got = dict(zip((r.name for r in kernel.results), compiled(kernel, 0), strict=True))
        first, second = kernel.inputs[:2]
        for a, b in zip(zeros, others, strict=True):
            here = np.flatnonzero(same(first, a) & same(second, b))
            is_nan = np.isnan(a) or np.isnan(b)
            both, either = np.signbit(a) and np.signbit(b), np.signbit(a) or np.signbit(b)
            for index in here:
                assert np.isnan(got["max"][index]) == np.isnan(got["min"][index]) == is_nan
                if not is_nan:
                    assert np.signbit(got["max"][index]) == both
                    assert np.signbit(got["min"][index]) == either
            assert len(here), "the edge values have this pair"
