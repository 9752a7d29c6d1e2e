"""A network as a program of ours: as a plan that runs, and with all its stages."""

from collections.abc import Callable
from typing import Any

import compiler
from benchmarks.networks.network import Network
from benchmarks.networks.on_svodviz import Svodviz
from compiler import Compilation, ExecutionPlan, Options

UNTRACED = Options(trace=False)
"""As `prepare` compiles: no record of each rewrite is kept."""


def compilation(network: Network) -> Compilation:
    """The network with all stages of its making."""
    program, inputs = network.on(Svodviz())
    return compiler.compile(program(*inputs), options=UNTRACED, name=network.name)


def call(network: Network) -> Callable[[], Any]:
    """Makes graph and plan at its first call, runs the plan at every call."""
    program, inputs = network.on(Svodviz())
    program(*inputs)  # makes the weights, which is no part of compiling
    given, plans = list(network.inputs().values()), list[ExecutionPlan]()

    def run() -> Any:
        if not plans:
            plans.append(compiler.prepare(program(*inputs)))
        return plans[0].run(given)[0]

    return run
