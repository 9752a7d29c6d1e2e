"""Type conversions and quantisation."""

from compiler.core import dtypes
from compiler.core.dtypes import DType, float_limits
from compiler.imported.axes import along
from compiler.imported.onnx.call import Call, fixed, operator
from compiler.imported.onnx.element_types import dtype_of
from compiler.tensor import Tensor


@operator("Cast", "CastLike")
def cast(call: Call, x: Tensor, like: Tensor | None = None) -> Tensor:
    """Converted to another type."""
    target = dtype_of(call["to"], f"{call.op} {call.name}") if like is None else like.dtype
    if not target.is_storage:
        return x.cast(target)
    if target.is_integer:  # what is too large for few bits wraps
        return (x.cast(dtypes.int32) if x.dtype.is_float else x).cast(target)
    if target is dtypes.float8_e8m0fnu:
        return _exponents(x.float(), call.get("round_mode", "up"), bool(call.get("saturate", 1)))
    return _held(x, target, bool(call.get("saturate", 1)))


def _held(x: Tensor, target: DType, saturate: bool) -> Tensor:
    """Converted to a float of few bits; values that are too large become the greatest number, or
    NaN or inf."""
    if not saturate or target.width < 8:  # those of 4 bits saturate always
        return x.cast(target)
    most = float(float_limits(target.numpy).max)
    return (x if x.dtype.is_float else x.float()).clip(-most, most).cast(target)


def _exponents(x: Tensor, mode: str, saturate: bool) -> Tensor:
    """Powers of two in ONNX's rounding modes: down, up or to nearest. Infinities and NaN are NaN,
    and so are values that are too large, unless they saturate."""
    bits = x.bitcast("uint32")
    exponent, rest = bits.rshift(23).bitwise_and(0xFF), bits.bitwise_and((1 << 23) - 1)
    is_more = rest.gt(0) if mode == "up" else rest.ge(1 << 22)
    if mode == "nearest":  # a tie below the least normal number goes down
        is_more = is_more.logical_and(exponent.gt(0).logical_or(rest.ne(1 << 22)))
    is_more = is_more.logical_and(exponent.lt(254 if saturate else 255)).logical_and(mode != "down")
    return exponent.add(is_more.cast("uint32")).cast("uint8").bitcast(dtypes.float8_e8m0fnu)


@operator("BitCast")
def bit_cast(call: Call, x: Tensor) -> Tensor:
    """The same bits reinterpreted as another type."""
    return x.bitcast(dtype_of(call["to"], f"{call.op} {call.name}"))


@operator("QuantizeLinear")
def quantize(call: Call, x: Tensor, scale: Tensor, zero: Tensor | None = None) -> Tensor:
    """x / scale + zero, rounded and saturated."""
    where = f"{call.op} {call.name}"
    target = zero.dtype if zero is not None else dtypes.uint8
    if call.get("output_dtype"):
        target = dtype_of(call["output_dtype"], where)
    scale_of, zero = _along(call, x, scale), _along(call, x, zero)
    assert scale_of is not None
    inner = dtype_of(call["precision"], where) if call.get("precision") else dtypes.float32
    scaled = x.cast(inner).div(scale_of.cast(inner))
    if target.is_integer:
        scaled = scaled.round()
    if zero is not None:
        scaled = scaled.add(zero.cast(inner))
    if target.is_float:
        return _held(scaled, target, bool(call.get("saturate", 1)))
    return scaled.clip(float(target.minimum), float(target.maximum)).cast(target)


@operator("DequantizeLinear")
def dequantize(call: Call, x: Tensor, scale: Tensor, zero: Tensor | None = None) -> Tensor:
    """(x - zero) * scale."""
    target = scale.dtype
    if call.get("output_dtype"):
        target = dtype_of(call["output_dtype"], f"{call.op} {call.name}")
    scale_of, zero = _along(call, x, scale), _along(call, x, zero)
    assert scale_of is not None
    centred = x.float() if zero is None else x.float().sub(zero.float())
    return centred.mul(scale_of.float()).cast(target)


def _along(call: Call, x: Tensor, each: Tensor | None) -> Tensor | None:
    """Scales along an axis, or in blocks of it, broadcast to the tensor."""
    named, block = call.get("axis", 1), call.get("block_size", 0)
    if each is None or not each.ndim or each.size == 1:
        return each if each is None else each.reshape(())
    axis = call.axis(named, x.ndim)
    if block:
        return each.repeat_interleave(block, axis)._part(axis, 0, fixed(x, axis)[0])
    return along(each, axis, x.ndim)
