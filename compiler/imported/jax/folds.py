"""Reductions and cumulative operations."""

from collections.abc import Callable

from compiler.core import dtypes
from compiler.imported.call import Results
from compiler.imported.jax.call import Call, primitive
from compiler.imported.jax.element_types import dtype_of
from compiler.imported.jax.jaxprs import Body, opened
from compiler.imported.methods import call_method
from compiler.tensor import Tensor

METHODS = {"reduce_sum": "sum", "reduce_prod": "prod", "reduce_max": "max", "reduce_min": "min"}
OF_BITS = {"reduce_and": "bitwise_and", "reduce_or": "bitwise_or", "reduce_xor": "bitwise_xor"}
Join = Callable[[list[Tensor], list[Tensor]], list[Tensor]]
RUNNING = {"cumsum": "cumsum", "cumprod": "cumprod", "cummax": "cummax", "cummin": "cummin",
           "cumlogsumexp": "logcumsumexp"}  # fmt: skip


@primitive(*METHODS)
def reduced(call: Call, x: Tensor) -> Tensor:
    """Some axes reduced, in the type of the operand."""
    axes = tuple(call["axes"])
    if not axes:
        return x
    if call.op in ("reduce_max", "reduce_min") and 0 in (x.shape[a] for a in axes):
        least = x.dtype.minimum if call.op == "reduce_max" else x.dtype.maximum
        return Tensor.full(call.shape, least, x.dtype)
    return call_method(METHODS[call.op], x, axes).cast(x.dtype)


@primitive("psum", "pmax", "pmin")
def over_axes(call: Call, *operands: Tensor) -> Results:
    """A reduction over an axis named by `vmap`, which is an axis of the operand by now."""
    axes = tuple(call["axes"])
    if not all(isinstance(axis, int) for axis in axes) or call.get("axis_index_groups"):
        raise call.refused("axes of several devices are not supported", axes, "axes of a vmap")
    name = {"psum": "sum", "pmax": "max", "pmin": "min"}[call.op]
    return [call_method(name, x, axes).cast(x.dtype) if axes else x for x in operands]


@primitive(*OF_BITS)
def reduced_bits(call: Call, x: Tensor) -> Tensor:
    """Bitwise and, or, exclusive or."""
    axes = tuple(call["axes"])
    if x.dtype == dtypes.bool_ and call.op != "reduce_xor":
        return (x.all if call.op == "reduce_and" else x.any)(axes) if axes else x
    if x.dtype == dtypes.bool_:
        return x.cast(dtypes.int32).sum(axes).bitwise_and(1).cast(dtypes.bool_) if axes else x
    start = -1 if call.op == "reduce_and" else 0
    first = Tensor(start, dtype=dtypes.int64).cast(x.dtype)
    name = OF_BITS[call.op]
    return _halved([x], [first], axes, lambda a, b: [getattr(a[0], name)(b[0])])[0]


@primitive("reduce")
def reduced_by(call: Call, *operands: Tensor) -> Results:
    """A reduction by a function of two values, or of as many pairs as there are operands."""
    count = len(operands) // 2
    body = call["jaxpr"]
    return _halved(list(operands[:count]), list(operands[count:]),
                   tuple(call["dimensions"]), lambda a, b: call.spread(body, [*a, *b]))  # fmt: skip


def _halved(
    values: list[Tensor], first: list[Tensor], axes: tuple[int, ...], join: Join
) -> list[Tensor]:
    """Axes reduced by halves: the combining function is associative."""
    rank = values[0].ndim
    others = [a for a in range(rank) if a not in axes]
    flat = [v.permute(*others, *axes).reshape(*(v.shape[a] for a in others), -1) for v in values]
    place = len(others)
    while (n := flat[0].shape[place]) > 1:
        half = n // 2
        joined = join([v._part(place, 0, half) for v in flat],
                      [v._part(place, half, 2 * half) for v in flat])  # fmt: skip
        if n % 2:
            rest = [v._part(place, n - 1, n) for v in flat]
            joined = [a.cat(b, dim=place) for a, b in zip(joined, rest, strict=True)]
        flat = joined
    shape = flat[0].shape[:place]
    begins = [v.expand(*shape) for v in first]
    if not flat[0].shape[place]:
        return begins
    return join([v.reshape(*shape) for v in flat], begins)


@primitive(*RUNNING)
def running(call: Call, x: Tensor) -> Tensor:
    """A cumulative operation, forwards or backwards."""
    axis, is_reverse = int(call["axis"]), bool(call["reverse"])
    if not x.size:
        return x
    turned = x.flip(axis) if is_reverse else x
    totals = call_method(RUNNING[call.op], turned, axis).cast(x.dtype)
    return totals.flip(axis) if is_reverse else totals


@primitive("argmax", "argmin")
def place_of(call: Call, x: Tensor) -> Tensor:
    """The index of the maximum or minimum; the first of equal elements."""
    (axis,) = call["axes"]
    place = x.argmax(axis) if call.op == "argmax" else x.argmin(axis)
    return place.cast(dtype_of(call["index_dtype"], call.op))


def joining(jaxpr: Body) -> str:
    """The method equivalent to a jaxpr of two numbers that is one primitive; "" for others."""
    body, constants = opened(jaxpr)
    if len(body.eqns) != 1 or constants or len(body.invars) != 2:
        return ""
    (equation,) = body.eqns
    is_whole = list(body.outvars) == list(equation.outvars)
    if not is_whole or set(equation.invars) != set(body.invars):
        return ""
    return {"add": "sum", "add_any": "sum", "mul": "prod", "max": "max", "min": "min"}.get(
        equation.primitive.name, ""
    )
