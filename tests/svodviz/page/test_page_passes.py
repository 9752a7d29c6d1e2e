"""Ribbon and passes on the page: sizes and times, levels, what became of what, what rules bound."""

import re
from pathlib import Path
from typing import Any

import pytest

import svodviz
from svodviz.foundation.subject import compilation_of
from svodviz.widget.explorer import Explorer
from tests.svodviz.answering import answered_page
from tests.svodviz.conftest import Exported, Open, softmax_layer
from tests.svodviz.page.test_page import set_state, state
from tests.svodviz.page.test_page_large import press
from tests.svodviz.wire.test_checks import wrong

pytestmark = pytest.mark.browser
TIME = r"(compiler|program) [\d.]+ (ns|µs|ms|s)"
SIZE = re.compile(rf"[\d,]+ (node|line|pass|item)(e?s)?(\n{TIME})?")


@pytest.fixture(scope="module")
def made() -> Explorer:
    return Explorer(compilation_of(softmax_layer()))


@pytest.fixture(scope="module")
def path(made: Explorer, exported: Exported) -> Path:
    """The file of a compiled program's page."""
    return exported(made)


@pytest.fixture
def real(path: Path, open_page: Open) -> Any:
    """A compiled program's page."""
    return open_page(path)


def rewrite(made: Explorer, rule: str) -> tuple[int, int]:
    """The position of a pass, and the number of its first rewrite by a rule."""
    wire = made.wire
    return next(
        (place, step)
        for place, record in enumerate(wire["passes"])
        for step, (number, *_) in enumerate(record["rewrites"], 1)
        if wire["rules"][number][0] == rule
    )


def test_stages_tell_their_size_and_time(real: Any) -> None:
    rows = real.locator(".stage:not(:disabled) .stage-size").all_inner_texts()
    rows = [it for it in rows if it != "on demand"]
    assert len(rows) >= 10
    assert [it for it in rows if not SIZE.fullmatch(it)] == []
    assert sum("\n" in it for it in rows) >= 7


def test_a_line_parts_the_levels(real: Any) -> None:
    levels = real.locator(".pass-level")
    assert levels.all_inner_texts() == ["tensor level", "machine level"]
    order = real.locator(".pass-list > li").all_inner_texts()
    place = order.index("machine level")
    groups = [it for it in order[:place] if it.startswith(("graph", "loops"))]
    assert groups == ["graph"]
    assert order[place + 1].startswith("loops · k0")


def test_unchanged_passes_are_dim(real: Any) -> None:
    colour = "(it) => getComputedStyle(it).color"
    dim = real.locator(".pass:not(.changed)").first.evaluate(colour)
    assert dim != real.locator(".pass.changed").first.evaluate(colour)
    assert real.locator(".pass.changed .pass-mark").first.inner_text() == "●"
    assert real.locator(".pass:not(.changed) .pass-mark").first.inner_text() == "○"


def test_filters_hide_titles_of_what_they_hide(real: Any) -> None:
    real.get_by_label("Filter passes").fill("decompose")
    shown = real.locator(".pass-group").filter(visible=True).all_inner_texts()
    assert shown == ["graph"]
    assert real.locator(".pass").filter(visible=True).count() == 1


def test_an_arrow_leads_from_old_to_new(page: Any) -> None:
    set_state(page, stage="passes", **{"pass": 3, "step": 1})  # a / b = a * (1 / b)
    arrow = page.locator(".replacement")
    assert arrow.count() == 1
    assert arrow.locator("title").text_content() == "div became mul"
    ends = page.evaluate("""() => {
        const path = document.querySelector(".replacement");
        const at = (length) => path.getPointAtLength(length).matrixTransform(path.getScreenCTM());
        const curve = path.getAttribute("d").split("M")[1];
        const alone = path.cloneNode();
        alone.setAttribute("d", `M${curve}`);
        return [at(0), at(alone.getTotalLength())].map(({ x, y }) => [x, y]);
    }""")
    for (x, y), mark in zip(ends, ("removed", "added"), strict=True):
        boxes = [it.bounding_box() for it in page.locator(f".node.{mark} .outline").all()]
        assert any(
            box["x"] - 3 <= x <= box["x"] + box["width"] + 3
            and box["y"] - 3 <= y <= box["y"] + box["height"] + 3
            for box in boxes
        )
    assert "replaced by" in page.locator(".legend").inner_text()
    set_state(page, step=0)
    assert page.locator(".replacement").count() == 0


def test_added_is_green_and_removed_dashed(page: Any) -> None:
    set_state(page, stage="passes", **{"pass": 2, "step": 1})
    read = """(it) => {
        const style = getComputedStyle(it);
        return [style.stroke, style.strokeDasharray];
    }"""
    added, dashes = page.locator(".node.added .outline").first.evaluate(read)
    red, green, blue = (int(it) for it in re.findall(r"\d+", added)[:3])
    assert green > red and green > blue and dashes == "none"
    removed, dashes = page.locator(".node.removed .outline").first.evaluate(read)
    assert removed != added and dashes != "none"


def test_the_selected_node_keeps_its_place_on_screen(page: Any) -> None:
    set_state(page, stage="passes", **{"pass": 0, "step": 0}, selected="graph:15")
    where = page.locator(".node.selected").bounding_box()
    for shot in (1, 2, 3):
        set_state(page, **{"pass": shot, "step": 0})
        found = page.locator(".node.selected").bounding_box()
        assert found["x"] == pytest.approx(where["x"], abs=1)
        assert found["y"] == pytest.approx(where["y"], abs=1)


def test_a_rule_says_what_it_matched(real: Any, made: Explorer) -> None:
    place, step = rewrite(made, "relu")
    set_state(real, stage="passes", **{"pass": place, "step": step})
    card = real.locator(".rule-card .matched")
    card.locator("dd").first.wait_for()
    assert "It matched, in" in card.inner_text()
    assert card.locator("dt").all_inner_texts() == ["x"]
    assert "[64,16]" in card.locator("dd").first.inner_text()
    after = made.wire["passes"][place]["rewrites"][step - 1][2]
    set_state(real, selected=made.wire["entities"][after])
    section = real.locator(".inspector-section", has_text="Made by")
    section.locator(".matched dd").first.wait_for()
    assert section.locator(".matched dt").all_inner_texts() == ["x"]
    assert section.locator(".rule-code").count() == 1


def test_a_loop_pass_says_what_it_acted_on(real: Any, made: Explorer) -> None:
    place, step = rewrite(made, "vectorize")
    set_state(real, stage="passes", **{"pass": place, "step": step})
    card = real.locator(".rule-card .matched")
    card.locator("dd").first.wait_for()
    assert card.locator(".hint").inner_text() == "It acted on:"
    names, values = (card.locator(it).all_inner_texts() for it in ("dt", "dd"))
    found = dict(zip(names, values, strict=True))
    assert found.keys() == {"axis", "lanes"} and found["axis"].endswith(f"in {found['lanes']}")
    assert found["axis"].split()[0] == real.locator(".rule-card .algebra").inner_text().split()[1]


def test_what_was_not_recorded_says_so(
    made: Explorer, open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svodviz.wire.matched.SECONDS", -1.0)
    made.export_html(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    place, step = rewrite(made, "relu")
    set_state(page, stage="passes", **{"pass": place, "step": step})
    page.get_by_text("What the rule matched was not recorded. This page shows what").wait_for()


def test_the_slider_steps(page: Any) -> None:
    set_state(page, stage="passes", **{"pass": 2, "step": 0})
    slider = page.get_by_label("Rewrite", exact=True)
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert state(page)["step"] == 2
    assert page.locator(".position").inner_text() == "after 2 of 5"
    press(page, "ArrowLeft")
    assert (state(page)["step"], slider.input_value()) == (1, "1")


def test_why_not_is_answered_on_the_page(made: Explorer, chromium: Any, tmp_path: Path) -> None:
    with answered_page(made, chromium, tmp_path) as page:
        page.locator(".node", has_text="relu").first.click()
        page.get_by_label("Rule", exact=True).select_option("multiply_by_one")
        page.get_by_role("button", name="Why not?").click()
        page.locator(".why-not .verdict").wait_for()
        words = page.locator(".why-not").inner_text()
        assert words.startswith("✗ ") and "reads nothing" not in words


def test_a_bisection_opens_at_the_wrong_rewrite(open_page: Open, tmp_path: Path) -> None:
    svodviz.bisect(wrong()).export_html(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    assert (state(page)["stage"], state(page)["pass"], state(page)["step"]) == ("passes", 5, 1)
    assert page.locator('.pass[aria-current="true"] .pass-name').inner_text() == "turned"
    line = page.locator(".check-line.wrong").inner_text()
    assert line.startswith("✗") and re.search(r"instead of", line)
    assert page.locator(".rule-card .rule-name").inner_text() == "turned"
    assert page.locator(".node.selected.added").count() == 1


def test_a_pass_says_why_it_is_here_and_what_it_relies_on(real: Any, made: Explorer) -> None:
    place = next(n for n, it in enumerate(made.wire["passes"]) if it["name"] == "decompose")
    set_state(real, stage="passes", **{"pass": place, "step": -1})
    said = real.locator(".rule-card .because").all_inner_texts()
    assert [it.partition(": ")[0] for it in said] == ["Why here", "Requires", "Guarantees"]
    assert "equal nodes are one" in said[1] and "only machine operations" in said[2]
    set_state(real, stage="passes", **{"pass": place, "step": 1})
    assert real.locator(".rule-card .because").count() <= 1


PLACES = """() => Object.fromEntries([...document.querySelectorAll(".node")].map((it) => {
    const box = it.getBoundingClientRect();
    return [it.dataset.entity, [box.x + box.width / 2, box.y + box.height / 2]];
}))"""


def test_passes_place_nodes_as_the_graph_does(page: Any) -> None:
    set_state(page, stage="graph", view="graph", folding="none")
    page.get_by_role("button", name="fit").click()
    page.wait_for_timeout(60)
    graph = page.evaluate(PLACES)
    set_state(page, stage="passes", **{"pass": 0, "step": 0})
    page.wait_for_timeout(60)
    steps = page.evaluate(PLACES)
    both = sorted(set(graph) & set(steps))
    assert len(both) >= 30
    near = [it for it in both if max(
        abs(graph[it][0] - steps[it][0]), abs(graph[it][1] - steps[it][1])) < 60]  # fmt: skip
    assert len(near) >= 0.75 * len(both)
    for one in both:
        for other in both:
            if graph[one][1] < graph[other][1] - 5:
                assert steps[one][1] < steps[other][1] + 5, "what stood above stands above"


def test_stepping_begins_where_the_eye_was(page: Any) -> None:
    set_state(page, stage="graph", view="graph", folding="none", selected="graph:15")
    for _ in range(2):
        page.get_by_label("Zoom in").click()
        page.wait_for_timeout(60)
    before = page.locator(".node.selected").bounding_box()
    set_state(page, stage="passes", **{"pass": 0, "step": 0})
    after = page.locator(".node.selected").bounding_box()
    assert abs(before["x"] - after["x"]) < 3 and abs(before["width"] - after["width"]) < 3
    assert abs(before["y"] - after["y"]) < 60  # but for bars above the graph
