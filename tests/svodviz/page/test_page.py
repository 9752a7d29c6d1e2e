"""The explorer in a browser: what a person does with it, on the sample's exported page."""

from typing import Any

import pytest

from svodviz.foundation.stages import USUAL

pytestmark = pytest.mark.browser


def state(page: Any) -> dict[str, Any]:
    return dict(page.evaluate("window.svodviz.model.get('state')"))


def set_state(page: Any, **parts: Any) -> None:
    page.evaluate("(it) => window.svodviz.model.set('state', it)", parts)


def texts(page: Any, selector: str) -> list[str]:
    return [str(it) for it in page.locator(selector).all_inner_texts()]


def place(page: Any, words: str) -> tuple[float, float]:
    """Where a node stands on screen."""
    box = page.locator(".node", has_text=words).first.bounding_box()
    return round(box["x"]), round(box["y"])


def click_node(page: Any, words: str) -> None:
    page.locator(".node", has_text=words).first.click()


def test_the_ribbon_leads_through_all_stages(page: Any) -> None:
    labels = texts(page, ".stage-label")
    assert labels == [row.label for row in USUAL]
    offered = [page.locator(".stage").nth(n).is_visible() for n in range(len(labels))]
    assert [label for label, is_one in zip(labels, offered, strict=True) if not is_one] == [
        "LLVM passes", "Run"], "they take Python"  # fmt: skip
    for position, label in enumerate(labels):
        if not offered[position]:
            continue
        page.locator(".stage").nth(position).click()
        assert page.locator('.stage[aria-current="page"] .stage-label').inner_text() == label
        assert page.locator(".pane").inner_text().strip() or page.locator(".pane .node").count()


def test_selecting_a_node_lights_its_surroundings(page: Any) -> None:
    click_node(page, "maximum")
    assert state(page)["selected"] == "graph:15"
    near = [it.split("\n")[0] for it in page.locator(".node.near title").all_text_contents()]
    assert sorted(near) == ["add", "const", "maximum", "reshape"]
    assert sorted(page.locator(".operand").all_text_contents()) == ["0", "0", "1"]
    page.get_by_role("button", name="fit").click()
    page.wait_for_function("document.querySelectorAll('.node.far').length === 33 - 4")
    assert page.locator(".node.selected").count() == 1


def test_the_inspector_tells_what_is_known(page: Any) -> None:
    set_state(page, selected="graph:13")
    text = page.locator(".inspector").inner_text()
    for words in ("add", "graph:13", "elementwise", "[64,32]", "min", "mean", "fused into k0",
                  "Lineage", "hidden = (x @ w1 + b1).relu()"):  # fmt: skip
        assert words in text
    assert page.locator(".value-picture").count() == 1


def test_the_lineage_is_one_click_to_each_stage(page: Any) -> None:
    set_state(page, selected="graph:13")
    chapter = page.locator(".chapter", has_text="Assembly")
    if chapter.get_attribute("open") is None:
        chapter.locator("summary").click()
    chapter.locator(".entity-link").first.click()
    assert state(page)["stage"] == "asm"
    assert page.locator(".line.selected").count() == 1
    assert state(page)["selected"].startswith("asm:k0:")


def test_what_a_rewrite_took_away_is_followed(page: Any) -> None:
    set_state(page, selected="graph:24")  # logits * 1.0, which became logits
    assert "mul_one" in page.locator(".inspector").inner_text()
    set_state(page, stage="loops", view="text")
    assert page.locator(".line.related").count() > 0
    assert all("k1" in it for it in related_entities(page))


def related_entities(page: Any) -> list[str]:
    read = "(all) => all.map((it) => it.dataset.entity)"
    numbers = page.locator(".line.related").evaluate_all(read)
    names = page.evaluate("window.svodviz.model.get('wire').entities")
    return [names[int(it)] for it in numbers]


def test_stepping_shows_what_came_and_went(page: Any) -> None:
    page.locator(".pass", has_text="merge_views").click()
    assert state(page)["step"] == -1
    assert page.locator(".node.added").count() == 5
    assert page.locator(".node.removed").count() == 10
    page.locator(".whole").focus()
    page.get_by_label("Next rewrite").click()
    assert (state(page)["step"], page.locator(".node.added").count()) == (0, 0)
    assert page.locator(".position").inner_text() == "before 1 of 5"
    page.get_by_label("Next rewrite").click()
    assert page.locator(".node.added .sign").all_text_contents() == ["+"]
    assert page.locator(".node.removed .sign").all_text_contents() == ["−", "−"]
    assert "expand(reshape(x)) = view(x)" in page.locator(".rule-card").inner_text()


def test_what_stays_holds_its_place(page: Any) -> None:
    page.set_viewport_size({"width": 1800, "height": 800})  # so that each rewrite is in view
    set_state(page, stage="passes", **{"pass": 2, "step": 0})
    page.get_by_role("button", name="fit").click()
    page.wait_for_timeout(100)
    names = ("maximum", "const 0.0", "buffer w1")
    before = [place(page, it) for it in names]
    for step in range(1, 6):
        set_state(page, step=step)
        assert [place(page, it) for it in names] == before
    set_state(page, **{"pass": 3, "step": 1})
    page.keyboard.press("ArrowUp")


def test_unchanged_passes_are_named_so(page: Any) -> None:
    assert page.get_by_label("fold_constants: unchanged, 0 rewrites").count() == 1
    assert page.get_by_label("simplify: changed, 1 rewrite", exact=True).inner_text()[0] == "●"
    page.get_by_label("changed only").check()
    assert not page.get_by_label("fold_constants: unchanged").is_visible()
    page.get_by_label("Filter passes").fill("vector")
    shown = page.locator(".pass-name").filter(visible=True)
    assert shown.all_inner_texts() == ["vectorize"]


def test_columns_light_each_other(page: Any) -> None:
    page.keyboard.press("Tab")
    page.locator('[data-view="columns"]').click()
    line = page.locator(".column").nth(1).locator(".line", has_text="acc = mulacc(x[")
    line.locator(".number").hover()
    highlighted = [page.locator(".column").nth(it).locator(".highlighted") for it in range(3)]
    assert highlighted[0].all_inner_texts()[0].endswith("hidden = (x @ w1 + b1).relu()")
    assert highlighted[1].count() == 1
    assert highlighted[2].count() >= 4
    page.mouse.move(2, 2)
    assert page.locator(".highlighted").count() == 0


def test_selecting_a_line_scrolls_the_others_to_it(page: Any) -> None:
    set_state(page, view="columns", columns=["source", "llvm", "asm"], selected="source:14")
    for column in (1, 2):
        pane = page.locator(".column").nth(column).locator(".text-pane")
        assert pane.evaluate("(it) => it.scrollTop") > 0
        seen = pane.bounding_box()
        boxes = [it.bounding_box() for it in pane.locator(".related").all()]
        assert any(seen["y"] <= it["y"] <= seen["y"] + seen["height"] for it in boxes)


def test_columns_can_be_any(page: Any) -> None:
    set_state(page, view="columns")
    page.get_by_label("Text of column 1").select_option("schedule")
    assert state(page)["columns"] == ["schedule", "loops", "asm"]
    assert "critical path 0 1 2" in page.locator(".column").first.inner_text()
    page.get_by_label("Add a column").click()
    assert len(state(page)["columns"]) == page.locator(".column").count() == 4
    page.get_by_label("Close column 2").click()
    assert state(page)["columns"][:2] == ["schedule", "asm"]
    assert page.locator(".column").nth(1).locator("select").input_value() == "asm"
    for _ in range(2):
        page.locator(".column-close").first.click()
    assert page.locator(".column-close:visible").count() == 0, "the last one stays"


def test_columns_are_made_wider(page: Any) -> None:
    def widths() -> list[float]:
        return [it.bounding_box()["width"] for it in page.locator(".column").all()]

    set_state(page, view="columns", columns=["source", "loops"])
    before = widths()
    page.get_by_label("Width of column 1").focus()
    page.keyboard.press("ArrowRight")
    assert widths()[0] - before[0] == pytest.approx(16, abs=1)
    edge = page.get_by_label("Width of column 1").bounding_box()
    page.mouse.move(edge["x"] + 3, edge["y"] + 50)
    page.mouse.down()
    page.mouse.move(edge["x"] - 97, edge["y"] + 50, steps=3)
    page.mouse.up()
    assert widths()[0] - before[0] == pytest.approx(-84, abs=2)
    first, second = state(page)["shares"]
    assert first / second == pytest.approx(widths()[0] / widths()[1], rel=0.02)


def test_mapped_lines_stand_out(page: Any) -> None:
    set_state(page, stage="source")
    weight = "(it) => getComputedStyle(it).fontWeight"
    linked = page.locator(".line", has_text="hidden =").evaluate(weight)
    other = page.locator(".line", has_text="import numpy").evaluate(weight)
    assert int(linked) > int(other)


def test_the_critical_path_is_marked_three_ways(page: Any) -> None:
    set_state(page, stage="schedule")
    assert page.locator(".item").count() == 4
    assert page.locator(".item.critical .item-sign").all_inner_texts() == ["◆"] * 3
    critical = page.locator(".item.critical .bar").first
    other = page.locator('[title*="k3"] .bar')
    border = "(it) => getComputedStyle(it).borderTopWidth"
    assert float(critical.evaluate(border)[:-2]) > float(other.evaluate(border)[:-2])
    weight = "(it) => getComputedStyle(it).fontWeight"
    labels = page.locator(".item.critical .item-label"), page.locator('[title*="k3"] .item-label')
    assert labels[0].first.evaluate(weight) > labels[1].evaluate(weight)
    assert page.locator(".dependency.critical:not(.head)").count() == 2


def test_slack_is_drawn_to_scale(page: Any) -> None:
    set_state(page, stage="schedule")
    bar = page.locator('[title*="k3"] .bar').bounding_box()
    slack = page.locator('[title*="k3"] .slack').bounding_box()
    assert slack["x"] == pytest.approx(bar["x"] + bar["width"], abs=1.5)
    assert slack["width"] / bar["width"] == pytest.approx(16100 / 1500, rel=0.05)


def test_a_bar_is_followed_to_its_loops(page: Any) -> None:
    set_state(page, stage="schedule")
    page.locator('.item[title*="k2"]').click()
    page.locator(".stage", has_text="Loops").click()
    assert page.locator(".line.related").count() == 5
    assert "k2" in page.locator(".line.related").first.inner_text()


@pytest.mark.parametrize(("key", "wanted"), [
    ("ArrowDown", {"stage": "passes", "pass": 1}), ("n", {"stage": "passes", "pass": 2}),
    ("ArrowRight", {"stage": "passes", "step": 0}), ("ArrowLeft", {"stage": "passes", "step": 1}),
    ("5", {"stage": "schedule", "view": "timeline"}), ("0", {"stage": "asm"}),
    ("g", {"view": "text"}), ("t", {"view": "columns"}),
])  # fmt: skip
def test_keys(page: Any, key: str, wanted: dict[str, Any]) -> None:
    page.locator(".svodviz").focus()
    page.keyboard.press(key)
    assert wanted.items() <= state(page).items()


def test_keys_on_a_selection(page: Any) -> None:
    set_state(page, selected="graph:15")
    page.locator(".svodviz").focus()
    page.keyboard.press("Shift+I")
    assert state(page)["selected"] == "graph:13"
    page.keyboard.press("Shift+O")
    assert state(page)["selected"] == "graph:15"
    page.keyboard.press("Escape")
    assert state(page)["selected"] == ""


def test_keys_act_only_with_the_focus(page: Any) -> None:
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("5")
    assert state(page)["stage"] == "graph"
    page.get_by_label("Filter passes").fill("")
    page.keyboard.type("5g")
    assert state(page)["stage"] == "graph"


def test_the_keys_are_listed(page: Any) -> None:
    page.locator(".svodviz").focus()
    page.keyboard.press("?")
    assert "next changed pass" in page.get_by_role("dialog").inner_text()
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog").is_visible()


def test_search_finds_and_visits(page: Any) -> None:
    page.locator(".svodviz").focus()
    page.keyboard.press("/")
    page.keyboard.type("reduce")
    assert page.locator(".hits").inner_text() == "5 found"
    assert page.locator(".node.found").count() == 5
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.locator(".hits").inner_text() == "2 of 5"
    assert page.locator(".node.selected.found").count() == 1
    set_state(page, stage="lowered", view="text")
    page.get_by_label("Search").fill("mulacc")
    assert page.locator(".line.found").count() == 3


def test_pan_zoom_and_fit(page: Any) -> None:
    first = place(page, "buffer x")
    page.mouse.move(400, 600)
    page.mouse.down()
    page.mouse.move(500, 650, steps=4)
    page.mouse.up()
    page.wait_for_timeout(50)
    moved = place(page, "buffer x")
    assert moved == (first[0] + 100, first[1] + 50)
    assert state(page)["selected"] == ""  # the end of a drag selects nothing
    page.mouse.move(600, 400)
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(50)
    assert place(page, "buffer x") != moved
    page.get_by_title("Show everything").click()
    page.wait_for_timeout(50)
    area = page.locator(".graph").bounding_box()
    for node in page.locator(".node").all():
        box = node.bounding_box()
        assert area["x"] <= box["x"]
        assert box["y"] + box["height"] <= area["y"] + area["height"]
