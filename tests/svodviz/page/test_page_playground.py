"""The playground in a browser: recorded points on a page of its own, new ones where Python is."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import svodviz
from compiler.playground import playground as core
from svodviz.foundation.requests import respond
from svodviz.widget.explorer import Explorer
from tests.playground.programs import TILED, product
from tests.svodviz.conftest import READY, Exported, Open

pytestmark = pytest.mark.browser

# The page's own model, with a way to Python: what it sends is answered through `svodvizSend`.
LIVE = """async () => {
    const script = [...document.scripts].at(-1).textContent;
    const loader = script.slice(0, script.indexOf('const textOf'));
    const { render } = await import(URL.createObjectURL(
        new Blob([`${loader}export { render };`], { type: 'text/javascript' })));
    const listeners = [];
    const values = { wire: window.svodviz.model.get('wire'),
        state: { stage: 'loops', view: 'playground' } };
    const model = { get: (it) => values[it], set: (it, to) => { values[it] = to; },
        save_changes() {}, off() {},
        on: (event, it) => event === 'msg:custom' && listeners.push(it),
        send: async (content) => {
            const answers = JSON.parse(await window.svodvizSend(JSON.stringify(content)));
            answers.forEach((answer) => listeners.forEach((it) => it(answer)));
        } };
    document.body.replaceChildren();
    await render({ model, el: document.body, fullPage: true });
}"""


@pytest.fixture(scope="module")
def made() -> Iterator[Any]:
    """An explorer with four points, one of them not possible."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "SECONDS", 0.0)
        compilation = product(rows=32, columns=32, depth=32, loops="auto")
        yield svodviz.playground(compilation, choices=[TILED, "unroll i9"])


@pytest.fixture(scope="module")
def path(made: Any, exported: Exported) -> Path:
    """The file of its page."""
    return exported(made)


@pytest.fixture
def page(path: Path, open_page: Open) -> Any:
    return open_page(path)


def test_recorded_points_are_shown_without_a_kernel(page: Any) -> None:
    words = page.locator(".play-main").inner_text()
    assert "shows what was recorded" in words and "new choices are tried where Python is" in words
    for part in ("plain", "the compiler's own", "✗ not possible", "Roofline", "L1", "accesses"):
        assert part in words
    assert page.locator(".play-controls button:visible").count() == 0
    assert page.locator(".play-controls :is(select, input):visible").count() == 0
    assert page.locator('.play-history [aria-current="true"]').get_attribute("data-point") == "2"
    rows = page.locator(".choice-kind").all_inner_texts()
    assert rows == ["tile", "tile", "tile", "reorder", "vectorize", "unroll"]


def test_a_point_is_chosen_in_the_table_and_in_the_plot(page: Any) -> None:
    page.locator(".point-name button", has_text="plain").click()
    assert "plain" in page.locator(".play-head").inner_text()
    assert page.locator(".choice-row").count() == 0
    page.locator(".roof-point").nth(1).focus()
    page.keyboard.press("Enter")
    assert "the compiler's own" in page.locator(".play-head").inner_text()
    current = page.locator('.roof-point[aria-pressed="true"]')
    assert re.match(r"point 1, .* GFLOP/s, .* per byte from L2", str(
        current.get_attribute("aria-label")))
    page.get_by_label("Bytes from").select_option(label="memory")
    assert "from memory" in str(current.get_attribute("aria-label"))


def test_the_impossible_is_explained(page: Any) -> None:
    page.locator(".point-name button", has_text="unroll i9").click()
    assert "there is no axis i9" in page.locator(".play-refused").inner_text()
    assert page.locator(".play-section h3", has_text="Caches").count() == 0


def test_code_of_each_stage(page: Any) -> None:
    for label, part in (("Loops", "lanes"), ("Lowered", "f32x16"), ("Assembly", "mm")):
        page.locator(".play-section button", has_text=re.compile(f"^{label}")).click()
        assert part in page.locator(".play-code").inner_text()


def test_the_replay_is_stepped_and_played(page: Any) -> None:
    words = page.locator(".replay-words")
    first = words.inner_text()
    assert re.match(r"Accesses 1 to \d+ of [\d,]+: \d+", first)
    page.get_by_label("Step", exact=True).click()
    assert words.inner_text() != first
    page.get_by_label("Step back").click()
    assert words.inner_text() == first
    page.get_by_label("What to replay").select_option("steps")
    assert words.inner_text().startswith("Access 1: load from a, element 0: ✗")
    touched = page.locator(".replay-memory").nth(1).locator(".touched")
    assert touched.get_attribute("d")
    page.get_by_label("Speed").select_option("30")
    page.locator(".replay-play").click()
    page.wait_for_function("Number(document.querySelector('.replay .slider').value) > 3")
    page.locator(".replay-play").click()
    held = page.locator(".replay .slider").input_value()
    page.wait_for_timeout(120)
    assert page.locator(".replay .slider").input_value() == held


@pytest.mark.parametrize("width", [700, 1400])
def test_nothing_sticks_out(path: Path, open_page: Open, width: int) -> None:
    page = open_page(path, width=width, scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    view = page.locator(".playground-view")
    assert view.evaluate("(it) => it.scrollWidth <= it.clientWidth + 1")


def test_a_page_where_nothing_was_tried_offers_no_playground(
    tmp_path: Path, open_page: Open
) -> None:
    Explorer(product(), stage="loops", view="playground").export_html(tmp_path / "empty.html")
    page = open_page(tmp_path / "empty.html")
    assert page.locator(".playground-view").count() == 0
    assert page.get_by_role("button", name="Playground").count() == 0
    assert page.locator(".line").count() > 0


@pytest.fixture
def live(tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A page whose questions a real explorer in this process answers."""
    monkeypatch.setattr(core, "SECONDS", 0.0)
    explorer = svodviz.explore(product(rows=32, columns=32, depth=32, loops="auto"))
    explorer.export_html(tmp_path / "live.html")
    page = open_page(tmp_path / "live.html", is_kept=False)

    def send(content: str) -> str:
        sent: list[dict[str, Any]] = []
        respond(explorer, json.loads(content), sent.append)
        return json.dumps(sent)

    page.expose_function("svodvizSend", send)
    page.evaluate(LIVE)
    page.wait_for_selector(READY)
    page.wait_for_function("document.querySelectorAll('.play-history tbody tr').length === 2")
    return page


def points(page: Any, count: int) -> None:
    page.wait_for_function(
        f"document.querySelectorAll('.play-history tbody tr').length === {count}"
    )


def test_choices_are_added_moved_and_removed(live: Any) -> None:
    controls = live.locator(".play-controls")
    controls.get_by_role("button", name="Plain").click()
    live.wait_for_function("document.querySelector('.play-head').textContent.includes('plain')")
    before = live.locator(".play-code").inner_text()
    live.get_by_label("Kind of choice").select_option("vectors")
    controls.get_by_role("button", name="Add").click()
    points(live, 3)
    assert live.get_by_label("Choices as text").input_value() == "tile i1 16 peel\nvectorize i1.1"
    assert live.locator(".play-code").inner_text() != before
    live.locator(".play-section button", has_text="Assembly").click()
    assembly = live.locator(".play-code").inner_text()
    slider = live.get_by_label("size of tile i1, slider")
    slider.focus()
    live.keyboard.press("ArrowLeft")
    points(live, 4)
    focused = live.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "size of tile i1, slider"
    assert live.locator(".play-code").inner_text() != assembly
    live.get_by_label("Kind of choice").select_option("reorder")
    controls.get_by_role("button", name="Add").click()
    points(live, 5)
    live.get_by_label("Move i1.0 outwards").click()
    points(live, 6)
    assert "reorder i1.0 i0" in live.get_by_label("Choices as text").input_value()
    live.get_by_label("Remove vectorize i1.1").click()
    points(live, 7)


def test_text_is_tried_and_wrong_text_explained(live: Any) -> None:
    text = live.get_by_label("Choices as text")
    text.fill("tile i9 4")
    live.get_by_role("button", name="Try").click()
    live.wait_for_selector(".play-refused")
    assert "there is no axis i9" in live.locator(".play-refused").inner_text()
    assert text.input_value() == "tile i9 4"
    live.get_by_role("button", name="Compiler's own", exact=True).click()
    live.wait_for_selector(".cache-bars")


def test_traces_and_limits_are_asked_for(live: Any) -> None:
    live.get_by_role("button", name="Replay the memory accesses").click()
    live.wait_for_selector(".replay-stage svg")
    live.get_by_role("button", name="Measure this machine", exact=True).click()
    live.wait_for_selector(".roofline .roof-point.current")


@pytest.fixture(scope="module")
def tuned() -> Any:
    """An explorer of a product whose loops were searched for a moment."""
    from dataclasses import replace

    compilation = product(rows=32, columns=32, depth=32, loops="auto")
    options = replace(compilation.options, tune=0.6)
    made = compilation.__class__(compilation.results, options, "program")
    made.build()
    return Explorer(made, stage="loops", view="playground")


def test_the_search_is_drawn_as_a_tree(tuned: Any, tmp_path: Path, open_page: Open) -> None:
    tuned.export_html(tmp_path / "tuned.html")
    page = open_page(tmp_path / "tuned.html")
    (tuning,) = tuned.compilation.tuning
    nodes = page.locator(".tuning-node")
    measured = sum(trial.is_measured for trial in tuning.tried)
    assert measured >= 1 and nodes.count() >= measured
    assert "the default" in str(nodes.first.get_attribute("aria-label"))
    assert page.locator(".tuning-node.best").count() == 1
    page.get_by_label("including refused ones").check()
    assert page.locator(".tuning-node").count() == len(tuning.tried)
    assert tuning.words in page.locator(".playground-view").inner_text()
