"""Reshaping, joining and repeating."""

from collections.abc import Sequence

import numpy as np

from compiler.array_api.arguments import tensor
from compiler.core.keywords import public
from compiler.tensor import Tensor
from compiler.tensors.shapes import broadcast


@public
def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """All arrays broadcast to their common shape."""
    given = [tensor("broadcast_arrays", each) for each in arrays]
    shape = broadcast("broadcast_arrays", *(each.node for each in given)) if given else ()
    return [each.broadcast_to(shape) for each in given]


@public
def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """`x` broadcast to `shape`."""
    return tensor("broadcast_to", x).broadcast_to(shape)


@public
def concat(
    arrays: "tuple[Tensor, ...] | list[Tensor]", /, *, axis: int | None = 0
) -> Tensor:  # fmt: skip
    """The arrays concatenated along `axis`; flattened first if it is None."""
    given = [tensor("concat", each) for each in arrays]
    if axis is None:
        given, axis = [each.ravel() for each in given], 0
    return given[0].cat(*given[1:], dim=axis)


@public
def expand_dims(x: Tensor, /, axis: int = 0) -> Tensor:
    """A new axis of extent 1 at position `axis` of the result."""
    return tensor("expand_dims", x).expand_dims(axis)


@public
def flip(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """The elements in reverse order along `axis`: one, several, or by default all axes."""
    x = tensor("flip", x)
    return x.flip() if axis is None else x.flip(axis)


@public
def moveaxis(
    x: Tensor, source: int | tuple[int, ...], destination: int | tuple[int, ...], /
) -> Tensor:  # fmt: skip
    """Axes `source` moved to positions `destination`."""
    return tensor("moveaxis", x).movedim(source, destination)


@public
def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """Axes reordered: axis i of the result is axis `axes[i]`."""
    return tensor("permute_dims", x).permute(axes)


@public
def repeat(x: Tensor, repeats: "int | Tensor", /, *, axis: int | None = None) -> Tensor:
    """Each element `repeats` times; counts in a tensor are computed now."""
    x = tensor("repeat", x)
    counts = repeats if isinstance(repeats, int) else np.asarray(repeats).tolist()
    if isinstance(counts, list) and len(counts) == 1:
        counts = counts[0]
    return x.repeat_interleave(counts, axis)


@public
def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The same elements in row-major order, with `shape`; one extent may be -1.

    Tensors are values and lazy, so `copy` makes no visible difference.
    """
    made = tensor("reshape", x).reshape(shape)
    return made.clone() if copy else made


@public
def roll(
    x: Tensor, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None
) -> Tensor:  # fmt: skip
    """Elements shifted by `shift`; elements that leave at the end come in at the front."""
    return tensor("roll", x).roll(shift, axis)


@public
def squeeze(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """Axes of extent 1 removed."""
    return tensor("squeeze", x).squeeze(axis)


@public
def stack(arrays: "tuple[Tensor, ...] | list[Tensor]", /, *, axis: int = 0) -> Tensor:
    """Tensors of the same shape along a new axis."""
    first, *others = (tensor("stack", each) for each in arrays)
    return first.stack(*others, dim=axis)


@public
def tile(x: Tensor, repetitions: Sequence[int], /) -> Tensor:
    """The tensor repeated `repetitions[i]` times along axis i."""
    return tensor("tile", x).tile(repetitions)


@public
def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """A tuple of the slices along `axis`, each without that axis."""
    return tensor("unstack", x).unbind(axis)
