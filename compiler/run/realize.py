"""realize: tensors as data: compiled, run, and held in buffers on the devices they are on."""

from collections.abc import Sequence

from compiler.core.effects import Effects
from compiler.device import buffers
from compiler.device.remote import Data
from compiler.graph.nodes import Sink, TensorNode
from compiler.run import plans, reading, sharding
from compiler.run.bindings import Values, bindings_of, hold
from compiler.settings.options import Options

USUAL = Options()


def realize(
    nodes: Sequence[TensorNode],
    options: Options | None = None,
    variables: Values | None = None,
    is_tried: bool = False,
    effects: Effects | None = None,
) -> list[TensorNode]:
    """Compile and run: for each node a Buffer with its value, on its device.

    A value in shards stays so: a Multi of one Buffer per device. Memory has one Buffer: for an
    Assign it is that of its target, for equal nodes it is one. Where an axis has the extent of a
    variable, a Prefix marks how much of the Buffer is the value. Nothing is recorded. `variables`
    are values over those bound; where it `is_tried`, only copies of the inputs are written.

    `effects` get the nodes before anything is written, and whether everything was.
    """
    if options is None and (read := reading.read(nodes)) is not None:
        return read
    whole = sharding.in_shards(nodes)
    each = sharding.flat(whole)
    values = bindings_of(Sink(tuple(nodes))).of_run(variables)
    chosen = options or USUAL
    with plans.located(each, chosen):
        structure, buffers_read = plans.structure_to_run(each, chosen)
    written = structure.written_inputs if is_tried else ()
    data = [buffers.held(b).copy() if n in written else buffers.held(b)
            for n, b in enumerate(buffers_read)]  # fmt: skip
    buffers_at = {
        buffers.place_of(array, b.device): b
        for n, (array, b) in enumerate(zip(data, buffers_read, strict=True)) if n not in written
    }  # fmt: skip
    made_nodes: list[TensorNode] = []

    def ready(flat: Sequence[Data]) -> None:
        rows = zip(flat, each, structure.devices, strict=True)
        held = [hold(value, node, values, where, buffers_at) for value, node, where in rows]
        made_nodes[:] = sharding.regrouped(whole, held)
        if effects is not None:
            effects.values = made_nodes

    with plans.located(each, chosen):
        plans.run(structure, [array.reshape(-1) for array in data], values, None, effects, ready)
    return made_nodes
