"""shipped: programs without their data as bytes, for whoever runs them.

    made = ship([y.node], ["a", "b"])          where the program was written
    run(made, [block of a, block of b])        where the data are

The graph travels, not machine code: where it runs may be another processor, for which loops are
chosen and compiled; once in a process, whatever comes how often, and once on a disk. Data that the
program was written with, such as weights, are sent separately, once to each worker.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from compiler.core.kept import Kept
from compiler.core.written import Reader, Unwritable, Writer
from compiler.device import buffers
from compiler.graph.kinds.markers import PLACEHOLDER
from compiler.graph.nodes import Sink, TensorNode
from compiler.run import plans, remembered
from compiler.settings.options import Options

Array = np.ndarray[Any, Any]
KEPT = 256
"""Graphs that a process keeps as it read them: a bound on memory, not measured."""


@dataclass(frozen=True, eq=False)
class Shipped:
    """A program: its graph, its own data, and which of its inputs each buffer is."""

    rows: bytes
    """The graph in JSON, as `core/written.py` writes it."""
    digest: str
    order: tuple[int, ...]
    """For each buffer of the graph the number of the input, or -1 - that of its own data."""
    own: tuple[Array, ...]
    shapes: tuple[tuple[int, ...], ...]
    """Those of the results."""


def ship(roots: Sequence[TensorNode], names: Sequence[str]) -> Shipped:
    """The program of `roots`, whose placeholders are called `names`.

    Raises `Unwritable` where something in it is known to this process alone.
    """
    root, found = plans.without_data(roots)
    own = [buffer for buffer in found if buffer.unique != PLACEHOLDER]
    order = tuple(
        names.index(b.name) if b.unique == PLACEHOLDER else -1 - own.index(b) for b in found
    )
    writer = Writer(remembered.kinds())
    content = json.dumps({"root": writer.node(root), "rows": writer.rows}).encode()
    data = tuple(buffers.data(buffer).reshape(-1) for buffer in own)
    shapes = tuple(node.shape for node in roots)
    return Shipped(content, hashlib.sha256(content).hexdigest(), order, data, shapes)


_READ: Kept[str, Sink] = Kept(KEPT)


def _graph(made: Shipped) -> Sink:
    held = _READ.held(made.digest)
    if held is not None:
        return held
    entry = json.loads(made.rows)
    rows, place = entry["rows"], entry["root"]
    root = Reader(remembered.kinds(), rows).value(["n", place])
    if not isinstance(root, Sink):
        raise Unwritable("what arrived is no program")
    return _READ.keep(made.digest, root)


def run(made: Shipped, inputs: Sequence[Array], options: Options) -> list[Array]:
    """The results on these inputs, arrays of the caller's; compiled where that was not done."""
    structure = plans.structure_without_data(_graph(made), len(made.order), options)
    flat = [np.ascontiguousarray(each).reshape(-1) for each in inputs]
    data = [flat[n] if n >= 0 else made.own[-1 - n] for n in made.order]
    for place in structure.written_inputs:
        data[place] = data[place].copy()
    results = cast(list[Array], plans.run(structure, data, {}))  # it is for this process
    return [
        (result.copy() if is_shared else result).reshape(shape)
        for result, is_shared, shape in zip(
            results, structure.shared_results, made.shapes, strict=True
        )
    ]
