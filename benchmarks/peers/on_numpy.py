"""NumPy, with whatever BLAS its wheel brings (OpenBLAS). In float64 it is also the reference."""

import ctypes
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy._core import _multiarray_umath as core

from benchmarks.workloads import Array, Workload

NAME = "numpy"
NARROW_KERNELS = (b"Haswell", b"Zen", b"Sandybridge", b"Nehalem", b"Prescott", b"Excavator")
"""Kernels of OpenBLAS whose vectors have at most 256 bits, as it calls them."""
COEFFICIENT, CUBIC = 0.7978845608028654, 0.044715


def version() -> str:
    """The library's version."""
    return np.__version__


def uses() -> str:
    """The instruction set, the wider one of its own loops' and its OpenBLAS's."""
    library = next(Path(np.__file__).parent.parent.glob("numpy.libs/libscipy_openblas64_*"), None)
    kernels = b"SkylakeX"  # what it may be where nobody can ask
    if library is not None:
        ask = ctypes.CDLL(str(library)).scipy_openblas_get_corename64_
        ask.restype = ctypes.c_char_p
        kernels = ask()
    features = core.__cpu_features__
    own = any(features.get(it) for it in core.__cpu_dispatch__ if "AVX512" in it or it == "X86_V4")
    return "avx512" if own or kernels not in NARROW_KERNELS else "avx2"


def array(result: Any) -> Array:
    """A call's result as a NumPy array."""
    return np.asarray(result)


def softmax(x: Array) -> Array:
    """Along the last axis."""
    powers = np.exp(x - x.max(-1, keepdims=True))
    return array(powers / powers.sum(-1, keepdims=True))


def layernorm(x: Array) -> Array:
    """Along the last axis."""
    centred = x - x.mean(-1, keepdims=True)
    return array(centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5))


def conv2d(x: Array, w: Array) -> Array:
    """3×3, stride 1, padding 1: nine products of matrices."""
    height, width = x.shape[2:]
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    result = np.zeros((x.shape[0], w.shape[0], height, width), x.dtype)
    for row in range(3):
        for column in range(3):
            part = padded[:, :, row : row + height, column : column + width]
            flat = np.ascontiguousarray(part).reshape(*x.shape[:2], -1)
            result += (w[:, :, row, column] @ flat).reshape(result.shape)
    return result


def attention(q: Array, k: Array, v: Array) -> Array:
    """One head."""
    return array(softmax((q @ k.T) * q.dtype.type(q.shape[1] ** -0.5)) @ v)


def mlp_forward(x: Array, w: Array, b: Array, v: Array, c: Array) -> Array:
    """Two layers: relu, then softmax."""
    return softmax(np.maximum(x @ w + b, 0) @ v + c)


def small_chain(x: Array, w: Array) -> Array:
    """A hundred small layers."""
    for layer in w:
        x = np.maximum(x @ layer, 0)
    return x


PROGRAMS: dict[str, Callable[..., Array]] = {
    "ew_chain": lambda a, b, c: np.maximum(a * b + c, 0) * a.dtype.type(0.5),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(COEFFICIENT * (x + CUBIC * x * x * x))),
    "sum_all": lambda x: x.sum(),
    "row_sum": lambda x: x.sum(1),
    "col_sum": lambda x: x.sum(0),
    "softmax": softmax,
    "layernorm": layernorm,
    "matmul": lambda a, b: a @ b,
    "matmul_bias_relu": lambda a, b, c: np.maximum(a @ b + c, 0),
    "conv2d": conv2d,
    "attention": attention,
    "mlp_forward": mlp_forward,
    "transpose": lambda x: np.ascontiguousarray(x.T),
    "small_chain": small_chain,
}


def _chain_into(out: Array, a: Array, b: Array, c: Array) -> None:
    np.multiply(a, b, out=out)
    np.add(out, c, out=out)
    np.maximum(out, 0, out=out)
    np.multiply(out, np.float32(0.5), out=out)


def _gelu_into(out: Array, x: Array) -> None:
    np.multiply(x, x, out=out)
    np.multiply(out, np.float32(COEFFICIENT * CUBIC), out=out)
    np.add(out, np.float32(COEFFICIENT), out=out)
    np.multiply(out, x, out=out)
    np.tanh(out, out=out)
    np.add(out, 1, out=out)
    np.multiply(out, x, out=out)
    np.multiply(out, np.float32(0.5), out=out)


def _softmax_into(out: Array, x: Array) -> None:
    np.subtract(x, x.max(1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, out.sum(1, keepdims=True), out=out)


def _layernorm_into(out: Array, x: Array) -> None:
    np.subtract(x, x.mean(1, keepdims=True), out=out)
    squares = np.einsum("ij,ij->i", out, out)[:, None] / np.float32(x.shape[1])
    np.divide(out, np.sqrt(squares + np.float32(1e-5)), out=out)


def _bias_relu_into(out: Array, a: Array, b: Array, c: Array) -> None:
    np.matmul(a, b, out=out)
    np.add(out, c, out=out)
    np.maximum(out, 0, out=out)


PREALLOCATED: dict[str, Callable[..., None]] = {
    "ew_chain": _chain_into,
    "gelu": _gelu_into,
    "row_sum": lambda out, x: x.sum(1, out=out),
    "col_sum": lambda out, x: x.sum(0, out=out),
    "softmax": _softmax_into,
    "layernorm": _layernorm_into,
    "matmul": lambda out, a, b: np.matmul(a, b, out=out),
    "matmul_bias_relu": _bias_relu_into,
    "transpose": lambda out, x: np.copyto(out, x.T),
}


def programs(workload: Workload, inputs: Mapping[str, Array]) -> dict[str, Callable[[], Any]]:
    """As users call it, and into an array made before."""
    given = tuple(inputs.values())
    made: dict[str, Callable[[], Any]] = {NAME: lambda: PROGRAMS[workload.program](*given)}
    if into := PREALLOCATED.get(workload.program):
        out = np.empty(workload.result, np.float32)

        def call() -> Array:
            into(out, *given)
            return out

        made[f"{NAME} out="] = call
    return made


def reference(workload: Workload, inputs: Mapping[str, Array]) -> Array:
    """The result in float64."""
    wide = (value.astype(np.float64) for value in inputs.values())
    return array(PROGRAMS[workload.program](*wide))
