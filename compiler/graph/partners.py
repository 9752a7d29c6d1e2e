"""Partners: links between forward-pass nodes and the backward-pass nodes of the same call.

A step of a reverse sweep creates backward nodes on the line of the call that it differentiates,
and their origin names that call (`core/origin.py`). The partners of each node of a call are all
backward nodes of that call, and vice versa. A node that passes merged from both is in both groups.
Nodes created by the call that requested gradients belong to the backward pass, but to no call.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass

from compiler.core.origin import Origin
from compiler.core.trace import Provenance
from compiler.graph.nodes import TensorNode


@dataclass(frozen=True, slots=True)
class Partners:
    """The partners of a node; `is_back` is true if it belongs to the backward pass only."""

    nodes: tuple[TensorNode, ...]
    is_back: bool


def partners(
    nodes: Iterable[TensorNode], provenance: Provenance[Origin],
    sweeps: Container[int] = frozenset(),
) -> dict[TensorNode, Partners]:  # fmt: skip
    """The partners of each node, in the order of `nodes`.

    Forward nodes without partners are left out. `sweeps` are the calls that requested gradients.
    """
    calls: dict[int, list[TensorNode]] = {}
    back: dict[int, list[TensorNode]] = {}
    places = {node: place for place, node in enumerate(nodes)}
    for node in places:
        for origin in provenance.of(node):
            where, call = (back, origin.back) if origin.back else (calls, origin.call)
            where.setdefault(call, []).append(node)
    others_of: dict[TensorNode, set[TensorNode]] = {}
    for call in calls.keys() & back.keys():
        for side, others in ((calls[call], back[call]), (back[call], calls[call])):
            for node in side:
                others_of.setdefault(node, set()).update(others)
    partners_of: dict[TensorNode, Partners] = {}
    for node in places:
        origins = provenance.of(node)
        is_back = bool(origins) and all(it.back or it.call in sweeps for it in origins)
        counterparts = others_of.get(node, set()) - {node}
        if counterparts or is_back:
            ordered = tuple(sorted(counterparts, key=places.__getitem__))
            partners_of[node] = Partners(ordered, is_back)
    return partners_of
