"""cse: lines move from the nodes into the provenance, and equal nodes become one."""

from compiler.core import dtypes
from compiler.core.node import toposort
from compiler.core.origin import Origin, state
from compiler.core.trace import Match, Provenance
from compiler.graph.cse import cse
from compiler.graph.nodes import Buffer, Sink, TensorNode, const, elementwise

f32 = dtypes.float32
op = elementwise


def at(line: int, name: str, *sources: TensorNode) -> TensorNode:
    """An operation on line `line`."""
    state.origin = Origin("program.py", line, name)
    try:
        return op(name, *sources)
    finally:
        state.origin = None


X = Buffer((), 1, (4,), f32, "x")
SAME = at(3, "exp", X), at(5, "exp", X)
ROOT = Sink((at(6, "add", SAME[0], at(7, "neg", SAME[1])), SAME[1]))


def lines(provenance: Provenance[Origin], node: TensorNode) -> list[int]:
    return sorted(origin.line for origin in provenance.of(node))


def test_equal_expressions_of_two_lines_are_one_node_with_both() -> None:
    provenance: Provenance[Origin] = Provenance()
    merged = cse(ROOT, provenance)
    exponential = merged.sources[1]
    assert exponential is op("exp", X)
    assert merged.sources[0] is op("add", exponential, op("neg", exponential))
    assert lines(provenance, exponential) == [3, 5]
    assert lines(provenance, merged.sources[0]) == [6]
    assert lines(provenance, SAME[0]) == [3] and lines(provenance, SAME[1]) == [5]


def test_no_node_keeps_a_line() -> None:
    assert any(n.origin for n in toposort([ROOT]))
    assert all(n.origin is None for n in toposort([cse(ROOT, Provenance())]))


def test_whole_equal_subgraphs_are_one() -> None:
    def branch(first: int) -> TensorNode:
        return at(first + 2, "sqrt", at(first + 1, "abs", at(first, "neg", X)))

    provenance: Provenance[Origin] = Provenance()
    merged = cse(Sink((at(30, "mul", branch(10), branch(20)),)), provenance)
    (product,) = merged.sources
    assert product.sources[0] is product.sources[1]
    assert len(toposort([merged])) == 6
    assert [lines(provenance, n) for n in toposort([product])] == [
        [], [10, 20], [11, 21], [12, 22], [30],
    ]  # fmt: skip


def test_each_node_that_went_is_a_match_to_the_one_that_stays() -> None:
    provenance: Provenance[Origin] = Provenance()
    matches: list[Match] = []
    merged = cse(ROOT, provenance, matches)
    assert [(m.rule, m.before, m.after) for m in matches] == [
        ("cse", SAME[1], merged.sources[1])
    ]
    assert provenance.numbers[merged.sources[1]] == provenance.numbers[SAME[0]]


def test_different_values_stay_apart() -> None:
    zeros = const(0.0, f32, (4,)), const(-0.0, f32, (4,))
    other = Buffer((), 2, (4,), f32, "x")
    root = Sink((*zeros, op("exp", X), op("exp", other), op("sub", X, other), op("sub", other, X)))
    matches: list[Match] = []
    assert cse(root, Provenance(), matches) is root
    assert matches == []
