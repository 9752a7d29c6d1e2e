"""Operators that create tensors."""

from collections.abc import Sequence

from compiler.imported.call import Number, VariableShape
from compiler.imported.torch.call import Call, as_tensor, operator
from compiler.tensor import Tensor
from compiler.tensors.variables import Variable


@operator("full", "full_like")
def full(
    call: Call, first: Tensor | VariableShape, /, fill_value: Number,
    size: VariableShape | None = None,
) -> Tensor:  # fmt: skip
    """One number everywhere."""
    return _filled(call, _shape(first, size), fill_value)


@operator("empty", "empty_permuted", "empty_strided", "new_empty_strided")
def empty(
    call: Call, first: Tensor | VariableShape, /, size: VariableShape | None = None
) -> Tensor:
    """Uninitialised elements: zeros."""
    return _filled(call, _shape(first, size), 0)


def _shape(first: Tensor | VariableShape, size: VariableShape | None) -> VariableShape:
    """The given extents, or those of a tensor."""
    if size is not None:
        return size
    return first.symbolic_shape if isinstance(first, Tensor) else first


def _filled(call: Call, shape: VariableShape, value: Number) -> Tensor:
    number = as_tensor(value, call.dtype)
    return number.broadcast_to(*shape) if shape else number


@operator("scalar_tensor")
def scalar_tensor(call: Call, value: Number, /) -> Tensor:
    """One number."""
    return as_tensor(value, call.dtype)


@operator("fill")
def fill(call: Call, x: Tensor, value: Number, /) -> Tensor:
    """One number in the shape of a tensor."""
    return _filled(call, x.symbolic_shape, value)


@operator("arange.default", "arange.start", "arange.start_step")
def arange(
    call: Call, /, end: float | Variable, start: float = 0, step: float = 1
) -> Tensor:
    """Numbers with equal steps."""
    if not isinstance(end, Variable):
        return Tensor.arange(start, end, step).cast(call.dtype)
    if start != 0 or step != 1:
        raise call.refused("it ends at a variable", f"{start}, {step}", "0, in steps of 1")
    numbers: Tensor = Tensor.arange(end.high).cast(call.dtype)[:end]
    return numbers


@operator("linspace.default")
def linspace(call: Call, start: float, end: float, /, steps: int) -> Tensor:
    """A number of evenly spaced values between two numbers."""
    return Tensor.linspace(float(start), float(end), steps).cast(call.dtype)


@operator("eye.default", "eye.m")
def eye(call: Call, /, n: int, m: int | None = None) -> Tensor:
    """1 on the diagonal."""
    return Tensor.eye(n, m, call.dtype)


@operator("rand", "randn", "rand_like", "randn_like")
def rand(call: Call, first: Tensor | Sequence[int], /) -> Tensor:
    """Random numbers, from our own generator."""
    shape = first.shape if isinstance(first, Tensor) else first
    numbers = Tensor.randn(*shape) if call.name.startswith("randn") else Tensor.rand(*shape)
    return numbers.cast(call.dtype)


@operator("bernoulli")
def bernoulli(call: Call, x: Tensor, /, p: Number | None = None) -> Tensor:
    """Random zeros and ones, from our own generator."""
    return as_tensor(x.rand_like().lt(x if p is None else p), call.dtype)
