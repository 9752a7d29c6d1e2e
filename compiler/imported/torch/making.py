"""Tensors out of nothing."""

from typing import Any

from compiler.imported.torch.call import Call, as_tensor, operator
from compiler.tensor import Tensor
from compiler.tensors.variables import Variable


@operator("full", "full_like", "new_full")
def full(call: Call, first: Any, *rest: Any, **_options: Any) -> Any:
    """One number everywhere."""
    shape = first.symbolic_shape if isinstance(first, Tensor) else first
    if call.name.startswith("new_full"):
        shape, rest = rest[0], rest[1:]
    return _filled(call, shape, rest[0])


@operator("zeros", "ones", "zeros_like", "ones_like", "new_zeros", "new_ones", "empty",
          "empty_like", "new_empty", "empty_permuted", "empty_strided",
          "new_empty_strided")  # fmt: skip
def constant(call: Call, first: Any, *rest: Any, **_options: Any) -> Any:
    """Zeros or ones; what nobody has written is 0."""
    shape = first.symbolic_shape if isinstance(first, Tensor) else first
    if call.name.startswith("new_"):
        shape = rest[0]
    return _filled(call, shape, 1 if "ones" in call.name else 0)


def _filled(call: Call, shape: Any, value: Any) -> Any:
    made = as_tensor(value, call.dtype)
    return made.broadcast_to(*shape) if shape else made


@operator("scalar_tensor")
def scalar_tensor(call: Call, value: Any, **_options: Any) -> Any:
    """One number."""
    return as_tensor(value, call.dtype)


@operator("fill")
def fill(call: Call, x: Tensor, value: Any) -> Any:
    """One number in the shape of a tensor."""
    return _filled(call, x.symbolic_shape, value)


@operator("arange.default", "arange.start", "arange.start_step")
def arange(call: Call, *numbers: Any, **_options: Any) -> Tensor:
    """Numbers at equal distances, from 0 unless it is said."""
    start, end, step = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 1)[:3]
    if not isinstance(end, Variable):
        return Tensor.arange(start, end, step).cast(call.dtype)
    if start != 0 or step != 1:
        raise call.refused("it ends at a variable", f"{start}, {step}", "0, in steps of 1")
    made: Tensor = Tensor.arange(end.high).cast(call.dtype)[:end]
    return made


@operator("linspace")
def linspace(call: Call, start: Any, end: Any, steps: int, **_options: Any) -> Tensor:
    """So many numbers between two."""
    return Tensor.linspace(float(start), float(end), steps).cast(call.dtype)


@operator("eye.default", "eye.m")
def eye(call: Call, rows: int, columns: int | None = None, **_options: Any) -> Tensor:
    """1 on the diagonal."""
    return Tensor.eye(rows, columns, call.dtype)


@operator("rand", "randn", "rand_like", "randn_like")
def rand(call: Call, first: Any, **_options: Any) -> Tensor:
    """Numbers by chance, by our own generator."""
    shape = first.shape if isinstance(first, Tensor) else first
    made = Tensor.randn(*shape) if call.name.startswith("randn") else Tensor.rand(*shape)
    return made.cast(call.dtype)


@operator("bernoulli")
def bernoulli(call: Call, x: Tensor, *chance: Any, **_options: Any) -> Any:
    """1 by chance, by our own generator; else 0."""
    return as_tensor(x.rand_like().lt(chance[0] if chance else x), call.dtype)
