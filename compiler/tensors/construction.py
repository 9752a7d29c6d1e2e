"""New tensors: even steps, triangles, grids, random numbers.

The default element type is NumPy's, float64; for random numbers PyTorch's, float32.
`set_default_dtype` sets both.
"""

import math
import operator
from collections.abc import Sequence
from typing import Literal, Self

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.errors import DataError, DTypeError, located
from compiler.device.buffers import data
from compiler.graph.nodes import Buffer, Iota, const
from compiler.tensors import random, watching
from compiler.tensors.arrangement import Arrangement
from compiler.tensors.shapes import extents
from compiler.tensors.sorting import Sorting
from compiler.tensors.value import Operand, traced


@traced
class Construction(Sorting, Arrangement):
    """Class methods that make tensors, and `…_like` methods that copy a shape."""

    __slots__ = ()

    @classmethod
    def linspace(
        cls, start: float, stop: float, num: int = 50, endpoint: bool = True,
        dtype: object = None,
    ) -> Self:  # fmt: skip
        """`num` evenly spaced numbers from `start` to `stop`. The last is exactly `stop`, unless
        `endpoint` is false. For an integer `dtype` they are rounded down, as in NumPy."""
        target = dtypes.asked(dtype, "linspace")
        (number,) = extents("linspace", (num,))
        if not all(isinstance(v, int | float) and math.isfinite(v) for v in (start, stop)):
            raise DataError(
                "linspace", "the range has no steps", got=f"{start} to {stop}",
                expected="finite numbers",
            )  # fmt: skip
        steps = number - 1 if endpoint else number
        index = cls._of(Iota((), number, dtypes.int64))
        even = index.double().mul((stop - start) / max(steps, 1)).add(float(start))
        if endpoint and number > 1:
            even = index.eq(number - 1).where(float(stop), even)
        return (even.floor() if target.is_integer else even).cast(target)

    @classmethod
    def logspace(
        cls, start: float, stop: float, num: int = 50, base: float = 10.0,
        endpoint: bool = True, dtype: object = None,
    ) -> Self:  # fmt: skip
        """`base` raised to the powers `linspace(start, stop)`."""
        power = cls.linspace(start, stop, num, endpoint, dtypes.float64)
        target = dtypes.asked(dtype, "logspace")
        return cls._of(const(float(base), dtypes.float64)).pow(power).cast(target)

    @classmethod
    def tri(
        cls, rows: int, columns: int | None = None, diagonal: int = 0,
        dtype: object = None,
    ) -> Self:  # fmt: skip
        """[rows, columns]: 1 on and below diagonal number `diagonal`, 0 above."""
        shape = extents("tri", (rows, rows if columns is None else columns))
        return cls._of(const(1, dtypes.asked(dtype, "tri"), shape)).tril(diagonal)

    @classmethod
    def meshgrid(cls, *axes: Operand, indexing: Literal["xy", "ij"] = "xy") -> tuple[Self, ...]:
        """Coordinates of a grid: one tensor per given vector, each broadcast along the axes of the
        others. With "xy", NumPy's default, the first vector varies along axis 1; with "ij",
        PyTorch's, along axis 0."""
        if indexing not in ("xy", "ij"):
            raise DataError(
                "meshgrid", "no such indexing", got=repr(indexing), expected="'xy' or 'ij'"
            )
        empty = cls._of(const(0, dtypes.float64))
        rows = [empty._lift(axis).ravel() for axis in axes]
        shape = tuple(row.size for row in rows)
        apart = [
            row.reshape(tuple(row.size if i == at else 1 for i in range(len(rows))))
            for at, row in enumerate(rows)
        ]
        grids = (row.expand(shape) for row in apart)
        is_turned = indexing == "xy" and len(rows) > 1
        return tuple(grid.swapaxes(0, 1) if is_turned else grid for grid in grids)

    # Random numbers.

    @staticmethod
    @located
    def manual_seed(seed: int) -> None:
        """Seed the generator: random tensors created from now on depend only on `seed` and the
        calls, the same on every machine."""
        try:
            number = operator.index(seed)
        except TypeError:
            what, got = "a seed is a whole number", repr(seed)
            raise DataError("manual_seed", what, got=got, expected="an integer") from None
        random.seed(number)

    @classmethod
    def rand(cls, *shape: int | Sequence[int], dtype: object = None) -> Self:
        """Random floats in [0, 1), uniform over the representable steps."""
        return cls._of(random.uniform(extents("rand", shape), _float("rand", dtype)))

    @classmethod
    def randn(cls, *shape: int | Sequence[int], dtype: object = None) -> Self:
        """Random floats from the standard normal distribution."""
        return cls._of(random.normal(extents("randn", shape), _float("randn", dtype)))

    @classmethod
    def randint(
        cls, *shape: int | Sequence[int], low: int = 0, high: int = 10, dtype: object = dtypes.int64
    ) -> Self:
        """Random integers from `low` to `high`, exclusive."""
        target = dtypes.parse(dtype, "randint")
        is_in = target.is_integer and target.minimum <= low and high - 1 <= target.maximum
        if not (0 < high - low <= 2**32 and is_in):
            raise DataError(
                "randint", "no such range of integers", got=f"{low} to {high} as {target}",
                expected="low < high, at most 2^32 values, all of the type",
            )  # fmt: skip
        return cls._of(random.integers(extents("randint", shape), low, high - low, target))

    @classmethod
    def uniform(
        cls, *shape: int | Sequence[int], low: float = 0.0, high: float = 1.0,
        dtype: object = None,
    ) -> Self:  # fmt: skip
        """Random floats from `low` to `high`, uniform. Because of rounding `high` may occur.
        Raises `DataError` if `high` is below `low`."""
        if _is_below(high, low):
            raise DataError("uniform", "the range is empty", got=f"low {low}, high {high}",
                            expected="low <= high")  # fmt: skip
        return cls.rand(*shape, dtype=_float("uniform", dtype)).mul(high - low).add(low)

    @classmethod
    def normal(
        cls, *shape: int | Sequence[int], mean: float = 0.0, std: float = 1.0,
        dtype: object = None,
    ) -> Self:  # fmt: skip
        """Random floats from the normal distribution with the given mean and standard deviation.
        Raises `DataError` for a negative one."""
        if _is_below(std, 0):
            raise DataError("normal", "a negative standard deviation", got=f"std {std}",
                            expected="0 or more")  # fmt: skip
        return cls.randn(*shape, dtype=_float("normal", dtype)).mul(std).add(mean)

    @classmethod
    def randperm(cls, n: int, dtype: object = dtypes.int64) -> Self:
        """A random permutation of 0 … `n` - 1: the sorting order of `n` random 64-bit
        words."""
        shape = extents("randperm", (n,))
        return cls._of(random.bits(shape)).argsort().cast(dtypes.parse(dtype, "randperm"))

    def rand_like(self, dtype: object = None) -> Self:
        """Random floats in [0, 1) with this tensor's shape, and its type unless `dtype` is
        given."""
        return self.rand(self.shape, dtype=self.dtype if dtype is None else dtype)

    def randn_like(self, dtype: object = None) -> Self:
        """Normally distributed floats with this tensor's shape, and its type unless `dtype` is
        given."""
        return self.randn(self.shape, dtype=self.dtype if dtype is None else dtype)

    def bernoulli(self) -> Self:
        """Random zeros and ones: each is 1 with the probability given by this tensor's element.
        Floats only. Raises `DataError` for known data outside 0 to 1; of what is computed, elements
        below 0 give 0, above 1 give 1."""
        target = _float("bernoulli", self.dtype)
        if isinstance(self.node, Buffer) and not watching.current():
            known = data(self.node)
            wrong = known[~((known >= 0) & (known <= 1))]
            if wrong.size:
                raise DataError("bernoulli", "no such probability", got=str(wrong[0]),
                                expected="0 to 1")  # fmt: skip
        return self.rand(self.shape, dtype=target).lt(self).cast(target)

    def dropout(self, p: float = 0.5, training: bool = True) -> Self:
        """Dropout: each element becomes 0 with probability `p`, else is divided by 1 - p. Unless
        `training`, the tensor is returned unchanged."""
        if not 0 <= p <= 1:
            raise DataError("dropout", "no such probability", got=repr(p), expected="0 to 1")
        _float("dropout", self.dtype)
        if not training or p == 0:
            return self._same()
        is_kept = self.rand(self.shape).ge(p)
        return is_kept.where(self.mul(1 / (1 - p) if p < 1 else 0.0), 0)


def _is_below(value: object, least: object) -> bool:
    """True if both are numbers known now, and the first is smaller."""
    kinds = int, float, np.number
    return isinstance(value, kinds) and isinstance(least, kinds) and bool(value < least)


def _float(operation: str, dtype: object) -> DType:
    """A float type, float32 by default. Raises `DTypeError` for other types."""
    target = dtypes.asked(dtype, operation, dtypes.float32)
    if not target.is_float or target.is_storage:
        raise DTypeError(operation, "needs a float type", got=str(target), expected="float32, …")
    return target
