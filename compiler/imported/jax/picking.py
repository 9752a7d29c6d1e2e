"""Gather, scatter, dynamic slices and sorting.

The general gather reads a window at each start: the position on each axis is start + offset, so it
is one `Index`; a scatter is one `Scatter` of all elements of all windows.
"""

from collections.abc import Sequence
from typing import Any

from compiler.core import dtypes
from compiler.core.lazy import loading
from compiler.graph.kinds.effects import Scatter
from compiler.graph.nodes import Index
from compiler.imported.axes import indices_along
from compiler.imported.call import Results
from compiler.imported.jax.call import Call, primitive
from compiler.tensor import Tensor

UPDATES = {"scatter": "replace", "scatter-add": "add", "scatter-sub": "add",
           "scatter-mul": "mul", "scatter-min": "min", "scatter-max": "max"}  # fmt: skip


def read_at(x: Tensor, positions: Sequence[Tensor], shape: Sequence[int]) -> Tensor:
    """The elements of `x` at positions, one tensor per axis, that broadcast to `shape`."""
    if not x.ndim:
        return x.expand(*shape)
    if 0 in shape:
        return Tensor.full(tuple(shape), 0, x.dtype)
    wide = [p.cast(dtypes.int64).expand(*shape).node for p in positions]
    return Tensor.from_node(Index((x.node, *wide)))


def put_at(
    x: Tensor, positions: Sequence[Tensor], updates: Tensor, op: str = "replace"
) -> Tensor:
    """`x` updated at positions that broadcast to the shape of the updates; those out of range are
    ignored."""
    if 0 in updates.shape or not x.size:
        return x
    if not x.ndim:
        (x,), positions = [x.reshape(1)], [Tensor(0).expand(*updates.shape)]
        return put_at(x, positions, updates, op).reshape(())
    wide = [p.cast(dtypes.int64).expand(*updates.shape).node for p in positions]
    return Tensor.from_node(Scatter((x.node, updates.cast(x.dtype).node, *wide), op))


def _starts(
    call: Call, indices: Tensor, extents: Sequence[int], sizes: Sequence[int], axes: Sequence[int]
) -> tuple[list[Tensor], Tensor | None]:
    """The starts of windows of `sizes` along some axes; and a mask of those in range, if the mode
    needs it, else they are clamped."""
    starts: list[Tensor] = []
    inside: Tensor | None = None
    is_left = call["mode"] is not None and int(call["mode"].value) == 2
    for number, axis in enumerate(axes):
        start: Tensor = indices[..., number].cast(dtypes.int64)
        last = extents[axis] - sizes[axis]
        if is_left:
            is_in = start.ge(0).bitwise_and(start.le(last))
            inside = is_in if inside is None else inside.bitwise_and(is_in)
        else:
            start = start.clip(0, last)
        starts.append(start)
    return starts, inside


def _spread(part: Tensor, places: Sequence[int], rank: int) -> Tensor:
    """A tensor with its axes at `places` among `rank` axes."""
    extents = dict(zip(places, part.shape, strict=True))
    return part.reshape(*(extents.get(axis, 1) for axis in range(rank)))


@primitive("gather")
def gather(call: Call, x: Tensor, indices: Tensor) -> Tensor:
    """A window of the operand for each start."""
    numbers, sizes, shape = call["dimension_numbers"], call["slice_sizes"], call.shape
    offsets = list(numbers.offset_dims)
    batch = [axis for axis in range(len(shape)) if axis not in offsets]
    starts, inside = _starts(call, indices, x.shape, sizes, numbers.start_index_map)
    positions = _positions(
        x.ndim, dict(zip(numbers.start_index_map, starts, strict=True)), shape, batch, offsets,
        {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims},
        dict(zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True)),
    )  # fmt: skip
    elements = read_at(x, positions, shape)
    if inside is None:
        return elements
    fill = call["fill_value"]
    if fill is None:
        fill = _usual_fill(x.dtype)
    return _spread(inside, batch, len(shape)).where(elements, Tensor(fill, dtype=x.dtype))


def _usual_fill(dtype: dtypes.DType) -> Any:
    """JAX's value for positions out of range: NaN, the least signed or the greatest unsigned
    number."""
    if dtype.is_float:
        return float("nan")
    return dtype.minimum if dtype.kind == "int" else dtype.maximum


def _positions(
    rank: int, starts: dict[int, Tensor], shape: Sequence[int], batch: Sequence[int],
    offsets: Sequence[int], gone: set[int], batching: dict[int, int],
) -> list[Tensor]:  # fmt: skip
    """The positions along each axis of the operand, broadcastable to `shape`. Its axes `batch` are
    those of the starts, its axes `offsets` those of a window without the collapsed axes `gone`."""
    window = iter(offsets)
    positions = []
    for axis in range(rank):
        place = None
        if axis in starts:
            place = _spread(starts[axis], batch, len(shape))
        elif axis in batching:
            place = indices_along(shape, batch[batching[axis]])
        if axis not in gone:
            along = indices_along(shape, next(window))
            place = along if place is None else place.add(along)
        positions.append(place if place is not None else Tensor(0))
    return positions


@primitive(*UPDATES)
def scatter(call: Call, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """The operand with a window of updates combined at each start."""
    numbers = call["dimension_numbers"]
    offsets = list(numbers.update_window_dims)
    batch = [axis for axis in range(updates.ndim) if axis not in offsets]
    gone = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    window = iter(offsets)
    sizes = [1 if a in gone else updates.shape[next(window)] for a in range(x.ndim)]
    axes = numbers.scatter_dims_to_operand_dims
    starts, inside = _starts(call, indices, x.shape, sizes, axes)
    batching = dict(zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims,
                        strict=True))  # fmt: skip
    positions = _positions(x.ndim, dict(zip(axes, starts, strict=True)), updates.shape, batch,
                           offsets, gone, batching)  # fmt: skip
    if inside is not None and positions:
        is_in = _spread(inside, batch, updates.ndim)
        positions[0] = is_in.where(positions[0], -1)
    op, body = UPDATES[call.op], call.get("update_jaxpr")
    if call.op == "scatter" and body is not None:
        return _applied(call, x, positions, updates)
    return put_at(x, positions, updates.neg() if call.op == "scatter-sub" else updates, op)


def _applied(call: Call, x: Tensor, positions: list[Tensor], updates: Tensor) -> Tensor:
    """A function applied to the elements at positions, each of which may occur once."""
    with loading():
        from jax.extend.core import ClosedJaxpr
    body, shape = call["update_jaxpr"], updates.shape
    old = read_at(x, [p.maximum(0) for p in positions], shape)
    (new,) = call.spread(ClosedJaxpr(body, call.get("update_consts", ())), [old, updates])
    return put_at(x, positions, new)


@primitive("dynamic_slice")
def dynamic_slice(call: Call, x: Tensor, *starts: Tensor) -> Tensor:
    """A window with a computed start, which is clamped."""
    sizes = tuple(call["slice_sizes"])
    positions = [_moved(call, start, x.shape[axis], sizes, axis)
                 for axis, start in enumerate(starts[: x.ndim])]  # fmt: skip
    return read_at(x, positions, sizes)


def _begin(call: Call, start: Tensor, extent: int, size: int) -> Tensor:
    """A clamped start; a number if it is one."""
    value = call.known(start)
    if value is not None:
        return Tensor(min(max(int(value.item()), 0), extent - size))
    return start.cast(dtypes.int64).clip(0, extent - size)


def _moved(call: Call, start: Tensor, extent: int, sizes: Sequence[int], axis: int) -> Tensor:
    return _begin(call, start, extent, sizes[axis]).add(indices_along(sizes, axis))


@primitive("dynamic_update_slice")
def dynamic_update_slice(call: Call, x: Tensor, update: Tensor, *starts: Tensor) -> Tensor:
    """The operand with a window replaced. Every element is read from the update or the operand, so
    that consumers can be fused with it."""
    if not x.ndim or 0 in update.shape:
        return update if not x.ndim else x
    positions, inside = [], None
    for axis, start in enumerate(starts):
        size = update.shape[axis]
        index = indices_along(x.shape, axis)
        if size == x.shape[axis]:
            positions.append(index)
            continue
        place = index.sub(_begin(call, start, x.shape[axis], size))
        is_in = place.ge(0).bitwise_and(place.lt(size))
        inside = is_in if inside is None else inside.bitwise_and(is_in)
        positions.append(place)
    new = read_at(update, positions, x.shape)
    return new if inside is None else inside.where(new, x)


@primitive("sort")
def sort(call: Call, *operands: Tensor) -> Results:
    """Rows sorted by the first operands; stable."""
    axis, count = int(call["dimension"]), int(call["num_keys"])
    if len(operands) == 1:
        return operands[0].sort(axis)
    order: Tensor | None = None
    for key in reversed(operands[:count]):  # the last key first: each sort is a stable one
        moved = key if order is None else key.gather(axis, order)
        step = moved.argsort(axis)
        order = step if order is None else order.gather(axis, step)
    assert order is not None
    order = order.contiguous()
    return [each.gather(axis, order) for each in operands]


@primitive("top_k", "approx_top_k")
def top_k(call: Call, x: Tensor) -> Results:
    """The greatest elements along an axis, and their indices."""
    if call.op == "approx_top_k":
        axis, k, is_max = int(call["reduction_dimension"]), int(call["k"]), bool(call["is_max_k"])
    else:
        axis, k, is_max = int(call.get("axis", x.ndim - 1)), int(call["k"]), True
    values, places = x.topk(k, axis % x.ndim, is_max)
    return values, places.cast(dtypes.parse(call.results[1].dtype))
