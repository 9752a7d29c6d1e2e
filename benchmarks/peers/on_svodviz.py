"""This compiler, through `prepare` and `run`.

Results are arrays that the caller owns; their memory comes from the reusing allocator once the
result of an earlier call is dropped.
"""

from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any

import numpy as np

import compiler
from benchmarks.instruction_sets import of_width
from benchmarks.workloads import Array, Workload
from compiler import ExecutionPlan, Tensor
from compiler.run import building

COMPILER = building
"""Loaded where a program is first compiled, and so that a first call is not importing: here."""
NAME = "svodviz"


def version() -> str:
    """The library's version."""
    return metadata.version("svodviz")


def uses() -> str:
    """The instruction set, from the machine code of a sum."""
    made = compiler.compile(Tensor(np.ones(4096, np.float32)) + 1.0)
    return of_width(64 if "zmm" in str(made.assembly[0]) else 32)


def array(result: Any) -> Array:
    """A call's result as a NumPy array."""
    return result  # type: ignore[no-any-return]


def small_chain(x: Tensor, *layers: Tensor) -> Tensor:
    """A hundred small layers."""
    for layer in layers:
        x = (x @ layer).relu()
    return x


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """One head."""
    scores = (q @ k.permute(1, 0)) * q.shape[1] ** -0.5
    weighted: Tensor = scores.softmax(-1) @ v
    return weighted


PROGRAMS: dict[str, Callable[..., Tensor]] = {
    "ew_chain": lambda a, b, c: (a * b + c).relu() * 0.5,
    "gelu": lambda x: x.gelu(),
    "sum_all": lambda x: x.sum(),
    "row_sum": lambda x: x.sum(1),
    "col_sum": lambda x: x.sum(0),
    "softmax": lambda x: x.softmax(-1),
    "layernorm": lambda x: x.layernorm(-1),
    "matmul": lambda a, b: a @ b,
    "matmul_bias_relu": lambda a, b, c: (a @ b + c).relu(),
    "conv2d": lambda x, w: x.conv2d(w, padding=1),
    "attention": attention,
    "mlp_forward": lambda x, w, b, v, c: ((x @ w + b).relu() @ v + c).softmax(-1),
    "transpose": lambda x: x.permute(1, 0).contiguous(),
    "small_chain": small_chain,
}


class Replay:
    """Compiles at its first call, runs at every call."""

    def __init__(self, workload: Workload, inputs: Mapping[str, Array]) -> None:
        self.workload, self.inputs = workload, inputs
        self.given = [v for name, v in inputs.items() if name not in workload.fixed]
        self.plan: ExecutionPlan | None = None

    def __call__(self) -> Array:
        """The result on the inputs."""
        if self.plan is None:
            self.plan = compiler.prepare(result(self.workload, self.inputs))
        return self.plan.run(self.given)[0]

    @property
    def planned_bytes(self) -> int:
        """The plan's bytes for intermediate values and results."""
        memory = self.plan.memory if self.plan else None
        return memory.peak if memory else 0

    @property
    def kernels(self) -> int:
        """How many items one run has."""
        return sum(len(level.items) for level in self.plan.levels) if self.plan else 0


def result(workload: Workload, inputs: Mapping[str, Array]) -> Tensor:
    """The program's result, not computed yet."""
    tensors = [Tensor(value, name=name) for name, value in inputs.items() if name != "w"]
    if workload.program == "small_chain":
        layers = [Tensor(value, name=f"w{n}") for n, value in enumerate(inputs["w"])]
        return small_chain(*tensors, *layers)
    tensors = [Tensor(value, name=name) for name, value in inputs.items()]
    return PROGRAMS[workload.program](*tensors)


def programs(workload: Workload, inputs: Mapping[str, Array]) -> dict[str, Callable[[], Any]]:
    """One plan."""
    return {NAME: Replay(workload, inputs)}
