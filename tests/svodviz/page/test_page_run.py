"""One run in a browser: recorded, asked for, with the estimates in every view of the schedule."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import svodviz
from svodviz.cli.main import main
from svodviz.offline import page_of
from svodviz.widget.explorer import Explorer
from tests.svodviz import sample_schedule
from tests.svodviz.answering import answered_page
from tests.svodviz.axe import fetch, findings, serious
from tests.svodviz.conftest import Exported, Open, softmax_layer
from tests.svodviz.page.test_page import set_state, state, texts
from tests.svodviz.sample import rich, sample
from tests.svodviz.sample_schedule import with_schedule

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def measured_page(exported: Exported) -> Path:
    """The rich compilation with a run that was recorded: the same times in every test."""
    explorer = Explorer(rich(), stage="run")
    explorer.record_run()
    return exported(explorer)


@pytest.fixture
def page(open_page: Open, measured_page: Path) -> Any:
    return open_page(measured_page)


def settle(page: Any) -> None:
    page.wait_for_timeout(60)  # the legend may change the pane's size, which draws anew


def test_items_stand_in_order_of_time(page: Any) -> None:
    assert state(page)["view"] == "run"
    rows = page.locator(".run-row")
    assert rows.count() == 10
    first = [it.strip() for it in rows.first.locator("td").all_inner_texts()]
    assert first[0].replace("\n", " ").strip().endswith("7 transfer copy back")
    assert first[1:3] == ["5 µs", "4.5 µs … 5.5 µs"]
    assert first[4:8] == ["4 µs", "1.25×", "20", "72"]
    assert first[8] == "computing rich.py"
    shown = page.locator(".run-view").inner_text()
    for words in ("10 items in 28 µs; one run() takes 40 µs", "the median of 9 rounds",
                  "takes 400 ns", "made up: rich.py", "result 0", "8×8", "result 1",
                  "2.5"):  # fmt: skip
        assert words in shown, words
    assert page.locator(".run-view .value-picture").count() == 1
    assert page.get_by_role("button", name="Measure").count() == 0  # nobody would answer
    assert "10 items\nprogram 28 µs" in page.locator('[data-stage="run"].stage').inner_text()


def test_a_row_is_selected_everywhere(page: Any) -> None:
    page.locator(".run-row").nth(1).locator(".entity-link").click()
    chosen = state(page)["selected"]
    assert chosen == page.locator(".run-row").nth(1).evaluate(
        "(it) => window.svodviz.model.get('wire').entities[it.dataset.entity]"
    )
    assert page.locator(".run-row.selected").count() == 1
    set_state(page, view="timeline")
    assert page.locator(".item.selected").count() == 1
    set_state(page, selected="")
    page.locator(".svodviz").focus()
    page.keyboard.press("/")
    page.keyboard.type("combine")
    page.keyboard.press("Enter")
    assert state(page)["selected"] == "schedule:8"


def test_the_inspector_holds_both_beside_each_other(page: Any) -> None:
    set_state(page, selected="schedule:3")
    text = page.locator(".inspector").inner_text()
    for words in ("estimated 3.5 µs, measured 4.4 µs (1.25×)", "3.9 µs … 4.8 µs, 9 rounds",
                  "20 GB/s, 72 GFLOP/s", "computing rich.py"):  # fmt: skip
        assert words in text, words
    set_state(page, selected="schedule:2")
    assert "measured 2.8 µs (0.8×)" in page.locator(".inspector").inner_text()


def test_a_kernels_sheet_has_the_times_of_all_its_items(
    open_page: Open, compiled_page: Path
) -> None:
    page = open_page(compiled_page)
    set_state(page, stage="loops", view="text")
    text = page.locator(".inspector").inner_text()
    part = text[text.index("Time of k0"):]
    assert re.search(r"estimated [\d.]+ \S+, measured [\d.]+ \S+ \([\d.]+×\)", part)
    assert "1 item" in part and re.search(r"[\d.]+ % of all", part)
    # The sheet of an item has the same times once.
    set_state(page, stage="schedule", view="timeline", selected="schedule:0")
    text = page.locator(".inspector").inner_text()
    assert "Time of k0" not in text and len(re.findall(r"measured .*×\)", text)) == 1


def test_iterations_of_a_long_loop_are_one_row(open_page: Open, tmp_path: Path) -> None:
    made = with_schedule(rich(), sample_schedule.long(3000, 1000))
    explorer = Explorer(made, stage="run")
    explorer.record_run()
    explorer.export_html(tmp_path / "long.html")
    page = open_page(tmp_path / "long.html")
    loop = page.locator(".run-row[data-loop]")
    assert "kernel step × 1,000" in loop.inner_text() and "an iteration" in loop.inner_text()
    assert "and 1,701 shorter items" in page.locator(".run-section .more").inner_text()
    page.get_by_label("List the iterations of kernel step × 1,000").click()
    assert page.locator(".run-row.iteration").count() == 299
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    page.keyboard.press("Enter")
    assert page.locator(".run-row.iteration").count() == 0


@pytest.mark.parametrize("view", ["run", "fusion"])
def test_heads_of_tables_stand_over_their_columns(page: Any, view: str) -> None:
    set_state(page, stage="run" if view == "run" else "schedule", view=view)
    ends = page.locator(".figures").first.evaluate("""(it) => {
        const edge = (cell) => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            const box = range.getBoundingClientRect();
            return getComputedStyle(cell).textAlign === "right" ? box.right : null;
        };
        const rows = [...it.querySelectorAll("tr")].map((row) => [...row.cells].map(edge));
        return rows[0].map((head, at) => [head, rows[1][at]]);
    }""")
    assert any(head is not None for head, _ in ends)
    for head, first in ends:
        assert (head is None) == (first is None)
        assert head is None or first == 0 or abs(head - first) < 2


def test_both_bars_stand_on_one_axis(page: Any) -> None:
    set_state(page, view="timeline")
    settle(page)
    row = page.locator('.item[data-position="2"]')
    estimated, measured = (row.locator(it).bounding_box()
                           for it in (".bar:not(.measured)", ".bar.measured"))  # fmt: skip
    # x on CPU:1 is copied in 0.8 × 4 µs: the step begins earlier, and takes 0.8 × as long
    assert measured["x"] < estimated["x"]
    assert measured["width"] == pytest.approx(0.8 * estimated["width"], abs=1.5)
    assert measured["height"] < estimated["height"] / 1.5  # distinguished without colour
    assert measured["y"] >= estimated["y"] + estimated["height"]
    assert texts(page, '.item[data-position="2"] .item-time') == ["3.5 µs", "2.8 µs, 0.8×"]
    assert "measured 2.8 µs (0.8×)" in str(row.get_attribute("aria-label"))
    legend = page.locator(".legend").inner_text()
    assert "estimated" in legend and "measured" in legend


def test_the_critical_path_by_either(page: Any) -> None:
    set_state(page, view="timeline")
    settle(page)
    before = texts(page, ".item.critical .item-label")
    arrows = page.locator(".dependency.critical").count()
    slack = page.locator(".slack").count()
    assert page.locator(".slack.measured").count() == 0 and slack > 0
    page.get_by_role("button", name="Path by measurement").click()
    after = texts(page, ".item.critical .item-label")
    assert after and page.locator(".dependency.critical").count()
    assert page.locator(".slack:not(.measured)").count() == 0
    assert page.locator(".slack.measured").count() > 0
    words = page.locator(".status-text").inner_text()
    assert "estimated; " in words and "measured" in words
    page.get_by_role("button", name="Path by estimate").click()
    assert texts(page, ".item.critical .item-label") == before
    assert page.locator(".dependency.critical").count() == arrows


def test_folded_iterations_have_both_bars(page: Any) -> None:
    set_state(page, view="timeline")
    settle(page)
    page.get_by_label("Fold the loop step").click()
    assert page.locator(".loop-row .iteration:not(.measured)").count() == 3
    assert page.locator(".loop-row .iteration.measured").count() == 3


@pytest.mark.parametrize("stage", ["schedule", "kernels"])
def test_measured_times_lie_over_graphs(page: Any, stage: str) -> None:
    set_state(page, stage=stage, view="graph")
    page.get_by_label("Cost laid over the graph").select_option("measured")
    assert state(page)["overlay"] == "measured"
    words = page.locator(".status-text").inner_text()
    assert "measured time per kernel, and within a kernel by" in words
    set_state(page, overlay="ns")
    words = page.locator(".status-text").inner_text()
    assert "estimated time per kernel" in words and "full bar = " in words


def test_a_key_leads_there(page: Any) -> None:
    set_state(page, stage="graph")
    page.locator(".svodviz").focus()
    page.keyboard.press("m")
    assert state(page)["stage"] == "run"


@pytest.mark.parametrize("width", [700, 1400])
@pytest.mark.parametrize("view", ["run", "timeline"])
def test_nothing_sticks_out(open_page: Open, measured_page: Path, width: int, view: str) -> None:
    page = open_page(measured_page, width=width, scheme="dark")
    set_state(page, view=view, selected="schedule:1")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    inside = page.locator(".run-view" if view == "run" else ".timeline")
    assert inside.evaluate("(it) => it.scrollWidth <= it.clientWidth + 1")
    if view == "run":
        table = page.locator(".run-table")
        assert table.evaluate("(it) => it.scrollWidth <= it.clientWidth + 1")


@pytest.mark.parametrize("view", ["run", "timeline"])
def test_axe_finds_nothing_serious(
    open_page: Open, measured_page: Path, tmp_path: Path, view: str
) -> None:
    axe = fetch(tmp_path)
    for scheme in ("light", "dark"):
        page = open_page(measured_page, scheme=scheme)
        set_state(page, view=view, selected="schedule:1")
        settle(page)
        assert serious(findings(page, axe)) == "", scheme


NOT_RUN = "program was not run when this page was made: make the page again "


def test_an_exported_page_says_what_is_needed(open_page: Open, tmp_path: Path) -> None:
    Explorer(sample(), stage="run").export_html(tmp_path / "none.html")
    page = open_page(tmp_path / "none.html")
    words = page.locator(".run-words").inner_text()
    assert f"{NOT_RUN}from explore(x, measure=True)" in words
    assert page.locator(".run-row").count() == 0
    set_state(page, stage="schedule", view="timeline")
    assert page.locator('[data-stage="run"].stage').is_hidden()  # it has nothing to show
    assert page.locator(".bar.measured").count() == 0
    assert NOT_RUN in page.locator(".status-text").inner_text()
    set_state(page, view="graph")
    overlays = page.get_by_label("Cost laid over the graph").locator("option")
    assert "measured time" not in overlays.all_inner_texts()
    set_state(page, overlay="measured")
    assert NOT_RUN in page.locator(".status-text").inner_text()
    set_state(page, selected="schedule:1")
    assert NOT_RUN in page.locator(".inspector").inner_text()


def test_pages_speak_to_who_made_them(open_page: Open, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("from compiler import Tensor\ny = Tensor([1.0, 2.0]) * 3.0\n")
    assert main(["explore", str(program), "-o", str(tmp_path / "page.html")]) == 0
    page = open_page(tmp_path / "page.html")
    set_state(page, stage="run")
    assert f"{NOT_RUN}with svodviz explore --measure" in page.locator(".run-words").inner_text()
    set_state(page, stage="asm", view="machine", machine="riscv-v")
    page.get_by_text("with svodviz explore --machine-code").wait_for()
    both = tmp_path / "both.html"
    assert main(["diff", str(program), str(program), "-o", str(both)]) == 0
    assert "with svodviz diff --measure" in open_page(both).locator(".changes").inner_text()
    explorer = Explorer(sample(), stage="run")
    (tmp_path / "saved.html").write_text(page_of({"wire": explorer.wire, "state": explorer.state}))
    saved = open_page(tmp_path / "saved.html")
    assert "convert the notebook again" in saved.locator(".run-words").inner_text()


def test_a_problem_is_a_sentence(open_page: Open, tmp_path: Path) -> None:
    explorer = Explorer(sample(), stage="run")
    explorer.recorded = {"measure {}": {"problem": "run: there are no data for <b>x</b>"}}
    explorer.export_html(tmp_path / "problem.html")
    page = open_page(tmp_path / "problem.html")
    assert "there are no data for <b>x</b>" in page.locator(".run-words").inner_text()


@pytest.fixture
def live(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    """A page that a real explorer in this process answers, and that explorer."""
    explorer = svodviz.explore(softmax_layer())
    with answered_page(explorer, chromium, tmp_path) as page:
        yield page, explorer


def test_opening_the_stage_runs_the_program(live: Any) -> None:
    page, explorer = live
    set_state(page, stage="schedule", view="timeline")
    assert explorer.recorded == {}  # looking at the schedule runs nothing
    page.locator('[data-stage="run"].stage').click()
    page.wait_for_selector(".run-row", timeout=30_000)
    (answer,) = explorer.recorded.values()
    assert page.locator(".run-row").count() == len(answer["items"])
    page.get_by_role("button", name="Measure again").click()
    page.wait_for_function("document.querySelector('.run-head button').disabled === false")
    page.wait_for_timeout(50)
    assert next(iter(explorer.recorded.values())) is not answer


def test_the_timeline_measures_by_its_button(live: Any) -> None:
    page, explorer = live
    set_state(page, stage="schedule", view="timeline")
    page.locator(".timeline-tools").get_by_role("button", name="Measure").click()
    page.wait_for_selector(".bar.measured", timeout=30_000)
    assert page.locator(".item .bar.measured").count() == len(explorer.compilation.schedule.items)


def test_the_overlay_measures_when_it_is_chosen(live: Any) -> None:
    page, explorer = live
    set_state(page, stage="graph", view="graph")
    page.get_by_label("Cost laid over the graph").select_option("measured")
    page.wait_for_function(
        "document.querySelector('.status-text').textContent.includes('measured time per kernel')",
        timeout=30_000,
    )
    assert explorer.recorded
