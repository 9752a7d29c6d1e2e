"""Rules of a user's own: what they look at, what they may return, how they are recorded."""

import re
from typing import Any

import numpy as np
import pytest

from compiler import PASSES, PassError, Tensor, compile, rule
from compiler.graph.nodes import Elementwise, Permute, Reduce, Reshape, const, elementwise
from compiler.loops.nodes import Alu, alu
from compiler.loops.nodes import const as scalar
from compiler.pipeline.user_rule import is_constant

x = Tensor(np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6), name="x")


@rule("mul")
def twice(node: Any) -> Any:
    """x * 2 = x + x"""
    value, factor = node.sources
    return elementwise("add", value, value) if is_constant(factor, 2.0) else None


def test_a_rule_is_a_pass_of_its_own() -> None:
    made = compile(x * 2.0, passes=PASSES.after("simplify", twice))
    record = next(r for r in made.passes if r.name == "twice")
    (rewrite,) = record.rewrites
    assert record.because == rewrite.algebra == "x * 2 = x + x"
    assert re.fullmatch(r"tests/pipeline/test_rule\.py:\d+", rewrite.source)
    assert rewrite.code.startswith('@rule("mul")\ndef twice(node: Any)')
    assert len(list(record.replay())) == 2
    assert made.check().ok
    assert made.lineage(rewrite.after)[0].text.strip().startswith("made = compile(x * 2.0")


TARGETS = (
    (("mul",), {(Elementwise, "mul")}),
    (("sum", "max"), {(Reduce, "sum"), (Elementwise, "max"), (Reduce, "max")}),
    (("reshape", Permute), {Reshape, Permute}),
)


@pytest.mark.parametrize(("given", "expected"), TARGETS, ids=[str(row[0][0]) for row in TARGETS])
def test_targets(given: tuple[Any, ...], expected: set[Any]) -> None:
    assert set(rule(*given)(lambda node: None).targets) == expected


def test_a_rule_without_targets_looks_at_every_node() -> None:
    seen = set()

    @rule
    def look(node: Any) -> None:
        """x = x"""
        seen.add(type(node).__name__)

    compile((x.reshape(24) + 1.0).sum(), passes=PASSES.before("decompose", look))
    assert {"Buffer", "Const", "Elementwise", "Reduce", "Reshape"} <= seen


def test_a_rule_on_loops() -> None:
    @rule(Alu)
    def shifted(node: Any) -> Any:
        """x + x = x * 2 for values"""
        is_twice = node.op == "add" and node.sources[0] is node.sources[1] and node.dtype.is_float
        return alu("mul", node.sources[0], scalar(2.0, node.dtype)) if is_twice else None

    assert shifted.stage == "loops"
    for place in ("coalesce", "vectorize", "stream"):
        made = compile(x + x, passes=PASSES.after(place, shifted))
        record = next(r for r in made.passes if r.name == "shifted")
        assert (record.stage, record.kernel) == ("loops", "k0") and record.matches
        assert made.check().ok


@rule("exp")
def smaller(node: Any) -> Any:
    """exp(x) = a scalar"""
    return const(0, node.dtype)


@rule("exp")
def number(node: Any) -> Any:
    """exp(x) = 3"""
    return 3


@rule("add")
def longer(node: Any) -> Any:
    """x + y = (x + y) + y"""
    return elementwise("add", node, node.sources[1])


@rule("exp")
def undone(node: Any) -> Any:
    """exp(x) = relu(x), which is no machine operation"""
    return elementwise("relu", node.sources[0])


WRONG = (
    (smaller, "what is put in the place of exp has another shape or type"),
    (number, "a rule returns a node, or None"),
    (longer, "longer: rules undo each other"),
    (undone, "undone: this pass leaves a program that is broken"),
)


@pytest.mark.parametrize(("wrong", "words"), WRONG, ids=[row[0].name for row in WRONG])
def test_rules_that_are_refused(wrong: Any, words: str) -> None:
    with pytest.raises(PassError, match=re.escape(words)):
        compile(x.exp() + x, passes=PASSES.after("simplify", wrong))


def test_what_a_rule_may_not_undo_it_may_do_before() -> None:
    made = compile(x.exp(), passes=PASSES.before("decompose", undone))
    assert made.check().first_difference is not None


def test_names_that_nothing_has() -> None:
    with pytest.raises(PassError, match="no operation is called reshap"):
        rule("reshap")(lambda node: None)
    with pytest.raises(PassError, match="on the graph or on loops"):
        rule(Reshape, Alu)(lambda node: None)
    with pytest.raises(PassError, match="this is no kind of node"):
        rule(int)(lambda node: None)  # type: ignore[arg-type]
