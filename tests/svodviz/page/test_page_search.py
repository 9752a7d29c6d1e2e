"""The search over all stages: what is read on a page can be found, shown and opened."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compiler import compile
from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import Open
from tests.svodviz.page.test_page import set_state, state
from tests.svodviz.page.test_page_operators import block, tensor

pytestmark = pytest.mark.browser


def blocks() -> Explorer:
    x = tensor(8, 16, name="tokens")
    for _ in range(3):
        x = block(x)
    return Explorer(compile(x.softmax(-1)))


@pytest.fixture
def page(open_page: Open, made_once: Callable[[str, Any], Path]) -> Any:
    return open_page(made_once("searched blocks", blocks))


def ask(page: Any, words: str) -> dict[str, int]:
    """Types a query; the number of matches by heading of the list."""
    page.locator(".svodviz").focus()
    page.keyboard.press("Control+k")
    page.keyboard.type(words)
    headings = (it.split("\n") for it in page.locator(".hit-heading").all_inner_texts())
    return {label: int(count.replace(",", "")) for label, count in headings}


def hit(page: Any, heading: str, number: int = 0) -> Any:
    section = page.locator(".hit-section").filter(has=page.get_by_text(heading, exact=True))
    return section.locator(".hit").nth(number)


def test_titles_of_boxes_are_found_and_their_groups_open(page: Any) -> None:
    found = ask(page, "softmax")
    assert found["groups of the graph"] == 4  # three in attention, one at the end
    assert found["kernels"] > 0 and found["lines of the program"] == 2
    hit(page, "groups of the graph").click()
    assert page.locator(".hit-list").is_hidden()
    box = page.locator(".node.selected.folded")
    assert "softmax" in (box.text_content() or "")
    assert page.locator(".groups").inner_html().count("<rect") > 1  # frames of what opened
    page.wait_for_function("""() => {
        const area = document.querySelector("svg.graph").getBoundingClientRect();
        const { top, bottom } = document.querySelector(".node.selected").getBoundingClientRect();
        return area.top < top && bottom < area.bottom;
    }""")


def test_enter_goes_through_the_matches_of_a_graph_one_by_one(page: Any) -> None:
    set_state(page, stage="graph", view="graph")
    ask(page, "softmax")
    assert page.locator(".hits").inner_text() == "4 found"
    seen = []
    for number in range(1, 5):
        page.keyboard.press("Enter")
        assert page.locator(".hits").inner_text() == f"{number} of 4"
        assert "softmax" in (page.locator(".node.selected").text_content() or "")
        seen.append(state(page)["selected"])
    assert len(set(seen)) == 4


@pytest.mark.parametrize(("words", "heading", "stage"), [
    ("k1", "kernels", "loops"), ("tokens", "inputs and parameters", "graph"),
    ("simplify", "passes", "passes"), ("gelu", "rewrite rules", "passes"),
    ("tmp0", "buffers", "schedule"), ("kernel k1", "items of the schedule", "schedule"),
    ("block", "groups of the graph", "graph"), ("vmovups", "printed lines", "asm"),
])  # fmt: skip
def test_a_match_is_shown_in_its_stage(page: Any, words: str, heading: str, stage: str) -> None:
    assert ask(page, words)[heading] > 0
    first = hit(page, heading)
    assert words.split()[-1] in first.inner_text().lower()
    first.click()
    assert state(page)["stage"] == stage


def test_arrows_choose_from_the_list_and_escape_clears_it(page: Any) -> None:
    set_state(page, stage="source", view="text")
    ask(page, "tokens")
    field = page.locator(".search")
    page.keyboard.press("ArrowDown")
    chosen = page.locator(".hit[aria-selected=true]")
    assert field.evaluate("(it) => it.ariaActiveDescendantElement.matches('[aria-selected=true]')")
    page.keyboard.press("ArrowUp")
    assert chosen.count() == 0
    page.keyboard.press("ArrowUp")  # from above the first to the last
    assert page.locator(".hit").last.get_attribute("aria-selected") == "true"
    page.keyboard.press("Escape")
    assert page.locator(".hit-list").is_hidden() and field.input_value() == ""


def test_a_word_that_is_nowhere_is_said_to_be(page: Any) -> None:
    assert ask(page, "no such thing") == {}
    assert page.locator(".hit-list").inner_text() == "No match in any stage."


IS_IN_VIEW = """() => {
    const area = document.querySelector("svg.graph").getBoundingClientRect();
    const marked = [...document.querySelectorAll(".node.added, .node.removed")];
    return marked.filter((it) => !it.matches(".folded")).some((it) => {
        const { top, bottom } = it.getBoundingClientRect();
        return area.top <= top && bottom <= area.bottom;
    });
}"""


def test_a_step_opens_the_groups_around_its_rewrite(page: Any) -> None:
    """Nodes that a rewrite adds or removes are drawn one by one, and in view."""
    ask(page, "simplify")
    hit(page, "passes").click()
    assert state(page)["stage"] == "passes"
    for step in (1, 2, 5):
        set_state(page, step=step)
        page.wait_for_function(IS_IN_VIEW)
