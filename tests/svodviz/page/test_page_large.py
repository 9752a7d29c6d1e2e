"""Large graphs in a browser: folded, unfolded, in part, with costs, searched by field."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.transformer import transformer
from compiler import compile as compile_tensor
from svodviz.drawing import layout_jobs
from svodviz.foundation.requests import respond
from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import READY, Exported, Open
from tests.svodviz.page.test_page import click_node, set_state, state
from tests.svodviz.sample import large

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def layer_page(exported: Exported) -> Path:
    """One layer of the transformer, as an exported page."""
    return exported(Explorer(compile_tensor(transformer(1))))


@pytest.fixture
def layer(open_page: Open, layer_page: Path) -> Any:
    return open_page(layer_page)


def status(page: Any) -> str:
    return str(page.locator(".status-text").inner_text())


def press(page: Any, key: str) -> None:
    page.locator(".svodviz").focus()
    page.keyboard.press(key)


def choose(page: Any, label: str, value: str) -> None:
    page.get_by_label(label).select_option(value)


def test_small_graphs_are_folded_only_when_asked(page: Any) -> None:
    press(page, " ")
    page.wait_for_function("document.querySelectorAll('.node').length === 33")
    choose(page, "Fold the graph by", "kernel")
    assert state(page)["folding"] == "kernel"
    titles = page.locator(".node.folded .title").all_text_contents()
    assert [it for it in titles if it.startswith("k0 (item")]
    choose(page, "Fold the graph by", "")
    assert page.locator(".node.folded").count() == 0


@pytest.mark.parametrize("folding", ["module", "kernel", "pass", "depth"])
def test_each_folding_says_how_many_nodes_it_hides(layer: Any, folding: str) -> None:
    set_state(layer, folding=folding)
    press(layer, " ")
    layer.wait_for_timeout(60)
    size = layer.evaluate("window.svodviz.model.get('wire').stages[1].units[0].nodes")
    assert f"of {size} nodes shown" in status(layer) or "overview" in status(layer)
    assert "folded into" in status(layer) or "overview" in status(layer)


def test_functions_of_the_program_are_groups(layer: Any) -> None:
    choose(layer, "Fold the graph by", "module")
    titles = layer.locator(".node.folded .title").all_text_contents()
    assert "block / attention" in titles and "perceptron / linear" in titles


def test_enter_opens_a_group_and_folds_it_again(layer: Any) -> None:
    set_state(layer, folding="module")
    press(layer, " ")  # all of it is in view
    layer.evaluate("new Promise((it) => requestAnimationFrame(() => requestAnimationFrame(it)))")
    before = layer.locator(".node.folded").count()
    click_node(layer, "perceptron / linear")
    press(layer, "Enter")
    assert layer.locator(".group text").first.text_content().startswith("perceptron / linear: ")
    assert layer.locator(".node.selected").count() == 1
    assert layer.locator(".node.selected.folded").count() == 0
    layer.get_by_role("button", name="Fold", exact=True).click()
    assert layer.locator(".group").count() == 0
    press(layer, " ")
    layer.wait_for_function(
        "(count) => document.querySelectorAll('.node.folded').length === count", arg=before)
    assert layer.locator(".node.selected.folded").count() == 1


def test_a_selection_made_elsewhere_shows_in_its_group(layer: Any) -> None:
    set_state(layer, folding="module", selected="graph:40")
    assert layer.locator(".node.selected.folded").count() == 1
    press(layer, "Enter")
    assert layer.locator(".node.selected:not(.folded)").count() == 1


def steps_of(page: Any) -> tuple[int, int]:
    """The pass over the graph with the most rewrites, and how many it has."""
    counts: list[int] = page.evaluate(
        "window.svodviz.model.get('wire').passes"
        ".map((it) => (it.stage === 'graph' ? it.rewrites.length : 0))")
    return counts.index(max(counts)), max(counts)


def places_of_groups(page: Any) -> set[str]:
    """Title and place of each folded group that is drawn."""
    return set(page.locator(".node.folded").evaluate_all(
        "(all) => all.map((it) => it.querySelector('.title').textContent "
        "+ it.getAttribute('transform'))"))


def test_passes_are_folded_like_the_graph(layer: Any) -> None:
    number, count = steps_of(layer)
    set_state(layer, stage="passes", folding="module", step=-1, **{"pass": number})
    titles = layer.locator(".node.folded .title").all_text_contents()
    assert "block / attention" in titles and "folded into" in status(layer)
    details = layer.locator(".node.folded.changed .detail").all_text_contents()
    assert details and all(re.match(r"\d+ rewrites?: [+−~]", it) for it in details)
    signs = layer.locator(".node.folded.changed .sign").all_text_contents()
    assert all(re.fullmatch(r"~\d+", it) for it in signs)
    assert sum(int(it[1:]) for it in signs) >= count / 2


def test_stepping_marks_the_group_that_a_rewrite_changed(layer: Any) -> None:
    number, count = steps_of(layer)
    set_state(layer, stage="passes", folding="module", step=0, **{"pass": number})
    assert layer.locator(".node.changed, .node.added, .node.removed").count() == 0
    places = places_of_groups(layer)
    for step in range(1, min(count, 8)):
        layer.get_by_role("button", name="Next rewrite").click()
        assert state(layer)["step"] == step
        marked = layer.locator(".node.changed, .node.added, .node.removed")
        assert 1 <= marked.count() <= 12, step
    assert len(places & places_of_groups(layer)) >= len(places) - 1 > 3


def test_a_group_of_a_pass_opens(layer: Any) -> None:
    number, _ = steps_of(layer)
    set_state(layer, stage="passes", folding="module", step=-1, **{"pass": number})
    press(layer, " ")
    click_node(layer, "perceptron / linear")
    before = layer.locator(".node").count()
    press(layer, "Enter")
    assert layer.locator(".group text").first.text_content() == "perceptron / linear"
    assert layer.locator(".node").count() > before
    press(layer, "s")
    assert state(layer)["only"] == []


def test_only_the_neighbours_and_more_of_them(page: Any) -> None:
    click_node(page, "maximum")
    press(page, "s")
    assert page.locator(".node").count() == 4
    assert "4 of 33 nodes shown" in status(page)
    hidden = page.locator(".node .sign").all_text_contents()
    assert hidden and all(it.startswith("+") for it in hidden)
    click_node(page, "add")
    assert page.get_by_role("button", name="More neighbours").is_enabled()
    press(page, "s")
    assert page.locator(".node").count() > 4
    page.get_by_role("button", name="Show all").click()
    press(page, " ")
    page.wait_for_function("document.querySelectorAll('.node').length === 33")
    assert state(page)["only"] == []


def test_costs_are_numbers_bars_and_words(page: Any) -> None:
    choose(page, "Cost laid over the graph", "bytes")
    assert "bytes moved per kernel" in status(page) and "full bar = " in status(page)
    assert page.locator(".cost-bar").count() == page.locator(".node .cost").count() > 3
    widths = [float(it.get_attribute("width")) for it in page.locator(".cost-bar").all()]
    tracks = [float(it.get_attribute("width")) for it in page.locator(".cost-track").all()]
    full = max(bar / track for bar, track in zip(widths, tracks, strict=True))
    assert full == pytest.approx(1)
    choose(page, "Cost laid over the graph", "")
    assert page.locator(".cost-bar").count() == 0


@pytest.mark.parametrize("folding", ["none", "module", "kernel", "pass"])
def test_folding_keeps_the_sum_of_costs(layer: Any, folding: str) -> None:
    set_state(layer, overlay="ns", folding="none")
    sums = [status(layer).rpartition(", ")[2]]
    set_state(layer, folding=folding)
    sums.append(status(layer).rpartition(", ")[2])
    assert sums[0].endswith("in all") and sums[0] == sums[1]


def test_search_by_field(page: Any) -> None:
    for words, hits in (("op:reduce", 5), ("op:reduce shape:64", 5), ("op:buffer name:w1", 1),
                        ("name:nothing", 0)):  # fmt: skip
        page.get_by_label("Search", exact=True).fill(words)
        assert page.locator(".hits").inner_text() == f"{hits} found", words
    page.get_by_label("Search", exact=True).fill("line:11")
    assert page.locator(".node.found").count() > 3


def test_search_looks_into_folded_groups(layer: Any) -> None:
    set_state(layer, folding="module")
    layer.get_by_label("Search", exact=True).fill("op:buffer name:layer0.attention.q.weight")
    assert layer.locator(".hits").inner_text() == "1 found"
    assert layer.locator(".node.found.folded").count() == 1


def test_ten_thousand_nodes_open_folded(open_page: Open, tmp_path: Path) -> None:
    Explorer(large(10_000)).export_html(tmp_path / "large.html")
    page = open_page(tmp_path / "large.html")
    assert "0 of 10,000 nodes shown, 10,000 folded into 60 groups" in status(page)
    set_state(page, selected="graph:5000")
    press(page, "Enter")
    assert page.locator(".node.selected").count() == 1
    choose(page, "Fold the graph by", "none")
    press(page, " ")
    page.wait_for_timeout(100)
    assert "0 of 10,000 with labels" in status(page)
    page.get_by_label("Zoom in").click()
    page.wait_for_timeout(100)
    assert page.locator(".minimap").is_visible()
    assert page.locator(".node").count() <= 900


def test_a_hundred_thousand_nodes_say_what_is_left_out(open_page: Open, tmp_path: Path) -> None:
    Explorer(large(100_000)).export_html(tmp_path / "huge.html")
    page = open_page(tmp_path / "huge.html")
    assert "The graph has 100,000 nodes; up to 12,000 are drawn. Here are" in status(page)
    assert 5 < page.locator(".node").count() <= 240
    assert "417 nodes: add ×417" in page.locator(".node .detail").all_text_contents()
    set_state(page, selected="graph:50000")
    (title,) = page.locator(".node.selected .title").all_text_contents()
    first, last = (int(it.replace(",", "")) for it in re.findall(r"[\d,]+", title))
    assert 49_000 < first < last < 51_000
    number = page.locator(".node.selected").get_attribute("data-entity")
    page.evaluate("(it) => window.svodviz.model.set('state', {view: 'text', selected: "
                  "window.svodviz.model.get('wire').entities[it]})", int(number))  # fmt: skip
    assert page.locator(".line.related").count() > 20


SENDING = (
    ("save_changes: () => {},", "save_changes: () => {}, send: (it) => window.toPython(it),"),
    ("const model = {", "window.listeners = listeners;\nconst model = {"),
)
_TELL = "(it) => window.listeners.get('msg:custom').forEach((listener) => listener(it))"


@pytest.fixture
def live(chromium: Any, layer_page: Path, tmp_path: Path) -> Iterator[Any]:
    """The layer's page with Python behind it, as in a notebook whose kernel is there."""
    text = layer_page.read_text()
    for plain, sending in SENDING:
        assert text.count(plain) == 1
        text = text.replace(plain, sending)
    (tmp_path / "live.html").write_text(text)
    page = chromium.new_page(viewport={"width": 1400, "height": 800})

    def answer(content: Any) -> None:
        sent: list[Any] = []
        respond(None, content, sent.append)
        page.evaluate("([tell, all]) => setTimeout(() => all.forEach(eval(tell)), 0)",
                      [_TELL, sent])  # fmt: skip

    page.expose_function("toPython", answer)
    page.goto((tmp_path / "live.html").as_uri())
    page.wait_for_selector(READY)
    yield page
    page.close()


def test_graphviz_tidies_what_the_page_laid_out(live: Any) -> None:
    set_state(live, folding="module")
    assert "laid out in" in status(live) and "by the page" in status(live)
    live.get_by_role("button", name="tidy").click()
    live.wait_for_function(
        "document.querySelector('.status-text').textContent.includes('by Graphviz dot')")
    assert live.get_by_role("button", name="tidy").count() == 0
    before = live.locator(".node.folded").count()
    set_state(live, folding="kernel")
    assert "by the page" in status(live) and before > 3


def test_a_layout_can_be_stopped(
    live: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(layout_jobs, "WORKER", slow)
    set_state(live, folding="kernel")
    live.get_by_role("button", name="tidy").click()
    live.get_by_role("button", name="stop").wait_for()
    (job,) = layout_jobs._JOBS.values()
    live.get_by_role("button", name="stop").click()
    live.wait_for_function("document.querySelector('.tidy-words').textContent === 'stopped'")
    assert job.process.wait(timeout=5) != 0
    assert "by the page" in status(live)


def test_a_layout_that_takes_too_long_leaves_the_pages_own(
    live: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(layout_jobs, "WORKER", slow)
    monkeypatch.setattr(layout_jobs, "SECONDS_ALLOWED", 1.0)
    set_state(live, folding="kernel")
    live.get_by_role("button", name="tidy").click()
    live.wait_for_function(
        "document.querySelector('.tidy-words').textContent === 'no layout within 1 s'")
    assert not layout_jobs._JOBS
    assert "by the page" in status(live) and live.locator(".node.folded").count() > 3
    assert live.get_by_role("button", name="tidy").is_visible()


@pytest.mark.parametrize(("state", "words"), [
    ({"folding": "colour"}, "folding"), ({"overlay": "age"}, "overlay"),
    ({"only": ["graph:none"]}, "only"),
])  # fmt: skip
def test_states_that_cannot_be_are_refused(state: dict[str, Any], words: str) -> None:
    from traitlets import TraitError

    from tests.svodviz.sample import sample

    with pytest.raises(TraitError, match=words):
        Explorer(sample(), **state)
