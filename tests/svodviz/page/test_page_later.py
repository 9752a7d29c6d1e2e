"""A page that opens before LLVM is done, in a browser: what it shows until the rest arrives."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compiler import Tensor, compile
from svodviz.exporting.export import export_html
from svodviz.foundation.packing import packed
from svodviz.foundation.requests import respond
from svodviz.foundation.stages import STAGES
from svodviz.widget import explorer as explorer_module
from svodviz.widget.explorer import Explorer
from svodviz.wire import later
from tests.svodviz.answering import answered_page
from tests.svodviz.conftest import Open, softmax_layer
from tests.svodviz.page.test_page import set_state, state, texts

pytestmark = pytest.mark.browser
COMING = "Still compiling. It appears here by itself."
LATE = {row.id: row for row in STAGES if row.late}
LABELS = [row.label for row in LATE.values()]


@pytest.fixture
def explorer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Explorer]:
    """One in a notebook, whose cell is still running."""
    monkeypatch.setattr(later, "LARGE", 0)
    monkeypatch.setattr(explorer_module, "after_cell", lambda action: True)
    made = Explorer(compile(softmax_layer(), name="layer"))
    yield made
    made.close()


@pytest.fixture
def page(explorer: Explorer, open_page: Open, tmp_path: Path) -> Any:
    """Its page, as it has opened; nobody answers."""
    path = tmp_path / "early.html"
    export_html(explorer.wire, path)
    return open_page(path)


def arrive(page: Any, explorer: Explorer) -> None:
    """Sets the trait as a notebook does."""
    explorer.arrive()
    page.evaluate("(it) => window.svodviz.model.set('later', it)", packed(explorer.later))
    waits = "document.querySelector('.ribbon').textContent.match(/compiling|not compiled/)"
    page.wait_for_function(f"!{waits}")


def ribbon(page: Any) -> dict[str, str]:
    return {id: page.locator(f'.stage[data-stage="{id}"] .stage-size').inner_text() for id in LATE}



def test_what_is_missing_is_said_wherever_it_would_stand(page: Any) -> None:
    words = "This was not compiled yet. This page shows what was recorded"
    assert ribbon(page) == dict.fromkeys(LATE, "not compiled")
    for stage in LATE:
        for view in ("text", "graph"):
            set_state(page, stage=stage, view=view)
            assert page.locator(".waiting").inner_text().startswith(words)
    set_state(page, stage="asm", view="machine")
    assert page.locator(".waiting").inner_text().startswith(words)
    set_state(page, view="columns", columns=["source", "loops", "asm"])
    assert page.locator(".column").nth(2).inner_text().split("\n")[-1].startswith(words)
    set_state(page, stage="graph", view="graph", selected="graph:1")
    hint = f"{', '.join(LABELS)}, values: not compiled."
    assert hint in page.locator(".inspector").inner_text()


@pytest.mark.parametrize("view", ["text", "machine", "graph"])
def test_a_view_that_waits_becomes_what_it_waited_for(
    page: Any, explorer: Explorer, view: str
) -> None:
    set_state(page, stage="asm", unit=1, view=view)
    assert page.locator(".waiting").count() == 1
    arrive(page, explorer)
    assert page.locator(".waiting").count() == 0
    assert state(page)["view"] == view
    assert state(page)["unit"] == 1
    parts = {"text": ".text-view .line", "machine": ".machine-code .line", "graph": ".node"}
    assert page.locator(parts[view]).count() > 2
    sizes = ribbon(page)
    for stage, row in LATE.items():
        lines = sum(len(it.lines) for it in row.find(explorer.compilation))
        assert sizes[stage].startswith(f"{lines:,} lines")


def test_what_arrives_is_linked_both_ways(page: Any, explorer: Explorer) -> None:
    set_state(page, stage="graph", view="columns", columns=["source", "loops", "asm"])
    column = page.locator(".column")
    chosen = explorer.compilation.loops[1].lines[-1].entity
    set_state(page, selected=chosen)
    pane = page.locator(".column:nth-child(2) .text-pane")
    scrolled = pane.evaluate("(it) => it.scrollTop")
    assert column.nth(2).locator(".line").count() == 0
    before = texts(page, ".lineage summary")
    arrive(page, explorer)
    assert state(page)["selected"] == chosen
    assert state(page)["columns"] == ["source", "loops", "asm"]
    assert pane.evaluate("(it) => it.scrollTop") == scrolled
    found = column.nth(2).locator(".line.related")
    assert found.count() >= 1
    made = [it for it in texts(page, ".lineage summary") if it not in before]
    assert [it.rstrip("0123456789") for it in made] == LABELS
    found.first.click()
    assert state(page)["selected"].startswith("asm:")
    assert page.locator(".column:nth-child(2) .line.related").count() >= 1
    assert page.locator(".column:nth-child(1) .line.related").count() >= 1


def test_a_selection_that_comes_with_it_is_kept(page: Any, explorer: Explorer) -> None:
    line = explorer.compilation.assembly[1].lines[3].entity
    explorer.state = {"stage": "asm", "selected": line}
    page.evaluate(
        """([later, state]) => {
            window.svodviz.model.set('later', later);
            window.svodviz.model.set('state', state);
        }""", [packed(explorer.later), explorer.state])  # fmt: skip
    page.wait_for_selector(".line.selected")
    assert state(page)["selected"] == line
    assert state(page)["unit"] == 1
    assert page.locator(".inspector .entity").inner_text() == line


def test_a_page_with_python_asks_and_is_given(
    explorer: Explorer, chromium: Any, tmp_path: Path
) -> None:
    text = export_html(explorer.wire, state={"stage": "asm", "view": "text"})
    with answered_page(explorer, chromium, tmp_path, text) as live:
        live.wait_for_selector(".text-view .line")
        assert live.locator(".waiting").count() == 0
    assert explorer.later["stages"]


def test_a_page_opens_with_what_had_arrived(
    explorer: Explorer, open_page: Open, tmp_path: Path
) -> None:
    explorer.arrive()
    path = tmp_path / "again.html"
    text = export_html(explorer.wire, state={"stage": "asm", "view": "machine"})
    given = f"state: JSON.parse(textOf(\"state\").textContent), later: '{packed(explorer.later)}',"
    assert text.count('state: JSON.parse(textOf("state").textContent),') == 1
    path.write_text(text.replace('state: JSON.parse(textOf("state").textContent),', given))
    opened = open_page(path)
    assert opened.locator(".machine-code .line").count() > 3
    assert ribbon(opened)["asm"].endswith("s")


def test_while_python_is_busy_the_page_waits_and_can_be_used(
    explorer: Explorer, chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[Any] = []
    monkeypatch.setattr("tests.svodviz.answering.respond", lambda *it: held.append(it))
    with answered_page(explorer, chromium, tmp_path, export_html(explorer.wire)) as live:
        assert ribbon(live) == dict.fromkeys(LATE, "compiling …")
        live.locator('.stage[data-stage="asm"]').click()
        assert live.locator(".waiting").inner_text() == COMING
        live.locator('.stage[data-stage="loops"]').click()
        live.locator(".line.linked").first.click()
        hint = f"{', '.join(LABELS)}, values: still compiling."
        assert hint in texts(live, ".inspector")[0]
        live.locator('.stage[data-stage="asm"]').click()
        live.evaluate("(it) => window.svodviz.model.set('ended', it)", True)
        assert live.locator(".waiting").inner_text() == (
            "This was not compiled yet. This explorer was closed in Python: run its cell again.")
    assert respond is not None and held


def test_a_stage_that_could_not_be_made_says_why(
    page: Any, explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Any) -> Any:
        raise RuntimeError("no target <b>x</b>")

    monkeypatch.setattr(type(explorer.compilation), "assembly", property(fail))
    set_state(page, stage="asm", view="text")
    arrive(page, explorer)
    assert ribbon(page)["asm"] == "missing"
    assert page.locator('.stage[data-stage="asm"]').is_disabled()
    words = "RuntimeError: no target <b>x</b>"
    assert words in page.locator(".pane").inner_text()
    set_state(page, view="columns", columns=["source", "loops", "asm"])
    assert page.locator(".column").nth(2).inner_text().endswith(words)


def test_programs_without_kernels(open_page: Open, tmp_path: Path, explorer: Explorer) -> None:
    made = Explorer(compile(Tensor([1.0, 2.0]), name="nothing"))
    path = tmp_path / "nothing.html"
    export_html(made.wire, path)
    page = open_page(path)
    assert ribbon(page) == dict.fromkeys(LATE, "none")
