"""Operators fused by ONNX Runtime's optimiser: products and norms with the operations that
follow."""

from dataclasses import replace

from compiler.imported.call import Results
from compiler.imported.onnx.activations import activated
from compiler.imported.onnx.call import RUNTIME, Call, operator
from compiler.imported.onnx.element_types import wide
from compiler.imported.onnx.folds import normalised, rms_normalised
from compiler.imported.onnx.products import gemm
from compiler.imported.onnx.windows import conv
from compiler.tensor import Tensor


@operator("FusedConv", domain=RUNTIME)
def conv_and_more(
    call: Call, x: Tensor, weight: Tensor, bias: Tensor | None = None, other: Tensor | None = None
) -> Tensor:
    """A convolution, a sum, and an activation function."""
    total = conv(call, x, weight, bias)
    total = total if other is None else total.add(other)
    name, parameters = call.get("activation", ""), call.get("activation_params", ())
    return activated(call, name, total, *parameters) if name else total


@operator("FusedGemm", domain=RUNTIME)
def gemm_and_more(call: Call, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
    """A matrix product, and an activation function."""
    alpha, beta = call.get("activation_alpha"), call.get("activation_beta")
    name, product = call.get("activation", ""), gemm(call, a, b, c)
    return activated(call, name, product, alpha, beta) if name else product


@operator("FusedMatMul", domain=RUNTIME)
def scaled_product(call: Call, a: Tensor, b: Tensor) -> Tensor:
    """alpha A B, of matrices that may be transposed."""
    return _turned(call, "A", a).matmul(_turned(call, "B", b)).mul(call.get("alpha", 1.0))


def _turned(call: Call, side: str, x: Tensor) -> Tensor:
    """[…, rows, columns] from an operand whose rows may come before the batch, or its columns
    before its rows."""
    if call.get(f"transBatch{side}", 0):
        x = x.moveaxis(0, -2)
    return x.swapaxes(-1, -2) if call.get(f"trans{side}", 0) and x.ndim > 1 else x


@operator("Gelu", "BiasGelu", "FastGelu", "QuickGelu", domain=RUNTIME)
def gelu(call: Call, x: Tensor, bias: Tensor | None = None) -> Tensor:
    """GELU of x + bias, exact or approximated."""
    x = x if bias is None else x.add(bias)
    if call.op == "QuickGelu":
        return x.mul(x.mul(call.get("alpha", 1.702)).sigmoid())
    return x.gelu("tanh" if call.op == "FastGelu" else "none")


@operator("SimplifiedLayerNormalization")
def root_mean_square(call: Call, x: Tensor, scale: Tensor) -> Tensor:
    """RMSNormalization of ONNX from version 23 on; the node is in ONNX's own domain."""
    if call.outputs > 1:
        raise call.refused("outputs for training are not supported", "inv_std_var", "one output")
    return rms_normalised(replace(call, op="RMSNormalization"), x, scale)


@operator("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=RUNTIME)
def norm_of_sum(
    call: Call, x: Tensor, skip: Tensor, scale: Tensor, beta: Tensor | None = None,
    bias: Tensor | None = None,
) -> Results:  # fmt: skip
    """The normalised sum of two or three operands, and the sum itself as the fourth result."""
    is_simple = call.op == "SkipSimplifiedLayerNormalization"
    if is_simple:  # it has no beta: the bias stands in its place
        beta, bias = None, beta
    total = x.add(skip) if bias is None else x.add(skip).add(bias)
    eps = call.get("epsilon", 1e-12)
    if not is_simple:
        inner = call.as_other("LayerNormalization", {"epsilon": eps})
        return (*normalised(inner, total, scale, beta), total)[: call.outputs]
    result = rms_normalised(call.as_other("RMSNormalization", {"epsilon": eps}), total, scale)
    exact = wide(total)
    inverse = exact.square().mean(-1, keepdim=True).add(eps).rsqrt()
    return (result, exact.mean(-1, keepdim=True), inverse, total)[: call.outputs]
