"""One peer in a process of its own: `python -m benchmarks.networks.worker PEER NETWORK …`.

It answers `start` and `measure` as `benchmarks.worker` does; ours also

    kernels SECONDS          {"kernels": [one per kernel], "items": …}
    alone SECONDS            {"alone": [one per kind of operation]}
"""

import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.networks import ours
from benchmarks.networks.alone import alone
from benchmarks.networks.kernels import kernels, machine
from benchmarks.networks.network import Network
from benchmarks.networks.zoo import NETWORKS
from benchmarks.peers import adapter
from benchmarks.results import OURS
from benchmarks.worker import error, measure, serve, warm
from compiler import Compilation, MachineModel


def torch_call(network: Network, is_compiled: bool) -> Callable[[], Any]:
    """The network in PyTorch; its first call compiles, where it is compiled."""
    import torch

    from benchmarks.networks.on_torch import Torch

    program, inputs = network.on(Torch())
    with torch.inference_mode():
        program(*inputs)  # makes the weights
    program = torch.compile(program, dynamic=False) if is_compiled else program

    def run() -> Any:
        with torch.inference_mode():
            return program(*inputs)

    return run


class Session:
    """The state of one worker: the calls of its peer for one network."""

    def __init__(self, peer: str, network: Network, folder: Path) -> None:
        self.peer, self.network, self.folder = peer, network, folder
        self.adapter = adapter(peer)
        self.call: Callable[[], Any] | None = None

    def version(self) -> str:
        """The library's version."""
        return self.adapter.version()

    def start(self) -> dict[str, Any]:
        """Time the first call, compare its result, warm it."""
        is_ours, is_compiled = self.peer == OURS, self.peer == "torch.compile"
        network = self.network
        self.call = ours.call(network) if is_ours else torch_call(network, is_compiled)
        start = time.perf_counter()
        result = self.call()
        first = time.perf_counter() - start
        expected = np.load(self.folder / "expected.npy")
        distance = error(self.adapter.array(result), expected)
        warm(self.call)
        entries = {self.peer: {"first": first, "error": distance}}
        return {"entries": entries, "uses": self.adapter.uses()}

    @cached_property
    def compilation(self) -> Compilation:
        """Ours with all stages."""
        return ours.compilation(self.network)

    @cached_property
    def machine(self) -> MachineModel:
        """The machine's limits, for the rooflines."""
        return machine()

    def kernels(self, seconds: float) -> dict[str, Any]:
        """Our kernels, one by one."""
        made = self.compilation
        measured = made.measure(list(self.network.inputs().values()), seconds=seconds)
        found = kernels(made, measured, self.machine)
        return {"kernels": [asdict(it) for it in found], "items": len(made.schedule.items)}

    def answer(self, command: str) -> dict[str, Any]:
        """Do one command."""
        match command.split("\t"):
            case ["start"]:
                return self.start()
            case ["measure", _, seconds] if self.call:
                return {"seconds": measure(self.call, float(seconds))}
            case ["kernels", seconds]:
                return self.kernels(float(seconds))
            case ["alone", seconds]:
                return {"alone": [asdict(it) for it in alone(self.network, float(seconds))]}
        raise ValueError(f"no such command: {command!r}")


def main(peer: str, network: str, folder: str, threads: str) -> None:
    """Serve one network on one peer."""
    serve(threads, lambda: Session(peer, NETWORKS[network], Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
