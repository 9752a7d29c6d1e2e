"""What the compiler reports about its own work, as frozen records. It does not know who listens.

    Line       one printed line: text, the entity it shows, the entities it comes from, or why
               it comes from none
    Rewrite    one application of a rule in a pass
    Decision   one choice with its reason in words
    Provenance which earlier things each node descends from, kept through every rewrite

Entities are strings that name one thing of one stage of one compilation ("graph:12",
"lowered:0:7"); `parents` always point to earlier stages.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from compiler.node import Node, toposort

if TYPE_CHECKING:
    import networkx as nx

P = TypeVar("P", bound=Hashable)


def empty_graph() -> "nx.DiGraph[Any]":
    """A graph without nodes. networkx is loaded by the first: it takes longer than this package."""
    import networkx as nx

    return nx.DiGraph()


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a printed stage; `alone` says why, where it comes from nothing earlier."""

    text: str
    entity: str | None = None
    parents: tuple[str, ...] = ()
    alone: str = ""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One application of a rule: `before` became `after`; other nodes came and went with it."""

    rule: str
    algebra: str
    source: str
    before: str
    after: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """One choice: about which entity, what was chosen, and why, with the values looked at."""

    subject: str
    kind: str
    taken: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Match:
    """One rule application as nodes: what `Rewrite` is made from when somebody asks."""

    rule: str
    algebra: str
    source: str
    before: Node
    after: Node


class Numbering:
    """Deterministic numbers for nodes; a node that only got new operands keeps its number."""

    def __init__(self) -> None:
        self._numbers: dict[Node, int] = {}
        self._next = 0
        self._names: dict[int, str] = {}

    def __contains__(self, node: Node) -> bool:
        return node in self._numbers

    def __getitem__(self, node: Node) -> int:
        """The node's number; a new node gets the next one."""
        number = self._numbers.get(node)
        if number is None:
            number = self._numbers[node] = self._next
            self._next += 1
        return number

    def all(self, nodes: Iterable[Node]) -> None:
        """Number the nodes that have no number yet, in their order."""
        for node in nodes:
            self[node]

    def same(self, new: Node, old: Node) -> None:
        """`new` is `old` with other operands: one thing, one number."""
        if new not in self._numbers:
            self._numbers[new] = self[old]

    def call(self, node: Node, name: str) -> None:
        """The node, and what it becomes, is what the user calls `name`, unless it has a name."""
        if name:
            self._names.setdefault(self[node], name)

    def name(self, node: Node) -> str:
        """What the user calls a node; "" where that is not known."""
        return self._names.get(self[node], "")


@dataclass(slots=True)
class Provenance(Generic[P]):
    """For each node the set of earlier things it descends from (many-to-many)."""

    parents: dict[Node, frozenset[P]] = field(default_factory=dict)
    numbers: Numbering = field(default_factory=Numbering)

    def of(self, node: Node) -> frozenset[P]:
        """What `node` descends from; empty when nothing is known."""
        return self.parents.get(node, frozenset())

    def add(self, node: Node, parents: frozenset[P]) -> None:
        """`node` descends from `parents` too."""
        known = self.parents.get(node)
        self.parents[node] = parents if known is None else known | parents

    def rebuilt(self, new: Node, old: Node) -> None:
        """`new` is `old` with rewritten operands."""
        self.numbers.same(new, old)
        self.add(new, self.of(old))

    def replaced(self, new: Node, old: Node) -> None:
        """A rule turned `old` into `new`: every node it made descends from what `old` did."""
        name = self.numbers.name(old)
        # Numbered here, not when somebody asks, so that numbers do not depend on who asks first.
        self.numbers.all(reversed(self.made(new, self.of(old))))
        self.numbers.call(new, name)

    def made(self, new: Node, parents: frozenset[P]) -> list[Node]:
        """`new`, and what below it was unknown, descend from `parents`; returns the unknown."""
        found = []
        stack = [new]
        while stack:
            node = stack.pop()
            is_unknown = node not in self.parents
            if is_unknown or node is new:
                self.add(node, parents)
            if is_unknown:
                found.append(node)
                stack.extend(node.sources)
        return found


Facts = Callable[[Any], dict[str, Any]]


@dataclass(frozen=True, slots=True, eq=False)
class PassRecord:
    """What one pass did: the roots before and after, its matches, and how long it took."""

    stage: str
    kernel: str
    name: str
    because: str
    seconds: float
    before: Node
    after: Node
    matches: tuple[Match, ...]
    numbers: Numbering
    facts: Facts
    prefix: str
    is_traced: bool

    @property
    def changed(self) -> bool:
        """Whether the pass changed the program (`merge` always makes new nodes: not a change)."""
        return bool(self.matches) if self.is_traced else self.before is not self.after

    @property
    def rewrites(self) -> tuple[Rewrite, ...]:
        """Each rule application, in order, with the entities it added and removed."""
        rows = []
        replay = Replay(self)
        for match in self.matches:
            added, removed = replay.step(match)
            rows.append(
                Rewrite(
                    match.rule,
                    match.algebra,
                    match.source,
                    self.entity(match.before),
                    self.entity(match.after),
                    tuple(f"{self.prefix}{n}" for n in added),
                    tuple(f"{self.prefix}{n}" for n in removed),
                )
            )
        return tuple(rows)

    def entity(self, node: Node) -> str:
        """The entity string of a node of this pass."""
        return f"{self.prefix}{self.numbers[node]}"

    def frames(self) -> "Iterable[nx.DiGraph[str]]":
        """The graph before the pass, then after each rewrite, under stable node keys."""
        replay = Replay(self)
        yield replay.graph()
        for match in self.matches:
            replay.step(match)
            yield replay.graph()


class Replay:
    """Plays the matches of a pass on a graph of logical numbers, one at a time."""

    def __init__(self, record: PassRecord) -> None:
        self.record = record
        self.numbers = record.numbers
        self.known: dict[int, tuple[Node, tuple[int, ...]]] = {}
        """Every node met so far with what it reads now: one that went may come back."""
        self.became: dict[int, int] = {}
        self.root = self.numbers[record.before]
        for node in toposort([record.before]):
            self._put(node)
        self.nodes = dict(self.known)

    def _put(self, node: Node) -> None:
        self.known[self.numbers[node]] = node, tuple(self.numbers[s] for s in node.sources)

    def step(self, match: Match) -> tuple[list[int], list[int]]:
        """Play one match; returns the numbers of the nodes that came and of those that went."""
        present = set(self.nodes)
        before, after = self.numbers[match.before], self.numbers[match.after]
        for node in toposort([match.after]):
            if before == after or self.numbers[node] not in self.known:
                self._put(node)
        self._redirect(before, self._final(after))
        self.nodes = {n: self.known[n] for n in sorted(self._reachable(self.root))}
        added = [n for n in self.nodes if n not in present]
        return added, sorted(present - set(self.nodes))

    def _final(self, number: int) -> int:
        """What a node has become by the matches played so far."""
        while number in self.became:
            number = self.became[number]
        return number

    def _redirect(self, before: int, after: int) -> None:
        """Everything that read `before`, or what was replaced earlier, reads what it became."""
        if before != after:
            self.became[before] = after
        for number, (node, operands) in self.known.items():
            if any(o in self.became for o in operands):
                self.known[number] = node, tuple(map(self._final, operands))
        self.root = self._final(self.root)

    def _reachable(self, root: int) -> dict[int, None]:
        seen: dict[int, None] = {}
        stack = [root]
        while stack:
            number = stack.pop()
            if number not in seen:
                seen[number] = None
                stack.extend(self.known[number][1])
        return seen

    def graph(self) -> "nx.DiGraph[str]":
        """The present state as a networkx graph keyed by entity."""
        prefix = self.record.prefix
        graph: nx.DiGraph[str] = empty_graph()
        for number, (node, _) in sorted(self.nodes.items()):
            facts = self.record.facts(node)
            facts["name"] = facts["name"] or self.numbers.name(node)
            graph.add_node(f"{prefix}{number}", **facts)
        for number, (_, operands) in sorted(self.nodes.items()):
            for position, operand in enumerate(operands):
                graph.add_edge(
                    f"{prefix}{operand}", f"{prefix}{number}", operand=position, kind="data"
                )
        return graph
