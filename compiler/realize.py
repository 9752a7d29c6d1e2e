"""realize: tensors as data: compiled, run, and held in buffers on the devices they are on."""

from collections.abc import Sequence

from compiler import bindings, sharding
from compiler.compilation import Compilation
from compiler.graph.nodes import TensorNode
from compiler.options import Options


def realize(nodes: Sequence[TensorNode], options: Options | None = None) -> list[TensorNode]:
    """Compile and run: for each node a new Buffer with its value, on its device.

    A value in shards stays so: a Multi of one Buffer per device. Where an axis has the extent of
    a variable, a Prefix marks how much of the Buffer is the value. Nothing is recorded.
    """
    whole = sharding.in_shards(nodes)
    each = sharding.flat(whole)
    made = Compilation(each, options or Options(verify=False), "realize")
    values = made.values_of_run()
    rows = zip(made.run_flat(values), each, made.devices, strict=True)
    held = [bindings.hold(flat, node, values, where) for flat, node, where in rows]
    return sharding.regrouped(whole, held)
