"""Partners: which nodes are the way back of which, where a program has gradients.

A step of a sweep makes nodes on the line of the call that it passes back through, and their origin
says which call that was (`core/origin.py`). All nodes of a call have all nodes of its way back as
partners, and the other way round; what passes made one of, may be both.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from compiler.core.origin import Origin
from compiler.core.trace import Provenance
from compiler.graph.nodes import TensorNode


@dataclass(frozen=True, slots=True)
class Partners:
    """The partners of a node, and whether it is a part of a way back and of nothing else."""

    nodes: tuple[TensorNode, ...]
    is_back: bool


def partners(
    nodes: Iterable[TensorNode], provenance: Provenance[Origin]
) -> dict[TensorNode, Partners]:
    """For each node its partners, in the order of `nodes`; those without are left out."""
    calls: dict[int, list[TensorNode]] = {}
    back: dict[int, list[TensorNode]] = {}
    places = {node: place for place, node in enumerate(nodes)}
    for node in places:
        for origin in provenance.of(node):
            where, call = (back, origin.back) if origin.back else (calls, origin.call)
            where.setdefault(call, []).append(node)
    found: dict[TensorNode, set[TensorNode]] = {}
    for call in calls.keys() & back.keys():
        for own, others in ((calls[call], back[call]), (back[call], calls[call])):
            for node in own:
                found.setdefault(node, set()).update(others)
    return {
        node: Partners(
            tuple(sorted(found[node] - {node}, key=places.__getitem__)),
            all(origin.back for origin in provenance.of(node)),
        )
        for node in places if found.get(node, set()) - {node}
    }  # fmt: skip
