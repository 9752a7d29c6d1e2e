"""check_elsewhere: stages of a compilation, run on the workers of a cluster for `check`.

What a pass left, the kernel graph, the items, loops and instructions travel as they are, with the
data: nothing is compiled again, and it does not matter which processor runs an interpreter. What
comes back is held against what is right here, which is found meanwhile. Machine code, and what
users run, is checked where it runs.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeAlias, cast, get_args

import numpy as np

from compiler.ask.checking import Stage
from compiler.ask.interpreted import ENGINES, Stages, interpreted, stages_of
from compiler.core.dtypes import Array
from compiler.core.errors import CompileError, InternalError
from compiler.core.kept import Kept
from compiler.core.node import Node, toposort
from compiler.core.written import Kinds, Reader, Unwritable, Writer, below, load_kinds
from compiler.device import buffers
from compiler.device.allocator import address_of
from compiler.device.dask import Engine
from compiler.graph.interpret import interpret
from compiler.graph.nodes import Buffer, Sink, TensorNode
from compiler.lowered import machine
from compiler.lowered.instructions import Instruction
from compiler.run import remembered
from compiler.run.bindings import Values, graph_inputs
from compiler.schedule.items import Kernel
from compiler.schedule.kinds import Region
from compiler.stages.stages import ProgramStages

Place: TypeAlias = tuple[int, tuple[int, ...]]
"""An array among those that were sent, and its shape."""
KEPT = 4
"""Programs that a process keeps as it read them: a bound on memory, not measured."""


@dataclass(frozen=True)
class _Program:
    """A program at the stages that are checked elsewhere, with the data of its graphs."""

    passes: tuple[Sink, ...]
    data: Mapping[int, Array]
    """The data of the buffers of these graphs, by number."""
    stages: Stages

    def run(self, place: int) -> list[Array]:
        """The results after a pass, by number; of a stage, counted from there."""
        if place >= len(self.passes):
            return interpreted(self.stages, ENGINES[place - len(self.passes)])
        root = self.passes[place]
        data = graph_inputs(root, self.stages.values, lambda buffer: self.data[buffer.unique])
        return interpret(root.sources, data)


@dataclass(frozen=True)
class _Refused:
    """An error of the compiler's own, which holds what does not travel."""

    is_internal: bool
    problem: str

    def error(self) -> CompileError:
        """The error, as far as a row of `check` tells it."""
        return (InternalError if self.is_internal else CompileError)("check", self.problem)


@dataclass(frozen=True, eq=False)
class Check:
    """A program on its way; called with the number of a stage it runs it, wherever it arrived."""

    names: tuple[str, ...]
    """The names of the stages, in order."""
    content: bytes
    """The program in JSON, as `core/written.py` writes it."""
    digest: str
    arrays: tuple[Array, ...]
    """The data, flat, each once."""
    data: Mapping[int, Place]
    inputs: tuple[Place, ...]
    values: dict[str, int]

    def __call__(self, number: int) -> list[Array] | _Refused:
        held = _READ.held(self.digest)
        program = _READ.keep(self.digest, self._read()) if held is None else held
        try:
            return self._run(program, number)
        except CompileError as error:
            return _Refused(isinstance(error, InternalError), error.problem)

    def _run(self, program: _Program, number: int) -> list[Array]:
        inputs = zip(program.stages.inputs, map(self._array, self.inputs), strict=True)
        stages = replace(program.stages, inputs=dict(inputs), values=self.values)
        data = {number: self._array(place) for number, place in self.data.items()}
        return replace(program, data=data, stages=stages).run(number)

    def _array(self, place: Place) -> Array:
        number, shape = place
        return self.arrays[number].reshape(shape)

    def _read(self) -> _Program:
        """The program without its data."""
        entry = json.loads(self.content)
        load_kinds(entry["modules"])
        reader = Reader(_kinds(), entry["rows"])
        passes, kernels, items, holders, results, loops, instructions, inputs = map(
            reader.value, entry["program"]
        )
        data = dict.fromkeys(inputs, _NOTHING)
        loops, instructions = dict(loops).__getitem__, dict(instructions).__getitem__
        stages = Stages(kernels, items, holders, results, loops, instructions, data, {})
        return _Program(passes, {}, stages)


_NOTHING = np.empty(0)
_READ: Kept[str, _Program] = Kept(KEPT)


def _kinds() -> Kinds:
    """The classes that a program may contain: nodes of all stages, items, instructions; no function
    of the user's, which one process alone knows."""
    kinds: dict[str, type] = dict(remembered.kinds())
    nodes = (kind for kind in below(Node) if not issubclass(kind, TensorNode))
    for kind in (*nodes, *(it for it in get_args(Instruction) if it is not machine.Custom), Region):
        kinds[f"{kind.__module__}.{kind.__name__}"] = kind
    return kinds


def check_elsewhere(
    engine: Engine, compilation: ProgramStages, values: Values
) -> list[Stage] | None:
    """The program after each graph pass, and at every stage before machine code, in order.

    Workers begin at once; who asks a stage for its results waits for them. None for a program that
    only this process knows, such as one with functions of the user's, and for one whose data are
    not in memory.
    """
    try:
        check = _written(compilation, values)
    except Unwritable:
        return None
    if check is None:
        return None
    # the last stages take longest, and so they are the first to begin
    results = engine.map(check, range(len(check.names))[::-1])
    in_order = cache(lambda: list(results)[::-1])
    return [(name, partial(_results, in_order, n)) for n, name in enumerate(check.names)]


def _results(all_results: Callable[[], list[list[Array] | _Refused]], number: int) -> list[Array]:
    """The result of a worker; raises the worker's error."""
    results = all_results()[number]
    if isinstance(results, _Refused):
        raise results.error()
    return results


def _written(compilation: ProgramStages, values: Values) -> Check | None:
    records = [record for record in compilation.passes if record.stage == "graph"]
    passes = tuple(cast(Sink, record.after) for record in records)
    graph = (n for n in toposort([*passes]) if isinstance(n, Buffer))
    data = {node.unique: buffers.data(node) for node in graph}
    stages = stages_of(compilation, values)
    if any(type(a) is not np.ndarray for a in (*data.values(), *stages.inputs.values())):
        return None
    writer = Writer(_kinds())
    bodies = tuple(dict.fromkeys(
        item.operation.body for item in stages.items if isinstance(item.operation, Kernel)
    ))  # fmt: skip
    program = (
        passes, stages.kernels, tuple(stages.items), tuple(stages.holders), tuple(stages.results),
        tuple((body, stages.loops(body)) for body in bodies),
        tuple((body, tuple(stages.instructions(body))) for body in bodies),
        tuple(stages.inputs),
    )  # fmt: skip
    written = writer.value(program)[1:]
    entry = {"modules": writer.modules, "rows": writer.rows, "program": written}
    content = json.dumps(entry).encode()
    names = (*(f"pass {record.name}" for record in records), *ENGINES)
    sent = _Arrays()
    places = {number: sent.place(array) for number, array in data.items()}
    inputs = tuple(map(sent.place, stages.inputs.values()))
    return Check(names, content, hashlib.sha256(content).hexdigest(), tuple(sent.arrays), places,
                 inputs, dict(values))  # fmt: skip


class _Arrays:
    """Arrays that are to be sent, each memory once."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self._places: dict[tuple[Any, ...], int] = {}

    def place(self, array: Array) -> Place:
        """The position of an array among them."""
        key = address_of(array), array.size, array.dtype
        if key not in self._places or not array.size:
            self._places[key] = len(self.arrays)
            self.arrays.append(array.reshape(-1))
        return self._places[key], array.shape
