"""cse: common subexpression elimination (CSE). Equal expressions of different lines become one.

    Before:  %0 = buffer x             f32[4]
             %1 = exp %0               f32[4]   digits.py:3
             %2 = exp %0               f32[4]   digits.py:7
             %3 = add %1 %2 …
    After:   %0 = buffer x             f32[4]
             %1 = exp %0               f32[4]   digits.py:3, digits.py:7
             %3 = add %1 %1 …

Relies on: nodes carry the line that created them, so equal nodes of two lines are two objects.
Ensures: no node carries a line; `Provenance` has each node's set of lines; equal nodes are one.
"""

from compiler.core.node import toposort
from compiler.core.origin import Origin, no_origin
from compiler.core.trace import Match, Provenance
from compiler.graph.nodes import TensorNode


def cse(
    root: TensorNode, provenance: Provenance[Origin], matches: list[Match] | None = None
) -> TensorNode:
    """`root` with equal nodes merged, and the line of every node moved into `provenance`."""
    done: dict[TensorNode, TensorNode] = {}
    numbered: dict[TensorNode, TensorNode] = {}
    with no_origin():
        for node in toposort([root]):
            sources = tuple(done[s] for s in node.sources)
            plain = node.made_again(sources)
            done[node] = plain
            first = numbered.setdefault(plain, node)
            provenance.numbers.same(plain, node)
            if matches is not None and first is not node:
                matches.append(Match("cse", "equal nodes are one node", "", node, plain))
            lines = frozenset((node.origin,)) if node.origin else frozenset[Origin]()
            provenance.add(node, lines)
            provenance.add(plain, lines)
    return done[root]
