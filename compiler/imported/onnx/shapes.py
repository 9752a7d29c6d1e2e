"""Operators that move elements, and operators on shapes, which are known while the program is
built."""

import itertools
import math
from typing import Any

import numpy as np

from compiler.imported.onnx.call import Call, operator
from compiler.imported.onnx.element_types import array_of
from compiler.tensor import Tensor
from compiler.tensors.variables import Variable


@operator("Constant")
def constant(call: Call) -> Tensor:
    """A constant of the model."""
    for name, kind in (("value_float", np.float32), ("value_floats", np.float32),
                       ("value_int", np.int64), ("value_ints", np.int64)):  # fmt: skip
        if name in call.attributes:
            return Tensor(np.array(call[name], kind))
    return Tensor(array_of(call["value"], f"Constant {call.name}"))


@operator("ConstantOfShape")
def constant_of_shape(call: Call, _shape: Tensor) -> Tensor:
    """One value everywhere."""
    shape = call.numbers(0, "shape")
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
    """The number of elements."""
    return Tensor(np.array(x.size, np.int64))


@operator("Reshape")
def reshape(call: Call, x: Tensor, _shape: Tensor | None = None) -> Tensor:
    """Reshaped; 0 keeps an extent, -1 is inferred."""
    wanted = call.numbers(1, "shape")
    if not call.get("allowzero", 0):
        wanted = [x.symbolic_shape[i] if n == 0 else n for i, n in enumerate(wanted)]
    if -1 in wanted and not x.node.extents and not any(isinstance(n, Variable) for n in wanted):
        rest = math.prod(n for n in wanted if n != -1)
        wanted[wanted.index(-1)] = x.size // rest if rest else 0
    return x.reshape(*wanted)


@operator("Flatten")
def flatten(call: Call, x: Tensor) -> Tensor:
    """A matrix: the axes before one, and those from it on."""
    axis = call.get("axis", 1)
    axis = axis if axis == x.ndim else call.axis(axis, x.ndim)
    extents: Any = x.symbolic_shape
    return x.reshape(math.prod(extents[:axis]), math.prod(extents[axis:]))


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
    new, old = {call.axis(a, rank) for a in axes}, iter(x.symbolic_shape)
    return x.reshape(*(1 if a in new else next(old) for a in range(rank)))


@operator("Transpose")
def transpose(call: Call, x: Tensor) -> Tensor:
    """Axes in another order."""
    order = call.get("perm", list(reversed(range(x.ndim))))
    return x.permute(*order) if x.ndim else x


@operator("Expand")
def expand(call: Call, x: Tensor, _shape: Tensor) -> Tensor:
    """Broadcast in both directions."""
    return x.broadcast_to(*_broadcast(call, list(x.symbolic_shape), call.numbers(1, "shape")))


def _broadcast(call: Call, one: list[Any], other: list[Any]) -> list[Any]:
    """The broadcast shape of two shapes, whose extents may be variables."""
    rank = max(len(one), len(other))
    pairs = zip([1] * (rank - len(one)) + one, [1] * (rank - len(other)) + other, strict=True)
    extents = []
    for a, b in pairs:
        if str(a) != str(b) and a != 1 and b != 1:
            raise call.refused("the shapes do not fit together", f"{a} and {b}", "equal, or 1")
        extents.append(b if isinstance(a, int) and a == 1 else a)
    return extents


@operator("Tile")
def tile(call: Call, x: Tensor, *_known: Tensor) -> Tensor:
    """Repeated along each axis."""
    return x.tile(tuple(int(n) for n in call.known(1, "the repetitions"))) if x.ndim else x


@operator("Concat")
def concat(call: Call, *values: Tensor) -> Tensor:
    """Concatenation along an axis."""
    axis = call.get("axis", 1)
    return values[0].cat(*values[1:], dim=axis) if values[1:] else values[0]


@operator("Split")
def split(call: Call, x: Tensor, *_known: Any) -> tuple[Tensor, ...]:
    """Parts along an axis: of given sizes, or nearly equal."""
    axis = call.axis(call.get("axis", 0), x.ndim)
    sizes = call.numbers(1, "split")
    if sizes is None:
        count, n = call.get("num_outputs", call.outputs), x.symbolic_shape[axis]
        if isinstance(n, Variable):
            sizes = [n // count] * count
        else:
            part = -(-n // count)
            sizes = [max(min(part, n - part * i), 0) for i in range(count)]
    if not x.node.extents or x.node.extents[axis] is None:
        ends = np.cumsum([0, *sizes]).tolist()
        return tuple(x._part(axis, a, b) for a, b in itertools.pairwise(ends))
    ends = list(itertools.accumulate(sizes, initial=0))
    lead = (slice(None),) * axis
    return tuple(x[(*lead, slice(a, b))] for a, b in itertools.pairwise(ends))


@operator("Slice")
def slice_of(call: Call, x: Tensor, *_known: Any) -> Tensor:
    """A strided slice along some axes."""
    starts, ends = call.numbers(1, "starts"), call.numbers(2, "ends")
    axes = call.numbers(3, "axes", list(range(len(starts))))
    steps = [int(n) for n in call.known(4, "the steps")] if call.has(4) else [1] * len(starts)
    places: list[slice] = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        n = x.symbolic_shape[call.axis(axis, x.ndim)]
        if not all(isinstance(number, int) for number in (n, start, end)):
            places[axis] = _variable_part(n, start, end, step)
            continue
        if step > 0:
            begin, stop = (min(max(v + n if v < 0 else v, 0), n) for v in (start, end))
            places[axis] = slice(begin, max(stop, begin), step)
            continue
        begin = min(max(start + n if start < 0 else start, 0), n - 1)
        last = min(max(end + n if end < 0 else end, -1), n - 1)
        places[axis] = slice(begin, None if last < 0 else last, step)
    part: Tensor = x[tuple(places)]
    return part


def _variable_part(n: Any, start: Any, end: Any, step: int) -> slice:
    """A slice of an axis with variable bounds; bounds far out of range stand for the ends."""
    far = 2**30
    if step < 0:
        start = None if isinstance(start, int) and (start >= far or start == -1) else start
        return slice(start, None if isinstance(end, int) and end <= -far else end, step)
    start = 0 if isinstance(start, int) and start <= -far else start
    if isinstance(end, int) and (end >= far or end == (n if isinstance(n, int) else n.high)):
        end = None
    return slice(start, end, step)


@operator("Pad")
def pad(call: Call, x: Tensor, *_known: Any) -> Tensor:
    """Padded with a constant or by the tensor's own elements."""
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
def range_of(call: Call, start: Tensor, *_known: Tensor) -> Tensor:
    """Numbers a step apart."""
    first, end, step = (call.numbers(place, "an end")[0] if start.dtype.is_integer
                        else call.known(place, "an end").item() for place in range(3))  # fmt: skip
    if isinstance(end, Variable) and isinstance(first, int) and step == 1:
        count: Any = end - first
        return Tensor.arange(count.high)[:count].add(first).cast(start.dtype)
    numbers = first, end, step
    return Tensor(np.arange(*numbers, dtype=start.dtype.numpy))


@operator("Trilu")
def trilu(call: Call, x: Tensor, _k: Tensor | None = None) -> Tensor:
    """A triangle of the last two axes."""
    k = int(call.known(1, "the diagonal").item()) if call.has(1) else 0
    return x.triu(k) if call.get("upper", 1) else x.tril(k)


@operator("DepthToSpace", "SpaceToDepth")
def depth_and_space(call: Call, x: Tensor) -> Tensor:
    """Blocks of pixels as channels, or channels as blocks of pixels."""
    n, c, h, w = x.symbolic_shape
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


def _fixed(call: Call, x: Tensor, axis: int) -> int:
    """The extent of an axis, which has to be known."""
    extent = x.symbolic_shape[axis]
    if isinstance(extent, Variable):
        raise call.refused(f"the extent of axis {axis} is variable", extent, "a fixed extent")
    return extent


@operator("CenterCropPad")
def center_crop_pad(call: Call, x: Tensor, _shape: Tensor) -> Tensor:
    """The centre, cropped or padded with zeros."""
    wanted = [int(n) for n in call.known(1, "the shape")]
    axes = [call.axis(a, x.ndim) for a in call.get("axes", range(x.ndim))]
    pairs = [(0, 0)] * x.ndim
    for axis, n in zip(axes, wanted, strict=True):
        more = n - _fixed(call, x, axis)
        before = more // 2 if more >= 0 else -(-more // 2)
        pairs[axis] = before, more - before
    return x.pad(pairs)
