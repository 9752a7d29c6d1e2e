"""Values and indices along one axis, broadcastable to a tensor."""

from collections.abc import Sequence

from compiler.tensor import Tensor


def along(values: Tensor, axis: int, rank: int) -> Tensor:
    """[n] values, one for each index of an axis of a tensor of that rank."""
    return values.reshape(-1, *(1,) * (rank - axis - 1))


def indices_along(shape: Sequence[int], axis: int) -> Tensor:
    """The indices 0, 1, … of an axis, with all axes of the shape."""
    return Tensor.arange(shape[axis]).reshape(*(-1 if i == axis else 1 for i in range(len(shape))))
