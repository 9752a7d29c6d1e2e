"""Activation functions by name: for operators, for the gates of recurrent layers, and for operators
fused with one."""

import math
from collections.abc import Callable

from compiler.imported.onnx.call import Call, of_type, operator
from compiler.tensor import Tensor

FUNCTIONS: dict[str, Callable[[Tensor, float, float], Tensor]] = {
    "affine": lambda x, alpha, beta: x.mul(alpha).add(beta),
    "celu": lambda x, alpha, _: x.maximum(0).add(x.div(alpha).expm1().mul(alpha).minimum(0)),
    "clip": lambda x, low, high: x.clip(low, high),
    "elu": lambda x, alpha, _: x.lt(0).where(x.expm1().mul(alpha), x),
    "hardsigmoid": lambda x, alpha, beta: x.mul(alpha).add(beta).clip(0, 1),
    "leakyrelu": lambda x, alpha, _: x.lt(0).where(x.mul(alpha), x),
    "relu": lambda x, *_: x.relu(),
    "sigmoid": lambda x, *_: x.sigmoid(),
    "softplus": lambda x, *_: x.softplus(),
    "softsign": lambda x, *_: x.softsign(),
    "swish": lambda x, alpha, _: x.mul(x.mul(alpha).sigmoid()),
    "tanh": lambda x, *_: x.tanh(),
    "thresholdedrelu": lambda x, alpha, _: x.gt(alpha).where(x, 0),
}
"""Functions of a tensor, alpha and beta, by their names in small letters."""
USUAL = {"clip": (-math.inf, math.inf), "hardsigmoid": (0.2, 0.5), "leakyrelu": (0.01, 0.0)}
"""The usual alpha and beta of functions for which they are not 1 and 0."""


def activated(
    call: Call, name: str, x: Tensor, alpha: float | None = None, beta: float | None = None
) -> Tensor:
    """The result of a named activation function, with its usual alpha and beta for None."""
    function = FUNCTIONS.get(name.lower())
    if function is None:
        raise call.refused("unknown activation", name, "Relu, Tanh, Sigmoid, Affine, …")
    usual = USUAL.get(name.lower(), (1.0, 0.0))
    return function(x, usual[0] if alpha is None else alpha, usual[1] if beta is None else beta)


@operator("Celu", "Elu", "HardSigmoid", "LeakyRelu", "Swish", "ThresholdedRelu")
def activation(call: Call, x: Tensor) -> Tensor:
    """Activation functions with an alpha, and a beta."""
    return activated(call, call.op, x, call.get("alpha"), call.get("beta")).cast(x.dtype)


@operator("PRelu")
def prelu(_call: Call, x: Tensor, slope: Tensor) -> Tensor:
    """x above 0, a slope times x below."""
    return x.lt(0).where(x.mul(slope), x).cast(x.dtype)


@operator("Selu")
def selu(call: Call, x: Tensor) -> Tensor:
    """Scaled: x above 0, an exponential below."""
    alpha = call.get("alpha", 1.6732632423543772)
    below = x.exp().mul(alpha).sub(alpha)
    return x.le(0).where(below, x).mul(call.get("gamma", 1.0507009873554805)).cast(x.dtype)


@operator("Shrink")
def shrink(call: Call, x: Tensor) -> Tensor:
    """0 near 0; elsewhere x, moved towards 0."""
    bias, lambd = call.get("bias", 0.0), call.get("lambd", 0.5)
    inside = x.gt(lambd).where(x.sub(bias), 0)
    return x.lt(-lambd).where(x.add(bias), inside).cast(x.dtype)


@operator("HardSwish")
def hard_swish(_call: Call, x: Tensor) -> Tensor:
    """x times its hard sigmoid."""
    return x.mul(x.div(6.0).add(0.5).clip(0, 1)).cast(x.dtype)


@operator("Gelu")
def gelu(call: Call, x: Tensor) -> Tensor:
    """x times the normal cumulative distribution at x."""
    return x.gelu(call.get("approximate", "none")).cast(x.dtype)


@operator("Clip")
def clip(call: Call, x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    """Clipped between two numbers."""
    if "min" in call.attributes:
        low = of_type(x, call["min"])
    if "max" in call.attributes:
        high = of_type(x, call["max"])
    x = x if low is None else x.maximum(low)
    return x if high is None else x.minimum(high)
