"""Pairs the nodes of two graphs that are the same.

Before:    a   x → mul → sum            b   x → mul → relu → sum
After:     x – x, mul – mul alike; sum – sum changed (it reads another node); relu only in b

Nodes that compute the same from the same are alike. From there on pairs grow along the edges:
upwards from the results, downwards from the inputs, always between nodes of one op. So a graph of
other shapes still pairs with the one it came from, and what was put in between stands out.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import networkx as nx

Graph: TypeAlias = "nx.DiGraph[str]"
SAME, CHANGED, ONLY = "", "changed", "only"
_WORDS = ("op", "argument", "dtype", "shape")


@dataclass
class Pairing:
    """The partners, in both directions, and how each node differs from its own."""

    to_b: dict[str, str] = field(default_factory=dict)
    to_a: dict[str, str] = field(default_factory=dict)
    marks_a: dict[str, str] = field(default_factory=dict)
    marks_b: dict[str, str] = field(default_factory=dict)

    def join(self, a: str, b: str) -> None:
        """Makes two nodes partners."""
        self.to_b[a], self.to_a[b] = b, a

    @property
    def is_same(self) -> bool:
        """True if no node differs."""
        return not any(self.marks_a.values()) and not any(self.marks_b.values())


class _Side:
    """One of the graphs with its cached properties."""

    def __init__(self, graph: Graph) -> None:
        import networkx as nx

        self.graph = graph
        is_ordered = nx.is_directed_acyclic_graph(graph)
        # Control-flow graphs have loops: there the order of the text has to do.
        self.order = list(nx.topological_sort(graph)) if is_ordered else list(graph)
        self.sinks = [node for node in self.order if not graph.out_degree(node)]

    def words(self, node: str) -> tuple[str, ...]:
        facts = self.graph.nodes[node]
        # What is computed has the name of the variable that the program gave it to, if any.
        name = "" if self.graph.in_degree(node) else str(facts.get("name", ""))
        return (*(str(facts.get(word, "")) for word in _WORDS), name, str(facts.get("text", "")))

    def op(self, node: str) -> str:
        return str(self.graph.nodes[node].get("op", ""))

    def operands(self, node: str) -> list[tuple[int, str]]:
        edges = self.graph.in_edges(node, data="operand", default=-1)
        return sorted((int(operand), str(source)) for source, _, operand in edges)

    def users(self, node: str) -> list[str]:
        return list(self.graph.successors(node))


def pair_nodes(a: Graph, b: Graph) -> Pairing:
    """The partners of two graphs' nodes, with marks for what differs."""
    left, right, pairing = _Side(a), _Side(b), Pairing()
    _pair_alike(left, right, pairing)
    _pair_sinks(left, right, pairing)
    for _ in range(2):
        _pair_operands(left, right, pairing)
        _pair_users(left, right, pairing)
    _mark(left, right, pairing)
    return pairing


def _pair_alike(left: _Side, right: _Side, pairing: Pairing) -> None:
    """Pairs nodes with the same operation and operands, in order."""
    numbers: dict[object, int] = {}
    classes_a, classes_b = _classes(left, numbers), _classes(right, numbers)
    for number, nodes in classes_a.items():
        for a, b in zip(nodes, classes_b.get(number, ()), strict=False):
            pairing.join(a, b)


def _classes(side: _Side, numbers: dict[object, int]) -> dict[int, list[str]]:
    """The nodes by what they compute; `numbers` is shared by both sides."""
    of: dict[str, int] = {}
    classes: defaultdict[int, list[str]] = defaultdict(list)
    for node in side.order:
        sources = tuple((operand, of.get(it, -1)) for operand, it in side.operands(node))
        of[node] = numbers.setdefault((side.words(node), sources), len(numbers))
        classes[of[node]].append(node)
    return classes


def _pair_sinks(left: _Side, right: _Side, pairing: Pairing) -> None:
    free = [it for it in right.sinks if it not in pairing.to_a]
    for a in left.sinks:
        partner = next((b for b in free if right.op(b) == left.op(a)), None)
        if a not in pairing.to_b and partner is not None:
            free.remove(partner)
            pairing.join(a, partner)


def _pair_operands(left: _Side, right: _Side, pairing: Pairing) -> None:
    """Operands in the same place of partners, results first."""
    for user in reversed(left.order):
        if user not in pairing.to_b:
            continue
        theirs = dict(right.operands(pairing.to_b[user]))
        for operand, a in left.operands(user):
            b = theirs.get(operand)
            if b is not None and _may_pair(left, right, a, b, pairing):
                pairing.join(a, b)


def _pair_users(left: _Side, right: _Side, pairing: Pairing) -> None:
    """Users of partners, inputs first."""
    for a in left.order:
        if a in pairing.to_b:
            continue
        sources = (pairing.to_b[it] for _, it in left.operands(a) if it in pairing.to_b)
        candidates = (user for source in sources for user in right.users(source))
        partner = next((b for b in candidates if _may_pair(left, right, a, b, pairing)), None)
        if partner is not None:
            pairing.join(a, partner)


def _may_pair(left: _Side, right: _Side, a: str, b: str, pairing: Pairing) -> bool:
    is_free = a not in pairing.to_b and b not in pairing.to_a
    return is_free and left.op(a) == right.op(b)


def _mark(left: _Side, right: _Side, pairing: Pairing) -> None:
    for a in left.order:
        b = pairing.to_b.get(a)
        mark = ONLY if b is None else _difference(left, right, a, b, pairing)
        pairing.marks_a[a] = mark
        if b is not None:
            pairing.marks_b[b] = mark
    for b in right.order:
        pairing.marks_b.setdefault(b, ONLY)


def _difference(left: _Side, right: _Side, a: str, b: str, pairing: Pairing) -> str:
    """True if partners have the same text and read partners."""
    mine = [(operand, pairing.to_b.get(it, "")) for operand, it in left.operands(a)]
    is_same = left.words(a) == right.words(b) and sorted(mine) == right.operands(b)
    return SAME if is_same else CHANGED


