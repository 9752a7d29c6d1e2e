"""The schedule in a browser: lanes, loops, dependencies, the memory map and fusions."""

import re
from pathlib import Path
from typing import Any

import pytest

from svodviz.widget.explorer import Explorer
from tests.svodviz import sample_schedule
from tests.svodviz.conftest import Open
from tests.svodviz.page.test_page import set_state, state, texts
from tests.svodviz.sample import sample
from tests.svodviz.sample_schedule import with_schedule

pytestmark = pytest.mark.browser


@pytest.fixture
def page(open_page: Open, rich_page: Path) -> Any:
    """The rich compilation's page, at its schedule."""
    found = open_page(rich_page)
    set_state(found, stage="schedule", view="timeline")
    found.wait_for_timeout(60)  # the legend may change the pane's size, which draws it anew
    return found


PLACES = """(all) => Object.fromEntries(all.map((it) => {
    const { left, right, top, bottom } = it.querySelector("rect").getBoundingClientRect();
    return [it.ariaLabel.split(",")[0], { left, right, top, bottom }];
}))"""


def item(page: Any, words: str) -> Any:
    return page.locator(f'.item[title^="{words}"]')


def legend(page: Any) -> str:
    return str(page.locator(".legend").inner_text())


def test_each_device_is_a_lane(page: Any) -> None:
    assert texts(page, ".lane-name") == ["CPU", "CPU:1", "host"]
    lanes = [it.bounding_box() for it in page.locator(".lane").all()]
    for words, lane in (("kernel mean", 0), ("kernel step, i = 1", 1), ("sync join", 2)):
        bar = item(page, words).bounding_box()
        assert lanes[lane]["y"] <= bar["y"] <= lanes[lane]["y"] + lanes[lane]["height"] - 20


def test_bars_differ_by_kind(page: Any) -> None:
    fill = "(it) => getComputedStyle(it).backgroundColor"
    fills = {item(page, words).locator(".bar").evaluate(fill)
             for words in ("kernel combine", "transfer copy x", "sync join", "callback report")}
    assert len(fills) == 4
    for words in ("kernel", "⇉ transfer", "‖ synchronisation", "ƒ host function"):
        assert words in legend(page)


def test_dependencies_are_drawn_apart(page: Any) -> None:
    dashes = "(all) => all.map((it) => getComputedStyle(it).strokeDasharray)"
    found = {
        kind: page.locator(f'.dependency[data-edge="{kind}"]').evaluate_all(dashes)
        for kind in ("data", "anti", "output", "control")
    }
    assert [len(it) for it in found.values()] == [9, 1, 2, 3]
    assert len({it[0] for it in found.values()}) == 4
    assert found["data"][0] == "none"
    titles = page.locator(".dependency title").all_text_contents()
    assert "kernel mean → kernel combine\ndata: mean (256 B)" in titles
    assert "transfer copy x → kernel combine\nanti: x" in titles
    assert "control (order only)" in legend(page)


def test_loops_fold_and_iterations_are_labelled(page: Any) -> None:
    assert texts(page, ".in-loop") == ["◆i = 0", "◆i = 1", "◆i = 2"]
    page.get_by_label("Fold the loop step × 3: i = 0, 1, 2").click()
    assert page.locator(".in-loop").count() == 0
    assert page.locator(".loop-row .iteration").count() == 3
    assert "3 folded into 1 loop" in page.locator(".status-text").inner_text()
    page.locator(".loop-row .iteration").nth(1).click()
    assert state(page)["selected"] == "schedule:3"
    page.get_by_label("Unfold the loop step").click()
    assert page.locator(".in-loop").count() == 3


def test_labels_are_not_cut_where_there_is_room(page: Any) -> None:
    cut = page.locator(".item-label").evaluate_all(
        "(all) => all.filter((it) => it.scrollWidth > it.clientWidth + 1).length"
    )
    assert cut == 0


def test_the_curve_marks_peak_and_bounds(page: Any) -> None:
    words = page.locator(".curve-words").inner_text()
    assert "peak 192 KiB at copy back" in words
    assert "planned peak = lower bound 193 KiB" in words
    assert "without sharing 257 KiB" in words
    assert page.locator(".curve-picture .curve-line").count() == 2
    target = page.locator(".curve-target").bounding_box()
    page.mouse.click(target["x"] + target["width"] * 0.55, target["y"] + 30)
    assert state(page)["selected"] == "schedule:5"
    mark = page.locator(".curve-mark").bounding_box()
    assert mark["x"] == pytest.approx(target["x"] + target["width"] * 0.5, abs=2)


def test_the_inspector_lists_an_item(page: Any) -> None:
    set_state(page, selected="schedule:3")
    text = page.locator(".inspector").inner_text()
    for words in ("kernel step", "CPU:1", "1, bound by the loop", "i = 0, 1, 2", "315,000",
                  "earliest start", "7.5 µs", "buffer state", "in out", "Waits for",
                  "data: state (64 KiB) · critical", "output: state", "Lineage"):  # fmt: skip
        assert words in text, words


def test_the_inspector_lists_a_transfer_and_its_fusions(page: Any) -> None:
    set_state(page, selected="schedule:7")
    text = page.locator(".inspector").inner_text()
    for words in ("transfer copy back", "from device", "bytes copied", "65,536",
                  "✗ not taken: a copy between devices comes between"):  # fmt: skip
        assert words in text, words


def test_the_memory_map(page: Any) -> None:
    set_state(page, view="memory")
    assert page.locator(".place").count() == 6
    # All at once: a change of the pane's size draws the map anew.
    boxes = page.locator(".place").evaluate_all(PLACES)
    assert boxes["back"]["top"] == pytest.approx(boxes["x on CPU:1"]["top"], abs=1)
    assert boxes["back"]["left"] > boxes["x on CPU:1"]["right"]
    assert boxes["state"]["top"] >= boxes["back"]["bottom"] - 1.5
    arrow = page.locator(".reuse").bounding_box()
    words = page.locator('.place[aria-label^="back,"] text').last.bounding_box()
    assert arrow["y"] >= words["y"] + words["height"] - 1  # an arrow crosses no words
    assert page.locator(".reuse").count() == 1
    page.locator('.place[aria-label^="back,"]').click()
    assert state(page)["selected"] == "schedule:buffer 5"
    text = page.locator(".inspector").inner_text()
    assert "shares 65,536 bytes with x on CPU:1: its live range ends at level 3" in text
    assert page.locator(".reuse.near").count() == 1
    assert "made by copy back" in legend(page)
    assert "25 % less than 257 KiB without sharing" in page.locator(".status-text").inner_text()


def test_an_item_lights_its_buffers_in_the_map(page: Any) -> None:
    set_state(page, view="memory", selected="schedule:8")
    near = page.locator(".place.near").evaluate_all("(all) => all.map((it) => it.ariaLabel)")
    assert sorted(it.split(",")[0] for it in near) == ["back", "mean", "result", "scaled"]


def test_fusions_are_listed_with_reasons(page: Any) -> None:
    set_state(page, view="fusion")
    rows = page.locator(".fusion-table").first.locator("tbody tr")
    assert rows.count() == 4
    first = rows.first.locator("td").all_inner_texts()
    assert [it.strip() for it in first] == [
        "✓ taken", "5 kernel mean", "8 kernel combine", "mixed", "−22 µs (−50 %)", "256 bytes",
        "one user, same extent 256",
    ]  # fmt: skip
    rows.nth(1).locator(".why").click()
    assert state(page)["selected"] == "schedule:fusion 0"
    page.mouse.move(2, 2)
    set_state(page, view="timeline")
    assert page.locator(".item.related .item-label").count() == 2
    set_state(page, view="graph")
    assert page.locator(".node.related").count() == 2


def test_the_graph_links_what_could_be_one(page: Any) -> None:
    set_state(page, view="graph")
    assert page.locator(".edge.fusion").count() == 4
    titles = page.locator(".edge.fusion title").all_text_contents()
    assert any(it.startswith("kernel scale → kernel mean\n✗ not taken: ") for it in titles)
    assert "could be one kernel" in legend(page)
    assert page.locator(".group text").text_content() == "loop 0 of step: i = 0, 1, 2"


def test_the_kernel_graph_shows_all_its_kinds(page: Any) -> None:
    set_state(page, stage="kernels", view="graph")
    kinds = page.locator(".node").evaluate_all("(all) => all.map((it) => it.dataset.kind)")
    assert {"callback", "local", "order", "loop", "variable", "lanes", "call", "transfer",
            "sync"} <= set(kinds)  # fmt: skip
    assert "i = 0 … 2" in page.locator(".group text").text_content()
    for words in ("≡ device lanes", "▫ scratch memory", "loop counter", "⇣ ordering"):
        assert words in legend(page)


def test_what_is_absent_says_so(open_page: Open, sample_page: Path) -> None:
    page = open_page(sample_page)
    set_state(page, stage="schedule", view="memory")
    assert "no memory plan" in page.locator(".memory-view").inner_text()
    set_state(page, view="fusion")
    assert "No two items could be one kernel" in page.locator(".fusion-view").inner_text()
    assert "not fused into k3: they share no extent" in page.locator(".fusion-view").inner_text()


def test_thousands_of_items_stay_usable(open_page: Open, tmp_path: Path) -> None:
    long = with_schedule(sample("long.py"), sample_schedule.long(3000, 1000))
    Explorer(long, stage="schedule").export_html(tmp_path / "long.html")
    assert (tmp_path / "long.html").stat().st_size < 1_000_000
    page = open_page(tmp_path / "long.html")
    page.get_by_role("button", name="Items", exact=True).click()
    status = page.locator(".status-text").inner_text()
    assert status.startswith("3,000 items · 1,000 folded into 1 loop · ")
    drawn = re.search(r"(\d+) of 2,001 rows drawn: scroll for more", status)
    assert drawn
    assert page.locator(".item, .loop-row").count() == int(drawn[1]) < 60
    loop = page.locator(".loop-row")
    assert "step × 1,000: " in loop.inner_text()
    assert texts(page, ".loop-row .item-time") == ["10 µs"]  # a thousand iterations of 10 ns
    assert loop.locator(".loop-sign").inner_text().strip() == "◆"
    assert page.locator(".curve-scale").all_text_contents()[-2:] == ["item 0", "item 2,999"]
    assert page.locator(".iteration").count() < 400
    page.get_by_label("Unfold the loop step").click()
    assert page.locator(".in-loop").count() > 10
    page.locator(".timeline").evaluate("(it) => { it.scrollTop = it.scrollHeight; }")
    page.wait_for_timeout(50)
    assert item(page, "kernel k2999").is_visible()
    set_state(page, selected="schedule:1500")
    page.wait_for_timeout(50)
    assert page.locator(".item.selected").is_visible()
