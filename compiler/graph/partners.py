"""Partners: which nodes are the way back of which, where a program has gradients.

A step of a sweep makes nodes on the line of the call that it passes back through, and their origin
says which call that was (`core/origin.py`). All nodes of a call have all nodes of its way back as
partners, and the other way round; what passes made one of, may be both. What the call itself made
that asked for gradients is a part of the way back, of no call.
"""

from collections.abc import Container, Iterable
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
    nodes: Iterable[TensorNode], provenance: Provenance[Origin],
    sweeps: Container[int] = frozenset(),
) -> dict[TensorNode, Partners]:  # fmt: skip
    """For each node its partners, in the order of `nodes`; those without are left out, but for
    parts of a way back. `sweeps` are the calls that asked for gradients."""
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
    made: dict[TensorNode, Partners] = {}
    for node in places:
        origins = provenance.of(node)
        is_back = bool(origins) and all(it.back or it.call in sweeps for it in origins)
        known = found.get(node, set()) - {node}
        if known or is_back:
            made[node] = Partners(tuple(sorted(known, key=places.__getitem__)), is_back)
    return made
