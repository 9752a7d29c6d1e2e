"""The timeline in a browser: zoom, moves, packed lanes, cores, and the sums of a stretch."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from svodviz.widget.explorer import Explorer
from tests.svodviz import sample_schedule
from tests.svodviz.axe import fetch, findings, serious
from tests.svodviz.conftest import Exported, Open
from tests.svodviz.page.test_page import set_state, state, texts
from tests.svodviz.sample import rich, sample
from tests.svodviz.sample_schedule import with_schedule

pytestmark = pytest.mark.browser
TICK = re.compile(r"([\d.]+) (ns|µs|ms)")
UNITS = {"ns": 1, "µs": 1_000, "ms": 1_000_000}
# Zooms in around the middle and out again, a step in each frame; by step: boxes in the page, and
# elements that the step made.
SWEEP = """async () => {
    const timeline = document.querySelector(".timeline");
    const { left, top, width } = timeline.getBoundingClientRect();
    let made = 0;
    const count = (changes) => {
        for (const { addedNodes } of changes) {
            for (const node of addedNodes) made += 1 + (node.querySelectorAll?.("*").length ?? 0);
        }
    };
    const observer = new MutationObserver(count);
    observer.observe(timeline, { childList: true, subtree: true });
    const steps = [];
    for (let step = 0; step < 60; step += 1) {
        timeline.dispatchEvent(new WheelEvent("wheel", { bubbles: true, cancelable: true,
            ctrlKey: true, clientX: left + width / 2, clientY: top + 60,
            deltaY: step < 30 ? -80 : 80 }));
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        count(observer.takeRecords());
        steps.push([timeline.querySelectorAll(".piece").length, made]);
        made = 0;
    }
    observer.disconnect();
    return steps;
}"""


@pytest.fixture(scope="module")
def long_page(exported: Exported) -> Path:
    """Ten thousand items, one after the other."""
    long = with_schedule(sample("long.py"), sample_schedule.long(10_000))
    return exported(Explorer(long, stage="schedule"))


@pytest.fixture
def page(open_page: Open, rich_page: Path) -> Any:
    """The rich compilation's page, at its schedule."""
    found = open_page(rich_page)
    set_state(found, stage="schedule", view="timeline")
    settle(found)
    return found


def settle(page: Any) -> None:
    """A move is drawn in the next frame, its words a little later."""
    page.wait_for_timeout(220)


def choose(page: Any, name: str) -> None:
    page.locator(".timeline-tools").get_by_role("button", name=name, exact=True).click()
    settle(page)


def press(page: Any, *keys: str) -> None:
    page.locator(".timeline").focus()
    for key in keys:
        page.keyboard.press(key)
    settle(page)


def ticks(page: Any) -> list[float]:
    """The times at the axis, nanoseconds."""
    found = [TICK.match(it) for it in texts(page, ".ruler-tick")]
    return [float(it[1]) * UNITS[it[2]] if it else 0.0 for it in found]


def status(page: Any) -> str:
    return str(page.locator(".status-text").inner_text())


def test_keys_and_buttons_zoom_and_move(page: Any) -> None:
    whole = ticks(page)
    assert whole[0] == 0 and whole[-1] >= 20_000
    press(page, "w", "w", "w", "w")
    near = ticks(page)
    assert near[0] > 0 and near[-1] < whole[-1]
    press(page, "d")
    assert ticks(page)[-1] > near[-1]
    press(page, "a", "a", "a", "ArrowLeft", "ArrowLeft")
    assert ticks(page)[0] < near[0]
    press(page, "s", "s", "s", "s", "s")
    assert ticks(page) == whole
    assert page.get_by_role("button", name="Show all of the time").is_disabled()
    page.get_by_role("button", name="Zoom in").click()
    settle(page)
    assert len(set(texts(page, ".ruler-tick"))) == len(ticks(page)) > 1
    page.get_by_role("button", name="Show all of the time").click()
    settle(page)
    assert ticks(page) == whole
    assert state(page)["stage"] == "schedule"  # none of the keys led away


def test_keys_work_wherever_the_focus_is(page: Any) -> None:
    page.locator(".svodviz").focus()
    page.keyboard.press("w")
    settle(page)
    assert page.get_by_role("button", name="Show all of the time").is_enabled()
    page.keyboard.press("s")
    settle(page)
    assert page.get_by_role("button", name="Show all of the time").is_disabled()


def test_the_wheel_zooms_around_the_pointer(page: Any) -> None:
    bar = page.locator('.item[title^="kernel step, i = 1"] .bar')
    before = bar.bounding_box()
    middle = before["x"] + before["width"] / 2
    page.mouse.move(middle, before["y"] + 5)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -120)
    page.keyboard.up("Control")
    settle(page)
    after = bar.bounding_box()
    assert after["width"] > 1.2 * before["width"]
    assert after["x"] + after["width"] / 2 == pytest.approx(middle, abs=2)


def test_without_ctrl_the_wheel_scrolls(page: Any) -> None:
    page.locator(".timeline").hover()
    page.mouse.wheel(0, 60)
    settle(page)
    assert ticks(page)[0] == 0
    assert page.locator(".timeline").evaluate("(it) => it.scrollTop") > 0


def test_a_drag_moves_and_selects_nothing(page: Any) -> None:
    press(page, "w", "w", "w")
    before = page.locator('.item[title^="kernel step, i = 1"] .bar').bounding_box()
    selected = state(page)["selected"]
    page.mouse.move(before["x"] + 20, before["y"] + 8)
    page.mouse.down()
    page.mouse.move(before["x"] + 60, before["y"] + 8, steps=4)
    page.mouse.up()
    settle(page)
    after = page.locator('.item[title^="kernel step, i = 1"] .bar').bounding_box()
    assert after["x"] == pytest.approx(before["x"] + 40, abs=3)
    assert state(page)["selected"] == selected


def test_bars_end_where_the_axis_does(page: Any) -> None:
    press(page, *"wwww")
    edges = page.locator(".timeline").evaluate("""(it) => {
        const tops = [...it.querySelectorAll(".item .bar, .item .slack")].map((bar) => {
            const { left, right } = bar.getBoundingClientRect();
            return [left, right];
        });
        const label = it.querySelector(".item-label").getBoundingClientRect();
        const { right } = it.getBoundingClientRect();
        return { tops, label: label.right, right };
    }""")
    assert edges["tops"]
    for left, right in edges["tops"]:
        assert edges["label"] <= left <= right <= edges["right"]


def test_a_stretch_is_summed_by_kernel(page: Any) -> None:
    ruler = page.locator(".ruler").bounding_box()
    bars = {name: page.locator(f'.item[title^="kernel step, i = {name}"] .bar').bounding_box()
            for name in (0, 1)}  # fmt: skip
    page.mouse.move(bars[0]["x"], ruler["y"] + 15)
    page.mouse.down()
    page.mouse.move(bars[1]["x"] + bars[1]["width"] / 2, ruler["y"] + 15, steps=4)
    page.mouse.up()
    settle(page)
    rows = [it.split("\t") for it in texts(page, ".sums-row")]
    step = next(it for it in rows if it[0].strip() == "kernel step")
    assert [it.strip() for it in step[1:4]] == ["5.2 µs", "2", "3.5 µs"]
    times = page.locator(".sums-row td:nth-child(2)").all_inner_texts()
    assert times == sorted(times, key=lambda it: -float(it.split()[0]))
    assert page.locator(".stretch").is_visible()
    press(page, "Escape")
    assert page.locator(".sums").is_hidden() and page.locator(".stretch").count() == 0


def test_a_stretch_is_summed_by_source_line(open_page: Open, sample_page: Path) -> None:
    page = open_page(sample_page)
    set_state(page, stage="schedule", view="timeline")
    settle(page)
    page.get_by_role("button", name="Sums").click()
    settle(page)
    assert len(texts(page, ".sums-row")) == 4
    page.get_by_role("button", name="by source line").click()
    assert "counts with all of its time at each" in page.locator(".sums").inner_text()
    line = page.locator(".sums-row button").first
    number, text = line.inner_text().split(None, 1)
    line.click()
    assert state(page)["selected"] == f"source:{number}"
    set_state(page, stage="source", view="text")
    assert text in page.locator(".line.selected").inner_text()


def test_sums_are_reached_and_sorted_by_keys(page: Any) -> None:
    press(page, "w", "w")
    page.get_by_role("button", name="Sums").focus()
    page.keyboard.press("Enter")
    settle(page)
    rows = page.locator(".sums-row").count()
    assert rows >= 2
    page.get_by_role("button", name="Sort by items").focus()
    page.keyboard.press("Enter")
    assert page.locator('[aria-sort="descending"]').inner_text().startswith("items")
    counts = [int(it) for it in page.locator(".sums-row td:nth-child(3)").all_inner_texts()]
    assert counts == sorted(counts, reverse=True)
    assert page.get_by_role("button", name="Sort by items").evaluate(
        "(it) => it === document.activeElement"
    )
    page.get_by_role("button", name="Unmark the stretch").click()
    assert page.locator(".sums").is_hidden()


def test_lanes_pack_what_does_not_overlap(page: Any) -> None:
    choose(page, "Devices")
    assert texts(page, ".lane-name") == ["CPU", "CPU:1", "host"]
    boxes = page.locator(".piece").evaluate_all("""(all) => all.map((it) => {
        const { left, right, top } = it.getBoundingClientRect();
        return { name: it.ariaLabel, left, right, top };
    })""")
    assert len(boxes) == 10
    tops = {it["top"] for it in boxes}
    assert len(tops) == 4  # two on CPU, for what may run at once, and one on each of the others
    for one in boxes:
        for other in boxes:
            if one is not other and one["top"] == other["top"]:
                assert one["right"] <= other["left"] + 1 or other["right"] <= one["left"] + 1
    assert page.locator('.piece[title^="kernel step, i = 1"]').inner_text().startswith("◆ step")
    assert page.locator(".slack").count() == 2
    page.locator('.piece[title^="kernel step, i = 1"]').click()
    assert state(page)["selected"] == "schedule:3"
    assert page.locator(".piece.selected").count() == 1
    assert page.locator(".dependency.near:not(.head)").count() >= 2  # of its own track too


def test_the_next_item_is_selected_by_keys(page: Any) -> None:
    choose(page, "Devices")
    press(page, ".", ".")
    assert state(page)["selected"] == "schedule:1"
    press(page, ",")
    assert state(page)["selected"] == "schedule:0"


def test_only_the_critical_path_stays_bright_where_lanes_are_packed(page: Any) -> None:
    choose(page, "Devices")
    page.mouse.move(2, 2)
    set_state(page, critical=True)
    far = page.locator(".piece.far")
    assert far.count() == page.locator(".piece:not(.critical)").count() == 2


def test_cores_show_whose_tasks_run_where(page: Any) -> None:
    choose(page, "Cores")
    assert texts(page, ".lane-name") == ["core 0, caller", "core 1"]
    assert "their tasks as the thread pool deals them out" in status(page)
    own = page.locator(".piece").evaluate_all("""(all) => all.map((it) => {
        const { left, right, top } = it.getBoundingClientRect();
        return [Math.round(top), left, right];
    })""")
    first = sorted(it for it in own if it[0] == min(own)[0])
    for (_, _, end), (_, start, _) in pairwise(first):
        assert start == pytest.approx(end, abs=3.5)  # one after the other, without a pause


def test_the_curve_follows(page: Any) -> None:
    assert page.locator(".curve-scale").all_text_contents()[-2:] == ["item 0", "item 9"]
    press(page, *"wwwwwww")
    ends = page.locator(".curve-scale").all_text_contents()[-2:]
    first, last = (int(it.split()[1]) for it in ends)
    assert 0 < first <= last <= 9 and (first, last) != (0, 9)
    target = page.locator(".curve-target").bounding_box()
    page.mouse.click(target["x"] + 2, target["y"] + 30)
    assert state(page)["selected"] == f"schedule:{first}"


def test_a_selection_elsewhere_comes_into_view(page: Any) -> None:
    press(page, *"wwwwwwww")
    set_state(page, selected="schedule:0")
    settle(page)
    assert page.locator('.item[data-position="0"] .bar').is_visible()
    assert ticks(page)[0] < 4_000


def test_ten_thousand_items_are_drawn_in_bounded_work(open_page: Open, long_page: Path) -> None:
    page = open_page(long_page)
    boxes = page.locator(".piece")
    counts = [int(it) for it in boxes.evaluate_all("(all) => all.map((it) => it.dataset.count)")]
    assert sum(counts) == 10_000 and len(counts) < 60
    assert "10,000 in view, drawn as" in status(page)
    assert boxes.first.inner_text() == f"×{counts[0]}"
    steps = page.evaluate(SWEEP)
    most, made = (max(it[part] for it in steps) for part in (0, 1))
    assert most <= 400  # boxes of one drawing, however many items there are
    assert made <= 3 * 400 + 200  # elements made for it: what a redraw costs
    assert len({it[0] for it in steps}) > 5  # and every step drew
    settle(page)
    boxes.nth(3).click()
    settle(page)
    assert "10,000 in view" not in status(page)
    assert page.locator(".piece:not(.together)").count() > 0 or boxes.count() > 10


def test_many_items_open_packed_and_few_in_rows(open_page: Open, long_page: Path,
                                                page: Any) -> None:  # fmt: skip
    assert page.get_by_role("button", name="Items", exact=True).get_attribute(
        "aria-pressed") == "true"  # fmt: skip
    long = open_page(long_page)
    assert long.get_by_role("button", name="Devices", exact=True).get_attribute(
        "aria-pressed") == "true"  # fmt: skip


@pytest.mark.parametrize("rows", ["Items", "Devices", "Cores"])
@pytest.mark.parametrize("width", [700, 993])
def test_nothing_sticks_out_of_narrow_cells(
    open_page: Open, rich_page: Path, rows: str, width: int
) -> None:
    page = open_page(rich_page, width=width)
    set_state(page, stage="schedule", view="timeline")
    choose(page, rows)
    choose(page, "Sums")
    for part in (".timeline", ".timeline-tools", ".sums", ".sums-head", ".sums-table"):
        inside = page.locator(part).evaluate("(it) => it.scrollWidth <= it.clientWidth + 1")
        assert inside, part
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_measured_times_are_packed_too(open_page: Open, exported: Exported) -> None:
    explorer = Explorer(rich(), stage="schedule")
    explorer.record_run()
    page = open_page(exported(explorer))
    choose(page, "Cores")
    before = page.locator('.piece[title^="transfer copy x"]').first.bounding_box()
    page.get_by_role("button", name="Path by measurement").click()
    settle(page)
    after = page.locator('.piece[title^="transfer copy x"]').first.bounding_box()
    assert after["width"] != pytest.approx(before["width"], abs=1)
    assert "one after the other, measured" in status(page)


def test_axe_finds_nothing_serious_in_packed_lanes(
    open_page: Open, rich_page: Path, tmp_path: Path
) -> None:
    axe = fetch(tmp_path)
    for scheme in ("light", "dark"):
        page = open_page(rich_page, scheme=scheme)
        set_state(page, stage="schedule", view="timeline", selected="schedule:1")
        choose(page, "Devices")
        choose(page, "Sums")
        assert serious(findings(page, axe)) == "", scheme
