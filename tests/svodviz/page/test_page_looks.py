"""The page at first sight, by geometry: words are free, and the next step shows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor
from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import Open
from tests.svodviz.page.test_page import set_state, state

pytestmark = pytest.mark.browser

_BOXES = """(all) => all.map((it) => {
    const { left, top, right, bottom } = it.getBoundingClientRect();
    return [left, top, right, bottom];
})"""


def boxes(found: Any) -> list[list[float]]:
    """Left, top, right and bottom of elements on screen."""
    made: list[list[float]] = found.evaluate_all(_BOXES)
    return made


def overlap(a: list[float], b: list[float]) -> bool:
    return a[0] < b[2] - 1 and b[0] < a[2] - 1 and a[1] < b[3] - 1 and b[1] < a[3] - 1


@pytest.mark.parametrize("width", [700, 1400])
def test_marks_of_checks_stand_beside_the_names(
    open_page: Open, compiled_page: Path, width: int
) -> None:
    page = open_page(compiled_page, width=width)
    marks = boxes(page.locator(".stage .check"))
    words = boxes(page.locator(".stage-label, .stage-size"))
    stages = boxes(page.locator(".stage"))
    assert len(marks) > 5
    for mark in marks:
        assert not any(overlap(mark, word) for word in words)
        (stage,) = [it for it in stages if overlap(mark, it)]
        assert stage[0] + 10 <= mark[0] and mark[2] <= stage[2]  # left is the arrow between stages


def test_signs_cover_no_words_of_their_nodes(page: Any) -> None:
    changed = page.evaluate(
        "window.svodviz.model.get('wire').passes.findIndex((it) => it.rewrites.length)")
    set_state(page, stage="passes", step=-1, **{"pass": changed})
    marked = page.locator(".node:has(.badge)")
    assert marked.count() >= 2
    for node in marked.all():
        (badge,) = boxes(node.locator(".badge"))
        assert not any(overlap(badge, it) for it in boxes(node.locator(".title, .detail")))


def test_what_changed_is_not_dimmed_by_a_selection(page: Any) -> None:
    changed = page.evaluate(
        "window.svodviz.model.get('wire').passes.findIndex((it) => it.rewrites.length)")
    set_state(page, stage="passes", step=-1, selected="graph:0", **{"pass": changed})
    assert page.locator(".node.far").count() > 3
    assert page.locator(".node.far:is(.added, .removed, .changed)").count() == 0


def test_the_overview_says_where_to_go_on(page: Any) -> None:
    ways = page.locator(".inspector .way")
    assert ways.count() == 3
    ways.first.click()
    assert state(page)["stage"] == "passes"
    assert ways.count() == 2
    ways.last.click()
    assert (state(page)["stage"], state(page)["view"]) == ("schedule", "timeline")


def test_what_was_found_is_one_click_away(page: Any) -> None:
    following = page.get_by_role("button", name="Next match")
    assert following.count() == 0
    page.get_by_label("Search", exact=True).fill("op:reduce")
    following.click()
    assert page.locator(".hits").inner_text() == "1 of 5"
    following.click(modifiers=["Shift"])
    assert page.locator(".hits").inner_text() == "5 of 5"
    assert page.locator(".node.selected.found").count() == 1


def test_links_leave_out_the_place_but_not_the_shape(page: Any, compiled_page: Path,
                                                     open_page: Open) -> None:  # fmt: skip
    page = open_page(compiled_page)
    set_state(page, stage="graph", selected="graph:3")
    links = page.locator(".inspector .links .entity-link").all_text_contents()
    assert any(" = " in it and "f32[" in it for it in links)
    assert not any(".py:" in it for it in links)


def test_a_loop_shows_what_its_iterations_do(open_page: Open, tmp_path: Path) -> None:
    w = Tensor(np.eye(4, dtype=np.float32) * 0.5, name="w")
    made = compiler.compile(compiler.repeat(5, lambda i, h: (h @ w).tanh(), Tensor.ones(4)))
    Explorer(made).export_html(tmp_path / "loop.html")
    page = open_page(tmp_path / "loop.html")
    node = page.locator(".node", has_text="repeat")
    assert "iteration0 = 0 … 4:" in node.locator(".block-line").all_text_contents()
    (box,) = boxes(node.locator(".outline"))
    assert all(it[2] <= box[2] for it in boxes(node.locator("text")))
    set_state(page, view="text")
    assert page.locator(".line.linked", has_text="tanh").count() == 2


def test_a_filter_that_leaves_no_pass_says_so(page: Any) -> None:
    nothing = page.locator(".pass-list .empty")
    assert not nothing.is_visible()
    page.get_by_label("Filter passes").fill("no such pass")
    assert "No pass is called so" in nothing.inner_text()
    assert page.locator(".pass-list li:visible").count() == 1
    page.get_by_label("Filter passes").fill("")
    assert not nothing.is_visible()
