"""Operators that move elements without changing them."""

import math
from collections.abc import Sequence
from typing import Any

from compiler.imported.call import Extent, Results, VariableShape
from compiler.imported.torch.call import Call, as_tensor, axes_of, axis_of, operator
from compiler.tensor import Tensor
from compiler.tensors.shapes import Axes


@operator("view.default", "_unsafe_view", "reshape", "view_copy.default", "_reshape_alias")
def view(_call: Call, x: Tensor, shape: VariableShape, /) -> Tensor:
    """The same elements in another shape."""
    return x.reshape(*shape)


@operator("expand", "expand_copy", "broadcast_to")
def expand(_call: Call, x: Tensor, shape: VariableShape, /) -> Tensor:
    """Axes of extent 1 broadcast; -1 keeps an extent."""
    lead = len(shape) - x.ndim
    extents = (None,) * lead + x.symbolic_shape
    wanted: list[Any] = [o if _is_left(n) else n for n, o in zip(shape, extents, strict=True)]
    return _with_lead(x, lead).expand(*wanted)


def _with_lead(x: Tensor, count: int) -> Tensor:
    """`count` axes of extent 1 added in front."""
    for _ in range(count):
        x = x.unsqueeze(0)
    return x


def _is_left(extent: Any) -> bool:
    return isinstance(extent, int) and extent == -1


@operator("permute", "permute_copy")
def permute(_call: Call, x: Tensor, /, dims: Axes) -> Tensor:
    """Axes in another order."""
    return x.permute(*axes_of(dims, x.ndim)) if x.ndim else x


@operator("transpose")
def transpose(_call: Call, x: Tensor, first: int, second: int, /) -> Tensor:
    """Two axes swapped."""
    return x.swapaxes(first, second) if x.ndim else x


@operator("squeeze", "squeeze_copy")
def squeeze(_call: Call, x: Tensor, /, dim: Axes = None) -> Tensor:
    """Axes of extent 1 removed: all of them, or those given."""
    chosen = [a for a in axes_of(dim, x.ndim) if x.ndim and x.symbolic_shape[a] == 1]
    return x.squeeze(tuple(chosen)) if chosen else x


@operator("unsqueeze", "unsqueeze_copy")
def unsqueeze(_call: Call, x: Tensor, /, dim: int) -> Tensor:
    """One more axis of extent 1."""
    return x.unsqueeze(dim)


@operator("flatten")
def flatten(_call: Call, x: Tensor, /, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Some axes as one."""
    return x.flatten(start_dim, end_dim)


@operator("slice", "slice_copy")
def sliced(
    _call: Call, x: Tensor, /, dim: int = 0, start: Extent | None = None,
    end: Extent | None = None, step: int = 1,
) -> Tensor:  # fmt: skip
    """A strided slice of an axis."""
    axis = axis_of(dim, x.ndim)
    extent = x.symbolic_shape[axis]
    is_to_end = end is None or end == extent or (isinstance(end, int) and end >= x.shape[axis])
    if start in (None, 0) and step == 1 and is_to_end:
        return x
    part: Tensor = x[(slice(None),) * axis + (slice(start, end, step),)]
    return part


@operator("select", "select_copy")
def select(_call: Call, x: Tensor, /, dim: int, index: Any) -> Tensor:
    """The slice at one index of an axis."""
    part: Tensor = x[(slice(None),) * axis_of(dim, x.ndim) + (index,)]
    return part


@operator("narrow.default", "narrow_copy")
def narrow(_call: Call, x: Tensor, /, dim: int, start: int, length: int) -> Tensor:
    """A part of an axis."""
    return x.narrow(axis_of(dim, x.ndim), start, length)


@operator("cat")
def cat(call: Call, tensors: Any, /, dim: int = 0) -> Tensor:
    """Tensors concatenated; those of shape (0,) are ignored."""
    parts = [as_tensor(t, call.dtype) for t in tensors if t.shape != (0,)] or tensors[:1]
    first, *others = parts
    return first.cat(*others, dim=axis_of(dim, first.ndim)) if others else first


@operator("split", "split_with_sizes", "split_copy", "split_with_sizes_copy")
def split(_call: Call, x: Tensor, sizes: Any, /, dim: int = 0) -> Results:
    """An axis in parts of these sizes."""
    return x.split(sizes, axis_of(dim, x.ndim))


@operator("unbind", "unbind_copy")
def unbind(_call: Call, x: Tensor, /, dim: int = 0) -> Results:
    """The slices of an axis."""
    return x.unbind(axis_of(dim, x.ndim))


@operator("flip")
def flip(_call: Call, x: Tensor, /, dims: Axes) -> Tensor:
    """Axes reversed."""
    return x.flip(*axes_of(dims, x.ndim)) if dims else x


@operator("roll")
def roll(_call: Call, x: Tensor, /, shifts: Any, dims: Axes = ()) -> Tensor:
    """Elements shifted along axes, wrapping around."""
    return x.roll(tuple(shifts), axes_of(dims, x.ndim) if dims else None)


@operator("repeat")
def repeat(_call: Call, x: Tensor, repeats: Any, /) -> Tensor:
    """The tensor repeated along each axis."""
    return x.tile(*repeats) if repeats else x


@operator("constant_pad_nd", "pad", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d",
          "replication_pad1d", "replication_pad2d", "replication_pad3d")  # fmt: skip
def pad(
    call: Call, x: Tensor, widths: Any, /, mode: str = "constant", value: float | None = None
) -> Tensor:
    """The last axes padded."""
    if call.name.startswith(("reflection", "replication")):
        mode = "reflect" if call.name.startswith("reflection") else "replicate"
    pairs = [(0, 0)] * x.ndim
    for place in range(len(widths) // 2):
        pairs[-1 - place] = widths[2 * place], widths[2 * place + 1]
    if mode != "constant":
        return x.pad(pairs, mode=mode)
    return x.pad(pairs, x.dtype.numpy.type(value or 0).item())


@operator("clone", "alias", "contiguous", "lift_fresh_copy", "lift_fresh", "alias_copy",
          "resolve_conj", "resolve_neg")  # fmt: skip
def same(_call: Call, x: Tensor, /) -> Tensor:
    """The value unchanged."""
    return x


@operator("detach", "detach_", "detach_copy", "svodviz::detach")
def detached(_call: Call, x: Tensor, /) -> Tensor:
    """The value without history: gradients stop here."""
    return x.detach() if x.dtype.is_float else x


@operator("copy")
def copied(call: Call, x: Tensor, source: Tensor, /) -> Tensor:
    """Another value in the shape and type of the first."""
    value = as_tensor(source, call.dtype)
    return value.broadcast_to(*x.symbolic_shape)


@operator("slice_scatter")
def slice_scatter(
    _call: Call, x: Tensor, source: Tensor, /, dim: int = 0,
    start: Extent | None = None, end: Extent | None = None, step: int = 1,
) -> Tensor:  # fmt: skip
    """A slice of an axis replaced."""
    return x.set((slice(None),) * axis_of(dim, x.ndim) + (slice(start, end, step),), source)


@operator("select_scatter")
def select_scatter(_call: Call, x: Tensor, source: Tensor, /, dim: int, index: int) -> Tensor:
    """The slice at one index of an axis replaced."""
    return x.set((slice(None),) * axis_of(dim, x.ndim) + (index,), source)


@operator("as_strided", "as_strided_copy")
def as_strided(
    call: Call, x: Tensor, /, size: Sequence[int], stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:  # fmt: skip
    """A strided view of a row-major tensor."""
    described = call.argument(0).meta["val"]
    if not described.is_contiguous():
        raise call.refused("the tensor is not row-major", described.stride(), "a contiguous tensor")
    return x.as_strided(size, stride, storage_offset or 0)


@operator("unfold", "unfold_copy")
def unfold(_call: Call, x: Tensor, dim: int, size: int, step: int, /) -> Tensor:
    """Sliding windows along an axis, as a new last axis."""
    return x.unfold(axis_of(dim, x.ndim), size, step)


@operator("diagonal", "diagonal_copy")
def diagonal(_call: Call, x: Tensor, /, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A diagonal of two axes."""
    return x.diagonal(offset, dim1, dim2)


@operator("tril", "triu")
def triangle(call: Call, x: Tensor, /, diagonal: int = 0) -> Tensor:
    """The lower or upper triangle; 0 elsewhere."""
    return x.tril(diagonal) if call.name.startswith("tril") else x.triu(diagonal)


@operator("channel_shuffle", "native_channel_shuffle")
def channel_shuffle(_call: Call, x: Tensor, /, groups: int) -> Tensor:
    """Channels of groups interleaved."""
    n, c, *image = x.shape
    cut = x.reshape(n, groups, c // groups, *image)
    return cut.swapaxes(1, 2).reshape(n, c, *image)


@operator("sym_size.int", "size.int")
def size(_call: Call, x: Tensor, /, dim: int) -> Extent:
    """The extent of an axis."""
    return x.symbolic_shape[axis_of(dim, x.ndim)]


@operator("sym_numel", "numel")
def count(_call: Call, x: Tensor, /) -> Extent:
    """The number of elements."""
    extents: Any = x.symbolic_shape
    product: Extent = math.prod(extents)
    return product


@operator("_assert_tensor_metadata", "sym_constrain_range", "sym_constrain_range_for_size")
def checked(_call: Call, /) -> None:
    """No result: PyTorch checked the condition when it exported the graph."""


@operator("_assert_scalar")
def asserted(call: Call, condition: Any, /, assert_msg: str) -> None:
    """No result; raises the model's own error if a condition about extents is false."""
    if isinstance(condition, bool | int) and not condition:
        raise call.refused(assert_msg, condition, "a true condition")
