"""Marks of what was checked, the explorer of a bisection, and the question why a rule does not
match: on the wire and on the page."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
import svodviz
from compiler.graph.nodes import elementwise
from compiler.pipeline import kernels
from compiler.run import assemble, plans
from svodviz.foundation.requests import respond
from svodviz.texts.check_text import check_text
from svodviz.widget.explorer import Explorer
from svodviz.wire.checks import AFTER_REWRITE, check_all, check_rows, tried
from tests.faults import unflip

x = compiler.Tensor(np.linspace(-2, 2, 48 * 32, dtype=np.float32).reshape(48, 32), name="x")


@svodviz.rule("sub")
def turned(node: Any) -> Any:
    """a - b = b - a, which is wrong"""
    left, right = node.sources
    return elementwise("add", right, elementwise("neg", left))


TURNED = [row.name for row in svodviz.PASSES.of("graph")].index("simplify") + 1
"""Where the wrong rule stands among the passes."""


def wrong() -> Any:
    passes = svodviz.PASSES.after("simplify", turned)
    return compiler.compile(x.softmax(1) * 2.0 - 1.0, passes=passes)


@pytest.fixture(scope="module")
def checked() -> Explorer:
    return svodviz.explore(wrong(), check=True)


def test_each_pass_and_stage_has_a_mark(checked: Explorer) -> None:
    checks = checked.wire["checks"]
    graph = [p for p, row in enumerate(checked.wire["passes"]) if row["stage"] == "graph"]
    assert [checks["passes"][p][0] for p in graph] == [p < TURNED for p in graph]
    assert [ok for ok, _ in checks["steps"][TURNED]] == [False, False]
    words = checks["passes"][TURNED][1]
    assert "instead of" in words and "would be rounding" in words
    marks = {stage: ok for stage, (ok, _) in checks["stages"].items()}
    assert marks["graph"] is True and marks["asm"] is False and marks["llvm"] is None
    assert svodviz.explore(x.exp()).wire["checks"] is None


def test_what_users_run_has_a_mark_that_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = assemble.steps_of

    def short(thunk: int, offset: int, tasks: int, threads: int) -> Any:
        return usual(thunk, offset, tasks - (tasks > 1), threads)

    large = compiler.Tensor(np.ones((1500, 700), np.float32))
    assert check_all(compiler.compile(large * 3.5)).is_right
    monkeypatch.setattr(assemble, "steps_of", short)
    made = compiler.compile(large * 4.5)
    checks = check_all(made)
    rows = check_rows(checks, made)["stages"]
    assert rows["asm"][0] is True and rows["run"][0] is False
    assert rows["run"][1].startswith("wrong: native steps: result 0[")
    assert "✗ run" in check_text(checks, made)
    monkeypatch.undo()
    assert tried(compiler.bisect(compiler.compile(large * 5.5))).stages["run"].ok is True


def test_passes_on_loops_that_were_never_right_are_not_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unflip(monkeypatch)
    options = compiler.Options(trace=True, cache=False)
    made = compiler.compile((x.flip(0) * 7.5).exp(), options)
    checks = check_all(made)
    loops = [n for n, record in enumerate(made.passes) if record.stage == "loops"]
    assert {checks.passes[n].ok for n in loops} == {None}
    assert not any(place in loops for place, _ in checks.steps)
    assert checks.stages["loops"].ok is False and not checks.is_right
    kernels.PROGRAMS.clear()
    plans.STRUCTURES.clear()


def test_a_bisection_opens_at_the_first_wrong_rewrite() -> None:
    explorer = svodviz.bisect(wrong())
    assert (explorer.state["pass"], explorer.state["step"]) == (TURNED, 1)
    assert explorer.bisection.match.rule == "turned"
    assert explorer.wire["checks"]["passes"][TURNED][0] is False
    assert svodviz.bisect(x.exp()).bisection.is_right


def test_each_rewrite_that_a_bisection_tried_has_its_own_mark() -> None:
    y = x
    for step in (1.0, 2.0, 3.0, 4.0, 5.0):
        y = (y - x * step).exp()
    made = compiler.compile(y, passes=svodviz.PASSES.after("simplify", turned))
    explorer = svodviz.bisect(made)
    found = explorer.bisection
    steps = [place for row, place in zip(found.tried, found.places, strict=True)
             if AFTER_REWRITE in row.stage]  # fmt: skip
    assert len(set(steps)) > 1
    assert set(tried(found).steps) == {(found.place, step) for step in steps}


def test_a_pass_that_runs_twice_has_two_marks() -> None:
    passes = svodviz.PASSES.after("simplify", turned)
    again = passes.after("turned", next(it for it in passes if it.place == "graph.simplify"))
    explorer = svodviz.bisect(compiler.compile(x.softmax(1) * 2.0 - 1.0, passes=again))
    names = [row["name"] for row in explorer.wire["passes"]]
    assert names[TURNED - 1 : TURNED + 2] == ["simplify", "turned", "simplify"]
    marks = [mark and mark[0] for mark in explorer.wire["checks"]["passes"]]
    assert marks[TURNED] is False
    assert marks[TURNED - 1] is not False and marks[TURNED + 1] is not True


def test_rules_come_with_their_code(checked: Explorer) -> None:
    code = next(code for name, _, _, code in checked.wire["rules"] if name == "turned")
    assert code[:2] == ['@svodviz.rule("sub")', "def turned(node: Any) -> Any:"]


def test_why_not_is_answered(checked: Explorer) -> None:
    sent: list[Any] = []
    book = {(stage, name): rules for stage, name, rules, _ in checked.wire["rulebook"]}
    assert "reduce_twice" in book["graph", "simplify"] and book["graph", "turned"] == ["turned"]
    for rule, entity in (("reduce_twice", "graph:1"), ("nothing", "graph:1")):
        asked = {"rule": rule, "entity": entity}
        content = {"kind": "request", "id": 1, "name": "why not", "arguments": asked}
        respond(checked, content, sent.append)
    assert sent[0]["result"]["condition"] == "isinstance(inner, Reduce)"
    assert sent[1]["result"]["words"].startswith("no pass has a rule nothing")


@pytest.mark.browser
def test_marks_on_the_page(checked: Explorer, tmp_path: Path, open_page: Any) -> None:
    path = tmp_path / "checked.html"
    checked.export_html(path)
    page = open_page(path)
    assert page.locator('[data-stage="graph"] .check').first.inner_text() == "✓"
    assert page.locator('.ribbon [data-stage="asm"] .check').inner_text() == "✗"
    page.locator(f'[data-pass="{TURNED}"]').click()
    assert page.locator(f'[data-pass="{TURNED}"] .check.wrong').inner_text() == "✗"
    assert "✗ from rewrite 1 on" in page.locator(".check-line").inner_text()
    assert page.locator(".check-tick.wrong").count() == 2
    page.evaluate("window.svodviz.model.set('state', {step: 1})")
    page.locator(".rule-code summary").first.click()
    assert "def turned" in page.locator(".rule-code pre").first.inner_text()
