"""Control flow of a text of instructions: its blocks, the jumps between them, its loops.

A block begins at a label or behind a jump. A jump is

    taken         to the place that it names
    next          control goes on with the line below
    true, false   where LLVM IR names both ways

A loop is a natural loop: the blocks that can reach a back edge to its head, which dominates them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from compiler.core.trace import Line, empty_graph

if TYPE_CHECKING:
    import networkx as nx

Way: TypeAlias = Literal["taken", "next", "true", "false"]
LabelOf: TypeAlias = Callable[[str], str | None]
"""The label that a line defines, if it does."""
TargetsOf: TypeAlias = Callable[[str], tuple[list[str], bool]]
"""The labels a line jumps to, and whether control never reaches the next line."""


@dataclass(frozen=True, slots=True)
class BasicBlock:
    """Lines `first` up to `end` (from 0), a label line included.

    `loops` are the blocks at the heads of the loops around it, outermost first.
    """

    label: str
    first: int
    end: int
    loops: tuple[int, ...] = ()

    @property
    def depth(self) -> int:
        """The number of loops around it."""
        return len(self.loops)


@dataclass(frozen=True, slots=True)
class Jump:
    """A jump between two blocks, by position; `is_back` if it is a back edge."""

    source: int
    target: int
    way: Way
    is_back: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """The blocks in the order of the text, and the jumps between them."""

    blocks: tuple[BasicBlock, ...]
    jumps: tuple[Jump, ...]


def flow(lines: Sequence[str], label_of: LabelOf, targets_of: TargetsOf) -> Flow:
    """The control flow of a text."""
    blocks = _blocks(lines, label_of, targets_of)
    jumps = _jumps(blocks, lines, targets_of)
    makers: list[list[int]] = [[] for _ in blocks]
    for source, target, _ in jumps:
        makers[target].append(source)
    before = _dominators(makers)
    backs = [(source, target) for source, target, _ in jumps if target in before[source]]
    loops = _loops(backs, makers)
    return Flow(
        tuple(
            BasicBlock(b.label, b.first, b.end, _around(position, loops))
            for position, b in enumerate(blocks)
        ),
        tuple(Jump(s, t, way, (s, t) in backs) for s, t, way in jumps),
    )


def _blocks(lines: Sequence[str], label_of: LabelOf, targets_of: TargetsOf) -> list[BasicBlock]:
    """The text cut at labels and behind jumps."""
    cuts: list[tuple[int, str]] = []
    is_ended = True
    for position, text in enumerate(lines):
        if not text.strip():
            continue
        label = label_of(text)
        if label is not None or is_ended:
            cuts.append((position, label or ("" if cuts else "entry")))
        targets, is_end = targets_of(text) if label is None else ([], False)
        is_ended = bool(targets) or is_end
    ends = [position for position, _ in cuts[1:]] + [len(lines)]
    for number, end in enumerate(ends):
        while not lines[end - 1].strip():
            end -= 1
        ends[number] = end
    return [
        BasicBlock(label or f"block {number}", first, end)
        for number, ((first, label), end) in enumerate(zip(cuts, ends, strict=True))
    ]


def _jumps(
    blocks: Sequence[BasicBlock], lines: Sequence[str], targets_of: TargetsOf
) -> list[tuple[int, int, Way]]:
    places = {block.label: position for position, block in enumerate(blocks)}
    edges: dict[tuple[int, int, Way], None] = {}
    for position, block in enumerate(blocks):
        targets, is_end = targets_of(lines[block.end - 1])
        reached = [places[label] for label in targets if label in places]
        ways: list[Way] = ["true", "false"] if len(reached) == 2 else ["taken"] * len(reached)
        edges.update(((position, to, way), None) for to, way in zip(reached, ways, strict=True))
        if not is_end and position + 1 < len(blocks):
            edges[position, position + 1, "next"] = None
    return list(edges)


def _dominators(makers: Sequence[Sequence[int]]) -> list[set[int]]:
    """The dominators of each block, itself included.

    `makers` are the predecessors of each block.
    """
    everything = set(range(len(makers)))
    dominators = [{0} if block == 0 else set(everything) for block in everything]
    is_changed = True
    while is_changed:
        is_changed = False
        for block in range(1, len(makers)):
            passed = [dominators[maker] for maker in makers[block]]
            now = {block} | (set.intersection(*passed) if passed else set())
            is_changed |= now != dominators[block]
            dominators[block] = now
    return dominators


def _loops(
    backs: Sequence[tuple[int, int]], makers: Sequence[Sequence[int]]
) -> dict[int, set[int]]:
    """The blocks of each natural loop by its head."""
    loops: dict[int, set[int]] = {}
    for source, head in backs:
        inside = loops.setdefault(head, {head})
        stack = [source]
        while stack:
            block = stack.pop()
            if block not in inside:
                inside.add(block)
                stack += makers[block]
    return loops


def _around(block: int, loops: dict[int, set[int]]) -> tuple[int, ...]:
    """The heads of the loops around a block, outermost first."""
    around = [head for head, inside in loops.items() if block in inside]
    return tuple(sorted(around, key=lambda head: -len(loops[head])))


def control_flow(
    lines: Sequence[Line], label_of: LabelOf, targets_of: TargetsOf, given_flow: Flow | None = None
) -> "nx.DiGraph[Any]":
    """The flow as a graph: nodes are blocks (attribute `text`), edges are jumps.

    Its keys are the entities of the blocks' first lines of code (or their labels, if none has any).
    A flow passed as `given_flow` is not computed again.
    """
    graph_of = given_flow or flow([line.text for line in lines], label_of, targets_of)
    graph: nx.DiGraph[Any] = empty_graph()
    keys = []
    for block in graph_of.blocks:
        body = [
            line for line in lines[block.first : block.end]
            if line.parents or label_of(line.text) is None
        ]  # fmt: skip
        keys.append((body[0].entity if body else None) or block.label)
        head = graph_of.blocks[block.loops[-1]].label if block.loops else ""
        graph.add_node(keys[-1], **_facts(block, body), loop=head)
    for jump in graph_of.jumps:
        ends = keys[jump.source], keys[jump.target]
        graph.add_edge(*ends, operand=-1, kind="control", way=jump.way, back=jump.is_back)
    return graph


def _facts(block: BasicBlock, body: list[Line]) -> dict[str, Any]:
    parents = dict.fromkeys(p for line in body for p in line.parents)
    return {
        "op": block.label,
        "kind": "basicblock",
        "argument": f"{len(body)} lines",
        "dtype": "",
        "shape": "",
        "name": "",
        "parents": tuple(parents),
        "group": "",
        "depth": block.depth,
        "text": "\n".join(line.text for line in body),
    }
