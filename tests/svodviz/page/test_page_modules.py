"""The page of a model: it opens with its modules, and one is followed down to its instructions."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.svodviz.conftest import Open
from tests.svodviz.page.test_page import state

pytestmark = pytest.mark.browser


@pytest.fixture
def page(open_page: Open, model_page: Path) -> Any:
    return open_page(model_page)


def row(page: Any, name: str) -> Any:
    return page.locator(".modules-table tbody tr").filter(
        has=page.locator(".module-name > .entity-link", has_text=re.compile(f"^{name}$"))
    )


def test_a_model_opens_with_its_modules(page: Any) -> None:
    assert state(page)["stage"] == state(page)["view"] == "modules"
    names = page.locator(".module-name > .entity-link").all_inner_texts()
    assert names[:4] == ["(whole program)", "embeddings", "encoder", "layer.0"]
    assert "measured" in page.locator(".modules-table thead").inner_text()
    cells = row(page, "encoder").locator("td").all_inner_texts()
    assert re.fullmatch(r"[\d.]+ [µm]s", cells[0]) and cells[1].endswith("%")
    shares = [float(row(page, name).locator(".run-figure").inner_text().rstrip(" %"))
              for name in ("embeddings", "encoder")]  # fmt: skip
    assert sum(shares) == pytest.approx(100, abs=1.5)
    fold = row(page, "layer.0").locator(".fold-button")
    assert fold.get_attribute("aria-expanded") == "true"
    fold.press("Enter")
    assert row(page, "attention").count() == 1  # that of the other layer
    row(page, "layer.0").locator(".entity-link").focus()
    page.keyboard.press("ArrowRight")
    assert row(page, "attention").count() == 2
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "attention"
    page.locator(".search").fill("query")
    assert page.locator(".hits").inner_text() == "2 found"


def test_a_module_is_two_clicks_from_its_instructions_and_lit_in_every_stage(page: Any) -> None:
    row(page, "up").first.locator(".entity-link").click()
    sheet = page.locator(".inspector-sheet")
    assert sheet.locator("h3").first.inner_text() == "encoder.layer.0.up"
    kernel = sheet.locator(".module-kernels li").first
    assert "shared with encoder.layer.0.act" in kernel.inner_text()
    kernel.locator("button").click()
    assert (state(page)["stage"], state(page)["view"]) == ("asm", "machine")
    assert page.locator(".machine-code .line.related").count() > 5
    bar = page.locator(".trace-bar")
    assert "encoder.layer.0.up" in bar.inner_text()
    assert re.search(r"\d+ of [\d,]+ lines of this stage belong to it", bar.inner_text())
    page.locator("[data-stage=source]").click()
    bar.get_by_role("button", name="Only these").click()
    texts = page.locator(".text-pane .line code").all_inner_texts()
    assert len(texts) == 2 and "MatMul(" in texts[0] and "up.bias" in texts[1]
    page.locator("[data-stage=graph]").click()
    assert page.locator("button[data-view=graph]").get_attribute("aria-pressed") == "true"
    assert page.locator(".graph-view .related").count() >= 1
    bar.get_by_role("button", name="Stop following it").click()
    assert not bar.is_visible() and state(page)["filtered"] is False


SIZES = """(table) => [table.scrollWidth - table.clientWidth,
    table.querySelector("thead th").getBoundingClientRect(),
    table.querySelector("tbody tr:nth-child(5) th").getBoundingClientRect()]"""


def test_the_table_fits_beside_the_inspector_and_its_names_stay_where_it_cannot(page: Any) -> None:
    row(page, "layer.0").locator(".entity-link").click()
    table = page.locator(".modules-table")
    for width in (700, 900, 1060, 1440):
        page.set_viewport_size({"width": width, "height": 680})
        assert table.evaluate(SIZES)[0] <= 0, width
        assert page.locator(".module-long").first.is_visible() == (width >= 900 and width != 1060)
    page.set_viewport_size({"width": 390, "height": 680})
    before = table.evaluate(SIZES)
    assert before[0] > 0
    table.evaluate("(it) => it.scrollTo(90, 60)")
    after = table.evaluate(SIZES)
    assert after[1] == before[1], "the head stays"
    assert after[2]["x"] == before[2]["x"] and after[2]["y"] < before[2]["y"]
