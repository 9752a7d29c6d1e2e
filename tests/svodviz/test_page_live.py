"""LLVM's passes and other machines in a page that Python answers, as it does in a notebook."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compiler import Options, Tensor, compile
from svodviz.explorer import Explorer
from svodviz.requests import respond
from tests.svodviz.conftest import READY
from tests.svodviz.test_page import set_state

pytestmark = pytest.mark.browser
# A model that has `send`, as a notebook's has: what is sent is answered by Python.
DEAF = "save_changes: () => {},"
HEARING = """save_changes: () => {},
  send: async (message) => {
    for (const it of await window.toPython(message)) {
      (listeners.get("msg:custom") || []).forEach((listener) => listener(it));
    }
  },"""


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    x = Tensor.arange(512).cast("float32")
    return Explorer(compile((x * x + 1.0).relu(), Options(loops="plain"), name="chain"))


@pytest.fixture
def page(explorer: Explorer, chromium: Any, tmp_path: Path) -> Iterator[Any]:
    """The explorer's page, answered by the explorer."""
    path = tmp_path / "live.html"
    text = explorer.export_html()
    assert text.count(DEAF) == 1
    path.write_text(text.replace(DEAF, HEARING))
    page = chromium.new_page(viewport={"width": 1400, "height": 800})
    page.expose_function("toPython", lambda message: answered(explorer, message))
    page.goto(path.as_uri())
    page.wait_for_selector(READY)
    yield page
    page.close()


def answered(explorer: Explorer, message: Any) -> list[Any]:
    sent: list[Any] = []
    respond(explorer, message, sent.append)
    return sent


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
