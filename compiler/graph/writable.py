"""writable: the kinds of nodes that can be serialised, to files and for workers.

All nodes can, except those that call a function of the user, which exists in one process only.
Fields of nodes are plain values, element types, other nodes, functions of this package by name,
and the records here.
"""

from compiler.core.written import below
from compiler.graph.extent import Extent
from compiler.graph.kinds.views import Strided
from compiler.graph.nodes import TensorNode

RECORDS = (Strided, Extent)
"""Record types that occur in fields of nodes."""


def writable() -> dict[str, type]:
    """The serialisable kinds whose modules are imported, by their names in the written form."""
    kinds: dict[str, type] = {f"record {kind.__name__}": kind for kind in RECORDS}
    return kinds | {kind.__name__: kind for kind in below(TensorNode)}
