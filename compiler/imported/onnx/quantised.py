"""Quantised matrix products and convolutions: computed in integers, then rescaled."""


from compiler.core import dtypes
from compiler.imported.axes import along
from compiler.imported.call import Results
from compiler.imported.onnx.call import Call, operator
from compiler.imported.onnx.windows import less_zero
from compiler.tensor import Tensor


def whole(x: Tensor, zero: Tensor | None, axis: int | None) -> Tensor:
    """x minus its zero point, in 32 bits; one zero point per row, column or channel along an
    axis."""
    wide = x.cast(dtypes.int32)
    return wide if zero is None else wide.sub(spread(zero.cast(dtypes.int32), wide, axis))


def spread(each: Tensor, like: Tensor, axis: int | None) -> Tensor:
    """Numbers along an axis of a tensor; a single number applies to all."""
    if each.size == 1:
        return each.reshape(())
    if axis is None or each.ndim > 1:
        return each
    return along(each, axis % like.ndim, like.ndim)


def whole_product(a: Tensor, a_zero: Tensor | None, b: Tensor, b_zero: Tensor | None) -> Tensor:
    """Σ (a - y)·(b - z) = Σ (a - y)·b - z·Σ (a - y), in 32 bits: b is used as it is stored."""
    rows, wide = whole(a, a_zero, -2), b.cast(dtypes.int32)
    sums = rows.matmul(wide)
    if b_zero is None:
        return sums
    zero = spread(b_zero.cast(dtypes.int32), wide, -1)
    if b.ndim < 2 or a.ndim < 2 or zero.ndim > 1:
        return rows.matmul(wide.sub(zero))
    less = rows.sum(-1, keepdim=True, dtype=dtypes.int32).contiguous()
    return sums.sub(less.mul(zero))


def rescaled(sums: Tensor, scale: Tensor, target: Tensor, zero: Tensor) -> Tensor:
    """sums * scale / target + zero, rounded and saturated in the type of zero."""
    scaled = sums.float().mul(scale.float()).div(target.float()).round().add(zero.float())
    return scaled.clip(float(zero.dtype.minimum), float(zero.dtype.maximum)).cast(zero.dtype)


@operator("QLinearMatMul")
def quantised_matmul(call: Call, *values: Tensor) -> Tensor:
    """A quantised matrix product."""
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = values
    sums = whole_product(
        a, None if call.is_zero(2) else a_zero, b, None if call.is_zero(5) else b_zero
    )
    scale = spread(a_scale, sums, -2).mul(spread(b_scale, sums, -1))
    return rescaled(sums, scale, y_scale.reshape(()) if y_scale.size == 1 else y_scale, y_zero)


@operator("MatMulInteger")
def matmul_integer(
    call: Call, a: Tensor, b: Tensor, a_zero: Tensor | None = None, b_zero: Tensor | None = None
) -> Tensor:
    """An integer matrix product in 32 bits."""
    zeros = None if call.is_zero(2) else a_zero, None if call.is_zero(3) else b_zero
    return whole_product(a, zeros[0], b, zeros[1])


@operator("QLinearConv")
def quantised_conv(
    call: Call, x: Tensor, x_scale: Tensor, x_zero: Tensor, w: Tensor, w_scale: Tensor,
    w_zero: Tensor, y_scale: Tensor, y_zero: Tensor, bias: Tensor | None = None,
) -> Results:  # fmt: skip
    """A quantised convolution."""
    weight = whole(w, None if call.is_zero(5) else w_zero, 0)
    sums = less_zero(call, x, None if call.is_zero(2) else x_zero, weight, bias)
    scale = x_scale.reshape(()).mul(spread(w_scale, sums, 1))
    return rescaled(sums, scale, y_scale.reshape(()), y_zero.reshape(()))
