"""The page shows how a kernel's loops were transformed, and follows a register tile to its code."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import Open
from tests.svodviz.wire.test_kernels import CHOSEN, product

pytestmark = pytest.mark.browser


@pytest.fixture
def page(tmp_path: Path, open_page: Open) -> Iterator[Any]:
    path = tmp_path / "product.html"
    Explorer(product(CHOSEN), stage="loops").export_html(path)
    yield open_page(path)


def test_choices_stand_in_the_inspector_with_their_reasons(page: Any) -> None:
    sheet = page.locator(".inspector").inner_text()
    for words in ("tile i0 8 peel", "rows for a core", "8 accumulators", "as asked", "LLVM",
                  "2, which may run at once", "5 KiB for each task"):  # fmt: skip
        assert words in sheet
    page.locator(".as-text summary").click()
    assert 'compile(x, Options(loops={\n  "k0": """' in page.locator(".as-text pre").inner_text()


def test_a_choice_leads_to_its_pass(page: Any) -> None:
    page.locator(".choice", has_text="pack 2 i0.0").click()
    assert "pack" in page.locator('.pass[aria-current="true"]').inner_text()
    assert "pack 2 i0.0" in page.locator(".rule-card").inner_text()


def test_kernels_have_their_names_wherever_they_are_named(page: Any) -> None:
    short = "k0 matmul"
    words = page.locator(".inspector").inner_text()
    assert f"Loops of {short}" in words and f"How {short} runs" in words
    assert f"loops · {short}" in page.locator(".pass-group").all_inner_texts()
    page.evaluate("svodviz.model.set('state', {stage: 'schedule', view: 'graph'})")
    assert f"kernel {short}" in page.locator(".graph-view .node").first.text_content()
    page.get_by_label("Filter passes").fill("matmul")
    assert page.locator(".pass:visible").count() > 3


def test_levels_are_in_the_legend(page: Any) -> None:
    page.evaluate("svodviz.model.set('state', {stage: 'loops', view: 'graph'})")
    legend = page.locator(".legend").inner_text()
    for words in ("unroll: iterations side by side", "lanes of a vector", "shared by cores",
                  "scratch memory"):
        assert words in legend


def test_an_accumulator_is_followed_into_its_registers(page: Any) -> None:
    page.evaluate(
        "svodviz.model.set('state', "
        "{stage: 'loops', view: 'columns', columns: ['loops', 'lowered', 'asm']})"
    )
    columns = page.locator(".column")
    columns.nth(0).locator(".line", has_text="= sum(").first.click()
    texts = columns.nth(1).locator(".line.related").all_inner_texts()
    assert sum("mulacc" in it for it in texts) == 8
    assert columns.nth(2).locator(".line.related").count() >= 8
