"""Operators that move elements, and those of shapes, which are known when a program is written."""

import itertools
import math
from typing import Any

import numpy as np

from compiler.imported.onnx.call import Call, operator
from compiler.imported.onnx.element_types import array_of
from compiler.tensor import Tensor


@operator("Constant")
def constant(call: Call) -> Tensor:
    """A value that stands in the model."""
    for name, kind in (("value_float", np.float32), ("value_floats", np.float32),
                       ("value_int", np.int64), ("value_ints", np.int64)):  # fmt: skip
        if name in call.attributes:
            return Tensor(np.array(call[name], kind))
    return Tensor(array_of(call["value"], f"Constant {call.name}"))


@operator("ConstantOfShape")
def constant_of_shape(call: Call, _shape: Tensor) -> Tensor:
    """One value everywhere."""
    shape = [int(n) for n in call.known(0, "the shape")]
    value = call.get("value")
    one = np.zeros(1, np.float32) if value is None else array_of(value, "the value")
    return Tensor(one.item(), dtype=one.dtype).expand(*shape) if shape else Tensor(one.reshape(()))


@operator("Shape")
def shape_of(call: Call, x: Tensor) -> Tensor:
    """The extents, or some of them."""
    extents = x.shape[call.get("start", 0) : call.get("end", x.ndim)]
    return Tensor(np.array(extents, np.int64))


@operator("Size")
def size_of(_call: Call, x: Tensor) -> Tensor:
    """How many elements there are."""
    return Tensor(np.array(x.size, np.int64))


@operator("Reshape")
def reshape(call: Call, x: Tensor, _shape: Tensor | None = None) -> Tensor:
    """0 keeps an extent, -1 is what is left."""
    wanted = call.numbers(1, "shape")
    if not call.get("allowzero", 0):
        wanted = [x.shape[i] if n == 0 else n for i, n in enumerate(wanted)]
    if -1 in wanted:
        rest = math.prod(n for n in wanted if n != -1)
        wanted[wanted.index(-1)] = x.size // rest if rest else 0
    return x.reshape(*wanted)


@operator("Flatten")
def flatten(call: Call, x: Tensor) -> Tensor:
    """A matrix: the axes before one, and those from it on."""
    axis = call.get("axis", 1)
    axis = axis if axis == x.ndim else call.axis(axis, x.ndim)
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


@operator("Squeeze")
def squeeze(call: Call, x: Tensor, _axes: Tensor | None = None) -> Tensor:
    """Without axes of extent 1."""
    axes = call.numbers(1, "axes")
    return x.squeeze() if axes is None else x.squeeze(tuple(axes))


@operator("Unsqueeze")
def unsqueeze(call: Call, x: Tensor, _axes: Tensor | None = None) -> Tensor:
    """With new axes of extent 1."""
    axes = call.numbers(1, "axes")
    rank = x.ndim + len(axes)
    new, old = {call.axis(a, rank) for a in axes}, iter(x.shape)
    return x.reshape(*(1 if a in new else next(old) for a in range(rank)))


@operator("Transpose")
def transpose(call: Call, x: Tensor) -> Tensor:
    """Axes in another order."""
    order = call.get("perm", list(reversed(range(x.ndim))))
    return x.permute(*order) if x.ndim else x


@operator("Expand")
def expand(call: Call, x: Tensor, _shape: Tensor) -> Tensor:
    """Repeated, by the rules of broadcasting both ways."""
    wanted = tuple(int(n) for n in call.known(1, "the shape"))
    return x.broadcast_to(*np.broadcast_shapes(x.shape, wanted))


@operator("Tile")
def tile(call: Call, x: Tensor, *_: Tensor) -> Tensor:
    """The whole repeated along each axis."""
    return x.tile(tuple(int(n) for n in call.known(1, "the repetitions"))) if x.ndim else x


@operator("Concat")
def concat(call: Call, *values: Tensor) -> Tensor:
    """One after the other."""
    axis = call.get("axis", 1)
    return values[0].cat(*values[1:], dim=axis) if values[1:] else values[0]


@operator("Split")
def split(call: Call, x: Tensor, *_: Any) -> tuple[Tensor, ...]:
    """Parts along an axis: of given sizes, or as equal as can be."""
    axis = call.axis(call.get("axis", 0), x.ndim)
    sizes = call.numbers(1, "split")
    if sizes is None:
        count, n = call.get("num_outputs", call.outputs), x.shape[axis]
        part = -(-n // count)
        sizes = [max(min(part, n - part * i), 0) for i in range(count)]
    ends = np.cumsum([0, *sizes]).tolist()
    return tuple(x._part(axis, a, b) for a, b in itertools.pairwise(ends))


@operator("Slice")
def slice_of(call: Call, x: Tensor, *_: Any) -> Tensor:
    """From, to, and how far apart, along some axes."""
    starts, ends = call.numbers(1, "starts"), call.numbers(2, "ends")
    axes = call.numbers(3, "axes", list(range(len(starts))))
    steps = [int(n) for n in call.known(4, "the steps")] if call.has(4) else [1] * len(starts)
    places: list[slice] = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        n = x.shape[call.axis(axis, x.ndim)]
        if step > 0:
            begin, stop = (min(max(v + n if v < 0 else v, 0), n) for v in (start, end))
            places[axis] = slice(begin, max(stop, begin), step)
            continue
        begin = min(max(start + n if start < 0 else start, 0), n - 1)
        last = min(max(end + n if end < 0 else end, -1), n - 1)
        places[axis] = slice(begin, None if last < 0 else last, step)
    made: Tensor = x[tuple(places)]
    return made


@operator("Pad")
def pad(call: Call, x: Tensor, *_: Any) -> Tensor:
    """A constant or the tensor's own elements around."""
    name = "pads" if call.version > 1 else "paddings"
    widths = call.numbers(1, name)
    axes = [call.axis(int(n), x.ndim) for n in call.known(3, "axes")] if call.has(3) else None
    axes = list(range(x.ndim)) if axes is None else axes
    pairs = [(0, 0)] * x.ndim
    for place, axis in enumerate(axes):
        pairs[axis] = widths[place], widths[place + len(axes)]
    mode = call.get("mode", "constant")
    if mode != "constant":
        return x.pad(pairs, mode=mode)
    value = call.known(2, "the value").item() if call.has(2) else call.get("value", 0)
    return x.pad(pairs, x.dtype.numpy.type(value).item())


@operator("Range")
def range_of(call: Call, start: Tensor, *_: Tensor) -> Tensor:
    """Numbers a step apart."""
    numbers = [call.known(place, "an end").item() for place in range(3)]
    return Tensor(np.arange(*numbers, dtype=start.dtype.numpy))


@operator("Trilu")
def trilu(call: Call, x: Tensor, _k: Tensor | None = None) -> Tensor:
    """A triangle of the last two axes."""
    k = int(call.known(1, "the diagonal").item()) if call.has(1) else 0
    return x.triu(k) if call.get("upper", 1) else x.tril(k)


@operator("DepthToSpace", "SpaceToDepth")
def depth_and_space(call: Call, x: Tensor) -> Tensor:
    """Blocks of pixels as channels, and back."""
    n, c, h, w = x.shape
    b = call["blocksize"]
    if call.op == "SpaceToDepth":
        order = (0, 3, 5, 1, 2, 4) if call.get("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
        cut = x.reshape(n, c, h // b, b, w // b, b).permute(*order)
        return cut.reshape(n, c * b * b, h // b, w // b)
    if call.get("mode", "DCR") == "DCR":
        cut = x.reshape(n, b, b, c // (b * b), h, w).permute(0, 3, 4, 1, 5, 2)
    else:
        cut = x.reshape(n, c // (b * b), b, b, h, w).permute(0, 1, 4, 2, 5, 3)
    return cut.reshape(n, c // (b * b), h * b, w * b)


@operator("CenterCropPad")
def center_crop_pad(call: Call, x: Tensor, _shape: Tensor) -> Tensor:
    """The middle, cut or surrounded by zeros."""
    wanted = [int(n) for n in call.known(1, "the shape")]
    axes = [call.axis(a, x.ndim) for a in call.get("axes", range(x.ndim))]
    pairs = [(0, 0)] * x.ndim
    for axis, n in zip(axes, wanted, strict=True):
        more = n - x.shape[axis]
        before = more // 2 if more >= 0 else -(-more // 2)
        pairs[axis] = before, more - before
    return x.pad(pairs)
