"""Kernels that apply every operation of the table, or every conversion, to edge values, in lanes.

One kernel for all results of a type: slot 0 holds them one after the other, and the operands
follow. The expected value stands next to each result.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.lowered.instructions import (
    Alu,
    Bitcast,
    Cast,
    Const,
    DefineGlobal,
    EndRange,
    Instruction,
    Load,
    Range,
    Store,
)
from compiler.ops.references import cast
from compiler.ops.row import Op
from compiler.ops.table import OPS
from tests.evaluate import NUMPYS

Array = np.ndarray[Any, Any]
WHOLE = (0, 1, 2, 3, 7, 8, 15, 31, 32, 63, 64, 100)
SIZES = (0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 7.0, 100.0, 1e-3, 12345.678, 65519.0, 1e4, 255.5, 2.0**31)


@dataclass(frozen=True)
class Result:
    """One operation, or a conversion, and what it must give."""

    name: str
    op: str
    expected: Array
    others: tuple[Array, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """The instructions, fresh results and operands for a run, and what the results must be."""

    instructions: tuple[Instruction, ...]
    inputs: tuple[Array, ...]
    results: tuple[Result, ...]

    def buffers(self) -> list[Array]:
        """One array of each slot."""
        joined = np.concatenate([r.expected for r in self.results])
        return [np.zeros_like(joined), *(i.copy() for i in self.inputs)]


def edges(dtype: DType) -> Array:
    """Values of a type where operations have their edges."""
    if dtype == dtypes.bool_:
        return np.array([False, True])
    if dtype.is_integer:
        limits = np.iinfo(dtype.numpy)
        values = {*WHOLE, *(-w for w in WHOLE), limits.min, limits.min + 1, limits.max}
        return np.array(sorted(v for v in values if limits.min <= v <= limits.max), dtype.numpy)
    info = np.finfo(dtype.numpy)
    special = [np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal, 1 + info.eps]
    with np.errstate(over="ignore"):
        positive = np.array([*SIZES, *special], dtype.numpy)
    return np.concatenate([positive, -positive])


def operands(dtype: DType, lanes: int) -> tuple[Array, Array, Array, Array]:
    """All pairs of edge values, a third operand, and truth; filled up to whole vectors."""
    pairs = np.array(list(itertools.product(edges(dtype), repeat=2)), dtype.numpy)
    pairs = np.concatenate([pairs, np.ones((-len(pairs) % lanes, 2), dtype.numpy)])
    first, second = np.ascontiguousarray(pairs.T)
    third = np.roll(first, 5)
    truth = np.arange(len(first)) % 3 == 0
    return first, second, third, truth


def elementwise(dtype: DType, lanes: int) -> tuple[Kernel, ...]:
    """Every machine operation that takes this type: those that give it, and comparisons."""
    arrays = operands(dtype, lanes)
    rows = [op for op in OPS.values() if op.expansion is None and dtype.kind in op.accepts]
    kernels = []
    for t in dict.fromkeys((dtype, dtypes.bool_)):
        chosen = [op for op in rows if (op.result_dtype((dtype,)) == t)]
        results = tuple(_result(op, arrays) for op in chosen)

        def alu(number: int, out: int, loaded: tuple[int, ...], t: DType, of: list[Op]) -> Alu:
            a, b, c, truth = loaded
            op = of[number]
            used = (truth, a, b) if op.has_condition else (a, b, c)[: op.arity]
            return Alu(out, op.name, used, t, False, lanes)

        make = partial(alu, t=t, of=chosen)
        kernels.append(_kernel(results, t, (dtype,) * 3 + (dtypes.bool_,), arrays, lanes, make))
    return tuple(kernels)


def conversions(dtype: DType, lanes: int) -> tuple[Kernel, ...]:
    """A cast to every type, and a bitcast to every type of the same size."""
    values = operands(dtype, lanes)[0]
    kernels = []
    for t in NUMPYS:
        results = [Result("cast", "cast", cast(values, t))]
        if t.itemsize == dtype.itemsize and dtypes.bool_ not in (t, dtype):
            results.append(Result("bitcast", "bitcast", values.view(t.numpy)))

        def convert(number: int, out: int, loaded: tuple[int, ...], t: DType) -> Cast | Bitcast:
            return (Cast, Bitcast)[number](out, loaded[0], t, lanes)

        make = partial(convert, t=t)
        kernels.append(_kernel(tuple(results), t, (dtype,), (values,), lanes, make))
    return tuple(kernels)


def _result(op: Op, arrays: tuple[Array, Array, Array, Array]) -> Result:
    first, second, third, truth = arrays
    chosen = (truth, first, second) if op.has_condition else (first, second, third)[: op.arity]
    with np.errstate(all="ignore"):
        expected = np.asarray(op.reference(*chosen))
        if op.name != "mulacc" or expected.dtype.kind != "f":
            return Result(op.name, op.name, expected)
        once = [_rounded_once(*each) for each in zip(*chosen, expected, strict=True)]
        return Result(op.name, op.name, expected, (np.array(once).astype(expected.dtype),))


def _rounded_once(a: Any, b: Any, c: Any, twice: Any) -> Any:
    """a * b + c from exact arithmetic; what is no number, or 0, as it is when rounded twice."""
    if not np.isfinite([a, b, c]).all():
        return twice
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if not exact:
        return twice
    try:
        return math.copysign(float(exact), exact.numerator)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _kernel(
    results: tuple[Result, ...],
    dtype: DType,
    types: tuple[DType, ...],
    arrays: tuple[Array, ...],
    lanes: int,
    make: Callable[[int, int, tuple[int, ...]], Instruction],
) -> Kernel:
    """A loop over vectors that loads the operands, computes each result and stores it."""
    size, rows = len(arrays[0]), iter(range(10_000))
    made: list[Instruction] = [DefineGlobal(next(rows), 0, dtype, size * len(results), True)]
    for slot, t in enumerate(types, start=1):
        made.append(DefineGlobal(next(rows), slot, t, size, False))
    bound, step, counter, at = (next(rows) for _ in range(4))
    made += [Const(bound, size // lanes, dtypes.int64), Const(step, lanes, dtypes.int64)]
    starts = [next(rows) for _ in results]
    made += [Const(s, n * size, dtypes.int64) for n, s in enumerate(starts)]
    made += [Range(counter, bound, 0, "normal"), Alu(at, "mul", (counter, step), dtypes.int64)]
    loaded = tuple(next(rows) for _ in types)
    for slot, (register, t) in enumerate(zip(loaded, types, strict=True), start=1):
        made.append(Load(register, slot, at, None, t, lanes))
    for number, start in enumerate(starts):
        out, place = next(rows), next(rows)
        made += [make(number, out, loaded), Alu(place, "add", (at, start), dtypes.int64)]
        made.append(Store(0, place, out, None, lanes))
    return Kernel((*made, EndRange(counter)), arrays, results)
