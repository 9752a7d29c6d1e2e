"""The way back of a gradient on the page: marked, linked with what it is the way back of."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler import Compilation, Tensor, compile
from svodviz.widget.explorer import Explorer
from svodviz.wire.payload import wire
from tests.svodviz.answering import answered_page


def program() -> Compilation:
    x = Tensor(np.array([[1.0, 2.0], [3.0, 4.0]]), requires_grad=True)
    loss = (x.sin() * 2).sum()
    return compile(loss, loss.gradient(x))


def entity_of(made: Compilation, op: str) -> str:
    return next(str(it.entity) for it in made.optimized_graph.lines if f" {op} " in it.text)


def test_rows_name_their_partners() -> None:
    made = program()
    data = wire(made)
    graph = next(stage for stage in data["stages"] if stage["id"] == "graph")
    scene = graph["units"][1]["scene"]
    assert scene is not None
    rows = {row["op"]: row for row in scene["nodes"]}
    sine, cosine = (int(entity_of(made, op).partition(":")[2]) for op in ("sin", "cos"))
    assert cosine in rows["sin"]["partners"] and "back" not in rows["sin"]
    assert rows["cos"]["partners"] == [sine] and rows["cos"]["back"] is True


@pytest.mark.browser
def test_partners_are_lit_and_one_click_away(chromium: Any, tmp_path: Path) -> None:
    made = program()
    explorer = Explorer(made)
    sine, cosine = entity_of(made, "sin"), entity_of(made, "cos")
    show = ("(it) => { const { model } = window.svodviz; "
            "model.set('state', {...model.get('state'), ...it}); }")
    with answered_page(explorer, chromium, tmp_path) as page:
        page.evaluate(show, {"stage": "graph", "unit": 1, "folding": "none", "selected": sine})
        page.wait_for_selector(".graph .node.back")
        titles = page.eval_on_selector_all(
            ".graph .node.related title", "(all) => all.map((it) => it.textContent)")
        assert any(title.startswith("cos") for title in titles), titles
        assert "way back of a gradient" in page.locator(".legend").inner_text()
        words = page.locator(".inspector").inner_text()
        assert "Its way back" in words
        page.locator(".inspector button:has-text('= cos')").first.click()
        page.wait_for_function(
            "(it) => window.svodviz.model.get('state').selected === it", arg=cosine)
        assert "Way back of" in page.locator(".inspector").inner_text()
    explorer.close()
