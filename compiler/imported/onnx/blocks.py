"""Block-quantised weights, a scale per block, as packed by ONNX Runtime's quantiser.

    MatMulNBits(a, b, s, z)  =  a @ ((b - z) * s).T        numbers of 2, 4 or 8 bits
"""

from compiler.core import dtypes
from compiler.imported.onnx.call import RUNTIME, Call, operator
from compiler.imported.onnx.picking import gather
from compiler.tensor import Tensor


@operator("MatMulNBits", domain=RUNTIME)
def product(
    call: Call, a: Tensor, b: Tensor, scales: Tensor, zeros: Tensor | None = None,
    order: Tensor | None = None, bias: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """A product with the transpose of quantised rows."""
    rows, depth, block = call["N"], call["K"], call["block_size"]
    bits, blocks = call.get("bits", 4), -(-depth // block)
    if order is not None:
        raise call.refused("blocks in an order of their own are not supported", "g_idx", "none")
    if call.get("weight_prepacked", 0):
        raise call.refused("weights packed for one machine are not supported", "weight_prepacked",
                           "0")  # fmt: skip
    steps = _numbers(b.reshape(rows, -1), bits).reshape(rows, blocks, block)
    middle = _middle(call, zeros if zeros is None else zeros.reshape(rows, -1), bits)
    if isinstance(middle, Tensor):
        middle = middle[:, :blocks].unsqueeze(2).cast(a.dtype)
    real = steps.cast(a.dtype).sub(middle).mul(scales.reshape(rows, blocks, 1))
    sums = a.matmul(real.reshape(rows, -1)[:, :depth].T)
    return sums if bias is None else sums.add(bias)


@operator("GatherBlockQuantized", domain=RUNTIME)
def picked(
    call: Call, x: Tensor, places: Tensor, scales: Tensor, zeros: Tensor | None = None
) -> Tensor:
    """Dequantised slices at given indices."""
    bits, block = call.get("bits", 4), call.get("block_size", 128)
    is_packed = x.dtype == dtypes.uint8
    steps = (_numbers(x, bits) if is_packed else x).cast(scales.dtype)
    axis = call.axis(call.get("quantize_axis", 1), x.ndim)
    if is_packed or zeros is not None:
        middle = _middle(call, zeros, bits)
        if isinstance(middle, Tensor):
            middle = _each(middle.cast(scales.dtype), block, axis, steps)
        steps = steps.sub(middle)
    real = steps.mul(_each(scales, block, axis, steps))
    return gather(call.as_other("Gather", {"axis": call.get("gather_axis", 0)}), real, places)


def _middle(call: Call, zeros: Tensor | None, bits: int) -> Tensor | float:
    """The zero points: separate, or packed in bytes."""
    if zeros is None:
        return float(1 << (bits - 1))
    return _numbers(zeros, bits).float() if zeros.dtype == dtypes.uint8 else zeros.float()


def _each(values: Tensor, block: int, axis: int, like: Tensor) -> Tensor:
    """Values per block of an axis, repeated for every element of it."""
    return values.repeat_interleave(block, axis)._part(axis, 0, like.shape[axis])


def _numbers(x: Tensor, bits: int) -> Tensor:
    """The numbers packed in the bytes of the last axis, lowest bits first."""
    if bits == 8:
        return x
    shifts = Tensor(list(range(0, 8, bits)), dtype=dtypes.uint8)
    each = x.unsqueeze(-1).rshift(shifts).bitwise_and((1 << bits) - 1)
    return each.reshape(*x.shape[:-1], -1)
