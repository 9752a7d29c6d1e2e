"""spread: the modules of each entity of every stage: nodes, items, instructions, code.

    module encoder.layer.0     ← %12 … %31, kernel k3 with layer.1, 41 instructions, 55 of assembly

An entity is in the modules of its ancestors, by the links between stages: in several if nodes were
merged or fused, in none if it has no ancestors.
"""

from collections.abc import Callable, Iterable

from compiler.core.origin import Origin
from compiler.core.stage import Stage
from compiler.graph.kinds.repeat import inside
from compiler.graph.modules import Modules
from compiler.graph.nodes import TensorNode

Held = frozenset[int]
"""The innermost modules of an entity, as rows of the tree."""
NOWHERE: Held = frozenset()


class Spread:
    """The modules of nodes and entities, cached."""

    def __init__(
        self, modules: Modules, lines_of: Callable[[TensorNode], Iterable[Origin]]
    ) -> None:
        self.modules = modules
        self._lines_of = lines_of
        self._nodes: dict[TensorNode, Held] = {}
        self._entities: dict[str, Held] = {}
        self._unions: dict[tuple[Held, ...], Held] = {}
        self._around: dict[Held, tuple[tuple[int, bool], ...]] = {}

    def of_node(self, node: TensorNode) -> Held:
        """The modules of a tensor node; for a loop, those of the nodes that it repeats."""
        held = self._nodes.get(node)
        if held is None:
            origins = (it for each in inside(node) for it in self._lines_of(each))
            held = frozenset(self.modules.position(it) for it in origins)
            self._nodes[node] = held
        return held

    def of(self, entity: str) -> Held:
        """The modules of an entity of a stage that `follow` has added."""
        return self._entities.get(entity, NOWHERE)

    def begin(self, nodes: Iterable[tuple[str, TensorNode]]) -> None:
        """Add tensor nodes by their entities; a node and its replacements share one."""
        for entity, node in nodes:
            self._entities[entity] = self._union((self.of(entity), self.of_node(node)))

    def follow(self, stage: Stage) -> None:
        """Add the entities of a stage, after those of their parents."""
        for entity, parents in stage.links.items():
            if parents and not entity.startswith("graph:"):
                self._entities[entity] = self._union(tuple(map(self.of, parents)))

    def settle(self, entity: str, held: Held) -> None:
        """Set the modules of an entity, regardless of its ancestors."""
        self._entities[entity] = held

    def _union(self, held: tuple[Held, ...]) -> Held:
        if len(held) == 1:
            return held[0]
        union = self._unions.get(held)
        if union is None:
            union = self._unions[held] = NOWHERE.union(*held)
        return union

    def around(self, held: Held) -> tuple[tuple[int, bool], ...]:
        """The modules `held` and all modules around them; each with True if the entity is in other
        modules, too."""
        rows_of = self._around.get(held)
        if rows_of is None:
            chains = {at: self.modules.around(at) for at in held}
            rows = dict.fromkeys(at for chain in chains.values() for at in chain)
            rows_of = self._around[held] = tuple(
                (row, any(row not in chain for chain in chains.values())) for row in rows
            )
        return rows_of


class Tally:
    """The number of entities in each module, and of those that are in other modules too."""

    def __init__(self, spread: Spread) -> None:
        self._spread = spread
        self.counts = [0.0] * len(spread.modules.rows)
        self.shared = [0.0] * len(spread.modules.rows)

    def add(self, held: Held, amount: float = 1) -> None:
        """Add an amount to these modules and those around them."""
        for row, is_shared in self._spread.around(held):
            self.counts[row] += amount
            self.shared[row] += amount * is_shared
