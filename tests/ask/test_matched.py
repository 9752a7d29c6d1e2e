"""The names that a rule bound when it made a rewrite, as they are when it returns."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from compiler import PASSES, Tensor, compile, rule
from compiler.ask.matched import Matched, matched
from compiler.core.trace import Match
from compiler.graph.nodes import elementwise

x = Tensor(np.ones((4, 6), np.float32), name="x")


@rule("mul")
def turned(node: Any) -> Any:
    """a * b = b * a, once"""
    left, right = node.sources
    word = right.op if hasattr(right, "op") else "a leaf"
    if word != "a leaf":
        return None
    again = elementwise("mul", right, left)
    return again


made = compile((x.relu() * 3.0).sum(1) * 1.0, passes=PASSES.after("simplify", turned))


def found(name: str) -> Matched | None:
    for record in made.passes:
        for step, match in enumerate(record.matches, 1):
            if match.rule == name:
                return matched(made, record, step)
    raise AssertionError(name)


@pytest.mark.parametrize(("name", "wanted"), [
    ("turned", {"left": "max", "right": "const 3.0", "word": "'a leaf'", "again": "mul"}),
    ("multiply_by_one", {"left": "reshape", "right": "const 1.0"}),
    ("relu", {"x": "buffer"}),
])  # fmt: skip
def test_names_are_those_of_the_rule(name: str, wanted: dict[str, str]) -> None:
    seen = found(name)
    assert seen is not None and seen.nanoseconds > 0
    bound = dict(seen.bindings)
    assert {key: bound[key].startswith(text) for key, text in wanted.items()} == dict.fromkeys(
        wanted, True
    )
    assert all(f"  {key} = {text}" in str(seen) for key, text in bound.items())


def test_what_is_no_rule_bound_nothing() -> None:
    record = next(it for it in made.passes if it.name == "cse")
    (*_, last) = (it for it in made.passes if it.stage == "loops" and it.matches)
    choice = Match("tile", "", "", record.before, record.after)
    assert matched(made, replace(last, matches=(choice,)), 1) is None
