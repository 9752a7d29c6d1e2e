"""Times, costs, slack, rewrites and fusions on the page are those recorded."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from compiler.ops.table import OPS
from svodviz.texts.summary import summary, text_of
from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import Open
from tests.svodviz.page.test_page import set_state

pytestmark = pytest.mark.browser
AT_REST = ".node[data-kind=const], .node[data-kind=buffer]"
WIDTHS = [(1400, "light"), (990, "dark")]


def tied() -> Any:
    """Two kernels as long as each other, of which a third one waits; one waits for less."""
    x = Tensor(np.ones((8, 16), np.float32), name="x")
    sides = [(x * n).sum(1).contiguous() for n in (2, 3)]
    return compile(sides[0].exp() + sides[1].flip(0).exp())


def stencil() -> Any:
    """Two steps over a grid, each of whose values is read under four indices by the next."""
    u = Tensor(np.ones((256, 256), np.float32), name="u")
    for _ in range(2):
        p = u.pad(((1, 1), (1, 1)))
        u = u + 0.1 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u)
    return compile(u)


def shown(made: Any, open_page: Open, folder: Path, **look: Any) -> Any:
    Explorer(made).export_html(folder / "page.html")
    return open_page(folder / "page.html", **look)


def test_constants_and_inputs_take_no_time(open_page: Open, tmp_path: Path) -> None:
    page = shown(stencil(), open_page, tmp_path)
    for overlay in ("ns", "bytes", "flops"):
        set_state(page, stage="graph", view="graph", overlay=overlay, folding="none")
        assert page.locator(".node .cost").count() > 0
        assert page.locator(AT_REST).count() >= 3
        assert page.locator(AT_REST).locator(".cost").count() == 0


@pytest.mark.parametrize("width, scheme", WIDTHS)
def test_a_node_says_its_part_of_its_kernels_time(
    open_page: Open, tmp_path: Path, width: int, scheme: str
) -> None:
    x = Tensor(np.ones((64, 32), np.float32), name="x")
    made = compile((x @ x.T).exp() + 1.0)
    (row,), (item,) = made.schedule.shares, made.schedule.analysis
    page = shown(made, open_page, tmp_path, width=width, scheme=scheme)
    set_state(page, stage="graph", unit=1, view="graph")
    parts = []
    for entity, own in row:
        set_state(page, selected=entity)
        words = page.locator(".inspector-sheet").inner_text()
        part = own.time / sum(it.time for _, it in row)
        assert "PART OF ITS KERNELS" in words.upper()
        assert f" of {item.estimated_ns / 1e3:.2g} µs" in words
        if own.time:
            assert f"{part:.0%}".replace("%", " %") in words or part < 0.0995
        parts.append(part)
    assert sum(parts) == pytest.approx(1)
    inputs = next(e for e, facts in made.optimized_graph.to_networkx().nodes(data=True)
                  if facts["kind"] == "buffer")  # fmt: skip
    set_state(page, selected=inputs)
    assert "PART OF ITS KERNELS" not in page.locator(".inspector-sheet").inner_text().upper()


@pytest.mark.parametrize("width, scheme", WIDTHS)
def test_what_is_always_alive_does_not_flatten_the_memory_curve(
    open_page: Open, tmp_path: Path, width: int, scheme: str
) -> None:
    x = Tensor(np.ones((256, 256), np.float32), name="x")
    kept = (x * 2).contiguous()
    rows = kept[:4]
    for _ in range(6):
        rows = (rows.cumsum(0).contiguous() @ x).contiguous()
    made = compile([rows, kept])
    page = shown(made, open_page, tmp_path, width=width, scheme=scheme)
    set_state(page, stage="schedule", view="timeline")
    words = page.locator(".curve-words").inner_text()
    assert "axis broken: from " in words and ", not 0, to " in words
    assert "axis broken" in page.locator(".curve-picture").get_attribute("aria-label")
    assert page.locator(".curve-break").count() == 1
    box = page.locator(".curve-edge").bounding_box()
    frame = page.locator(".curve-picture").bounding_box()
    assert box["height"] > frame["height"] / 3


def test_views_cost_nothing_beside_work(open_page: Open, compiled_page: Path) -> None:
    page = open_page(compiled_page)
    set_state(page, stage="graph", view="graph", overlay="ns", folding="none")
    assert page.locator(".node[data-kind=movement]").count() > 0
    assert page.locator(".node[data-kind=movement] .cost").count() == 0


@pytest.mark.parametrize("width, scheme", WIDTHS)
def test_what_has_no_slack_is_critical(
    open_page: Open, tmp_path: Path, width: int, scheme: str
) -> None:
    made = tied()
    path, times = made.schedule.critical_path, made.schedule.times
    assert [it.slack for it in times] == [0, 0, 0] and len(path) == 2
    page = shown(made, open_page, tmp_path, width=width, scheme=scheme)
    set_state(page, stage="schedule", view="timeline")
    assert page.locator(".item.critical").count() == 3
    words = page.locator(".item").evaluate_all("(all) => all.map((it) => it.ariaLabel)")
    assert sum(it.endswith(", on the critical path") for it in words) == 2
    assert sum(it.endswith(", on a path as long as the critical path") for it in words) == 1
    assert not any("slack 0" in it for it in words)
    total = f"{made.schedule.estimated_ns / 1000:.1f} µs"
    status = page.locator(".status").inner_text()
    assert f"critical path 2 items (and 1 on paths as long), {total}" in status, status
    (other,) = {0, 1, 2} - set(path)
    set_state(page, selected=f"schedule:{other}")
    assert "none: ◆ on a path as long" in page.locator(".inspector").inner_text()
    set_state(page, selected=f"schedule:{path[0]}")
    assert "none: ◆ on the critical path" in page.locator(".inspector").inner_text()
    set_state(page, view="graph", selected="")
    assert page.locator(".node.critical").count() == 3


def test_a_pass_whose_rewrites_were_not_recorded_has_no_count(
    open_page: Open, tmp_path: Path
) -> None:
    x = Tensor(np.ones((8, 8), np.float32), name="x")
    made = compile((x @ x).relu() * 1.0, Options(trace=False))
    page = shown(made, open_page, tmp_path)
    counts = page.locator(".pass").evaluate_all("""(all) => all.map((it) =>
        [it.matches(".changed"), it.querySelector(".pass-count").innerText, it.ariaLabel])""")
    assert {number for changed, number, _ in counts if changed} == {"not recorded"}
    assert {number for changed, number, _ in counts if not changed} == {"0"}
    assert all(("not recorded" in label) == changed for changed, _, label in counts)
    place = [changed for changed, *_ in counts].index(True)
    set_state(page, **{"stage": "passes", "pass": place})
    assert page.locator(".position").inner_text().startswith("rewrites not recorded")
    assert "rewrites not recorded" in summary(made) and "not recorded" in text_of(made, "passes")
    traced = compile((x @ x).relu() * 1.0, Options(trace=True))
    assert [it.changed for it in made.passes] == [it.changed for it in traced.passes]


@pytest.mark.parametrize("width, scheme", WIDTHS)
def test_stages_say_that_their_time_is_the_compilers(
    open_page: Open, compiled_page: Path, width: int, scheme: str
) -> None:
    page = open_page(compiled_page, width=width, scheme=scheme)
    words = page.locator(".stage").evaluate_all("""(all) => Object.fromEntries(all.map((it) =>
        [it.dataset.stage, [it.querySelector(".stage-size").innerText, it.title]]))""")
    for stage in ("schedule", "graph", "passes", "loops", "lowered", "asm"):
        text, title = words[stage]
        found = re.search(r"compiler [\d.]+ (ns|µs|ms|s)", title)
        assert found and "compile time of this stage" in title
        assert text.endswith(found[0]) == (width == 1400), "where there is room for it"
    text, title = words["run"]
    assert re.search(r"program [\d.]+ (ns|µs|ms|s)", title) and "compiler" not in text
    assert "run time, measured" in title
    cut = "(all) => all.filter((it) => it.scrollWidth > it.clientWidth).map((it) => it.innerText)"
    assert page.locator(".stage-size span").evaluate_all(cut) == []


@pytest.mark.parametrize("width, scheme", WIDTHS)
def test_what_would_cost_time_is_not_called_saved(
    open_page: Open, tmp_path: Path, width: int, scheme: str
) -> None:
    made = stencil()
    (found,) = (it for it in made.schedule.opportunities if not it.taken)
    assert found.score < 0 < found.change  # each value would be computed four times
    page = shown(made, open_page, tmp_path, width=width, scheme=scheme)
    set_state(page, stage="schedule", view="fusion")
    cells = page.locator(".fusion-row").first.locator("td.figure").all_inner_texts()
    assert cells[0].startswith("+") and cells[0].endswith(
        f" (+{float(f'{-100 * found.score:.2g}'):,.0f} %)"), cells
    page.locator(".fusion-row").first.locator("td").first.click()
    assert f"time change\n{cells[0]}" in page.locator(".inspector").inner_text()
    status = page.locator(".status").inner_text()
    assert "1 not taken: 0 of these would save time" in status, status
    assert f"(+{-100 * found.score:,.1f} % of the time)" in text_of(made, "schedule")
    assert f"+{found.change / 1000:,.2f} µs  +{-100 * found.score:,.1f} %" in " ".join(
        str(made.schedule).split(" ")), str(made.schedule)


def test_what_is_counted_is_said_beside_it(open_page: Open, compiled_page: Path) -> None:
    assert (OPS["fdiv"].cost, OPS["exp"].cost) == (4, 12)
    page = open_page(compiled_page)
    set_state(page, stage="schedule", view="timeline", selected="schedule:0")
    text = page.locator(".inspector").inner_text()
    assert "Of flops a division counts 4, an exponential 12. Bytes are those of whole" in text
    set_state(page, stage="run", view="run", selected="")
    titles = page.locator(".run-table th").evaluate_all("(all) => all.map((it) => it.title)")
    assert any("bytes of the buffers" in it for it in titles)
    assert any("a division counts 4, an exponential 12" in it for it in titles)
