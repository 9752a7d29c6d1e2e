"""Every key of the explorer, on the page: what it does, that it is listed, and where it acts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svodviz.foundation.stages import USUAL
from tests.svodviz.conftest import Open
from tests.svodviz.page.test_page import set_state, state

pytestmark = pytest.mark.browser
NUMBERED = [row.id for row in USUAL if not row.asked][:10]
PASSES = {"stage": "passes", "view": "graph"}
# A key, the state it is pressed in, and the state it leads to.
MOVES = (
    ("ArrowDown", {"pass": 0}, {**PASSES, "pass": 1}),
    ("ArrowUp", {"pass": 2}, {**PASSES, "pass": 1}),
    ("ArrowUp", {"pass": 0}, {"pass": 0}),
    ("ArrowRight", {"stage": "passes", "pass": 2, "step": 0}, {**PASSES, "pass": 2, "step": 1}),
    ("ArrowLeft", {"stage": "passes", "pass": 2, "step": 3}, {**PASSES, "pass": 2, "step": 2}),
    ("n", {"pass": 0}, {**PASSES, "pass": 2}),
    ("p", {"pass": 2}, {**PASSES, "pass": 0}),
    *((str((place + 1) % 10), {"stage": "graph"}, {"stage": stage})
      for place, stage in enumerate(NUMBERED)),
    ("g", {"stage": "graph", "view": "graph"}, {"view": "text"}),
    ("g", {"stage": "graph", "view": "text"}, {"view": "graph"}),
    ("t", {"stage": "graph"}, {"view": "columns"}),
    ("Shift+I", {"selected": "graph:15"}, {"selected": "graph:13"}),
    ("Shift+O", {"selected": "graph:13"}, {"selected": "graph:15"}),
    ("Escape", {"selected": "graph:13"}, {"selected": ""}),
)  # fmt: skip
LISTED = {"↑", "↓", "←", "→", "f", "n", "p", "l", "1 … 0", "Enter", "Space", "/", "i", "o", "s",
          "h", "g", "c", "Esc", "?"}  # fmt: skip
OUTSIDE = """() => {
    const field = document.createElement("input");
    document.body.append(field);
    field.focus();
}"""
IN_VIEW = """(all) => all.every((it) => {
    const area = document.querySelector(".graph").getBoundingClientRect();
    const box = it.getBoundingClientRect();
    return box.left >= area.left - 1 && box.right <= area.right + 1
        && box.top >= area.top - 1 && box.bottom <= area.bottom + 1;
})"""


def press(page: Any, key: str) -> None:
    page.locator(".svodviz").focus()
    page.keyboard.press(key)
    page.evaluate("new Promise((it) => requestAnimationFrame(() => requestAnimationFrame(it)))")


@pytest.mark.parametrize(("key", "before", "after"), MOVES)
def test_a_key_leads_to_a_state(
    page: Any, key: str, before: dict[str, Any], after: dict[str, Any]
) -> None:
    set_state(page, **before)
    press(page, key)
    assert after.items() <= state(page).items()


@pytest.mark.parametrize(("key", "stage"), [("l", "llvm_passes"), ("m", "run")])
def test_a_key_leads_to_what_is_made_on_demand(
    open_page: Open, compiled_page: Path, key: str, stage: str
) -> None:
    page = open_page(compiled_page)
    press(page, key)
    assert state(page)["stage"] == stage


def test_space_fits_everything(page: Any) -> None:
    for _ in range(5):
        page.get_by_label("Zoom in").click()
    page.wait_for_timeout(60)
    assert not page.locator(".node").evaluate_all(IN_VIEW)
    press(page, " ")
    assert page.locator(".node").count() == 33
    assert page.locator(".node").evaluate_all(IN_VIEW)


def test_enter_opens_the_group_and_folds_it(page: Any) -> None:
    set_state(page, folding="kernel", selected="graph:15")
    assert page.locator(".node.selected.folded").count() == 1
    press(page, "Enter")
    assert page.locator(".node.selected:not(.folded)").count() == 1
    press(page, "Enter")
    assert page.locator(".node.selected.folded").count() == 1


def test_enter_and_s_leave_a_graph_that_is_not_shown_alone(page: Any) -> None:
    set_state(page, folding="kernel", selected="graph:15", view="text")
    for key in ("Enter", "s", "i", "o"):
        press(page, key)
    assert (state(page)["open"], state(page)["only"]) == ([], [])


def test_slash_goes_to_the_search(page: Any) -> None:
    press(page, "/")
    assert page.evaluate("document.activeElement.className") == "search"


@pytest.mark.parametrize(("key", "names"), [("i", {"add", "const"}), ("o", {"reshape"})])
def test_i_and_o_reveal_what_is_folded(page: Any, key: str, names: set[str]) -> None:
    set_state(page, folding="kernel", selected="graph:15")
    press(page, key)
    near = page.locator(".node.near:not(.folded)")
    titles = {it.split("\n")[0] for it in near.locator("title").all_text_contents()}
    assert {*names, "maximum"} <= titles
    assert state(page)["selected"] == "graph:15"
    for name in names:
        assert near.filter(has_text=name).evaluate_all(IN_VIEW), name


def test_i_brings_inputs_back_into_view(page: Any) -> None:
    set_state(page, selected="graph:15")
    for _ in range(7):
        page.get_by_label("Zoom in").click()
    page.wait_for_timeout(60)
    assert not page.locator(".node.near").evaluate_all(IN_VIEW)
    press(page, "i")
    inputs = page.locator(".node.near, .node.selected").filter(has_text="add")
    assert inputs.count() >= 1 and inputs.evaluate_all(IN_VIEW)


def test_o_widens_a_part_of_the_graph(page: Any) -> None:
    set_state(page, selected="graph:13", only=["graph:13"])
    shown = page.locator(".node").count()
    set_state(page, selected="graph:15")
    press(page, "o")
    assert state(page)["only"] == ["graph:13", "graph:15"]
    assert page.locator(".node").count() > shown


def test_s_shows_only_the_selection(page: Any) -> None:
    set_state(page, selected="graph:15")
    press(page, "s")
    assert state(page)["only"] == ["graph:15"]
    assert page.locator(".node").count() == 4
    press(page, "s")
    press(page, " ")
    assert page.locator(".node").count() == 33


def test_h_opens_the_lineage(open_page: Open, sample_page: Path) -> None:
    page = open_page(sample_page, width=700)
    set_state(page, selected="graph:13")
    page.locator(".inspector-toggle").click()
    assert not page.locator(".lineage").is_visible()
    press(page, "h")
    box = page.locator(".lineage").bounding_box()
    sheet = page.locator(".inspector-body").bounding_box()
    assert sheet["y"] <= box["y"] + 1 < sheet["y"] + sheet["height"]


def test_c_leaves_only_the_critical_path(page: Any) -> None:
    set_state(page, stage="schedule", view="timeline")
    press(page, "c")
    dim = page.locator(".item.far")
    assert dim.count() == page.locator(".item:not(.critical)").count() == 1
    press(page, "c")
    assert page.locator(".item.far").count() == 0


def test_escape_clears_the_search_too(page: Any) -> None:
    page.get_by_label("Search", exact=True).fill("reduce")
    assert page.locator(".node.found").count() == 5
    page.keyboard.press("Escape")
    assert page.locator(".node.found").count() == 0
    assert page.get_by_label("Search", exact=True).input_value() == ""


def test_the_list_has_every_key(page: Any) -> None:
    press(page, "?")
    listed = set(page.locator(".key-page kbd").all_inner_texts())
    assert listed >= LISTED
    assert page.locator(".key-page dd").count() == page.locator(".key-page kbd").count()
    press(page, "?")
    assert not page.get_by_role("dialog").is_visible()


Focus = Callable[[Any], None]


@pytest.mark.parametrize("focus", [
    lambda page: page.evaluate("document.activeElement.blur()"),
    lambda page: page.evaluate(OUTSIDE),
    lambda page: page.get_by_label("Filter passes").focus(),
], ids=["nothing", "a field of the page", "a field of ours"])  # fmt: skip
def test_keys_act_only_with_the_focus(page: Any, focus: Focus) -> None:
    set_state(page, stage="passes", **{"pass": 2, "step": 1}, selected="graph:13")
    before = state(page)
    focus(page)
    for key in ("5", "g", "t", "f", "r", "s", "i", "o", "h", "c", "p", "?", "ArrowDown"):
        page.keyboard.press(key)
    assert state(page) == before
    assert not page.get_by_role("dialog").is_visible()


def test_other_programs_keep_their_combinations(page: Any) -> None:
    before = state(page)
    for key in ("Control+5", "Alt+g", "Meta+f"):
        press(page, key)
    assert state(page) == before


def test_the_focus_survives_a_click_on_a_tab(page: Any) -> None:
    for stage in ("graph", "schedule", "loops"):
        set_state(page, stage=stage)
        tabs = page.locator(".tools .segmented button")
        for number in range(tabs.count()):
            tabs.nth(number).click()
            focused = page.evaluate("document.activeElement.dataset.view")
            assert focused == tabs.nth(number).get_attribute("data-view")
            press(page, "?")
            assert page.get_by_role("dialog").is_visible()
            press(page, "?")


def test_a_page_of_its_own_has_the_focus_on_load(page: Any, sample_page: Path) -> None:
    page.goto(sample_page.as_uri())
    page.wait_for_selector(".svodviz[data-ready=true]")
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()


def test_keys_are_listed_by_task(page: Any) -> None:
    press(page, "?")
    tasks = page.locator(".key-page h4").all_inner_texts()
    assert tasks == ["Stages and views", "Step through passes", "Search and select", "Graph",
                     "Timeline", "Help"]  # fmt: skip
    assert "next rewrite" in page.locator(".key-page section").nth(1).inner_text()
