"""The records and the tensor graph of the sample compilation (see sample.py)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import networkx as nx
import numpy as np

import compiler
from compiler.core.passes import Passes
from compiler.core.plain_graph import plain
from compiler.core.reason import Decision
from compiler.findings.finding import Findings
from compiler.graph.modules import modules_of
from compiler.graph.scopes import Scopes
from compiler.llvm.looking.latencies import Latencies
from compiler.llvm.looking.listing import Listing
from compiler.llvm.looking.pass_changes import PassRun
from compiler.loops.choices import PLAIN, Choices
from compiler.settings.options import Options
from tests.svodviz import sample_machine, sample_measured

PROGRAM = '''\
"""Two layers and a softmax."""
import numpy as np
from compiler import Tensor

rng = np.random.default_rng(7)
x = Tensor(rng.random((64, 20)), name="x")
w1 = Tensor(rng.random((20, 32)), name="w1")
b1 = Tensor(rng.random((32,)), name="b1")
w2 = Tensor(rng.random((32, 10)), name="w2")

hidden = (x @ w1 + b1).relu()
logits = hidden @ w2 * 1.0
probabilities = logits.softmax()
total = x.sum(axis=1)
'''


@dataclass(frozen=True)
class Line:
    """One printed line, as in compiler.core.trace."""

    text: str
    entity: str | None = None
    parents: tuple[str, ...] = ()
    alone: str = ""


@dataclass(frozen=True)
class Rewrite:
    """One application of a rule, as in compiler.core.trace."""

    rule: str
    algebra: str
    source: str
    before: str
    after: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    code: str = ""


@dataclass(frozen=True)
class Stage:
    """A stage with its faces, and without nodes."""

    nodes = ()

    title: str
    lines: tuple[Line, ...]
    graph: nx.DiGraph
    seconds: float = 0.0
    name: str = ""

    @property
    def line_count(self) -> int:
        return len(self.lines)

    @property
    def instruction_count(self) -> int:
        return sum(not line.text.endswith(":") for line in self.lines)

    @property
    def links(self) -> dict[str, tuple[str, ...]]:
        return {line.entity: line.parents for line in self.lines if line.entity}

    def network(self) -> nx.DiGraph:
        return self.graph.copy()

    def to_networkx(self) -> nx.DiGraph:
        return plain(self.graph)

    def __str__(self) -> str:
        return "\n".join(line.text for line in self.lines)


@dataclass(frozen=True)
class PassRecord:
    """One pass with all its graphs, and without the nodes that it rewrote."""

    is_traced = True
    matches = ()
    needs = ("the lines stand next to the nodes",)
    gives = ("no rule matches",)

    stage: str
    kernel: str
    name: str
    because: str
    seconds: float
    rewrites: tuple[Rewrite, ...]
    snapshots: tuple[nx.DiGraph, ...]

    @property
    def changed(self) -> bool:
        return bool(self.rewrites)

    @property
    def applied(self) -> tuple[Rewrite, ...]:
        return self.rewrites

    def replay(self) -> Iterator[nx.DiGraph]:
        return iter(self.snapshots)

    def changes(self, seen: object = None) -> Iterator["Change"]:
        return changes_between(self.snapshots)


@dataclass(frozen=True)
class Change:
    """A step from one graph to the next, as the compiler's records say it."""

    nodes: dict[str, dict]
    operands: dict[str, tuple[str, ...]]
    removed: tuple[str, ...]


def changes_between(graphs: Iterable[nx.DiGraph]) -> Iterator[Change]:
    """All of the first graph, then what each other changes."""
    before = nx.DiGraph()
    for graph in graphs:
        read = {key: (dict(facts), _operands(graph, key)) for key, facts in graph.nodes(data=True)}
        changed = {
            key: it for key, it in read.items()
            if key not in before or it != (dict(before.nodes[key]), _operands(before, key))
        }  # fmt: skip
        yield Change(
            {key: facts for key, (facts, _) in changed.items()},
            {key: operands for key, (_, operands) in changed.items()},
            tuple(key for key in before if key not in graph),
        )
        before = graph


def _operands(graph: nx.DiGraph, key: str) -> tuple[str, ...]:
    edges = [(position, source) for source, _, position in graph.in_edges(key, data="operand")]
    return tuple(source for _, source in sorted(edges))


class NoChoices(dict[str, Choices]):
    """The choices of kernels that have no rows of their own."""

    def __missing__(self, kernel: str) -> Choices:
        return PLAIN


@dataclass(repr=False)
class Compilation(compiler.Compilation):
    """The result of `compiler.compile`, as far as svodviz reads it; what it lacks is empty here."""

    choices, levels = NoChoices(), {}
    transfers = tuning = ()
    can_run = False
    scopes = Scopes((), {})
    modules = modules_of(())
    # none of the passes of the sample; as many cores wherever the tests run
    options = Options(passes=Passes(tuple(compiler.PASSES)[-1:]), threads=2)

    name: str
    user_source: Stage
    graph: Stage
    optimized_graph: Stage
    passes: tuple[PassRecord, ...]
    kernels: Stage
    schedule: Stage
    loops: tuple[Stage, ...]
    lowered: tuple[Stage, ...]
    source: tuple[Stage, ...]
    optimized: tuple[Stage, ...]
    assembly: tuple[Stage, ...]
    decisions: tuple[Decision, ...]
    findings: Findings = field(default=Findings(()), kw_only=True)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)

    def begin_listings(self) -> None:
        """They are there."""

    def values(self, entity: str) -> np.ndarray | None:
        return self.arrays.get(entity)

    def llvm_passes(self, kernel: str, level: int | None = None) -> PassRun:
        return sample_machine.pass_run(kernel, self.source, level)

    def latencies(self, kernel: str = "k0") -> Latencies:
        number = [each.name for each in self.assembly].index(kernel)
        rows = len(self.assembly[number].lines)
        cycles = tuple(None if place % 3 else place % 7 for place in range(rows))
        return Latencies(kernel, number, cycles, "a machine of paper")

    def assembly_for(self, machine: str) -> tuple[Listing, ...]:
        return sample_machine.assembly_for(machine, self.source)

    def measure(self, seconds: float = 1.0) -> sample_measured.Run:
        return sample_measured.run(self.schedule, self.name)


@dataclass(frozen=True)
class Node:
    """A node of the sample's tensor graph."""

    op: str
    kind: str
    shape: str
    sources: tuple[int, ...] = ()
    argument: str = ""
    name: str = ""
    line: int = 0


class Graph:
    """Nodes by number; what no output needs is dropped."""

    def __init__(self, prefix: str, nodes: dict[int, Node], outputs: tuple[int, ...]) -> None:
        self.prefix, self.nodes, self.outputs = prefix, nodes, outputs

    def replaced(self, old: int, new: int, more: dict[int, Node]) -> "Graph":
        """`old` gives way to `new`; the users of `old` read `new`."""
        nodes = {
            key: replace(it, sources=tuple(new if s == old else s for s in it.sources))
            if key not in more else it
            for key, it in {**self.nodes, **more}.items()
        }  # fmt: skip
        outputs = tuple(new if it == old else it for it in self.outputs)
        needed, stack = set(), list(outputs)
        while stack:
            key = stack.pop()
            if key not in needed:
                needed.add(key)
                stack.extend(nodes[key].sources)
        return Graph(self.prefix, {k: v for k, v in nodes.items() if k in needed}, outputs)

    def to_networkx(self) -> nx.DiGraph:
        graph = nx.DiGraph()
        for key, node in sorted(self.nodes.items()):
            graph.add_node(
                f"{self.prefix}{key}", op=node.op, kind=node.kind, argument=node.argument,
                dtype="f32" if node.shape else "", shape=node.shape, name=node.name, group="",
                parents=(f"source:{node.line}",) if node.line else (),
            )  # fmt: skip
        for key, node in sorted(self.nodes.items()):
            for position, source in enumerate(node.sources):
                graph.add_edge(
                    f"{self.prefix}{source}", f"{self.prefix}{key}", operand=position, kind="data"
                )
        return graph

    def stage(self, title: str, seconds: float) -> Stage:
        lines = []
        for key, node in sorted(self.nodes.items()):
            words = [node.op, node.name, *(f"%{s}" for s in node.sources), node.argument]
            text = f"%{key} = {' '.join(word for word in words if word)}"
            parents = (f"source:{node.line}",) if node.line else ()
            lines.append(Line(f"{text:<38} f32{node.shape}", f"{self.prefix}{key}", parents))
        return Stage(title, tuple(lines), self.to_networkx(), seconds)


def tensor_graph() -> Graph:
    """The graph as written: both matrix products in movement ops, a reduction and a product."""
    rows: list[Node] = []

    def add(op: str, kind: str, shape: str, *sources: int, line: int, **more: str) -> int:
        rows.append(Node(op, kind, shape, sources, line=line, **more))
        return len(rows) - 1

    def matmul(a: int, b: int, n: int, k: int, m: int, line: int) -> int:
        left = add("reshape", "movement", f"[{n},1,{k}]", a, line=line)
        left = add("expand", "movement", f"[{n},{m},{k}]", left, line=line)
        right = add("permute", "movement", f"[{m},{k}]", b, line=line, argument="(1,0)")
        right = add("reshape", "movement", f"[1,{m},{k}]", right, line=line)
        right = add("expand", "movement", f"[{n},{m},{k}]", right, line=line)
        product = add("mul", "elementwise", f"[{n},{m},{k}]", left, right, line=line)
        return add("reduce add", "reduce", f"[{n},{m}]", product, line=line, argument="axes (2)")

    x = add("buffer", "buffer", "[64,20]", line=6, name="x")
    w1 = add("buffer", "buffer", "[20,32]", line=7, name="w1")
    b1 = add("buffer", "buffer", "[32]", line=8, name="b1")
    w2 = add("buffer", "buffer", "[32,10]", line=9, name="w2")
    bias = add("reshape", "movement", "[1,32]", b1, line=11)
    bias = add("expand", "movement", "[64,32]", bias, line=11)
    hidden = add("add", "elementwise", "[64,32]", matmul(x, w1, 64, 20, 32, 11), bias, line=11)
    zero = add("const", "const", "[]", line=11, argument="0.0")
    hidden = add("maximum", "elementwise", "[64,32]", hidden, zero, line=11)
    logits = matmul(hidden, w2, 64, 32, 10, 12)
    one = add("const", "const", "[]", line=12, argument="1.0")
    logits = add("mul", "elementwise", "[64,10]", logits, one, line=12)
    top = add("reduce max", "reduce", "[64,1]", logits, line=13, argument="axes (1)")
    top = add("expand", "movement", "[64,10]", top, line=13)
    powers = add("exp", "elementwise", "[64,10]",
                 add("sub", "elementwise", "[64,10]", logits, top, line=13), line=13)  # fmt: skip
    norm = add("reduce add", "reduce", "[64,1]", powers, line=13, argument="axes (1)")
    norm = add("expand", "movement", "[64,10]", norm, line=13)
    result = add("div", "elementwise", "[64,10]", powers, norm, line=13, name="probabilities")
    total = add("reduce add", "reduce", "[64]", x, line=14, argument="axes (1)", name="total")
    return Graph("graph:", dict(enumerate(rows)), (result, total))


Step = tuple[str, str, int, int, dict[int, Node]]


def simplify(graph: Graph) -> Iterator[Step]:
    """x * 1 = x."""
    for key, node in graph.nodes.items():
        for source in node.sources:
            if node.op == "mul" and graph.nodes[source].argument == "1.0":
                yield "mul_one", "x * 1 = x", key, node.sources[0], {}


def merge_views(graph: Graph) -> Iterator[Step]:
    """Two movement ops in a row are one view."""
    fresh = max(graph.nodes) + 1
    for key, node in list(graph.nodes.items()):
        if node.op == "expand" and graph.nodes[node.sources[0]].op == "reshape":
            inner = graph.nodes[node.sources[0]]
            view = replace(node, op="view", sources=inner.sources, argument="strides (0, 1)")
            yield "merge_views", "expand(reshape(x)) = view(x)", key, fresh, {fresh: view}
            fresh += 1


def decompose(graph: Graph) -> Iterator[Step]:
    """a / b = a * (1 / b)."""
    fresh = max(graph.nodes) + 1
    for key, node in list(graph.nodes.items()):
        if node.op == "div":
            inverse = replace(node, op="reciprocal", sources=node.sources[1:], name="")
            product = replace(node, op="mul", sources=(node.sources[0], fresh))
            more = {fresh: inverse, fresh + 1: product}
            yield "div_to_mul", "a / b = a * (1 / b)", key, fresh + 1, more


PASSES = (
    ("simplify", simplify, "first, so that later passes see fewer nodes"),
    ("fold_constants", lambda graph: iter(()), "after simplify: it makes constants meet"),
    ("merge_views", merge_views, "before kernels are cut: a chain of views costs one index"),
    ("decompose", decompose, "last: the scheduler knows no division"),
)


def run_pass(graph: Graph, kernel: str, row: tuple, seconds: float) -> tuple[Graph, PassRecord]:
    """Applies one pass and keeps every graph."""
    name, function, because = row
    graphs, rewrites = [graph.to_networkx()], []
    for rule, algebra, old, new, more in function(graph):
        before, graph = graph, graph.replaced(old, new, more)
        graphs.append(graph.to_networkx())
        added = tuple(f"{graph.prefix}{it}" for it in graph.nodes if it not in before.nodes)
        removed = tuple(f"{graph.prefix}{it}" for it in before.nodes if it not in graph.nodes)
        rewrites.append(Rewrite(rule, algebra, f"{name}.py:{20 + len(rule)}",
                                f"{graph.prefix}{old}", f"{graph.prefix}{new}",
                                added, removed))  # fmt: skip
    stage = graph.prefix.split(":")[0]
    record = PassRecord(stage, kernel, name, because, seconds, tuple(rewrites), tuple(graphs))
    return graph, record
