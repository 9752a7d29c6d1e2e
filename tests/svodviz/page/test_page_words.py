"""Help where the eye is: words of a line in the inspector, and under the pointer."""

from pathlib import Path
from typing import Any

import pytest

from tests.svodviz.conftest import Open
from tests.svodviz.page.test_page import set_state

pytestmark = pytest.mark.browser


def line_with(page: Any, words: str) -> Any:
    return page.locator(".line", has_text=words).first


@pytest.mark.parametrize(
    "stage, words, sentence",
    [
        ("loops", "for i0", "its counter runs from 0"),
        ("lowered", "store", "writes memory"),
        ("llvm", "getelementptr", "computes an address"),
        ("asm", "ret", "returns to the caller"),
    ],
)
def test_the_inspector_explains_the_words_of_a_line(
    open_page: Open, compiled_page: Path, stage: str, words: str, sentence: str
) -> None:
    page = open_page(compiled_page)
    set_state(page, stage=stage, view="text")
    line_with(page, words).click()
    page.wait_for_selector(".inspector .words")
    assert sentence in page.locator(".inspector .words").inner_text()
    assert page.locator(".inspector .words .example").count() > 0


def test_a_word_under_the_pointer_is_explained(open_page: Open, compiled_page: Path) -> None:
    page = open_page(compiled_page)
    set_state(page, stage="llvm", view="text")
    word = page.locator(".line .t-keyword", has_text="define").first
    word.hover()
    hint = page.locator(".word-hint")
    hint.wait_for(state="visible")
    assert "a function with its body" in hint.inner_text()
    frame, box = page.locator(".svodviz").bounding_box(), hint.bounding_box()
    assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
    page.mouse.move(2, 2)
    hint.wait_for(state="hidden")


def test_what_is_no_word_is_not_explained(open_page: Open, compiled_page: Path) -> None:
    page = open_page(compiled_page)
    set_state(page, stage="source", view="text")
    page.locator(".line code").first.hover()
    page.wait_for_timeout(600)
    assert page.locator(".word-hint").is_hidden()


def test_the_glossary_is_searched_and_closed_by_keys(open_page: Open, compiled_page: Path) -> None:
    page = open_page(compiled_page)
    page.locator(".svodviz").focus()
    page.keyboard.press("Shift+G")
    glossary = page.get_by_role("dialog", name="Glossary")
    assert glossary.is_visible()
    assert glossary.locator("dt:visible").count() > 200
    page.keyboard.type("roofline")
    assert glossary.locator("dt:visible").all_inner_texts()[0] == "roofline"
    assert glossary.locator("dt:visible").count() < 5
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.glossary-page') !== null")
    page.keyboard.press("Escape")
    assert glossary.is_hidden()
    assert page.locator(".frame").evaluate("it => !it.inert")


def test_the_page_of_keys_leads_to_the_glossary(open_page: Open, compiled_page: Path) -> None:
    page = open_page(compiled_page)
    page.locator(".svodviz").focus()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").get_by_role("button", name="glossary").click()
    assert page.get_by_role("dialog", name="Glossary").is_visible()
    assert page.get_by_role("dialog", name="Keys").is_hidden()
