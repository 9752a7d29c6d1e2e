"""Why a rule leaves a node alone: the first condition that failed, with its values."""

import re
from typing import Any

import numpy as np
import pytest

from compiler import PASSES, PassError, Tensor, compile, rule, why_not
from compiler.core.node import toposort
from compiler.graph.nodes import Elementwise, Reduce, TensorNode, elementwise

x = Tensor(np.ones((4, 6), np.float32), name="x")
made = compile((x * 3.0 - 1.0).sum(1).exp())


def entity(kind: type, op: str) -> str:
    nodes: list[Any] = toposort([made.simplest])
    return made.entity(next(n for n in nodes if isinstance(n, kind) and n.op == op))


CASES = (
    ("reduce_twice", Reduce, "sum", "this does not hold", "isinstance(inner, Reduce)",
     {"inner": "sub f32[4,6]"}),
    ("multiply_by_zero", Elementwise, "mul", "this holds, which rules it out",
     "node.dtype.is_float", {"node.dtype.is_float": "True"}),
    ("multiply_by_one", Elementwise, "mul",
     "this does not hold, and neither does _is_const(left, 1)", "_is_const(right, 1)",
     {"right": "const 3.0 f32[4,6]"}),
    ("subtract_zero", Elementwise, "sub", "this does not hold", "_is_const(node.sources[1], 0)",
     {"node.sources[1]": "const 1.0 f32[4,6]"}),
    ("fold_constants", Elementwise, "exp", "this does not hold",
     "all(isinstance(s, Const) for s in node.sources)", None),
    ("cancel_twice", Elementwise, "exp", "it looks at neg, not, and this is exp", "", {}),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[row[0] for row in CASES])
def test_rules_of_the_compiler(case: Any) -> None:
    name, kind, op, words, condition, values = case
    found = why_not(made, name, entity(kind, op))
    assert (found.matches, found.words, found.condition) == (False, words, condition)
    assert values is None or dict(found.values) == values
    assert not condition or re.fullmatch(r"compiler/graph/simplify\.py:\d+", found.place)


@rule("mul")
def guarded(node: Any) -> Any:
    """guards, one after the other"""
    value, factor = node.sources
    if node.dtype.is_integer or len(node.shape) != 2:
        return None
    if not isinstance(value, Reduce):
        return None
    return elementwise("mul", factor, value)


@rule("mul")
def looked_up(node: Any) -> Any:
    """x * y, found"""
    return next((s for s in node.sources if isinstance(s, Reduce)), None)


@rule("mul")
def fails(node: Any) -> Any:
    """x * y, by mistake"""
    return node.source[0]


@rule("mul")
def ends(node: Any) -> Any:
    """x * y, without a return"""
    if node.op == "add":
        return node.sources[0]


@rule("mul")
def in_a_loop(node: Any) -> Any:
    """x * y, if none of them is a reduction"""
    for source in node.sources:
        if not isinstance(source, Reduce):
            return None
    return node.sources[0]


@rule("mul")
def by_pattern(node: Any) -> Any:
    """x * y, of one axis"""
    match node.shape:
        case (_,):
            return node.sources[0]
        case _:
            return None


OWN = (
    (in_a_loop, "this does not hold", "isinstance(source, Reduce)",
     (("source", "buffer x f32[4,6]"),)),
    (by_pattern, "this found nothing", "node.shape", (("node.shape", "(4, 6)"),)),
    (guarded, "this does not hold", "isinstance(value, Reduce)", (("value", "buffer x f32[4,6]"),)),
    (looked_up, "this found nothing",
     "next((s for s in node.sources if isinstance(s, Reduce)), None)",
     (("node.sources", "buffer x f32[4,6], const 3.0 f32[4,6]"),)),
    (fails, "it fails: AttributeError: 'Elementwise' object has no attribute 'source'", "", ()),
    (ends, 'this does not hold', 'node.op == "add"', (("node.op", "'mul'"),)),
)  # fmt: skip


@pytest.mark.parametrize("case", OWN, ids=[row[0].name for row in OWN])
def test_rules_of_a_users_own(case: Any) -> None:
    mine, words, condition, values = case
    found = why_not(made, mine, entity(Elementwise, "mul"))
    assert (found.words, found.condition) == (words, condition)
    assert set(values) <= set(found.values)
    assert found.condition in str(found)


def test_a_rule_that_matches_or_did() -> None:
    @rule("exp")
    def other(node: TensorNode) -> TensorNode:
        """exp(x) = exp2(x)"""
        return elementwise("exp2", *node.sources)

    assert why_not(made, other, entity(Elementwise, "exp")).words.startswith("it matches: exp2")
    again = compile(x.exp(), passes=PASSES.after("simplify", other))
    record = next(r for r in again.passes if r.name == "other")
    found = why_not(again, "other", record.rewrites[0].before)
    assert found.matches and found.words == "it matched: rewrite 1 of other, to exp2 f32[4,6]"


def test_loops_have_rules_too() -> None:
    again = compile(x.T.reshape(-1).exp())
    record = next(r for r in again.passes if (r.stage, r.name) == ("loops", "simplify"))
    body = [n for n in toposort([record.after]) if getattr(n, "op", "") in ("add", "exp")]
    by_op = {n.op: why_not(again, "divide_twice", record.entity(n)) for n in body}
    assert by_op["exp"].words.startswith("it looks at idiv, and this is exp")
    found = why_not(again, "collect_terms", record.entity(next(n for n in body if n.op == "add")))
    assert found.words == "it returns the node itself: nothing to do"


def test_a_node_that_a_later_pass_makes() -> None:
    again = compile(Tensor(np.ones(100_000, np.float32)).exp())
    later = next(
        again.loops[0].entity(n) for n in again.loops[0].nodes if getattr(n, "part", ())
    )
    with pytest.raises(PassError, match="tile makes it, and runs later"):
        why_not(again, "collect_terms", later)


def test_names_that_nothing_has() -> None:
    with pytest.raises(PassError, match="no pass has a rule add_one"):
        why_not(made, "add_one", "graph:1")
    with pytest.raises(PassError, match="no part of the program when simplify runs"):
        why_not(made, "add_zero", "graph:999")
