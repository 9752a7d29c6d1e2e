"""The records of passes: numbers that stay, graphs that lead from before to after, provenance."""

import itertools
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import networkx as nx
import pytest

from compiler.core import dtypes
from compiler.core.node import Node, toposort
from compiler.core.origin import Origin, state
from compiler.core.trace import Line, Match, Numbering, PassRecord, Provenance, Replay, Rewrite
from compiler.graph.cse import cse
from compiler.graph.decompose import decompose
from compiler.graph.nodes import Buffer, Reduce, Reshape, Sink, TensorNode, const, elementwise
from compiler.graph.printer import node_facts
from compiler.graph.simplify import simplify
from compiler.program.compilation import Compilation
from compiler.settings.options import Options
from tests.loops.programs import PROGRAMS

f32 = dtypes.float32
X = Buffer((), 1, (4,), f32, "x")
Y = Buffer((), 2, (4,), f32, "y")
op = elementwise
Run = Callable[..., TensorNode]


def record_of(run: Run, root: TensorNode) -> PassRecord:
    """The record of one pass, made as the pipeline makes it."""
    provenance: Provenance[Origin] = Provenance()
    provenance.numbers.all(toposort([root]))
    matches: list[Match] = []
    after = run(root, provenance, matches)
    return PassRecord(
        "graph", "", run.__name__, "", 0.0, root, after, tuple(matches), provenance.numbers,
        node_facts, "graph:", True,
    )  # fmt: skip


def picture(record: PassRecord, root: Node) -> tuple[dict[str, object], set[tuple[str, str]]]:
    """Nodes with their facts, and edges, of the graph under `root`."""
    order = toposort([root])
    nodes = {record.entity(n): record.facts(n) for n in order}
    assert len(nodes) == len(order), "two nodes have one number"
    return nodes, {(record.entity(s), record.entity(n)) for n in order for s in n.sources}


def picture_of(graph: "nx.DiGraph[str]") -> tuple[dict[str, object], set[tuple[str, str]]]:
    return dict(graph.nodes(data=True)), set(graph.edges)


@pytest.mark.parametrize("name", PROGRAMS)
def test_graphs_lead_from_before_to_after(name: str) -> None:
    """On every pass of the program: graph passes, and those of each kernel's loops."""
    compilation = Compilation([PROGRAMS[name]()], Options(trace=True), name)
    compilation.build()
    for record in compilation.passes:
        graphs = list(record.replay())
        assert len(graphs) == len(record.matches) + 1 == len(record.rewrites) + 1
        assert picture_of(graphs[0]) == picture(record, record.before)
        assert picture_of(graphs[-1]) == picture(record, record.after)


@pytest.mark.parametrize("name", PROGRAMS)
def test_changes_lead_from_graph_to_graph(name: str) -> None:
    compilation = Compilation([PROGRAMS[name]()], Options(trace=True), name)
    compilation.build()
    for record in compilation.passes:
        nodes: dict[str, object] = {}
        operands: dict[str, tuple[str, ...]] = {}
        for change, graph in zip(record.changes(), record.replay(), strict=True):
            for entity in change.removed:
                del nodes[entity], operands[entity]
            nodes |= change.nodes
            operands |= change.operands
            edges = {(source, entity) for entity, read in operands.items() for source in read}
            assert (nodes, edges) == picture_of(graph)


@pytest.mark.parametrize("name", ["softmax", "matmul", "layernorm"])
def test_rewrites_say_what_came_and_went(name: str) -> None:
    compilation = Compilation([PROGRAMS[name]()], Options(trace=True), name)
    compilation.build()
    for record in compilation.passes:
        pairs = itertools.pairwise(record.replay())
        for rewrite, (before, after) in zip(record.rewrites, pairs, strict=True):
            assert set(rewrite.added) == set(after) - set(before)
            assert set(rewrite.removed) == set(before) - set(after)
            is_same = rewrite.before == rewrite.after
            assert is_same or rewrite.before not in after


def test_a_node_that_only_got_new_operands_keeps_its_number() -> None:
    inner = op("mul", X, const(1.0, f32, (4,)))
    outer = op("exp", inner)
    record = record_of(simplify, Sink((outer,)))
    (rewrite,) = record.rewrites
    assert rewrite.rule == "multiply_by_one" and rewrite.algebra == "x * 1 = x"
    assert (rewrite.before, rewrite.after) == (record.entity(inner), record.entity(X))
    assert rewrite.added == ()
    assert set(rewrite.removed) == {record.entity(n) for n in (inner, inner.sources[1])}
    assert record.entity(outer) == record.entity(op("exp", X))
    assert record.entity(record.before) == record.entity(record.after)
    before, after = record.replay()
    assert list(before.predecessors(record.entity(outer))) == [record.entity(inner)]
    assert list(after.predecessors(record.entity(outer))) == [record.entity(X)]


def test_what_a_rule_makes_gets_new_numbers() -> None:
    root = Sink((op("relu", X), op("relu", Y)))
    record = record_of(decompose, root)
    known = {record.entity(n) for n in toposort([root])}
    first, second = record.rewrites
    zero = const(0, f32, (4,))
    assert set(first.added) == {record.entity(zero), record.entity(op("max", X, zero))}
    assert set(second.added) == {record.entity(op("max", Y, zero))}, "the zero is there already"
    assert not known & {*first.added, *second.added}
    assert first.removed == (record.entity(root.sources[0]),)


def test_a_rule_applied_before_is_not_forgotten() -> None:
    """A later result brings back a node that was replaced already: it comes replaced."""
    twice = Reshape((Reshape((X,), (2, 2)),), (4,))
    thrice = Reshape((Reshape((op("neg", twice),), (4, 1)),), (4,))
    root = Sink((twice, thrice, Reshape((op("neg", X),), (4,))))
    record = record_of(simplify, root)
    assert picture_of(list(record.replay())[-1]) == picture(record, record.after)


def test_a_pass_that_changed_nothing_has_one_graph() -> None:
    record = record_of(simplify, Sink((op("exp", X),)))
    assert not record.changed and record.rewrites == ()
    assert len(list(record.replay())) == 1


def test_numbers_do_not_depend_on_who_asks_first() -> None:
    def compiled() -> Compilation:
        return Compilation([PROGRAMS["softmax"]()], Options(trace=True), "softmax")

    first, second = compiled(), compiled()
    late = str(second.lowered[0]), str(second.loops[0]), str(second.optimized_graph)
    rewrites = [r.rewrites for r in second.passes]
    assert str(first.graph) == str(second.graph)
    assert [r.rewrites for r in first.passes] == rewrites
    early = str(first.optimized_graph), str(first.loops[0]), str(first.lowered[0])
    assert early == late[::-1]


def written(line: int, name: str, *sources: TensorNode) -> TensorNode:
    state.origin = Origin("program.py", line, name)
    try:
        return op(name, *sources)
    finally:
        state.origin = None


def test_two_lines_that_write_the_same_are_both_origins() -> None:
    root = Sink((written(1, "exp", X), written(2, "exp", X), written(3, "neg", X)))
    provenance: Provenance[Origin] = Provenance()
    merged = cse(root, provenance)
    lines = [sorted(o.line for o in provenance.of(s)) for s in merged.sources]
    assert lines == [[1, 2], [1, 2], [3]]


def test_provenance_is_many_to_many() -> None:
    """One line becomes several nodes, several lines one node, through all graph passes."""
    root = Sink((
        written(1, "relu", X),
        written(2, "max", X, const(0.0, f32, (4,))),
        written(3, "sigmoid", X),
    ))  # fmt: skip
    provenance: Provenance[Origin] = Provenance()
    result = simplify(decompose(cse(root, provenance), provenance), provenance)
    relu, other, sigmoid = result.sources
    assert relu is other
    assert sorted(o.line for o in provenance.of(relu)) == [1, 2]
    of_three = [n for n in toposort([sigmoid]) if n is not X]
    assert len(of_three) == 5
    assert all(3 in {o.line for o in provenance.of(n)} for n in of_three)
    assert provenance.of(X) == frozenset()


def test_replaced_reaches_only_what_was_made() -> None:
    known = op("exp", X)
    old = op("square", known)
    provenance: Provenance[str] = Provenance()
    for node, parents in ((X, "x"), (known, "exp"), (old, "square")):
        provenance.add(node, frozenset({parents}))
    new = op("mul", op("neg", known), known)
    provenance.replaced(new, old)
    assert provenance.of(new) == provenance.of(new.sources[0]) == {"square"}
    assert provenance.of(known) == {"exp"} and provenance.of(X) == {"x"}
    assert provenance.of(Y) == frozenset()


def test_rebuilt_keeps_number_and_parents() -> None:
    provenance: Provenance[str] = Provenance()
    old, new = op("exp", X), op("exp", Y)
    provenance.add(old, frozenset({"a"}))
    provenance.add(new, frozenset({"b"}))
    number = provenance.numbers[old]
    provenance.rebuilt(new, old)
    assert provenance.numbers[new] == number
    assert provenance.of(new) == {"a", "b"} and provenance.of(old) == {"a"}


def test_numbering() -> None:
    numbers = Numbering()
    assert X not in numbers
    assert [numbers[X], numbers[Y], numbers[X]] == [0, 1, 0]
    numbers.same(op("exp", X), X)
    assert numbers[op("exp", X)] == 0
    numbers.same(Y, X)
    assert numbers[Y] == 1, "a number, once given, stays"
    numbers.all([Y, op("neg", X), X])
    assert numbers[op("neg", X)] == 2


def test_records_are_frozen() -> None:
    line, rewrite = Line("text"), Rewrite("r", "a", "s", "graph:1", "graph:2")
    assert (line.entity, line.parents, rewrite.added, rewrite.removed) == (None, (), (), ())
    for record, name in ((line, "text"), (rewrite, "rule")):
        with pytest.raises(FrozenInstanceError):
            setattr(record, name, "other")


def test_a_deep_graph_can_be_replayed() -> None:
    node: TensorNode = Reduce((X,), "sum", (0,))
    for _ in range(3000):
        node = op("neg", node)
    record = record_of(simplify, Sink((op("exp", op("neg", node)),)))
    replay = Replay(record)
    assert len(replay.graph()) == 3005
    replay.step(record.matches[0])
    assert len(replay.graph()) == 3003


def test_what_is_known_of_nodes_is_told_once_for_all_passes() -> None:
    sum_ = Reduce((op("mul", op("add", X, const(0.0, f32, (4,))), const(1.0, f32, (4,))),), "sum",
                  (0,))  # fmt: skip
    made = record_of(simplify, Sink((op("exp", sum_),)))
    assert made.changed
    seen: dict[Node, dict[str, Any]] = {}
    first = list(made.changes(seen))
    told = dict(seen)
    again = list(made.changes(seen))
    assert first == again == list(made.changes())
    assert told and all(seen[it] is told[it] for it in seen)
