"""Every operation of the table on every engine, for every element type, against NumPy.

A new row of `ops.OPS` or `ops.REDUCTIONS` is tested here without a test being written.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.device.buffers import new_buffer
from compiler.graph.nodes import Cast, Elementwise, Reduce, TensorNode
from compiler.ops.row import Op
from compiler.ops.table import OPS, REDUCTIONS
from tests.evaluate import ENGINES, reference, samples

Array = np.ndarray[Any, Any]

ULPS = {"float16": 2.0, "bfloat16": 1.0, "float32": 4.0, "float64": 4.0}
"""Units in the last place an elementary function may be off (ruling 8)."""
BOTH = 2.0
"""The reference rounds as well."""
CASES = [
    pytest.param(op, dtype, id=f"{op.name}-{dtype.short}")
    for op in OPS.values()
    for dtype in dtypes.ALL
    if dtype.kind in op.accepts
]


def _operands(op: Op, dtype: DType) -> list[Array]:
    """Edge cases, each combined with each, then random values of the row's domain."""
    rng = np.random.default_rng(len(op.name))
    edges = samples(dtype)
    low, high = op.domain
    with np.errstate(all="ignore"):
        ordinary = rng.uniform(low, high, 40).astype(dtype.numpy)
    if op.arity == 1:
        return [np.concatenate([edges, ordinary])]
    left, right = (a.reshape(-1) for a in np.meshgrid(edges, edges))
    pair = [np.concatenate([left, ordinary]), np.concatenate([right, ordinary[::-1]])]
    if op.arity == 2:
        return pair
    if op.has_condition:
        return [np.arange(len(pair[0])) % 3 == 0, *pair]
    return [*pair, np.roll(pair[0], 5)]


def _nodes(operands: list[Array]) -> tuple[TensorNode, ...]:
    return tuple(new_buffer(np.ascontiguousarray(a)) for a in operands)


def assert_close(got: Array, expected: Array, ulps: float, what: str) -> None:
    """Equal for integers; floats within `ulps` of the expected value; NaN where NaN is."""
    assert got.dtype == expected.dtype and got.shape == expected.shape, what
    if not dtypes.is_floating(got.dtype):
        np.testing.assert_array_equal(got, expected, what)
        return
    with np.errstate(all="ignore"):
        unit = np.spacing(np.abs(expected)).astype(np.float64)
        unit = np.where(np.isfinite(unit), unit, 1.0)
        gap = np.abs(got.astype(np.float64) - expected.astype(np.float64))
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    wrong = ~same & ~(gap <= ulps * unit)
    at = np.flatnonzero(wrong.reshape(-1))[:3]
    assert not wrong.any(), (
        f"{what}: element {at}: {got.reshape(-1)[at]}, NumPy has {expected.reshape(-1)[at]}"
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("op", "dtype"), CASES)
def test_every_operation_equals_its_reference(op: Op, dtype: DType, engine: str) -> None:
    """One kernel of one operation."""
    operands = _operands(op, dtype)
    node = Elementwise(_nodes(operands), op.name)
    expected = reference(op.reference, node.dtype, operands)
    (got,) = ENGINES[engine]([node])
    ulps = _ulps(op, dtype)
    if callable(op.rounding) and dtype.is_float:
        got, expected, ulps = _without_cancellation(operands, got, expected)
    assert_close(got, expected, ulps, f"{op.name} {dtype} on {engine}")


def _ulps(op: Op, dtype: DType) -> float:
    """Units that an engine may be off: those of the row, of machine operations at most ruling 8."""
    if not dtype.is_float or op.rounding is None or callable(op.rounding):
        return 0.0
    units = BOTH * op.rounding
    return units if op.expansion else min(units, ULPS[dtype.name])


def _without_cancellation(
    operands: list[Array], got: Array, expected: Array
) -> tuple[Array, Array, float]:
    """mulacc may round once or twice: compare where the sum is not much less than its parts."""
    with np.errstate(all="ignore"):
        product = np.abs(operands[0] * operands[1])
        keep = ~(np.abs(expected) < 0.25 * product) & np.isfinite(product)
    return got[keep], expected[keep], 4.0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda d: d.short)
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)], ids=str)
def test_every_reduction_equals_its_reference(
    name: str, dtype: DType, axes: tuple[int, ...], engine: str
) -> None:
    """One reduction over any axes; the values keep products finite."""
    rng = np.random.default_rng(7)
    values = rng.integers(0 if dtype.kind == "uint" else -2, 3, (3, 4, 5)).astype(dtype.numpy)
    if dtype.is_float:
        values = (values + 0.5).astype(dtype.numpy)
    node = Reduce(_nodes([values]), name, axes)
    is_total = name in ("sum", "prod") and dtype.kind != "bool"
    fold = REDUCTIONS[name].reference if is_total else _plain(name)
    more = {"dtype": dtype.arithmetic.numpy} if is_total else {}
    expected = reference(partial(fold, axis=axes, keepdims=True, **more), dtype, [values])
    (got,) = ENGINES[engine]([node])
    ulps = 16.0 if dtype.is_float else 0.0
    if dtype == dtypes.float16:
        ulps = 64.0  # NumPy adds halves up in single precision
    assert_close(got, expected, ulps, f"{name} {dtype} over {axes} on {engine}")


def _plain(name: str) -> Callable[..., Any]:
    """max and min, and sum and prod of bools, which mean any and all."""
    functions = {"max": np.max, "min": np.min, "sum": np.any, "prod": np.all}
    return functions[name]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("target", dtypes.ALL, ids=lambda d: d.short)
@pytest.mark.parametrize("source", dtypes.ALL, ids=lambda d: d.short)
def test_every_cast_equals_its_reference(source: DType, target: DType, engine: str) -> None:
    """Integers wrap, floats saturate into integers, NaN becomes 0."""
    from compiler.ops import references

    values = samples(source, 12)
    if source.is_float:
        with np.errstate(over="ignore"):
            extra = np.array([0.3, 65519.0, 65520.0, 1e-8, 5.96e-8, 3e9, -3e9, 1e20, 255.9])
            values = np.concatenate([values, extra.astype(source.numpy)])
    (got,) = ENGINES[engine]([Cast(_nodes([values]), target)])
    assert_close(got, references.cast(values, target), 0.0, f"{source} to {target} on {engine}")
