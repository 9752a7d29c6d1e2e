"""Pages under other circumstances: dark, narrow, large, hostile, broken, or two at once."""

from pathlib import Path
from typing import Any

import pytest

from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import Exported, Open
from tests.svodviz.page.test_page import set_state, state
from tests.svodviz.sample import hostile, sample

pytestmark = pytest.mark.browser


def test_light_and_dark(open_page: Open, sample_page: Path) -> None:
    page = open_page(sample_page, scheme="dark")
    root = page.locator(".svodviz")
    ground = "(it) => getComputedStyle(it).backgroundColor"
    assert root.get_attribute("data-theme") == "dark"
    dark = root.evaluate(ground)
    page.locator(".theme-toggle").click()
    assert root.get_attribute("data-theme") == "light"
    assert root.evaluate(ground) != dark
    page.locator(".theme-toggle").click()
    page.evaluate("document.body.dataset.jpThemeLight = 'true'")
    assert root.get_attribute("data-theme") == "dark"  # the button outweighs the surroundings


def test_jupyters_theme_is_followed(page: Any) -> None:
    root = page.locator(".svodviz")
    for value, theme in (("false", "dark"), ("true", "light")):
        page.evaluate(f"document.body.dataset.jpThemeLight = '{value}'")
        page.wait_for_function(f"document.querySelector('.svodviz').dataset.theme === '{theme}'")
    assert root.get_attribute("data-theme") == "light"


@pytest.mark.parametrize("width", [700, 900, 1100, 1600])
@pytest.mark.parametrize("view", ["graph", "columns", "timeline", "memory", "fusion"])
def test_nothing_sticks_out(open_page: Open, rich_page: Path, width: int, view: str) -> None:
    page = open_page(rich_page, width=width)
    set_state(page, stage="schedule", view=view, selected="schedule:1")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    inspector = page.locator(".inspector").bounding_box()
    centre = page.locator(".centre").bounding_box()
    assert centre["width"] >= 400
    is_below = inspector["y"] >= centre["y"] + centre["height"] - 1
    assert is_below == (width < 980)
    cut = page.locator(".stage-label").evaluate_all(
        "(all) => all.filter((it) => it.scrollWidth > it.clientWidth + 1).length"
    )
    assert cut == 0


def test_the_drawer_folds(open_page: Open, sample_page: Path) -> None:
    page = open_page(sample_page, width=700)
    before = page.locator(".pane").bounding_box()["height"]
    page.locator(".inspector-toggle").click()
    assert page.locator(".pane").bounding_box()["height"] > before + 100


def test_a_missing_stage_is_explained(open_page: Open, tmp_path: Path) -> None:
    class Failing:
        def __getattr__(self, name: str) -> Any:
            if name == "assembly":
                raise RuntimeError("no target <b>x</b>")
            return getattr(sample(), name)

    Explorer(Failing()).export_html(tmp_path / "missing.html")
    page = open_page(tmp_path / "missing.html")
    entry = page.locator('[data-stage="asm"].stage')
    assert "missing" in entry.inner_text()
    assert entry.get_attribute("title") == "RuntimeError: no target <b>x</b>"
    assert "RuntimeError: no target <b>x</b>" in page.locator(".inspector").inner_text()


def test_state_set_from_outside_is_made_possible(page: Any) -> None:
    set_state(page, stage="nowhere", step=99, **{"pass": -4}, selected="graph:999", columns=[1])
    assert state(page)["stage"] == "graph"
    assert state(page)["columns"] == ["source", "loops", "asm"]
    assert state(page)["selected"] == ""


def test_the_page_opens_where_it_was_left(open_page: Open, tmp_path: Path) -> None:
    explorer = Explorer(sample(), stage="lowered", unit=2, view="text", selected="lowered:k2:3")
    explorer.export_html(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    assert explorer.state.items() <= state(page).items()
    assert page.locator(".line.selected").count() == 1


def test_several_explorers_on_one_page(open_page: Open, sample_page: Path) -> None:
    page = open_page(sample_page)
    page.evaluate("""async () => {
        const script = [...document.scripts].at(-1).textContent;
        const loader = script.slice(0, script.indexOf('const textOf'));
        const { render } = await import(URL.createObjectURL(
            new Blob([`${loader}export { render };`], { type: 'text/javascript' })));
        const values = { wire: structuredClone(window.svodviz.model.get('wire')), state: {} };
        window.second = { get: (it) => values[it], set: (it, to) => { values[it] = to; },
            save_changes() {}, on() {}, off() {} };
        const el = document.createElement('div');
        document.body.append(el);
        await render({ model: window.second, el });
    }""")
    assert page.locator(".svodviz").count() == 2
    second = page.locator(".svodviz").nth(1)
    second.locator(".stage", has_text="Kernels").click()
    assert page.evaluate("window.second.get('state').stage") == "kernels"
    assert state(page)["stage"] == "graph"
    assert page.evaluate("document.querySelectorAll('[id]').length") == 0


HOSTILE_VIEWS = [
    *((stage, view) for view in ("graph", "text", "columns")
      for stage in ("source", "graph", "passes", "kernels", "schedule", "loops")),
    *(("schedule", view) for view in ("timeline", "memory", "fusion")),
]  # fmt: skip


@pytest.mark.parametrize(("stage", "view"), HOSTILE_VIEWS)
def test_hostile_names_stay_words(
    open_page: Open, hostile_page: Path, stage: str, view: str
) -> None:
    page = open_page(hostile_page)
    chosen = {"memory": "schedule:buffer 1", "fusion": "schedule:fusion 0",
              "timeline": "schedule:0"}  # fmt: skip
    set_state(page, stage=stage, view=view, selected=chosen.get(view, "graph:2"))
    if stage == "schedule":
        assert state(page)["view"] == view
    page.wait_for_timeout(30)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, .pane script, svg [onload]").count() == 0
    assert "</script><img src=x onerror=window.hacked=1>" in page.locator("body").inner_text()


@pytest.fixture(scope="session")
def hostile_page(exported: Exported) -> Path:
    return exported(Explorer(hostile()))
