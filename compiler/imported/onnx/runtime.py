"""Quantised operators of ONNX Runtime's own domain.

    QLinearSigmoid(x, s, z, t, y)  =  quantised(sigmoid((x - z) * s), t, y)

Operators that it computes with 8-bit lookup tables are computed on dequantised numbers.
"""

from dataclasses import replace

from compiler.core import dtypes
from compiler.imported.call import Results
from compiler.imported.onnx.activations import activation
from compiler.imported.onnx.call import RUNTIME, Call, operator
from compiler.imported.onnx.conversions import dequantize, quantize
from compiler.imported.onnx.folds import softmax
from compiler.imported.onnx.quantised import rescaled, spread, whole, whole_product
from compiler.imported.onnx.recurrent import layers
from compiler.imported.onnx.windows import pool
from compiler.tensor import Tensor

# Before version 21 the types of 16 and 4 bits are those of its own domain.
operator("QuantizeLinear", domain=RUNTIME)(quantize)
operator("DequantizeLinear", domain=RUNTIME)(dequantize)


def _real(x: Tensor, scale: Tensor, zero: Tensor | None) -> Tensor:
    """Dequantised values."""
    return whole(x, zero, None).float().mul(scale.reshape(()))


def _quantised(x: Tensor, scale: Tensor, zero: Tensor | None, like: Tensor) -> Tensor:
    """Quantised numbers; without a zero point in the type of `like`."""
    one = Tensor(1.0, dtype=dtypes.float32)
    nothing = Tensor(0, dtype=like.dtype)
    return rescaled(x, one, scale.reshape(()), nothing if zero is None else zero.reshape(()))


@operator("QLinearAdd", "QLinearMul", domain=RUNTIME)
def pair(call: Call, *values: Tensor) -> Tensor:
    """A sum or a product."""
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, *zero = values
    one, other = _real(a, a_scale, a_zero), _real(b, b_scale, b_zero)
    result = one.add(other) if call.op == "QLinearAdd" else one.mul(other)
    return _quantised(result, y_scale, zero[0] if zero else None, a)


@operator("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", "QLinearAveragePool",
          "QLinearGlobalAveragePool", domain=RUNTIME)  # fmt: skip
def of_one(
    call: Call, x: Tensor, x_scale: Tensor, x_zero: Tensor | None, y_scale: Tensor,
    y_zero: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """A function of one dequantised tensor."""
    return _quantised(_of_real(call, _real(x, x_scale, x_zero)), y_scale, y_zero, x)


def _of_real(call: Call, x: Tensor) -> Tensor:
    """The result of ONNX's operator of that name."""
    inner = replace(call, op=call.op.removeprefix("QLinear"))
    if inner.op == "Sigmoid":
        return x.sigmoid()
    if inner.op == "LeakyRelu":
        return activation(inner, x)
    if inner.op == "Softmax":
        axis = call.get("axis", -1)
        inner = call.as_other("Softmax", {"axis": axis}, version=call["opset"])
        return softmax(inner, x)
    image = x.moveaxis(-1, 1) if call.get("channels_last", 0) else x
    if inner.op == "AveragePool":
        pooled = pool(inner, image)
        assert isinstance(pooled, Tensor)
    else:
        pooled = image.mean(tuple(range(2, x.ndim)), True)
    return pooled.moveaxis(1, -1) if call.get("channels_last", 0) else pooled


@operator("QLinearConcat", domain=RUNTIME)
def concat(call: Call, y_scale: Tensor, y_zero: Tensor, *values: Tensor) -> Tensor:
    """The concatenation of tensors with different scales."""
    parts = [_real(*values[place : place + 3]) for place in range(0, len(values), 3)]
    rounded = [_quantised(part, y_scale, y_zero, values[0]) for part in parts]
    return rounded[0].cat(*rounded[1:], dim=call.axis(call["axis"], rounded[0].ndim))


@operator("QLinearWhere", domain=RUNTIME)
def where(_call: Call, condition: Tensor, *values: Tensor) -> Tensor:
    """One of two elements, by a condition."""
    chosen = condition.where(_real(*values[:3]), _real(*values[3:6]))
    return _quantised(chosen, values[6], values[7], values[0])


@operator("QGemm", domain=RUNTIME)
def gemm(
    call: Call, a: Tensor, a_scale: Tensor, a_zero: Tensor, b: Tensor, b_scale: Tensor,
    b_zero: Tensor, c: Tensor | None = None, y_scale: Tensor | None = None,
    y_zero: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """A matrix product and a bias in 32 bits; in float32 if no scale is given."""
    left = a.swapaxes(0, 1) if call.get("transA", 0) else a
    column = 0 if call.get("transB", 0) else 1
    right = whole(b, b_zero, column)
    sums = whole(left, a_zero, None).matmul(right.swapaxes(0, 1) if column == 0 else right)
    sums = sums if c is None else sums.add(c)
    scale = a_scale.reshape(()).mul(spread(b_scale, sums, -1)).mul(call.get("alpha", 1.0))
    if y_scale is None or y_zero is None:
        return sums.float().mul(scale)
    return rescaled(sums, scale, y_scale.reshape(()), y_zero.reshape(()))


@operator("DynamicQuantizeLSTM", domain=RUNTIME)
def lstm(
    call: Call, x: Tensor, w: Tensor, r: Tensor, bias: Tensor | None = None,
    lengths: Tensor | None = None, hidden: Tensor | None = None, cell: Tensor | None = None,
    peepholes: Tensor | None = None, w_scale: Tensor | None = None, w_zero: Tensor | None = None,
    r_scale: Tensor | None = None, r_zero: Tensor | None = None,
) -> Results:  # fmt: skip
    """An LSTM with quantised weights: inputs and states are rounded to 8 bits before products."""
    from_x, from_h = _columns(w, w_scale, w_zero), _columns(r, r_scale, r_zero)
    return layers(replace(call, op="LSTM"), x, from_x.transpose(1, 2), from_h.transpose(1, 2),
                  bias, lengths, [hidden, cell, peepholes], held=_rounded)  # fmt: skip


def _columns(w: Tensor, scale: Tensor | None, zero: Tensor | None) -> Tensor:
    """Dequantised weights, for each direction or for each column of one."""
    assert scale is not None
    shape = w.shape[0], 1, scale.size // w.shape[0]
    steps = w.float() if zero is None else w.float().sub(zero.float().reshape(*shape))
    return steps.mul(scale.reshape(*shape))


def _rounded(x: Tensor) -> Tensor:
    """x rounded to 8 bits."""
    steps, scale, zero = _in_8_bits(x)
    return _real(steps, scale, zero)


def _in_8_bits(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """x in 255 steps from its minimum, or 0, to its maximum; also the step and the zero point."""
    low, high = x.min().minimum(0.0), x.max().maximum(0.0)
    scale = high.sub(low).div(255.0)
    scale = scale.eq(0).where(1.0, scale)
    zero = low.neg().div(scale).round().clip(0.0, 255.0).cast(dtypes.uint8)
    return _quantised(x, scale, zero, zero), scale, zero


@operator("DynamicQuantizeMatMul", domain=RUNTIME)
def product_of_real(
    call: Call, a: Tensor, b: Tensor, b_scale: Tensor, b_zero: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """A product with quantised columns, for which `a` is rounded to 8 bits."""
    steps, scale, zero = _in_8_bits(a)
    sums = whole_product(steps, zero, b, None if call.is_zero(3) else b_zero)
    return _with_bias(sums, scale.mul(spread(b_scale, sums, -1)), bias)


@operator("MatMulIntegerToFloat", domain=RUNTIME)
def product_to_real(
    call: Call, a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor,
    a_zero: Tensor | None = None, b_zero: Tensor | None = None, bias: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """An integer product, dequantised."""
    zeros = None if call.is_zero(4) else a_zero, None if call.is_zero(5) else b_zero
    sums = whole_product(a, zeros[0], b, zeros[1])
    return _with_bias(sums, a_scale.reshape(()).mul(spread(b_scale, sums, -1)), bias)


def _with_bias(sums: Tensor, scale: Tensor, bias: Tensor | None) -> Tensor:
    real = sums.cast(scale.dtype).mul(scale)
    return real if bias is None else real.add(bias)
