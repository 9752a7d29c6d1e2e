"""Activation functions."""


from compiler.imported.call import Results
from compiler.imported.torch.call import Call, operator
from compiler.tensor import Tensor


@operator("hardsigmoid")
def hardsigmoid(_call: Call, x: Tensor, /) -> Tensor:
    """(x + 3) / 6, limited to 0 … 1."""
    return x.add(3.0).hardtanh(0.0, 6.0).div(6.0)


@operator("hardswish")
def hardswish(_call: Call, x: Tensor, /) -> Tensor:
    """x times its hard sigmoid."""
    return x.mul(x.add(3.0).hardtanh(0.0, 6.0)).div(6.0)


@operator("log_sigmoid_forward")
def log_sigmoid(_call: Call, x: Tensor, /) -> Results:
    """log(sigmoid(x)), and an empty result for PyTorch's gradient."""
    return x.neg().softplus().neg(), None


@operator("gelu")
def gelu(_call: Call, x: Tensor, /, approximate: str = "none") -> Tensor:
    """x times the normal cumulative distribution at x."""
    return x.gelu("tanh" if approximate == "tanh" else "none")


@operator("elu", "celu")
def elu(
    call: Call, x: Tensor, /, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0
) -> Tensor:
    """x above 0, a scaled exponential below."""
    if call.name.startswith("celu"):
        input_scale = 1 / alpha
    below = x.mul(input_scale).minimum(0.0).expm1().mul(alpha)
    result = x.gt(0).where(x, below)
    return result if scale == 1 else result.mul(scale)


@operator("leaky_relu")
def leaky_relu(_call: Call, x: Tensor, /, negative_slope: float = 0.01) -> Tensor:
    """x above 0, `negative_slope` times x below."""
    return x.leaky_relu(negative_slope)


@operator("rrelu_with_noise_functional")
def rrelu(
    call: Call, x: Tensor, noise: Tensor, /, lower: float = 0.125, upper: float = 1 / 3,
    training: bool = False,
) -> Results:  # fmt: skip
    """Below 0, x times the mean of `lower` and `upper`, as in evaluation mode."""
    if training:
        raise call.refused("it is in training mode", "training", "inference")
    return x.leaky_relu((lower + upper) / 2), noise


@operator("_prelu_kernel")
def prelu(_call: Call, x: Tensor, weight: Tensor, /) -> Tensor:
    """x above 0, x times a parameter of its channel below."""
    return x.gt(0).where(x, x.mul(weight))


@operator("hardtanh")
def hardtanh(_call: Call, x: Tensor, /, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x clamped between two numbers."""
    return x.hardtanh(min_val, max_val)


@operator("softplus")
def softplus(_call: Call, x: Tensor, /, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta x)) / beta, x itself where beta x is large."""
    result = x.softplus() if beta == 1 else x.mul(beta).softplus().div(beta)
    return x.mul(beta).gt(threshold).where(x, result)


@operator("softshrink")
def shrink(_call: Call, x: Tensor, /, lambd: float = 0.5) -> Tensor:
    """0 near 0; elsewhere x, shrunk towards 0."""
    return x.sub(x.clip(-lambd, lambd))


@operator("dropout", "native_dropout", "alpha_dropout", "feature_dropout")
def dropout(call: Call, x: Tensor, /, p: float = 0.5, train: bool | None = True) -> Results:
    """Dropout in training mode, with our own generator."""
    is_native = call.name.startswith("native")
    if not train or not p:
        return (x, x.eq(x).logical_or(True)) if is_native else x
    if call.name.startswith(("alpha", "feature")):
        raise call.refused("it is in training mode", "train", "inference")
    keep = x.rand_like().ge(p)
    scaled = keep.where(x.div(1 - p), 0.0) if p < 1 else x.mul(0.0)
    return (scaled, keep) if is_native else scaled
