"""Findings on the page: first in the inspector, with their numbers, their line, what shows them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor
from svodviz.widget.explorer import Explorer
from tests.findings.corpus import data
from tests.svodviz.conftest import Exported, Open
from tests.svodviz.page.test_page import set_state, state

pytestmark = pytest.mark.browser
CARD = ".inspector .finding"


def three() -> Any:
    """A program of which three rules have something to say."""
    x = data("x", 1024, 1024)
    hidden = ((x * np.float64(2)).T.contiguous() + 1).exp().sum(1)
    return compiler.compile([hidden, data("table", 65536, 64)[:, 3].sum()])


@pytest.fixture(scope="module")
def made() -> Any:
    return three()


@pytest.fixture(scope="module")
def found_page(exported: Exported, made: Any) -> Path:
    return exported(Explorer(made))


@pytest.mark.parametrize("width, scheme", [(1440, "light"), (993, "dark"), (700, "light")])
def test_they_are_the_first_thing_in_the_inspector(
    open_page: Open, found_page: Path, made: Any, width: int, scheme: str
) -> None:
    page = open_page(found_page, width=width, scheme=scheme)
    first = page.locator(".inspector-section").first
    title = f"Findings: {len(made.findings)} possible improvements"
    assert first.locator("h4").inner_text() == title
    cards = page.locator(CARD)
    assert cards.count() == len(made.findings) >= 3
    for place, row in enumerate(made.findings):
        card = cards.nth(place)
        if card.get_attribute("open") is None:
            card.locator("summary").click()
        words = card.inner_text()
        assert row.words in words and f"Instead: {row.instead}" in words
        assert row.place in words and row.text in words
        assert card.locator(".looked-at tr").count() == len(row.numbers)
        box = card.bounding_box()
        inside = card.locator("code, p, table").evaluate_all(
            "(all) => Math.max(...all.map((it) => it.getBoundingClientRect().right))")
        assert inside <= box["x"] + box["width"]
        cut = card.locator(".finding-line").evaluate("(it) => it.scrollWidth > it.clientWidth + 1")
        assert not cut


def test_a_button_shows_what_was_found(open_page: Open, found_page: Path, made: Any) -> None:
    for place, row in enumerate(made.findings):
        page = open_page(found_page)
        card = page.locator(CARD).nth(place)
        if card.get_attribute("open") is None:
            card.locator("summary").click()
        card.get_by_role("button", name="Show it").click()
        now = state(page)
        assert (now["stage"], now["view"], now["selected"]) == (row.stage, row.view, row.subject)
        assert page.locator(".inspector .finding").count() == 0  # the selection has the inspector
        set_state(page, selected="")
        assert page.locator(CARD).count() == len(made.findings)


def test_the_line_is_a_way_to_the_source(open_page: Open, found_page: Path, made: Any) -> None:
    page = open_page(found_page)
    page.locator(f"{CARD} .finding-line").first.click()
    assert (state(page)["stage"], state(page)["selected"]) == ("source", made.findings[0].line)
    assert page.locator(".line.selected, .code-line.selected, [aria-current=true]").count() > 0


def test_a_program_without_findings_says_what_was_looked_for(
    open_page: Open, exported: Exported
) -> None:
    page = open_page(exported(Explorer(compiler.compile(Tensor.ones(4) + 1))))
    section = page.locator(".finding-section")
    assert section.locator("h4").inner_text() == "No findings"
    section.locator("summary").click()
    words = section.inner_text()
    assert "reductions whose reads are strided" in words and "5%" in words
    assert page.locator(CARD).count() == 0


def test_after_a_measurement_they_rest_on_its_times(open_page: Open, exported: Exported) -> None:
    program = three()
    estimated = [row.brings for row in program.findings]
    explorer = Explorer(program)
    explorer.record_run(seconds=0.1)
    assert [row.brings for row in program.findings] != estimated
    page = open_page(exported(explorer))
    cards = page.locator(CARD)
    assert cards.count() == len(program.findings) > 0
    for place, row in enumerate(program.findings):
        assert row.brings.endswith("of the measured time")
        assert cards.nth(place).locator("summary").inner_text() == f"{row.rule} · {row.brings}"


def test_findings_are_opened_by_the_keyboard(open_page: Open, found_page: Path) -> None:
    page = open_page(found_page)
    summary = page.locator(f"{CARD} summary").first
    is_open = page.locator(CARD).first.get_attribute("open") is not None
    summary.focus()
    page.keyboard.press("Enter")
    assert (page.locator(CARD).first.get_attribute("open") is not None) != is_open
