"""shipped: serialised programs, without the data of their inputs.

    program = ship([y.node], ["a", "b"])       on the client
    run(program, [block of a, block of b])     on a worker that has the data

The tensor graph is sent, not machine code: the worker may have another processor, and chooses loops
for its own. It compiles a program once per process, and reads it from its disk cache afterwards.
The program's own data, such as weights, are sent separately, once to each worker.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.kept import Kept
from compiler.core.written import Reader, Unwritable, Writer
from compiler.device import buffers
from compiler.graph.kinds.markers import PLACEHOLDER
from compiler.graph.nodes import Sink, TensorNode
from compiler.run import plans, remembered
from compiler.settings.options import Options

KEPT = 256
"""Deserialised graphs that a process caches: a bound on memory, not measured."""


@dataclass(frozen=True, eq=False)
class Shipped:
    """A serialised program: its graph, its own data, and the input that each buffer stands for."""

    rows: bytes
    """The graph in JSON, as `core/written.py` writes it."""
    digest: str
    order: tuple[int, ...]
    """For each buffer of the graph: the number of the input, or -1 - the number in the own data."""
    own: tuple[Array, ...]
    shapes: tuple[tuple[int, ...], ...]
    """The shapes of the results."""


def ship(roots: Sequence[TensorNode], names: Sequence[str]) -> Shipped:
    """The program of `roots`, whose placeholders are called `names`.

    Raises `Unwritable` if the graph refers to something that exists only in this process.
    """
    root, inputs = plans.without_data(roots)
    held = [buffer for buffer in inputs if buffer.unique != PLACEHOLDER]
    order = tuple(
        names.index(b.name) if b.unique == PLACEHOLDER else -1 - held.index(b) for b in inputs
    )
    writer = Writer(remembered.kinds())
    content = json.dumps({"root": writer.node(root), "rows": writer.rows}).encode()
    data = tuple(buffers.data(buffer).reshape(-1) for buffer in held)
    shapes = tuple(node.shape for node in roots)
    return Shipped(content, hashlib.sha256(content).hexdigest(), order, data, shapes)


_READ: Kept[str, Sink] = Kept(KEPT)


def _graph(program: Shipped) -> Sink:
    held = _READ.held(program.digest)
    if held is not None:
        return held
    entry = json.loads(program.rows)
    rows, place = entry["rows"], entry["root"]
    root = Reader(remembered.kinds(), rows).value(["n", place])
    if not isinstance(root, Sink):
        raise Unwritable("what arrived is no program")
    return _READ.keep(program.digest, root)


def run(program: Shipped, inputs: Sequence[Array], options: Options) -> list[Array]:
    """The results on `inputs`, as new arrays; compiles the program on its first call."""
    structure = plans.structure_without_data(_graph(program), len(program.order), options)
    flat = [np.ascontiguousarray(each).reshape(-1) for each in inputs]
    data = [flat[n] if n >= 0 else program.own[-1 - n] for n in program.order]
    for place in structure.written_inputs:
        data[place] = data[place].copy()
    results = cast(list[Array], plans.run(structure, data, {}))  # it is for this process
    return [
        (result.copy() if is_shared else result).reshape(shape)
        for result, is_shared, shape in zip(
            results, structure.shared_results, program.shapes, strict=True
        )
    ]
