"""tinygrad on its CPU device, LLVM, without BEAM, through TinyJit.

TinyJit writes into the same buffers at every replay: it has preallocated outputs by itself.
"""

from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any

from tinygrad import Device, Tensor, TinyJit

from benchmarks.workloads import Array, Workload

NAME = "tinygrad"


def version() -> str:
    """The library's version."""
    return metadata.version("tinygrad")


def uses() -> str:
    """The instruction set, by the processor that its compiler targets."""
    _, processor = Device["CPU"].renderer.target.arch.split(",")[:2]
    return "avx2" if processor == "haswell" else ""


def array(result: Any) -> Array:
    """A call's result as a NumPy array."""
    return result.numpy()  # type: ignore[no-any-return]


def small_chain(x: Tensor, *layers: Tensor) -> Tensor:
    """A hundred small layers."""
    for layer in layers:
        x = (x @ layer).relu().contiguous()
    return x


PROGRAMS: dict[str, Callable[..., Tensor]] = {
    "ew_chain": lambda a, b, c: (a * b + c).relu() * 0.5,
    "gelu": lambda x: x.gelu(),
    "sum_all": lambda x: x.sum(),
    "row_sum": lambda x: x.sum(1),
    "col_sum": lambda x: x.sum(0),
    "softmax": lambda x: x.softmax(-1),
    "layernorm": lambda x: x.layernorm(),
    "matmul": lambda a, b: a @ b,
    "matmul_bias_relu": lambda a, b, c: (a @ b + c).relu(),
    "conv2d": lambda x, w: x.conv2d(w, padding=1),
    "attention": lambda q, k, v: q.scaled_dot_product_attention(k, v),
    "mlp_forward": lambda x, w, b, v, c: ((x @ w + b).relu() @ v + c).softmax(-1),
    "transpose": lambda x: x.permute(1, 0).contiguous(),
    "small_chain": small_chain,
}


def programs(workload: Workload, inputs: Mapping[str, Array]) -> dict[str, Callable[[], Any]]:
    """One jitted function of realised tensors."""
    tensors = tuple(Tensor(value).realize() for value in inputs.values())
    if workload.program == "small_chain":
        layers = (layer.contiguous().realize() for layer in tensors[1])
        tensors = (tensors[0], *layers)
    jitted = TinyJit(lambda *given: PROGRAMS[workload.program](*given).realize())
    return {NAME: lambda: jitted(*tensors)}
