"""The words of a node of the graph, its looks, and what a selection or the pointer lights."""

import re
from pathlib import Path
from typing import Any

import pytest

from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import Open
from tests.svodviz.page.test_page import set_state, state
from tests.svodviz.sample import rich
from tests.svodviz.vision import contrast

pytestmark = pytest.mark.browser
READ = """(all) => all.map((it) => [
    getComputedStyle(it.querySelector(".outline")).fill,
    getComputedStyle(it.querySelector("text")).fill,
])"""


def colour(text: str) -> str:
    return "#" + "".join(f"{int(it):02x}" for it in re.findall(r"\d+", text)[:3])


def test_the_lines_of_a_node(page: Any) -> None:
    lines = page.locator('.node:has(title:text("axes (2)"))').first.locator("text").all()
    words = [it.text_content() for it in lines]
    assert words[0].startswith("reduce add")
    assert "axes (2)" in words[0] + words[1]
    assert words[-1] == "f32 [64,32]" or "f32" in words[-1]


def test_costs_stand_under_the_node(page: Any) -> None:
    set_state(page, overlay="bytes")
    costs = page.locator(".node .cost").all_text_contents()
    assert costs and all(re.match(r"[\d.]+ (B|KiB|MiB) · [\d.]+ %", it) for it in costs)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(open_page: Open, rich_page: Path, scheme: str) -> None:
    page = open_page(rich_page, scheme=scheme)
    set_state(page, stage="kernels", view="graph")
    pairs = {tuple(it) for it in page.locator(".node").evaluate_all(READ)}
    assert len(pairs) >= 6
    for ground, words in pairs:
        assert contrast(colour(ground), colour(words)) >= 7
        is_pale = contrast(colour(ground), "#ffffff") < 1.6
        assert is_pale == (scheme == "light")


def test_kinds_have_outlines_of_their_own(page: Any) -> None:
    shapes = page.locator(".node").evaluate_all("""(all) => all.map((it) => [it.dataset.kind,
        it.querySelector(".outline").getAttribute("d").replace(/[\\d.]+/g, "")])""")
    by_kind = {kind: {shape for other, shape in shapes if other == kind} for kind, _ in shapes}
    assert all(len(it) == 1 for it in by_kind.values())
    assert len({next(iter(it)) for it in by_kind.values()}) >= 4
    legend = page.locator(".legend .legend-entry").all_inner_texts()
    assert len(legend) == len(by_kind)


def test_the_layout_is_the_same_every_time(open_page: Open, rich_page: Path) -> None:
    read = "(all) => all.map((it) => [it.dataset.entity, it.getAttribute('transform')])"
    first, second = (
        open_page(rich_page).locator(".node").evaluate_all(read) for _ in range(2)
    )
    assert first == second and len(first) > 20


def test_the_status_says_how_long_the_layout_took(page: Any) -> None:
    words = page.locator(".status-text").inner_text()
    assert re.match(r"\d+ of 33 nodes shown · laid out in [\d.]+ (µs|ms|s) by ", words)


def test_the_pointer_brings_lines_into_view(page: Any) -> None:
    set_state(page, view="columns", columns=["source", "llvm", "asm"])
    panes = page.locator(".column .text-pane")
    panes.nth(0).locator(".line", has_text="total = ").locator(".number").hover()
    for column in (1, 2):
        pane = panes.nth(column)
        lit = pane.locator(".line.highlighted")
        assert lit.count() > 0
        seen = pane.bounding_box()
        boxes = [it.bounding_box() for it in lit.all()]
        middle = boxes[len(boxes) // 2]
        assert seen["y"] - 1 <= middle["y"] <= seen["y"] + seen["height"]
    assert state(page)["selected"] == ""


def test_bars_and_nodes_share_one_selection(page: Any) -> None:
    set_state(page, stage="schedule", view="timeline")
    page.locator('.item[title*="k2"]').click()
    page.locator(".stage", has_text="Graph").click()
    related = page.locator(".node.related")
    assert related.count() > 3
    related.first.click()
    page.locator(".stage", has_text="Schedule").click()
    assert page.locator('.item.related[title*="k2"]').count() == 1


def test_the_operation_is_explained(open_page: Open, compiled_page: Path) -> None:
    page = open_page(compiled_page)
    page.locator(".node", has_text="relu").first.click()
    words = page.evaluate("window.svodviz.model.get('wire').operations.relu")
    assert words and words in page.locator(".inspector").inner_text()


def test_a_state_comes_back_as_it_was(open_page: Open, rich_page: Path, tmp_path: Path) -> None:
    page = open_page(rich_page)
    set_state(page, stage="kernels", view="graph", selected="graph:13", folding="depth",
              overlay="bytes", columns=["graph", "schedule", "asm"])  # fmt: skip
    set_state(page, stage="passes", **{"pass": 2, "step": 3})
    left = state(page)
    Explorer(rich(), **left).export_html(tmp_path / "again.html")
    again = open_page(tmp_path / "again.html")
    assert state(again) == left
    assert again.locator(".position").inner_text() == page.locator(".position").inner_text()
