"""The compiler's reports about its own work, as frozen records. It does not know who listens.

    Line       one printed line: its text and entity, and those it comes from, or why from none
    Rewrite    one application of a rule in a pass
    Provenance which earlier things each node descends from, kept through every rewrite

Entities name one thing of one stage of one compilation ("graph:12", "lowered:0:7"); `parents` are
always of earlier stages.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from compiler.core.node import Node, toposort
from compiler.core.printable import printable

if TYPE_CHECKING:
    import networkx as nx

P = TypeVar("P", bound=Hashable)


def empty_graph() -> "nx.DiGraph[Any]":
    """A graph without nodes. networkx is loaded by the first: it takes longer than this package."""
    import networkx as nx

    return nx.DiGraph()


@dataclass(frozen=True, slots=True)
class Line:
    """One printable line of a stage; `alone` says why, where it comes from nothing earlier."""

    text: str
    entity: str | None = None
    parents: tuple[str, ...] = ()
    alone: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", printable(self.text))


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
    code: str = ""
    """The rule as it is written, where that can be read."""


@dataclass(frozen=True, slots=True)
class Match:
    """One rule application as nodes, from which `Rewrite` is created on demand."""

    rule: str
    algebra: str
    source: str
    before: Node
    after: Node
    described: Any = None  # the function that the rule is written as


@lru_cache(4096)
def code_of(described: Any) -> str:
    """The text of a function, of a notebook's too; "" where it cannot be read, as of None."""
    with suppress(OSError, TypeError):
        return dedent(inspect.getsource(described))
    return ""


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
        """The user's name for a node; "" where that is not known."""
        return self._names.get(self[node], "")


@dataclass(slots=True)
class Provenance(Generic[P]):
    """For each node the set of earlier things it descends from (many-to-many)."""

    parents: dict[Node, frozenset[P]] = field(default_factory=dict)
    numbers: Numbering = field(default_factory=Numbering)

    def of(self, node: Node) -> frozenset[P]:
        """The parents that `node` descends from; empty when nothing is known."""
        return self.parents.get(node, frozenset())

    def add(self, node: Node, parents: frozenset[P]) -> None:
        """`node` descends from `parents` too."""
        operands = self.parents.get(node)
        self.parents[node] = parents if operands is None else operands | parents

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
        nodes = []
        stack = [new]
        while stack:
            node = stack.pop()
            is_unknown = node not in self.parents
            if is_unknown or node is new:
                self.add(node, parents)
            if is_unknown:
                nodes.append(node)
                stack.extend(node.sources)
        return nodes


Facts = Callable[[Any], dict[str, Any]]
Known: TypeAlias = tuple[Node, tuple[int, ...]]
"""A node and the numbers of what it reads."""
Seen: TypeAlias = dict[Node, dict[str, Any]]
"""The facts for a picture, of nodes that were met before."""


@dataclass(frozen=True, slots=True)
class Change:
    """The changes of one step: nodes that came or read others now, and those that went.

    `nodes` are their facts by entity, `operands` what each of them reads.
    """

    nodes: dict[str, dict[str, Any]]
    operands: dict[str, tuple[str, ...]]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PassRecord:
    """One pass that ran: the roots before and after, its matches, and how long it took."""

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
    needs: tuple[str, ...] = ()
    """The facts that it relies on, in words."""
    gives: tuple[str, ...] = ()
    """The facts that hold after it, in words."""

    @property
    def changed(self) -> bool:
        """True if the pass changed the program (`cse` always makes new nodes: not a change)."""
        if self.is_traced:
            return bool(self.matches)
        is_smaller = len(toposort([self.before])) > len(toposort([self.after]))
        return is_smaller if self.name == "cse" else self.before is not self.after

    @property
    def applied(self) -> tuple[Rewrite, ...]:
        """Each rule application, in order, without what came and went with it."""
        return tuple(
            Rewrite(m.rule, m.algebra, m.source, self.entity(m.before), self.entity(m.after),
                    code=code_of(m.described))
            for m in self.matches
        )  # fmt: skip

    @property
    def rewrites(self) -> tuple[Rewrite, ...]:
        """Each rule application, in order, with the entities it added and removed."""
        rows = []
        replay = Replay(self) if self.matches else None
        for match, row in zip(self.matches, self.applied, strict=True):
            assert replay is not None
            added, removed = (
                tuple(f"{self.prefix}{n}" for n in numbers) for numbers in replay.step(match)
            )
            rows.append(replace(row, added=added, removed=removed))
        return tuple(rows)

    def entity(self, node: Node) -> str:
        """The entity string of a node of this pass."""
        return f"{self.prefix}{self.numbers[node]}"

    def program_after(self, count: int) -> Node:
        """The program after the first `count` rewrites of this pass."""
        replay = Replay(self)
        for match in self.matches[:count]:
            replay.step(match)
        return replay.program()

    def changes(self, seen: Seen | None = None) -> "Iterable[Change]":
        """All nodes before the pass, then what each rewrite changes.

        `seen` holds what is known of nodes from other passes over the same program; it is added to.
        """
        replay = Replay(self, seen)
        yield replay.change(list(replay.nodes), [])
        for match in self.matches:
            added, removed = replay.step(match)
            yield replay.change([*added, *sorted(replay.changed)], removed)

    def replay(self) -> "Iterable[nx.DiGraph[str]]":
        """The graph before the pass, then after each rewrite, under stable node keys."""
        replay = Replay(self)
        yield replay.graph()
        for match in self.matches:
            replay.step(match)
            yield replay.graph()


class Replay:
    """Plays the matches of a pass on a graph of logical numbers, one at a time.

    A step takes as long as what it changes is large, not as the program is.
    """

    def __init__(self, record: PassRecord, seen: Seen | None = None) -> None:
        self.record = record
        self.seen = {} if seen is None else seen
        self.numbers = record.numbers
        self.known: dict[int, Known] = {}
        """Every node met so far with what it reads now: one that went may come back."""
        self.became: dict[int, int] = {}
        self.readers: dict[int, dict[int, None]] = {}
        self.uses: Counter[int] = Counter()
        """The number of uses of each live node; a node without uses is dead."""
        self.was_present: dict[int, bool] = {}
        """The nodes that came or went in the last step."""
        self.changed: list[int] = []
        """The nodes that stayed in the last step, but are others now or read others."""
        self.root = self.numbers[record.before]
        for node in toposort([record.before]):
            self._know(self.numbers[node], node, self._operands(node))
        self._count([self.root], 1)

    @property
    def nodes(self) -> dict[int, Known]:
        """The nodes that are present, by number."""
        return {number: self.known[number] for number in sorted(+self.uses)}

    def _operands(self, node: Node) -> tuple[int, ...]:
        return tuple(self.numbers[s] for s in node.sources)

    def _know(self, number: int, node: Node, operands: tuple[int, ...]) -> None:
        for operand in self.known[number][1] if number in self.known else ():
            self.readers[operand].pop(number, None)
        for operand in operands:
            self.readers.setdefault(operand, {})[number] = None
        self.known[number] = node, operands

    def step(self, match: Match) -> tuple[list[int], list[int]]:
        """Play one match; returns the numbers of the nodes that came and of those that went."""
        before, after = self.numbers[match.before], self.numbers[match.after]
        created = self._made(match.after, is_all=before == after)
        after = self._final(after)
        if before != after:
            self.became[before] = after
        self._reread({**created, **{n: self.known[n] for n in self.readers.get(before, ())}})
        if self.root in self.became:
            old, self.root = self.root, self._final(self.root)
            self._count([self.root], 1)
            self._count([old], -1)
        moved = sorted(self.was_present.items())
        added = [n for n, was in moved if not was and self.uses[n]]
        return added, [n for n, was in moved if was and not self.uses[n]]

    def _made(self, after: Node, is_all: bool) -> dict[int, Known]:
        """The nodes under `after` that nobody has met; all, where a node took on a new form."""
        nodes: dict[int, Known] = {}
        stack = [after]
        while stack:
            node = stack.pop()
            number = self.numbers[node]
            if number not in nodes and (is_all or number not in self.known):
                nodes[number] = node, self._operands(node)
                stack.extend(node.sources)
        return nodes

    def _reread(self, touched: dict[int, Known]) -> None:
        """The nodes of `touched` read what their operands have become by now."""
        before = {n: self.known[n] for n in touched if n in self.known}
        for number, (node, operands) in touched.items():
            self._know(number, node, tuple(map(self._final, operands)))
        self.was_present, self.changed = {}, []
        others = [n for n in touched if self.uses[n] and self.known[n] != before[n]]
        for number in others:
            self._count(self.known[number][1], 1)
        for number in others:
            self._count(before[number][1], -1)
        self.changed = [n for n in others if self.uses[n]]

    def _count(self, numbers: Iterable[int], by: int) -> None:
        """Count uses up or down; a node that comes or goes begins or ends to use its operands."""
        stack = list(numbers)
        while stack:
            number = stack.pop()
            was = self.uses[number] > 0
            self.uses[number] += by
            if was != (self.uses[number] > 0):
                self.was_present.setdefault(number, was)
                stack.extend(self.known[number][1])

    def program(self) -> Node:
        """The root of the program in its present state."""
        nodes: dict[int, Node] = {}
        stack = [self.root]
        while stack:
            node, operands = self.known[stack[-1]]
            if missing := [o for o in operands if o not in nodes]:
                stack += missing
            else:
                nodes[stack.pop()] = node.with_sources(tuple(nodes[o] for o in operands))
        return nodes[self.root]

    def _final(self, number: int) -> int:
        """The number of the node that a node has become by the matches played so far."""
        while number in self.became:
            number = self.became[number]
        return number

    def change(self, numbers: Iterable[int], removed: Iterable[int]) -> Change:
        """The nodes with these numbers as they are now, and those that went."""
        prefix = self.record.prefix
        entities = {f"{prefix}{n}": self.known[n] for n in numbers}
        return Change(
            {entity: self._facts(node) for entity, (node, _) in entities.items()},
            {entity: tuple(f"{prefix}{o}" for o in read) for entity, (_, read) in entities.items()},
            tuple(f"{prefix}{n}" for n in removed),
        )

    def _facts(self, node: Node) -> dict[str, Any]:
        """The facts for a picture of the node, with the user's name for it."""
        if node not in self.seen:
            facts = self.record.facts(node)
            self.seen[node] = facts | {"name": facts["name"] or self.numbers.name(node)}
        return self.seen[node]

    def graph(self) -> "nx.DiGraph[str]":
        """The present state as a networkx graph keyed by entity."""
        prefix, nodes = self.record.prefix, self.nodes
        graph: nx.DiGraph[str] = empty_graph()
        for number, (node, _) in nodes.items():
            graph.add_node(f"{prefix}{number}", **self._facts(node))
        for number, (_, operands) in nodes.items():
            for position, operand in enumerate(operands):
                ends = f"{prefix}{operand}", f"{prefix}{number}"
                graph.add_edge(*ends, operand=position, kind="data")
        return graph
