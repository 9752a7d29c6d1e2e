"""Explorers in a real JupyterLab: linked, driven by keys, followed from Python and in Python."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.svodviz.jupyter.conftest import Open
from tests.svodviz.lab import Shown

pytestmark = pytest.mark.browser

CELLS = (
    "import svodviz\nfrom tests.svodviz.sample import sample\n"
    "first = svodviz.explore(sample())\nfirst",
    "second = svodviz.explore(sample('second.py'))\nsecond",
    "for it in first, second:\n    print(it.state['selected'] or '-', it.state['stage'], end=' ')",
    "first.state = {'stage': 'graph', 'selected': 'graph:13'}",
    "",
)
FIRST, SECOND, TELL, SELECT, EMPTY = range(len(CELLS))
# Whether a line of what is selected is seen in each of the three columns.
SEEN = """(root) => [...root.querySelectorAll('.column')].map((column) => {
    const pane = column.querySelector('.text-pane').getBoundingClientRect();
    return [...column.querySelectorAll('.line.related, .line.selected')].some((line) => {
        const box = line.getBoundingClientRect();
        return box.top >= pane.top && box.bottom <= pane.bottom;
    });
})"""
SCROLLED = """(root) => [...root.querySelectorAll('.text-pane')].map((it) => it.scrollTop)"""
NOTEBOOK = """() => {
    const { content } = window.jupyterapp.shell.currentWidget;
    const cells = content.widgets.map(({ model }) => [model.type, model.sharedModel.source]);
    return { cells, at: content.activeCellIndex, mode: content.mode };
}"""
WIDE = """(root) => {
    const all = [root, root.querySelector('.centre'), root.closest('.jp-OutputArea')];
    return all.map((it) => it.scrollWidth - it.clientWidth);
}"""


@pytest.fixture(scope="module")
def lab(notebook: Open) -> Iterator[Shown]:
    """A notebook with two explorers."""
    with notebook("explorers.ipynb", CELLS) as shown:
        shown.show(FIRST)
        shown.show(SECOND)
        yield shown


@pytest.fixture
def first(lab: Shown) -> Any:
    """The first explorer, in view, as it opened."""
    return reset(lab, FIRST)


def reset(lab: Shown, number: int) -> Any:
    """An explorer with nothing selected and all of its graph in view; it has the focus."""
    root = lab.widget(number)
    root.focus()
    lab.page.keyboard.press("Escape")
    root.locator('.stage[data-stage="graph"]').click()
    root.locator('[data-view="graph"]').click()
    root.focus()
    lab.page.keyboard.press(" ")
    return root


def test_a_click_lights_the_other_columns(lab: Shown, first: Any) -> None:
    first.locator(".node", has_text="maximum").first.click()
    assert first.locator(".node.selected").count() == 1
    lab.page.keyboard.press("t")
    lab.wait(f"(root) => ({SEEN})(root).join() === 'true,true,true'", first.element_handle())
    before = first.evaluate(SCROLLED)
    first.locator(".column").first.locator(".line", has_text="total = x.sum").click()
    lab.wait(f"(root) => ({SEEN})(root).join() === 'true,true,true'", first.element_handle())
    assert first.locator(".line.selected").count() == 1
    assert first.evaluate(SCROLLED)[2] > before[2] + 100


def test_keys_step_through_passes(lab: Shown, first: Any) -> None:
    position = first.locator(".position")
    for key, words in (("n", "in all"), ("ArrowRight", "before 1 of"),
                       ("ArrowRight", "after 1 of")):  # fmt: skip
        lab.page.keyboard.press(key)
        position.filter(has_text=words).wait_for()
    assert first.locator(".node[data-mark=added]").count() >= 1
    chosen = first.locator('.pass[aria-current="true"]').inner_text()
    lab.page.keyboard.press("ArrowDown")
    assert first.locator('.pass[aria-current="true"]').inner_text() != chosen


def test_a_slash_searches(lab: Shown, first: Any) -> None:
    lab.page.keyboard.press("/")
    lab.page.keyboard.type("exp")
    assert first.locator(".search").input_value() == "exp"
    hits = first.locator(".hits")
    assert hits.inner_text().endswith(" found")
    lab.page.keyboard.press("Enter")
    assert hits.inner_text().startswith("1 of ")
    assert "exp" in first.locator(".inspector-head").inner_text()
    lab.page.keyboard.press("Escape")
    assert first.locator(".search").input_value() == ""


def test_page_and_python_follow_each_other(lab: Shown, first: Any) -> None:
    reset(lab, SECOND)
    lab.run(SELECT)
    first.locator(".inspector .entity", has_text="graph:13").wait_for()
    assert first.locator(".node.selected").count() == 1
    first.locator('.stage[data-stage="schedule"]').click()
    first.locator('.item[title*="k1"]').click()
    lab.run_until(TELL, "schedule:1 schedule - graph")


def test_explorers_of_one_page_are_independent(lab: Shown, first: Any) -> None:
    second = reset(lab, SECOND)
    lab.page.keyboard.press("n")
    second.locator(".position", has_text="in all").wait_for()
    assert first.get_attribute("data-stage") == "graph"
    reset(lab, FIRST)
    first.locator(".node", has_text="maximum").first.click()
    lab.page.keyboard.press("4")
    assert second.get_attribute("data-stage") == "passes"
    stage = first.get_attribute("data-stage")
    assert stage not in ("graph", "passes")
    lab.run_until(TELL, f"graph:15 {stage} - passes")


def test_keys_of_the_notebook_are_not_ours(lab: Shown, first: Any) -> None:
    before = lab.page.evaluate(NOTEBOOK)
    first.locator(".node").first.click()
    for key in "abxdd0izmyjk":
        lab.page.keyboard.press(key)
    for keys in ("Enter", "Shift+M", "Shift+L", "Escape"):
        lab.page.keyboard.press(keys)
    assert lab.page.evaluate(NOTEBOOK)["cells"] == before["cells"]
    first.locator(".search").focus()
    lab.page.keyboard.type("dd abx")
    assert lab.page.evaluate(NOTEBOOK)["cells"] == before["cells"]
    assert first.locator(".search").input_value() == "dd abx"
    # Its keys work while the notebook has the focus, so the above could have gone wrong.
    lab.cell(EMPTY).locator(".jp-InputPrompt").click()
    lab.page.keyboard.press("b")
    assert len(lab.page.evaluate(NOTEBOOK)["cells"]) == len(CELLS) + 1
    lab.page.keyboard.press("d")
    lab.page.keyboard.press("d")
    assert len(lab.page.evaluate(NOTEBOOK)["cells"]) == len(CELLS)


def test_what_is_typed_into_cells_is_not_ours(lab: Shown, first: Any) -> None:
    first.locator(".node").first.click()
    state = first.evaluate("(it) => ({ ...it.dataset })")
    lab.cell(EMPTY).locator(".cm-content").click()
    lab.page.keyboard.type("x = 1 / 2  # f r g ? 1 t h")
    assert lab.page.evaluate(NOTEBOOK)["cells"][EMPTY][1] == "x = 1 / 2  # f r g ? 1 t h"
    assert first.evaluate("(it) => ({ ...it.dataset })") == state
    assert first.locator(".key-page").is_hidden()
    lab.page.keyboard.press("Control+a")
    lab.page.keyboard.press("Delete")


def test_a_right_click_is_ours_in_the_view_and_the_notebooks_beside_it(
    lab: Shown, first: Any
) -> None:
    lab.page.keyboard.press("g")
    line = first.locator(".line.linked").nth(2)
    line.click(button="right")
    menu = first.locator(".copy-menu")
    menu.wait_for()
    assert lab.page.locator(".lm-Menu").count() == 0
    assert "Link to this place" not in menu.inner_text()
    menu.get_by_role("menuitem", name="This line: copy").click()
    first.locator(".announced").get_by_text("copied: This line").wait_for()
    first.locator(".status").click(button="right")
    lab.page.locator(".lm-Menu").wait_for()
    assert not menu.is_visible()
    lab.page.keyboard.press("Escape")


def test_the_theme_of_the_notebook_is_followed(lab: Shown, first: Any) -> None:
    assert first.get_attribute("data-theme") == "light"
    assert first.locator(".theme-toggle").count() == 0
    ground = "(it) => getComputedStyle(it).backgroundColor"
    light = first.evaluate(ground)
    try:
        lab.command("apputils:change-theme", theme="JupyterLab Dark")
        lab.page.locator(".svodviz[data-theme=dark]").nth(1).wait_for(state="attached")
        assert first.evaluate(ground) != light
    finally:
        lab.command("apputils:change-theme", theme="JupyterLab Light")
    lab.page.locator(".svodviz[data-theme=light]").nth(1).wait_for(state="attached")


def test_in_a_narrow_cell_the_inspector_is_a_drawer(lab: Shown, first: Any) -> None:
    width = first.bounding_box()["width"]
    lab.page.set_viewport_size({"width": int(1400 - width + 700), "height": 1000})
    try:
        lab.wait("(root) => root.clientWidth < 720", first.element_handle())
        for stage in ("graph", "schedule", "loops"):
            first.locator(f'.stage[data-stage="{stage}"]').click()
            assert first.evaluate(WIDE) == [0, 0, 0], stage
        inspector = first.locator(".inspector").bounding_box()
        centre = first.locator(".centre").bounding_box()
        assert inspector["y"] >= centre["y"] + centre["height"] - 1
        assert 640 < centre["width"] <= 700
    finally:
        lab.page.set_viewport_size({"width": 1400, "height": 1000})


def test_a_cleared_output_leaves_nothing_behind(lab: Shown) -> None:
    second = lab.show(SECOND)
    second.evaluate("(root) => { window.gone = new WeakRef(root); }")
    lab.command("notebook:clear-cell-output")
    assert lab.widget(SECOND).count() == 0
    tools = lab.page.context.new_cdp_session(lab.page)
    for _ in range(50):
        tools.send("HeapProfiler.collectGarbage")
        if lab.page.evaluate("window.gone.deref() === undefined"):
            break
    assert lab.page.evaluate("window.gone.deref() === undefined")
