"""Wrong passes are found: by a mark for each pass, and by binary search."""

from typing import Any

import numpy as np
import pytest

from compiler import PASSES, Passes, Tensor, bisect, check_passes, compile, rule
from compiler.ask.as_run import NAMES
from compiler.graph.nodes import elementwise
from compiler.loops.nodes import Alu, alu

x = Tensor(np.linspace(-2, 2, 48 * 32, dtype=np.float32).reshape(48, 32), name="x")


def program() -> Tensor:
    """Two kernels, several graph rewrites, loops with choices."""
    return (x.softmax(1) @ x.T).sum(1) * 2.0 - 1.0


@rule("sub")
def turned(node: Any) -> Any:
    """a - b = b - a, which is wrong"""
    left, right = node.sources
    return elementwise("add", right, elementwise("neg", left))


@rule("mul")
def doubled(node: Any) -> Any:
    """x * 2 = x + x, which is right"""
    value, factor = node.sources
    is_two = getattr(factor, "value", None) == 2.0
    return elementwise("add", value, value) if is_two else None


@rule(Alu)
def multiplied(node: Any) -> Any:
    """a / b = a * b, which is wrong"""
    return alu("mul", *node.sources) if node.op == "fdiv" else None


@rule("mul")
def lost(node: Any) -> Any:
    """x * 2 = x - x, which is wrong as well"""
    value, factor = node.sources
    is_two = getattr(factor, "value", None) == 2.0
    return elementwise("add", value, elementwise("neg", value)) if is_two else None


WRONG = (
    ("graph", PASSES.after("simplify", turned), "turned", ""),
    ("graph, first of all", PASSES.before("differentiate", turned), "turned", ""),
    ("graph, before decompose", PASSES.before("decompose", turned), "turned", ""),
    ("graph, last of all", PASSES.after("split_reduction", doubled, turned), "turned", ""),
    ("loops", PASSES.after("coalesce", multiplied), "multiplied", "k0"),
    ("loops, after choices", PASSES.after("vectorize", multiplied), "multiplied", "k0"),
)


@pytest.mark.parametrize("row", WRONG, ids=[row[0] for row in WRONG])
def test_the_wrong_pass_and_its_first_wrong_rewrite(row: tuple[str, Passes, str, str]) -> None:
    _, passes, name, kernel = row
    made = compile(program(), passes=passes)
    marks = check_passes(made)
    first = next(n for n, mark in enumerate(marks) if mark.ok is False)
    found = bisect(made)
    assert found.place == first and found.record is made.passes[first]
    assert (made.passes[first].name, made.passes[first].kernel) == (name, kernel)
    assert found.match is not None and found.match.rule == name
    assert found.row is not None and "instead of" in found.row.note
    assert f"the first wrong pass is {name}" in str(found)
    assert "which is wrong" in str(found)


def test_what_is_told_is_the_first_wrong_run() -> None:
    passes = PASSES.after("simplify", turned).after("split_reduction", lost)
    made = compile(program(), passes=passes)
    marks = check_passes(made)
    first, last = (next(mark for mark in order if mark.ok is False)
                   for order in (marks, marks[::-1]))  # fmt: skip
    found = bisect(made)
    assert found.row is not None and first.note != last.note
    assert found.row.note == first.note


def test_passes_on_loops_are_not_blamed_for_the_graph() -> None:
    made = compile(program(), passes=PASSES.after("simplify", turned))
    marks = dict(zip(made.passes, check_passes(made), strict=True))
    graph = [mark.ok for record, mark in marks.items() if record.stage == "graph"]
    place = [record.name for record in made.passes].index("turned")
    assert graph == [number < place for number in range(len(graph))]
    assert all(mark.ok for record, mark in marks.items() if record.stage == "loops")


def test_what_is_right_is_found_right_with_one_run_of_each_engine() -> None:
    made = compile(program(), passes=PASSES.after("simplify", doubled))
    assert all(mark.ok for mark in check_passes(made))
    found = bisect(made)
    assert found.is_right
    assert [row.stage for row in found.tried] == ["machine code", *NAMES]
    assert str(found).startswith("every stage agrees with the graph as written")


def test_each_run_rules_out_half() -> None:
    passes = PASSES
    for _ in range(12):
        passes = passes.after("simplify", doubled)
    made = compile(program(), passes=passes.after("split_reduction", turned))
    found = bisect(made)
    assert found.record is not None and found.record.name == "turned"
    assert len(found.tried) <= 10 < len(made.passes)


def test_what_cannot_run_is_no_error_of_a_pass() -> None:
    made = compile(program())
    (first, *_) = check_passes(made)
    assert first.ok and first.max_abs == 0.0 and first.stage == "graph: differentiate"
