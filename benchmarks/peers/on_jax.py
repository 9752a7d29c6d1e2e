"""JAX on the CPU through `jax.jit`. It has no way to write into an array made before."""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from benchmarks.workloads import Array, Workload

NAME = "jax"


def version() -> str:
    """The library's version."""
    return str(jax.__version__)


def uses() -> str:
    """The instruction set, from the features that stand in a compiled function."""
    one = jax.jit(lambda x: x * 2 + 1).lower(jax.numpy.ones(4096)).compile()
    return "avx512" if b"+avx512f" in one.runtime_executable().serialize() else "avx2"


def array(result: Any) -> Array:
    """A call's result as a NumPy array."""
    return np.asarray(result)


def layernorm(x: Any) -> Any:
    """Along the last axis."""
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


def conv2d(x: Any, w: Any) -> Any:
    """3×3, stride 1, padding 1."""
    return jax.lax.conv(x, w, (1, 1), "SAME")


def attention(q: Any, k: Any, v: Any) -> Any:
    """One head."""
    return jax.nn.softmax((q @ k.T) * q.shape[1] ** -0.5, -1) @ v


def mlp_forward(x: Any, w: Any, b: Any, v: Any, c: Any) -> Any:
    """Two layers: relu, then softmax."""
    return jax.nn.softmax(jax.nn.relu(x @ w + b) @ v + c, -1)


def small_chain(x: Any, *layers: Any) -> Any:
    """A hundred small layers."""
    for layer in layers:
        x = jax.nn.relu(x @ layer)
    return x


PROGRAMS: dict[str, Callable[..., Any]] = {
    "ew_chain": lambda a, b, c: jax.nn.relu(a * b + c) * 0.5,
    "gelu": lambda x: jax.nn.gelu(x, approximate=True),
    "sum_all": lambda x: x.sum(),
    "row_sum": lambda x: x.sum(1),
    "col_sum": lambda x: x.sum(0),
    "softmax": lambda x: jax.nn.softmax(x, -1),
    "layernorm": layernorm,
    "matmul": lambda a, b: a @ b,
    "matmul_bias_relu": lambda a, b, c: jax.nn.relu(a @ b + c),
    "conv2d": conv2d,
    "attention": attention,
    "mlp_forward": mlp_forward,
    "transpose": lambda x: x.T,
    "small_chain": small_chain,
}


def programs(workload: Workload, inputs: Mapping[str, Array]) -> dict[str, Callable[[], Any]]:
    """One compiled function of arrays that are on the device already."""
    compiled = jax.jit(PROGRAMS[workload.program])
    arrays = tuple(jax.device_put(value) for value in inputs.values())
    if workload.program == "small_chain":
        arrays = (arrays[0], *arrays[1])
    jax.block_until_ready(arrays)
    return {NAME: lambda: jax.block_until_ready(compiled(*arrays))}
