"""The backward pass on the page: marked, and linked with the forward pass."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler import Compilation, Tensor, compile, jit, nn, optim
from svodviz.widget.explorer import Explorer
from svodviz.wire.payload import wire
from tests.svodviz.answering import answered_page
from tests.svodviz.conftest import Exported, Open


def program() -> Compilation:
    x = Tensor(np.array([[1.0, 2.0], [3.0, 4.0]]), requires_grad=True)
    loss = (x.sin() * 2).sum()
    return compile(loss, loss.gradient(x))


class Net(nn.Module):
    def __init__(self) -> None:
        self.blocks = [nn.Linear(8, 8), nn.Linear(8, 8)]
        self.out = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x).relu()
        return self.out(x)


def step_of_learning() -> Compilation:
    Tensor.manual_seed(0)
    net = Net()
    rule = optim.AdamW(net.parameters(), 1e-3)

    @jit
    def step(x: Tensor) -> Tensor:
        loss = net(x).square().mean()
        loss.backward()
        rule.step()
        rule.zero_grad()
        return loss

    x = Tensor(np.ones((2, 8), np.float32), name="x")
    step(x)
    made = step.compilation(x)
    assert isinstance(made, Compilation)
    return made


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
        assert "backward pass" in page.locator(".legend").inner_text()
        words = page.locator(".inspector").inner_text()
        assert "Its backward pass" in words
        page.locator(".inspector button:has-text('= cos')").first.click()
        page.wait_for_function(
            "(it) => window.svodviz.model.get('state').selected === it", arg=cosine)
        assert "Backward pass of" in page.locator(".inspector").inner_text()
    explorer.close()


TITLES = "(all) => all.map((it) => it.querySelector('.title')?.textContent)"


@pytest.fixture(scope="module")
def learning(exported: Exported) -> Path:
    """The page of a step of learning."""
    return exported(Explorer(step_of_learning()))


def opened(open_page: Open, path: Path, **state: Any) -> Any:
    page = open_page(path)
    page.set_viewport_size({"width": 1400, "height": 3000})  # what is far away is not in the page
    page.evaluate("(it) => window.svodviz.model.set('state', it)",
                  {"stage": "graph", "unit": 1, "view": "graph", **state})  # fmt: skip
    page.wait_for_selector(".graph .node")
    return page


@pytest.mark.browser
def test_a_step_of_learning_opens_with_its_modules_in_pairs(
    open_page: Open, learning: Path
) -> None:
    page = open_page(learning)
    assert page.evaluate("window.svodviz.model.get('state').stage") == "graph"
    page = opened(open_page, learning)
    titles = page.eval_on_selector_all(".graph .node", TITLES)
    frames = page.eval_on_selector_all(".graph .labels title", "(all) => all.map((it) => "
                                       "it.textContent.split(':')[0])")  # fmt: skip
    named = {*titles, *frames}
    for name in ("blocks.0", "blocks.1", "out"):
        assert {name, f"{name} ↺"} <= named, sorted(map(str, named))
    assert titles.count("AdamW") == 1, "the optimiser's step is one box"
    assert len(titles) < 40
    marked = page.eval_on_selector_all(".graph .node.back", TITLES)
    assert marked and all(title.endswith("↺") for title in marked)
    assert page.locator(".graph .group.back rect").count() > 0


PAIR = {"folding": "path", "open": ["scope 0", "scope 0 ↺"]}


@pytest.mark.browser
def test_a_group_lights_its_partner_and_leads_to_it(open_page: Open, learning: Path) -> None:
    page = opened(open_page, learning, **PAIR)
    assert page.locator(".node:has(.title:text-is('blocks.1 ↺'))").count() == 1
    page.locator(".node:has(.title:text-is('blocks.1'))").hover()
    assert page.eval_on_selector_all(".graph .node.related", TITLES) == ["blocks.1 ↺"]
    page.locator(".node:has(.title:text-is('blocks.1'))").click()
    inspector = page.locator(".inspector-sheet")
    assert inspector.locator("h3").first.inner_text() == "blocks.1"
    assert "Its backward pass" in inspector.inner_text()
    inspector.locator("button:text-is('blocks.1 ↺')").click()
    page.wait_for_function("document.querySelector('.inspector-sheet h3').textContent"
                           ".endsWith('↺')")  # fmt: skip
    words = inspector.inner_text()
    assert "Backward pass of" in words and "in the backward pass" in words
    assert "blocks.1" in page.eval_on_selector_all(".graph .node.related", TITLES)
    hint = page.locator(".node:has(.title:text-is('blocks.1 ↺')) > title").text_content()
    assert "in the backward pass" in str(hint)


@pytest.mark.browser
def test_both_open_and_close_together(open_page: Open, learning: Path) -> None:
    page = opened(open_page, learning, **PAIR)
    page.locator(".node:has(.title:text-is('out ↺'))").dblclick()
    names = page.evaluate("window.svodviz.model.get('state').open")
    assert len(names) == 4 and {it.removesuffix(" ↺") for it in names[2:]} == {names[3]}, names
    assert page.locator(".node:has(.title:text-is('out'))").count() == 0


@pytest.mark.browser
def test_passes_fold_as_the_graph_does(open_page: Open, learning: Path) -> None:
    passes = [it.name for it in step_of_learning().passes if it.stage == "graph"]
    last = {"pass": passes.index("simplify"), "step": -1}
    page = opened(open_page, learning, stage="passes", **last, **PAIR)
    titles = page.eval_on_selector_all(".graph .node", TITLES)
    assert {"blocks.0", "blocks.0 ↺"} <= set(titles), titles
