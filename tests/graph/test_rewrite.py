"""The rewrite engine: targets of rules, shared nodes, reported matches, and its limit."""

import inspect
from pathlib import Path

import pytest

from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.graph.nodes import Buffer, Cast, Elementwise, Sink, TensorNode, elementwise
from compiler.graph.rewrite import RuleSet, rewrite, rule_of

f32 = dtypes.float32
X = Buffer((), 1, (4,), f32, "x")
Y = Buffer((), 2, (4,), f32, "y")
op = elementwise


@rule_of((Elementwise, "abs"))
def forget_sign(node: Elementwise) -> TensorNode | None:
    """|-x| = |x|

    This line is no algebra.
    """
    inner = node.sources[0]
    is_neg = isinstance(inner, Elementwise) and inner.op == "neg"
    return op("abs", *inner.sources) if is_neg else None


@rule_of((Elementwise, "square"))
def multiply_itself(node: Elementwise) -> TensorNode:
    """x² = x * x"""
    return op("mul", node.sources[0], node.sources[0])


@rule_of((Elementwise, "exp"))
def exp_to_log(node: Elementwise) -> TensorNode:
    """exp(x) = log(x), which is wrong"""
    return op("log", *node.sources)


@rule_of((Elementwise, "log"))
def log_to_exp(node: Elementwise) -> TensorNode:
    """log(x) = exp(x), which is wrong too"""
    return op("exp", *node.sources)


@rule_of((Elementwise, "neg"))
def wrap(node: Elementwise) -> TensorNode:
    """-x = abs(-x), which never ends"""
    return op("abs", node)


@rule_of((Elementwise, "sin"))
def grow(node: Elementwise) -> TensorNode:
    """sin(x) = sin(exp(x)), which never ends either"""
    return op("sin", op("exp", *node.sources))


@rule_of(Cast)
def unchanged(node: Cast) -> TensorNode:
    """the node itself: no match"""
    return node


def run(root: TensorNode, *rules: object) -> tuple[TensorNode, list[Match]]:
    matches: list[Match] = []
    result = rewrite(root, RuleSet(rules), Provenance(), matches)  # type: ignore[arg-type]
    return result, matches


def test_a_rule_knows_its_name_algebra_and_line() -> None:
    assert (forget_sign.name, forget_sign.algebra) == ("forget_sign", "|-x| = |x|")
    line = inspect.getsourcelines(forget_sign.function)[1]
    file, _, number = forget_sign.source.rpartition(":")
    assert Path(file).resolve() == Path(__file__).resolve()
    assert int(number) == line


def test_rules_apply_until_none_matches() -> None:
    result, matches = run(op("abs", op("neg", op("neg", op("neg", X)))), forget_sign)
    assert result is op("abs", X)
    assert [m.rule for m in matches] == ["forget_sign"] * 3
    assert matches[-1].after is result


def test_rules_see_rewritten_operands() -> None:
    """|square(-x)| does not match from the outside; after its operand changed nothing does."""
    root = op("square", op("abs", op("neg", X)))
    result, matches = run(root, multiply_itself, forget_sign)
    assert result is op("mul", op("abs", X), op("abs", X))
    assert [m.rule for m in matches] == ["forget_sign", "multiply_itself"]
    assert matches[1].before is op("square", op("abs", X))


def test_what_no_rule_touches_stays_the_same_object() -> None:
    kept = op("exp", op("neg", Y))
    root = Sink((op("add", kept, op("square", X)),))
    result, _ = run(root, multiply_itself)
    assert result.sources[0].sources[0] is kept
    assert run(kept, multiply_itself, forget_sign) == (kept, [])


def test_a_shared_node_is_rewritten_once() -> None:
    shared = op("square", X)
    result, matches = run(Sink((op("exp", shared), op("neg", shared))), multiply_itself)
    assert len(matches) == 1
    left, right = result.sources
    assert left.sources[0] is right.sources[0] is op("mul", X, X)


def test_a_rule_that_returns_the_node_has_not_matched() -> None:
    node = Cast((X,), dtypes.int32)
    assert run(node, unchanged) == (node, [])


def test_rules_are_found_by_class_and_operation() -> None:
    rules = RuleSet((forget_sign, multiply_itself, unchanged))
    assert rules.candidates(op("abs", X)) == (forget_sign,)
    assert rules.candidates(op("neg", X)) == ()
    assert rules.candidates(Cast((X,), f32)) == (unchanged,)
    assert rules.match(op("abs", X)) is None
    assert rules.match(op("square", X)) == (multiply_itself, op("mul", X, X))


def test_the_first_rule_that_matches_wins() -> None:
    @rule_of(Elementwise)
    def to_y(node: Elementwise) -> TensorNode:
        """anything = y"""
        return Y

    assert run(op("square", X), multiply_itself, to_y)[1][0].rule == "multiply_itself"
    assert run(op("square", X), to_y, multiply_itself)[1][0].rule == "to_y"


WITHOUT_END = {
    "swap": ((exp_to_log, log_to_exp), op("exp", X), "rules undo each other", "exp_to_log"),
    "wrap": ((wrap,), op("neg", X), "rules undo each other", "wrap"),
    "grow": ((grow,), op("sin", X), "rules never end", "grow"),
}


@pytest.mark.parametrize(("rules", "root", "what", "name"), WITHOUT_END.values(), ids=WITHOUT_END)
def test_rules_without_end_are_refused(
    rules: tuple[object, ...], root: TensorNode, what: str, name: str
) -> None:
    with pytest.raises(InternalError) as caught:
        run(Sink((op("add", root, Y),)), *rules)
    assert str(caught.value) == f"rewrite: {what}\n  got:      {name} again"


def test_two_nodes_that_become_equal_are_reported_as_merged() -> None:
    plain, squared = op("exp", op("mul", X, X)), op("exp", op("square", X))
    provenance: Provenance[str] = Provenance()
    root = Sink((plain, squared))
    for node in toposort([root]):
        provenance.add(node, frozenset({f"line of {provenance.numbers[node]}"}))
    numbers = provenance.numbers[plain], provenance.numbers[squared]
    matches: list[Match] = []
    result = rewrite(root, RuleSet((multiply_itself,)), provenance, matches)
    assert result.sources == (plain, plain)
    assert [m.rule for m in matches] == ["multiply_itself", "cse"]
    assert (matches[1].before, matches[1].after) == (squared, plain)
    assert provenance.of(plain) == {f"line of {n}" for n in numbers}


def test_a_deep_graph_is_rewritten_without_recursion() -> None:
    node: TensorNode = X
    for _ in range(20_000):
        node = op("square", node)
    result, matches = run(node, multiply_itself)
    assert len(matches) == 20_000
    assert len(toposort([result])) == 20_001
    del matches
