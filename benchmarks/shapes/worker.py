"""Ours or PyTorch in a process of its own: `python -m benchmarks.shapes.worker PEER SEED …`.

    make NUMBER              {"error": share}; the first call, compared with NumPy in float64
    measure NUMBER SECONDS   {"seconds": [one per call]}
    why NUMBER SECONDS       {"why": …} of ours: the kernels' time and their reasons
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import compiler
from benchmarks.networks.kernels import kernels
from benchmarks.networks.ours import UNTRACED
from benchmarks.peers import adapter
from benchmarks.results import OURS
from benchmarks.shapes.cases import Case, case
from benchmarks.worker import error, measure, serve, timed
from compiler import MachineModel, Tensor
from compiler.core.text import counted, microseconds

WARM = 3


def program(made: Case) -> Tensor:
    """The operation on inputs that are given with each call."""
    return made.ours(*(
        Tensor.placeholder(array.shape, dtype=array.dtype, name=f"x{place}")
        for place, array in enumerate(made.arrays())
    ))  # fmt: skip


def our_call(made: Case) -> Callable[[], Any]:
    """A plan, and its call."""
    plan, given = compiler.prepare(program(made)), made.arrays()
    return lambda: plan.run(given)[0]


def torch_call(made: Case) -> Callable[[], Any]:
    """Eager."""
    import torch

    given = [torch.from_numpy(array) for array in made.arrays()]

    def run() -> Any:
        with torch.inference_mode():
            return made.torch(torch, *given)

    return run


def why(made: Case, seconds: float) -> str:
    """Where our time goes."""
    compiled = compiler.compile(program(made), options=UNTRACED)
    measured = compiled.measure(made.arrays(), seconds=seconds)
    found = kernels(compiled, measured, MachineModel())
    reasons = "; ".join(f"{it.title} {microseconds(it.ns)}, {it.why}" for it in found[:3])
    return f"{counted(len(found), 'kernel')} {microseconds(measured.total)}: {reasons}"


class Session:
    """The state of one worker: the cases that were made last."""

    def __init__(self, peer: str, seed: int) -> None:
        self.adapter, self.seed = adapter(peer), seed
        self.begin = our_call if peer == OURS else torch_call
        self.calls: dict[str, Callable[[], Any]] = {}

    def version(self) -> str:
        """The library's version."""
        return self.adapter.version()

    def make(self, number: str) -> dict[str, Any]:
        """The call of one case, run and checked; what was held before is dropped."""
        made = case(self.seed, int(number))
        self.calls = {number: self.begin(made)}
        found = np.asarray(self.adapter.array(self.calls[number]()))
        for _ in range(WARM):
            timed(self.calls[number])
        return {"error": error(found, made.expected())}

    def answer(self, command: str) -> dict[str, Any]:
        """Do one command."""
        match command.split("\t"):
            case ["make", number]:
                return self.make(number)
            case ["measure", number, seconds]:
                return {"seconds": measure(self.calls[number], float(seconds))}
            case ["why", number, seconds]:
                return {"why": why(case(self.seed, int(number)), float(seconds))}
        raise ValueError(f"no such command: {command!r}")


def main(peer: str, seed: str, folder: str, threads: str) -> None:
    """Serve the cases of a seed."""
    del folder
    serve(threads, lambda: Session(peer, int(seed)))


if __name__ == "__main__":
    main(*sys.argv[1:])
