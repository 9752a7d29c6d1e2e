"""The kernels of a program, and what the compiler chooses for their loops on several machines.

No machine code is made, and no memory for data: a kernel becomes loops, loops become choices, and
the passes that do what these say are run and verified. What a pass refuses is an error here.
"""

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from compiler import Tensor
from compiler.core.node import Node, field_names, toposort
from compiler.core.origin import no_origin
from compiler.graph.nodes import Sink
from compiler.loops.choices import Choices
from compiler.loops.choosing.choose import choose
from compiler.loops.nodes import Body
from compiler.loops.verify import verify
from compiler.machines.model import DEFAULT, MachineModel
from compiler.run.building import Build
from compiler.settings.options import Options
from tests import rows

QUICK, CHECKED = Options(verify=False), Options(verify=True)
VECTORS = (16, 32, 64)
"""Bytes of a vector on the machines that are chosen for."""
CORES = (1, 2, 8)
SPEEDS = ("usual", "usual", "usual", "slow", "tiny caches")


@dataclass(frozen=True)
class Machine:
    """A machine that loops are chosen for, in three words."""

    vector_bytes: int
    cores: int
    speed: str

    @property
    def model(self) -> MachineModel:
        """The machine model that the compiler takes it to be."""
        made = replace(
            DEFAULT, vector_bytes=self.vector_bytes, cores=self.cores,
            registers=32 if self.vector_bytes == 64 else 16,
        )  # fmt: skip
        match self.speed:
            case "slow":  # any kernel is worth all cores
                return replace(made, vector_ns=1e4, scalar_ns=1e4, fma_ns=1e4)
            case "tiny caches":  # nothing stays near
                return replace(made, cache_bytes=(256, 1024, 4096))
            case _:
                return made

    def __str__(self) -> str:
        return f"vectors of {self.vector_bytes} bytes, {self.cores} cores, {self.speed}"


def machines(source: random.Random) -> list[Machine]:
    """One with vectors of each width."""
    return [Machine(n, source.choice(CORES), source.choice(SPEEDS)) for n in VECTORS]


def every_machine() -> list[Machine]:
    """All of them."""
    return [Machine(*each) for each in itertools.product(VECTORS, CORES, dict.fromkeys(SPEEDS))]


def bodies(tensor: Tensor) -> list[Sink]:
    """The distinct kernels of a program."""
    with no_origin():
        return list(Build(Sink((tensor.node,)), QUICK).scheduled.outlined.bodies)


def plain_loops(body: Sink) -> Body:
    """The loops of a kernel as they are before any choice."""
    return rows.plain_loops(body, QUICK)


def transformed(loops: Body, choices: Choices) -> Body:
    """The loops after the passes that do what the choices say, verified once they are through."""
    if not choices:
        return loops
    return rows.with_choices(loops, choices, CHECKED)


@dataclass(frozen=True)
class Chosen:
    """The loops of a kernel as chosen for a machine; on the first, `error` says what went wrong."""

    machine: Machine
    choices: Choices
    loops: Body | None
    error: str = ""


def chosen(loops: Body, wanted: Sequence[Machine]) -> Iterator[Chosen]:
    """The choices for each machine, and what becomes of them; same choices are made once."""
    verify(loops)
    known: dict[Choices, Chosen] = {}
    for machine in wanted:
        choices = Choices()
        try:
            choices = choose(loops, machine.model)
            held = known.get(choices)
            made = transformed(loops, choices) if held is None else held.loops
            error = held.error if held is not None else ""
        except Exception as raised:
            made, error = None, described(raised)
        known[choices] = Chosen(machine, choices, made, error)
        yield known[choices]


def described(error: Exception) -> str:
    """The kind of an error and its first line."""
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"


def digest(body: Sink) -> bytes:
    """The same for kernels of the same structure, whatever process made them, and when."""
    places: dict[Node, int] = {}
    rows: list[tuple[Any, ...]] = []
    for place, node in enumerate(toposort([body])):
        places[node] = place
        values = (repr(getattr(node, name)) for name in field_names(type(node)))
        rows.append((type(node).__name__, *values, *(places[s] for s in node.sources)))
    return blake2b(repr(rows).encode(), digest_size=8).digest()
