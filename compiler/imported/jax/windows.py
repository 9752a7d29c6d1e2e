"""Convolutions, and reductions over windows."""

import math

from compiler.graph.nodes import Reduce
from compiler.imported.axes import along
from compiler.imported.call import Results
from compiler.imported.jax.call import Call, primitive
from compiler.imported.jax.folds import joining
from compiler.imported.jax.picking import put_at
from compiler.imported.jax.products import summed_in
from compiler.imported.jax.shapes import padded
from compiler.imported.methods import for_axes
from compiler.tensor import Tensor
from compiler.tensors.value import reshaped
from compiler.tensors.windows import windows_of_image

MOST_AXES = 3
FOLDS = {"reduce_window_sum": "sum", "reduce_window_max": "max", "reduce_window_min": "min"}


@primitive("conv_general_dilated")
def convolution(call: Call, x: Tensor, weight: Tensor) -> Tensor:
    """Cross-correlation over any number of axes, with dilated images and grouped channels."""
    of_x, of_weight, of_result = call["dimension_numbers"]
    dtype = summed_in(call, x, weight)
    image = x.cast(dtype).permute(*of_x)
    w = weight.cast(dtype).permute(*of_weight)
    axes, groups = image.ndim - 2, int(call["feature_group_count"])
    if axes > MOST_AXES:
        raise call.refused("too many axes", axes, f"at most {MOST_AXES}")
    batches = int(call["batch_group_count"])
    if batches > 1:  # groups of images with separate weights are groups of channels
        n, c, *rest = image.shape
        image = image.reshape(batches, n // batches, c, *rest)
        image = image.swapaxes(0, 1).reshape(n // batches, batches * c, *rest)
        groups = batches
    widths = [(0, 0, 0)] * 2 + [
        (int(before), int(behind), int(gap) - 1)
        for (before, behind), gap in zip(call["padding"], call["lhs_dilation"], strict=True)
    ]
    image = padded(image, widths)
    steps, gaps = (tuple(map(int, call[n])) for n in ("window_strides", "rhs_dilation"))
    if not axes:
        result = _of_channels(image, w, groups)
    elif 0 in call.shape or not w.size:
        return Tensor.full(call.shape, 0, call.dtype)
    else:
        result = for_axes(image, "conv", axes)(w, None, steps, 0, gaps, groups)
    back = [0] * len(of_result)
    for place, axis in enumerate(of_result):
        back[axis] = place
    return result.permute(*back).cast(call.dtype)


def _of_channels(image: Tensor, weight: Tensor, groups: int) -> Tensor:
    """A convolution over no axes: a matrix product for each group of channels."""
    n, c = image.shape
    o = weight.shape[0]
    x, w = image.reshape(n, groups, c // groups), weight.reshape(groups, o // groups, -1)
    return Tensor.einsum("ngc,goc->ngo", x, w).reshape(n, o)


@primitive(*FOLDS)
def folded(call: Call, x: Tensor) -> Tensor:
    """The sum, maximum or minimum of each window."""
    return _fold(call, x, FOLDS[call.op])


@primitive("reduce_window")
def folded_by(call: Call, *operands: Tensor) -> Results:
    """A reduction by a function of two values, starting from an initial value."""
    count = len(operands) // 2
    body, values, first = call["jaxpr"], operands[:count], operands[count:]
    name = joining(body)
    if count == 1 and name:
        total = _fold(call, values[0], name)
        return call.spread(body, [total, first[0].expand(*total.shape)])
    slid = [_windows(call, v, init) for v, init in zip(values, first, strict=True)]
    rank = values[0].ndim
    flat = [v.reshape(*v.shape[:rank], -1) for v in slid]
    totals = [init.expand(*flat[0].shape[:-1]) for init in first]
    for place in range(flat[0].shape[-1]):
        totals = call.spread(body, [*totals, *(v[..., place] for v in flat)])
    return totals


def _fold(call: Call, x: Tensor, op: str) -> Tensor:
    identity = {"sum": 0, "prod": 1, "max": x.dtype.minimum, "min": x.dtype.maximum}[op]
    slid = _windows(call, x, Tensor(identity, dtype=x.dtype))
    if not slid.size:
        return Tensor.full(call.shape, identity, x.dtype)
    rank = x.ndim
    inner = x.dtype.accumulator if op in ("sum", "prod") else x.dtype
    total = Reduce((slid.cast(inner).node,), op, tuple(range(rank, 2 * rank)))
    return Tensor.from_node(reshaped(total, slid.shape[:rank])).cast(x.dtype)


def _windows(call: Call, x: Tensor, border: Tensor) -> Tensor:
    """[counts of windows …, their sizes …]."""
    rank = x.ndim
    sizes, steps = (tuple(map(int, call[f"window_{n}"])) for n in ("dimensions", "strides"))
    gaps, spread = (
        tuple(map(int, call.get(n) or (1,) * rank)) for n in ("window_dilation", "base_dilation")
    )
    widths = [
        (int(before), int(behind), gap - 1)
        for (before, behind), gap in zip(call["padding"], spread, strict=True)
    ]
    whole = padded(x, widths, border)
    counts = [
        max((n - gap * (size - 1) - 1) // step + 1, 0)
        for n, size, step, gap in zip(whole.shape, sizes, steps, gaps, strict=True)
    ]
    if 0 in counts or not math.prod(sizes):
        return Tensor.full((*counts, *sizes), 0, x.dtype)
    return Tensor.from_node(windows_of_image(whole.node, sizes, steps, gaps))


@primitive("select_and_scatter_add")
def spread_to_selected(call: Call, source: Tensor, x: Tensor) -> Tensor:
    """Each element of `source` added to the selected element of its window of `x`: the maximum or
    minimum, of equal ones the first."""
    rank = x.ndim
    is_greatest = call["select_prim"].name in ("ge", "gt")
    border = Tensor(x.dtype.minimum if is_greatest else x.dtype.maximum, dtype=x.dtype)
    slid = _windows(call, x, border)
    sizes, counts = slid.shape[rank:], slid.shape[:rank]
    flat = slid.reshape(*counts, -1)
    which = flat.argmax(-1) if is_greatest else flat.argmin(-1)
    steps = tuple(map(int, call["window_strides"]))
    positions = []
    for axis in range(rank):
        inside = which.idiv(math.prod(sizes[axis + 1 :])).fmod(sizes[axis])
        begin = Tensor.arange(counts[axis]).mul(steps[axis]).sub(int(call["padding"][axis][0]))
        positions.append(inside.add(along(begin, axis, rank)))
    return put_at(Tensor.full(x.shape, 0, x.dtype), positions, source, "add")


@primitive("select_and_gather_add")
def taken_from_selected(call: Call, tangent: Tensor, x: Tensor) -> Tensor:
    """The element of `tangent` at the selected element of each window of `x`."""
    rank = x.ndim
    is_greatest = call["select_prim"].name in ("ge", "gt")
    border = Tensor(x.dtype.minimum if is_greatest else x.dtype.maximum, dtype=x.dtype)
    slid, tangents = _windows(call, x, border), _windows(call, tangent, tangent.zeros_like().sum())
    flat = slid.reshape(*slid.shape[:rank], -1)
    which = (flat.argmax(-1) if is_greatest else flat.argmin(-1)).unsqueeze(-1)
    return tangents.reshape(*flat.shape).gather(-1, which).squeeze(-1)
