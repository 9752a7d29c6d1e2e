"""PyTorch on the CPU, eager: as users call it, and with `out=`."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.workloads import Array, Workload

NAME = "torch"


def version() -> str:
    """The library's version."""
    return str(torch.__version__)


def uses() -> str:
    """The instruction set, as ATen tells it: "AVX2", "AVX512"."""
    return str(torch.backends.cpu.get_cpu_capability()).lower()


def array(result: Any) -> Array:
    """A call's result as a NumPy array."""
    return result.numpy()  # type: ignore[no-any-return]


def mlp_forward(x: Tensor, w: Tensor, b: Tensor, v: Tensor, c: Tensor) -> Tensor:
    """Two layers: relu, then softmax."""
    return torch.addmm(c, torch.addmm(b, x, w).relu(), v).softmax(-1)


def small_chain(x: Tensor, *layers: Tensor) -> Tensor:
    """A hundred small layers."""
    for layer in layers:
        x = (x @ layer).relu()
    return x


PROGRAMS: dict[str, Callable[..., Tensor]] = {
    "ew_chain": lambda a, b, c: (a * b + c).relu() * 0.5,
    "gelu": lambda x: functional.gelu(x, approximate="tanh"),
    "sum_all": lambda x: x.sum(),
    "row_sum": lambda x: x.sum(1),
    "col_sum": lambda x: x.sum(0),
    "softmax": lambda x: x.softmax(-1),
    "layernorm": lambda x: functional.layer_norm(x, x.shape[-1:]),
    "matmul": lambda a, b: a @ b,
    "matmul_bias_relu": lambda a, b, c: torch.addmm(c, a, b).relu(),
    "conv2d": lambda x, w: functional.conv2d(x, w, padding=1),
    "attention": lambda q, k, v: functional.scaled_dot_product_attention(
        q[None, None], k[None, None], v[None, None]
    )[0, 0],
    "mlp_forward": mlp_forward,
    "transpose": lambda x: x.t().contiguous(),
    "small_chain": small_chain,
}


def _chain_into(out: Tensor, a: Tensor, b: Tensor, c: Tensor) -> None:
    torch.addcmul(c, a, b, out=out)
    out.relu_().mul_(0.5)


def _bias_relu_into(out: Tensor, a: Tensor, b: Tensor, c: Tensor) -> None:
    torch.addmm(c, a, b, out=out)
    out.relu_()


PREALLOCATED: dict[str, Callable[..., Any]] = {
    "ew_chain": _chain_into,
    "gelu": lambda out, x: torch.ops.aten.gelu.out(x, approximate="tanh", out=out),
    "sum_all": lambda out, x: torch.sum(x, (0,), out=out),
    "row_sum": lambda out, x: torch.sum(x, (1,), out=out),
    "col_sum": lambda out, x: torch.sum(x, (0,), out=out),
    "softmax": lambda out, x: torch.softmax(x, -1, out=out),
    "layernorm": lambda out, x: torch.ops.aten.native_layer_norm.out(
        x, x.shape[-1:], None, None, 1e-5,
        out0=out, out1=_statistic(out), out2=_statistic(out),
    ),
    "matmul": lambda out, a, b: torch.matmul(a, b, out=out),
    "matmul_bias_relu": _bias_relu_into,
    "transpose": lambda out, x: out.copy_(x.t()),
}  # fmt: skip


def _statistic(out: Tensor) -> Tensor:
    return torch.empty((len(out), 1))


def given(workload: Workload, inputs: Mapping[str, Array]) -> tuple[Tensor, ...]:
    """The inputs as tensors; the layers of a chain one by one."""
    tensors = tuple(torch.from_numpy(value) for value in inputs.values())
    return (tensors[0], *tensors[1]) if workload.program == "small_chain" else tensors


def programs(workload: Workload, inputs: Mapping[str, Array]) -> dict[str, Callable[[], Any]]:
    """As users call it, and into a tensor made before."""
    tensors = given(workload, inputs)

    def call() -> Tensor:
        with torch.inference_mode():
            return PROGRAMS[workload.program](*tensors)

    made: dict[str, Callable[[], Any]] = {NAME: call}
    if into := PREALLOCATED.get(workload.program):
        out = torch.zeros(workload.result)

        def call_into() -> Tensor:
            with torch.inference_mode():
                into(out, *tensors)
            return out

        made[f"{NAME} out="] = call_into
    return made
