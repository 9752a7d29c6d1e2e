"""Methods of tensors by their names."""

from collections.abc import Callable

from compiler.tensor import Tensor


def alike(names: str) -> dict[str, str]:
    """Operators, separated by spaces, with the methods of the same names."""
    return {name: name for name in names.split()}


def call_method(name: str, x: Tensor, *operands: object) -> Tensor:
    """The result of a method of a tensor."""
    result: Tensor = getattr(x, name)(*operands)
    return result


def for_axes(x: Tensor, name: str, axes: int) -> Callable[..., Tensor]:
    """The method of a tensor for that many axes: `conv2d` for conv and 2."""
    method: Callable[..., Tensor] = getattr(x, f"{name}{axes}d")
    return method
