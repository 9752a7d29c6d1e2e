"""LLVM's passes and other machines in a page that Python answers, as it does in a notebook."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compiler import Options, Tensor, compile
from svodviz.widget.explorer import Explorer
from tests.svodviz.answering import answered_page
from tests.svodviz.page.test_page import set_state

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    x = Tensor.arange(512).cast("float32")
    return Explorer(compile((x * x + 1.0).relu(), Options(loops="plain"), name="chain"))


@pytest.fixture
def page(explorer: Explorer, chromium: Any, tmp_path: Path) -> Iterator[Any]:
    """The explorer's page, answered by the explorer."""
    with answered_page(explorer, chromium, tmp_path) as page:
        yield page


def test_passes_are_asked_for_and_kept(page: Any, explorer: Explorer) -> None:
    explorer.recorded = {}
    set_state(page, stage="llvm_passes")
    page.wait_for_selector(".llvm-pass", timeout=30_000)
    names = page.locator(".llvm-pass .pass-name").all_inner_texts()
    run = explorer.compilation.llvm_passes("k0")
    assert names == [change.title for change in run]
    assert list(explorer.recorded) == ['llvm_passes {"kernel":"k0","level":-1}']
    page.get_by_label("Which of LLVM's passes").select_option("3")
    page.wait_for_function("document.querySelector('.llvm-words').textContent.includes('level 3')")
    assert 'llvm_passes {"kernel":"k0","level":3}' in explorer.recorded


def test_another_machine_is_asked_for(page: Any, explorer: Explorer) -> None:
    set_state(page, stage="asm", view="machine")
    page.get_by_label("Machine", exact=True).select_option("arm-neon")
    page.wait_for_function("document.querySelector('.machine-code').textContent.includes('.4s')")
    (listing,) = explorer.compilation.assembly_for("arm-neon")
    shown = page.locator(".machine-code .line code").all_inner_texts()
    code = [row.strip() for row in listing.rows if not row.endswith(":")]
    assert [" ".join(it.split()) for it in shown] == [" ".join(it.split()) for it in code]
    notes = page.locator(".machine-notes li").all_inner_texts()
    assert notes == [*listing.notes, "Show the loop"] and notes[0] == "loops: plain"
    page.get_by_role("button", name="Show the loop").click()
    assert page.locator(".machine-source h4").inner_text() == "LLVM IR of the code that runs here"
    page.get_by_label("Machine", exact=True).select_option("")
    page.wait_for_selector(".machine-notes", state="hidden")
    assert page.locator(".machine-source h4").inner_text() == "LLVM IR it was compiled from"


def test_a_failure_is_a_sentence(
    page: Any, explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("LLVM is on holiday")

    monkeypatch.setattr(type(explorer.compilation), "llvm_passes", fail)
    monkeypatch.setattr(type(explorer.compilation), "assembly_for", fail)
    monkeypatch.setattr(explorer, "recorded", {})
    set_state(page, stage="llvm_passes")
    page.get_by_label("Which of LLVM's passes").select_option("2")
    words = "document.querySelector('{}').textContent.includes('LLVM is on holiday')"
    page.wait_for_function(words.format(".llvm-words"))
    assert page.locator(".llvm-body").is_hidden()
    set_state(page, stage="asm", view="machine")
    page.get_by_label("Machine", exact=True).select_option("wasm")
    page.wait_for_function(words.format(".machine-words"))
