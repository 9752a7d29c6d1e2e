"""How a reader divides the room: panels, the bar and its menu, the whole screen, keys, paper."""

from pathlib import Path
from typing import Any

import pytest

from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import Open
from tests.svodviz.page.test_page import set_state, state
from tests.svodviz.sample import sample

pytestmark = pytest.mark.browser

SIZES = {"passes": "Size of the list of passes", "inspector": "Size of the inspector"}
ACTIVE = """() => {
    const at = document.activeElement;
    return [at.className, Boolean(at.closest(".pane"))];
}"""


def width(page: Any, panel: str) -> float:
    return float(page.locator(f".{panel}").bounding_box()["width"])


@pytest.mark.parametrize(("panel", "wider"), [("passes", 1), ("inspector", -1)])
def test_panels_are_resized_by_the_pointer_and_by_keys(page: Any, panel: str, wider: int) -> None:
    before = width(page, panel)
    line = page.get_by_label(SIZES[panel])
    box = line.bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 3 + 60 * wider, box["y"] + 200, steps=4)
    page.mouse.up()
    dragged = width(page, panel)
    assert dragged - before == pytest.approx(60, abs=5)
    line.focus()
    page.keyboard.press("ArrowRight" if wider > 0 else "ArrowLeft")
    assert width(page, panel) - dragged == pytest.approx(16, abs=1)
    assert int(line.get_attribute("aria-valuenow")) == round(width(page, panel))
    page.keyboard.press("Home")
    assert width(page, panel) == int(line.get_attribute("aria-valuemin"))
    line.dblclick()
    assert width(page, panel) == pytest.approx(before, abs=1)


@pytest.mark.parametrize("panel", ["passes", "inspector"])
def test_panels_close_and_open(page: Any, panel: str) -> None:
    centre = page.locator(".centre")
    before = centre.bounding_box()["width"]
    page.get_by_label(SIZES[panel]).focus()
    page.keyboard.press("Enter")
    assert state(page)["panels"] == {panel: False}
    assert centre.bounding_box()["width"] > before + 120
    toggle = page.locator(f".{panel} .panel-toggle")
    assert toggle.get_attribute("aria-expanded") == "false"
    assert toggle.evaluate("(it) => it === document.activeElement")
    page.keyboard.press("Enter")
    assert centre.bounding_box()["width"] == before


def test_a_panel_made_very_small_closes(page: Any) -> None:
    box = page.get_by_label(SIZES["passes"]).bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(8, box["y"] + 200, steps=4)
    page.mouse.up()
    assert state(page)["panels"] == {"passes": False}


def test_the_next_page_remembers_panels(open_page: Open, sample_page: Path) -> None:
    page = open_page(sample_page, is_kept=False)
    page.get_by_label(SIZES["inspector"]).focus()
    page.keyboard.press("End")
    page.locator(".passes .panel-toggle").click()
    kept = width(page, "inspector")
    page.reload()
    page.wait_for_selector(".svodviz[data-ready=true]")
    assert width(page, "inspector") == kept
    assert page.locator(".passes .panel-toggle").get_attribute("aria-expanded") == "false"


def test_the_next_page_remembers_light_and_columns(open_page: Open, sample_page: Path) -> None:
    page = open_page(sample_page, is_kept=False)
    page.locator(".theme-toggle").click()
    set_state(page, stage="loops", view="columns", columns=["loops", "asm"], shares=[1, 2])
    page.reload()
    page.wait_for_selector(".svodviz[data-ready=true]")
    assert page.locator(".svodviz").get_attribute("data-theme") == "dark"
    assert (state(page)["columns"], state(page)["shares"]) == (["loops", "asm"], [1, 2])


def test_a_widget_has_the_room_in_its_state(open_page: Open, tmp_path: Path) -> None:
    explorer = Explorer(sample(), view="columns", columns=["source", "asm"], shares=[1.0, 3.0],
                        panels={"inspector": False}, sizes={"passes": 300.0})  # fmt: skip
    explorer.export_html(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    assert explorer.state.items() <= state(page).items()
    first, second = (it.bounding_box()["width"] for it in page.locator(".column").all())
    assert second / first == pytest.approx(3, rel=0.02)
    assert not page.locator(".inspector-body").is_visible()
    set_state(page, stage="passes", view="graph")
    assert width(page, "passes") == 300


def test_what_does_not_fit_is_in_a_menu(open_page: Open, sample_page: Path) -> None:
    page = open_page(sample_page, width=390)
    set_state(page, stage="schedule", view="timeline")
    more = page.get_by_role("button", name="More tools")
    assert not page.get_by_role("button", name="Keys").is_visible()
    more.click()
    assert more.get_attribute("aria-expanded") == "true"
    page.get_by_role("button", name="Keys").click()
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("k1")
    assert page.locator(".hits").inner_text().endswith("found")
    page.keyboard.press("Escape")
    assert not page.locator(".more-menu").is_visible()
    page.set_viewport_size({"width": 1400, "height": 800})
    page.locator(".tools > .search").wait_for()
    assert not more.is_visible()


def test_f_takes_the_whole_screen(open_page: Open, sample_page: Path) -> None:
    page = open_page(sample_page, is_kept=False)
    page.locator(".svodviz").focus()
    page.keyboard.press("f")
    page.wait_for_function("document.fullscreenElement?.matches('.svodviz[data-whole]')")
    page.keyboard.press("f")
    page.wait_for_function("!document.fullscreenElement")
    page.get_by_label("Full page").click()
    page.wait_for_function("document.fullscreenElement")
    page.keyboard.press("Escape")
    page.wait_for_function("!document.fullscreenElement")
    page.wait_for_function("!document.querySelector('.svodviz[data-whole]')")


def test_few_stops_before_the_centre(page: Any) -> None:
    set_state(page, stage="passes", **{"pass": 2, "step": 1})
    page.locator(".svodviz").focus()
    stops = []
    while not stops or not stops[-1][1]:
        page.keyboard.press("Tab")
        stops.append(page.evaluate(ACTIVE))
        assert len(stops) < 16, stops
    assert stops[0][0] == "skip"


def test_the_first_stop_skips_to_the_view(page: Any) -> None:
    page.locator(".svodviz").focus()
    page.keyboard.press("Tab")
    skip = page.get_by_role("button", name="Skip to the view")
    assert skip.bounding_box()["width"] > 60, "it is seen while it has the focus"
    page.keyboard.press("Enter")
    assert page.evaluate(ACTIVE)[1]


def test_arrows_lead_from_stage_to_stage(page: Any) -> None:
    page.locator(".svodviz").focus()
    for _ in range(2):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.stage") == "graph", "the chosen one"
    before = state(page)
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.dataset.stage") == "passes"
    assert state(page) == before, "arrows in a region step through no pass"
    page.keyboard.press("Enter")
    assert state(page)["stage"] == "passes"
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.dataset.stage") == "asm", "the last on offer"


def test_who_came_by_the_pointer_steps_by_arrows(page: Any) -> None:
    page.locator('.stage[data-stage="passes"]').click()
    page.locator('.pass[data-pass="2"]').click()
    page.keyboard.press("ArrowRight")
    assert (state(page)["pass"], state(page)["step"]) == (2, 0)


def test_the_card_of_a_step_is_first_in_the_inspector(page: Any) -> None:
    set_state(page, stage="passes", **{"pass": 2, "step": 1})
    card, body = page.locator(".rule-card"), page.locator(".inspector-body")
    assert card.bounding_box()["y"] - body.bounding_box()["y"] < 20
    assert "expand(reshape(x)) = view(x)" in card.inner_text()
    set_state(page, selected="graph:13")
    head = page.locator(".inspector-head").bounding_box()
    assert head["y"] < body.bounding_box()["y"] + body.bounding_box()["height"], "in view at once"
    page.keyboard.press("Escape")
    set_state(page, step=2)
    assert body.evaluate("(it) => it.scrollTop") == 0


def test_nothing_moves_for_who_does_not_want_it(page: Any) -> None:
    set_state(page, stage="passes", **{"pass": 2, "step": 1})
    moving = "(it) => getComputedStyle(it).animationName"
    assert page.locator(".node.added").first.evaluate(moving) == "svodviz-appear"
    page.emulate_media(reduced_motion="reduce")
    assert page.locator(".node.added").first.evaluate(moving) == "none"
    page.emulate_media(reduced_motion="no-preference")


def test_paper_is_light_and_has_all_lines(open_page: Open, sample_page: Path) -> None:
    page = open_page(sample_page, scheme="dark")
    set_state(page, stage="asm", view="text", selected="graph:13")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".svodviz").get_attribute("data-theme") == "light"
    for part in (".tools", ".passes", ".panel-toggle >> nth=0"):
        assert not page.locator(part).is_visible()
    lines, pane = page.locator(".lines").bounding_box(), page.locator(".pane").bounding_box()
    assert pane["height"] >= lines["height"], "no line is cut off"
    sheet, paper = page.locator(".inspector-sheet"), page.locator(".svodviz")
    end = sheet.bounding_box()["y"] + sheet.bounding_box()["height"]
    assert end <= paper.bounding_box()["y"] + paper.bounding_box()["height"] + 1
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator(".svodviz").get_attribute("data-theme") == "dark"
    page.emulate_media(media="screen")
