"""torch.compile: the programs of eager PyTorch through its compiler, at its default settings."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch._inductor.cpu_vec_isa import pick_vec_isa

from benchmarks.instruction_sets import of_width
from benchmarks.peers import on_torch
from benchmarks.workloads import Array, Workload

NAME = "torch.compile"


def version() -> str:
    """The library's version."""
    return on_torch.version()


def uses() -> str:
    """The instruction set, of the vectors that its compiler picks."""
    return of_width(pick_vec_isa().bit_width() // 8)


def array(result: Any) -> Array:
    """A call's result as a NumPy array."""
    return on_torch.array(result)


def programs(workload: Workload, inputs: Mapping[str, Array]) -> dict[str, Callable[[], Any]]:
    """One compiled function."""
    compiled = torch.compile(on_torch.PROGRAMS[workload.program], dynamic=False)
    tensors = on_torch.given(workload, inputs)

    def call() -> Any:
        with torch.inference_mode():
            return compiled(*tensors)

    return {NAME: call}
