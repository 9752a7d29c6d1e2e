"""Primitives that move or create elements."""

from collections.abc import Sequence

import numpy as np

from compiler.core.dtypes import Scalar
from compiler.graph.nodes import Const
from compiler.imported.axes import indices_along
from compiler.imported.call import Results
from compiler.imported.jax.call import Call, primitive
from compiler.tensor import Tensor


@primitive("iota")
def iota(call: Call) -> Tensor:
    """0, 1, … along one axis."""
    shape, axis = call.shape, int(call["dimension"])
    return indices_along(shape, axis).cast(call.dtype).expand(*shape)


@primitive("empty", "empty2")
def empty(call: Call) -> Tensor:
    """Uninitialised elements: zeros."""
    return Tensor.full(call.shape, 0, call.dtype)


@primitive("broadcast_in_dim")
def broadcast(call: Call, x: Tensor) -> Tensor:
    """Broadcast to a shape; axis i of the operand is axis `broadcast_dimensions[i]`."""
    shape, places = call.shape, call["broadcast_dimensions"]
    extents = dict(zip(places, x.shape, strict=True))
    return x.reshape(*(extents.get(i, 1) for i in range(len(shape)))).expand(*shape)


@primitive("broadcast_to")
def broadcast_to(call: Call, x: Tensor) -> Tensor:
    """Broadcast to a shape."""
    return x.broadcast_to(*call.shape)


@primitive("reshape", "squeeze", "expand_dims")
def reshape(call: Call, x: Tensor) -> Tensor:
    """The same elements in another shape."""
    dimensions = call.get("dimensions")
    if call.op == "reshape" and dimensions is not None:
        x = x.permute(*dimensions)
    return x.reshape(*call.shape)


@primitive("transpose")
def transpose(call: Call, x: Tensor) -> Tensor:
    """The axes in another order."""
    return x.permute(*call["permutation"])


@primitive("rev")
def reversed_along(call: Call, x: Tensor) -> Tensor:
    """Some axes reversed."""
    axes = call["dimensions"]
    return x.flip(*axes) if axes else x


@primitive("concatenate")
def concatenate(call: Call, *parts: Tensor) -> Tensor:
    """Concatenation along an axis."""
    return parts[0].cat(*parts[1:], dim=int(call["dimension"])) if parts[1:] else parts[0]


@primitive("stack")
def stack(call: Call, *parts: Tensor) -> Tensor:
    """Along a new axis."""
    axis = int(call["axis"])
    return parts[0].stack(*parts[1:], dim=axis) if parts[1:] else parts[0].unsqueeze(axis)


@primitive("unstack")
def unstack(call: Call, x: Tensor) -> Results:
    """The slices of an axis."""
    return x.unbind(int(call["axis"]))


@primitive("split")
def split(call: Call, x: Tensor) -> Results:
    """Parts of an axis."""
    return x.split([int(n) for n in call["sizes"]], int(call["axis"]))


@primitive("tile")
def tile(call: Call, x: Tensor) -> Tensor:
    """Repeated along each axis."""
    return x.tile(*call["reps"])


@primitive("slice")
def cut(call: Call, x: Tensor) -> Tensor:
    """A strided slice of each axis."""
    begins, ends = call["start_indices"], call["limit_indices"]
    steps = call["strides"] or (1,) * x.ndim
    if not x.ndim:
        return x
    taken: Tensor = x[tuple(slice(*each) for each in zip(begins, ends, steps, strict=True))]
    return taken


@primitive("pad")
def pad(call: Call, x: Tensor, value: Tensor) -> Tensor:
    """Padding with a value around the elements of each axis, and between them; negative widths
    crop."""
    return padded(x, [tuple(int(n) for n in each) for each in call["padding_config"]], value)


def padded(x: Tensor, widths: Sequence[tuple[int, ...]], value: Tensor | None = None) -> Tensor:
    """`x` padded with `value`; `widths` are before, after and between the elements of each axis."""
    if all(each == (0, 0, 0) for each in widths):
        return x
    number = value.node.value if value is not None and isinstance(value.node, Const) else 0
    is_plain = all(between == 0 for _, _, between in widths)
    is_number = value is None or isinstance(value.node, Const)
    if value is None or (is_number and (is_plain or number == 0)):
        return _bordered(x, widths, number)
    inside = _bordered(Tensor.full(x.shape, True), widths, False)
    return inside.where(_bordered(x, widths, 0), value)


def _bordered(x: Tensor, widths: Sequence[tuple[int, ...]], number: Scalar) -> Tensor:
    for axis, (_, _, between) in enumerate(widths):
        x = apart(x, axis, between)
    pairs = [(max(before, 0), max(behind, 0)) for before, behind, _ in widths]
    x = x.pad(pairs, number) if any(map(any, pairs)) else x
    cuts = [
        (max(-before, 0), n - max(-behind, 0))
        for (before, behind, _), n in zip(widths, x.shape, strict=True)
    ]
    return x.shrink(cuts)


def apart(x: Tensor, axis: int, between: int) -> Tensor:
    """Zeros inserted between the elements of an axis."""
    n, shape = x.shape[axis], x.shape
    if not between or n < 2:
        return x
    pairs = [(0, 0)] * (x.ndim + 1)
    pairs[axis + 1] = 0, between
    wide = x.unsqueeze(axis + 1).pad(pairs)
    step = between + 1
    joined = wide.reshape(*shape[:axis], n * step, *shape[axis + 1 :])
    return joined._part(axis, 0, (n - 1) * step + 1)


@primitive("iota_2x32_shape")
def counters(call: Call) -> Results:
    """The index of each element as two 32-bit words, the upper one first."""
    shape = call.shape
    count = Tensor.arange(int(np.prod(shape, dtype=np.int64))).reshape(*shape)
    upper = count.rshift(32) if count.size >= 1 << 32 else count.zeros_like()
    return upper.cast(call.dtype), count.cast(call.dtype)
