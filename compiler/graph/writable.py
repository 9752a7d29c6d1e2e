"""writable: the kinds of a graph that have a written form, in files and on their way to workers.

All nodes of graphs have one but those that call a function of the user's, which one process alone
knows. Their fields are plain values, element types, other nodes, functions of this package by
name, and the records here.
"""

from compiler.core.written import below
from compiler.graph.extent import Extent
from compiler.graph.kinds.views import Strided
from compiler.graph.nodes import TensorNode

RECORDS = (Strided, Extent)
"""Records that stand in fields of nodes."""


def writable() -> dict[str, type]:
    """The kinds whose files are loaded, by the names that their rows have."""
    found: dict[str, type] = {f"record {kind.__name__}": kind for kind in RECORDS}
    return found | {kind.__name__: kind for kind in below(TensorNode)}
