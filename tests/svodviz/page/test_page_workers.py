"""Lanes of workers in a browser: bars, waits, transfers, the critical path, Dask's dashboard."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from svodviz.widget.explorer import Explorer
from tests.svodviz.answering import answered_page
from tests.svodviz.axe import fetch, findings, serious
from tests.svodviz.conftest import Exported, Open
from tests.svodviz.page.test_page import set_state, texts
from tests.svodviz.page.test_page_timeline import choose, press, settle, status, ticks
from tests.svodviz.sample_lanes import DASHBOARD, clustered

pytestmark = pytest.mark.browser
# Of labels that are on screen their boxes: what a wait says, bytes next to a strip, names of lanes.
LABELS = """() => [...document.querySelectorAll(
    ".wait span, .strip-bytes, .lane-name, .lane-busy, .piece:not(:empty)")]
    .map((it) => { const { left, top, right, bottom } = it.getBoundingClientRect();
                   return [it.textContent, left, top, right, bottom]; })"""


def measured(workers: int) -> Explorer:
    made = Explorer(clustered(workers), stage="schedule")
    made.record_run()
    return made


@pytest.fixture(scope="module")
def many(exported: Exported) -> Path:
    """Eight workers."""
    return exported(measured(8))


@pytest.fixture
def page(open_page: Open, many: Path) -> Any:
    """A page of eight workers."""
    found = open_page(many)
    set_state(found, stage="schedule", view="timeline")
    settle(found)
    return found


def overlaps(page: Any) -> list[tuple[str, str]]:
    """Labels that stand on each other."""
    boxes = page.evaluate(LABELS)
    return [
        (a, b) for (a, *p), (b, *q) in combinations(boxes, 2)
        if min(p[2], q[2]) - max(p[0], q[0]) > 1 and min(p[3], q[3]) - max(p[1], q[1]) > 1
    ]  # fmt: skip


def test_a_lane_for_each_worker(page: Any) -> None:
    assert texts(page, ".lane-name") == ["here", "DASK", *(f"DASK:{n}" for n in range(1, 8))]
    pressed = page.get_by_role("button", name="Workers", exact=True)
    assert pressed.get_attribute("aria-pressed") == "true"
    words = page.locator(".timeline-words").inner_text().replace("\u00a0", " ")
    assert "on 8 workers" in words and "clocks of workers aligned, ± 93 µs at most" in words
    assert "21 KiB moved between workers" in words
    assert "one axis" not in status(page) and "± 93 µs" in status(page)


def test_transfers_are_arrows_with_bytes(page: Any) -> None:
    assert page.locator(".dependency.transfer:not(.head)").count() == 7
    shown = page.locator(".strip-bytes, .piece.strip:not(:empty)").all_inner_texts()
    assert len(shown) == 7 and all("3 KiB" in it for it in shown)
    titles = page.locator(".dependency.transfer title").all_text_contents()
    assert any("DASK:7 → DASK:6" in it and "3 KiB" in it for it in titles)


def test_waits_say_what_for(page: Any) -> None:
    waits = page.locator(".wait")
    assert waits.count() >= 8 and page.locator(".wait .ready").count() >= 4
    titles = [it.get_attribute("title") for it in waits.all()]
    assert any("DASK waits" in it and "copy DASK:4 → DASK" in it for it in titles)
    assert titles == [it.get_attribute("aria-label") for it in waits.all()]


def test_the_critical_path_is_marked(page: Any) -> None:
    assert page.locator(".piece.critical").count() >= 8
    assert page.locator(".dependency.transfer.critical:not(.head)").count() == 3
    assert page.locator(".dependency.step.critical:not(.head)").count() == 1
    assert "◆ k3" in "".join(texts(page, ".piece.critical"))


def test_one_selection_with_the_other_views(page: Any) -> None:
    page.locator(".piece.doing", has_text="k3").click()
    settle(page)
    assert "k3" in page.locator(".inspector").inner_text()
    assert page.locator(".piece.selected").count() == 1
    choose(page, "Items")
    assert page.locator(".item.selected").count() == 1
    choose(page, "Workers")
    press(page, "w", "w", "w")
    assert ticks(page)[0] > 0


@pytest.mark.parametrize("width", [600, 780, 1100])
def test_no_label_on_another(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    settle(page)
    for _ in range(3):
        assert not overlaps(page)
        press(page, "w", "w")


def test_what_cannot_be_told_apart_is_one_box(page: Any) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    settle(page)
    together = page.locator(".piece.together").first
    assert "Zoom in to tell them apart" in str(together.get_attribute("title"))
    together.click()
    settle(page)
    assert ticks(page)[-1] < 14_000_000


def test_axe_finds_nothing_serious(open_page: Open, many: Path, tmp_path: Path) -> None:
    axe = fetch(tmp_path)
    for scheme in ("light", "dark"):
        page = open_page(many, scheme=scheme)
        set_state(page, stage="schedule", view="timeline")
        settle(page)
        assert serious(findings(page, axe)) == "", scheme


def test_where_python_answers_there_is_a_link(chromium: Any, tmp_path: Path, page: Any) -> None:
    assert page.locator(".dashboard").is_hidden()  # whoever is sent a page has no such cluster
    made = Explorer(clustered(2), stage="schedule")
    with answered_page(made, chromium, tmp_path) as live:
        settle(live)
        assert live.locator(".dashboard").is_hidden()
        live.get_by_role("button", name="Measure", exact=True).click()
        live.wait_for_selector(".lane.worker")
        link = live.get_by_role("link", name="Dask's dashboard ↗")
        assert link.get_attribute("href") == DASHBOARD
        assert link.get_attribute("target") == "_blank"
        assert "noopener" in str(link.get_attribute("rel"))
