"""The parts of hand-written kernels: a program with its inputs and NumPy's result."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.graph.bits import to_bits
from compiler.lowered.instructions import DefineGlobal, Instruction

f32, f64, i32, i64, bool_ = (
    dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.bool_,
)  # fmt: skip
Array = np.ndarray[Any, Any]
_rng = np.random.default_rng(5)


@dataclass(frozen=True)
class Program:
    """Instructions, the inputs in slots 1, 2, …, and what must be in slot 0 afterwards."""

    instructions: tuple[Instruction, ...]
    inputs: tuple[Array, ...]
    expected: Array
    printed: str
    variables: dict[str, int] = field(default_factory=dict)
    tolerance: float = 0.0

    def buffers(self) -> list[Array]:
        """Fresh arrays for a run: the result holds 77 where nothing is written."""
        result = np.full(self.expected.shape, 77).astype(self.expected.dtype)
        return [result, *(each.copy() for each in self.inputs)]

    def check(self, result: Array) -> None:
        """The result is NumPy's, to the bit unless a tolerance is given."""
        assert result.dtype == self.expected.dtype
        np.testing.assert_allclose(result, self.expected, rtol=self.tolerance, atol=self.tolerance)


def number(value: int | float | bool, dtype: DType) -> int:
    return to_bits(value, dtype)


def arguments(dtype: DType, size: int, *others: tuple[DType, int]) -> tuple[Instruction, ...]:
    """Registers %0, %1, …: the result, then the inputs."""
    inputs = (DefineGlobal(n, n, t, s, False) for n, (t, s) in enumerate(others, start=1))
    return DefineGlobal(0, 0, dtype, size, True), *inputs


def floats(size: int, dtype: str = "float32") -> Array:
    return _rng.standard_normal(size).astype(dtype)


def integers(size: int, dtype: str = "int32") -> Array:
    return _rng.integers(-50, 50, size).astype(dtype)
