"""Programs as users write them, on the page: boxes are what the user called."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, compile
from svodviz.widget.explorer import Explorer
from tests.programs_of_users import fft, layernorm, tensor
from tests.svodviz.conftest import Open

pytestmark = pytest.mark.browser
WIDTHS = (993, 1440)
SIZES = """(texts) => texts.filter((it) => it.getBoundingClientRect().width)
    .map((it) => parseFloat(getComputedStyle(it).fontSize) * it.getScreenCTM().a)"""
LEAST = 9.99  # pixels: 10, less what a matrix is rounded by


def cnn() -> Tensor:
    x = tensor(4, 1, 8, 8, name="images")
    h = x.conv2d(tensor(8, 1, 3, 3), padding=1).relu().max_pool2d(2)
    h = h.conv2d(tensor(16, 8, 3, 3), padding=1).relu().max_pool2d(2)
    return (h.flatten(1) @ tensor(64, 10)).softmax(axis=1)


def attention(x: Tensor) -> Tensor:
    q, k, v = (x @ tensor(16, 16) for _ in range(3))
    return (q @ k.T).softmax(-1) @ v


def block(x: Tensor) -> Tensor:
    x = x + attention(layernorm(x))
    return x + (layernorm(x) @ tensor(16, 64)).gelu() @ tensor(64, 16)


def transformer() -> Tensor:
    x = tensor(8, 16, name="x")
    for _ in range(12):
        x = block(x)
    return layernorm(x) @ tensor(16, 32)


def kmeans() -> Tensor:
    x, c = tensor(30, 4, name="x"), tensor(3, 4, name="c")
    for _ in range(5):
        distance = ((x[:, None, :] - c[None]) ** 2).sum(-1)
        is_near = (distance.argmin(1)[:, None] == np.arange(3)).astype(np.float32)
        c = is_near.T @ x / is_near.sum(0)[:, None]
    return c


def stencil() -> Tensor:
    u = tensor(16, 16, name="u")
    for _ in range(100):
        around = u.roll(1, 0) + u.roll(-1, 0) + u.roll(1, 1) + u.roll(-1, 1) - 4 * u
        u = u + 0.1 * around
    return u


PROGRAMS: dict[str, Callable[[], Tensor]] = {
    "cnn": cnn, "transformer": transformer, "kmeans": kmeans, "stencil": stencil,
    "fft": lambda: fft(tensor(16, name="x")),
}  # fmt: skip


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of a program, made once."""
    folder = tmp_path_factory.mktemp("operators")

    def page_of(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            Explorer(compile(PROGRAMS[name](), name=name)).export_html(path)
        return path

    return page_of


def set_state(page: Any, **parts: Any) -> None:
    page.evaluate("(it) => window.svodviz.model.set('state', it)", parts)


def state(page: Any) -> dict[str, Any]:
    return dict(page.evaluate("window.svodviz.model.get('state')"))


def press(page: Any, key: str) -> None:
    page.locator(".svodviz").focus()
    page.keyboard.press(key)
    drawn(page)


def titles(page: Any) -> list[str]:
    return list(page.locator(".node .title").all_text_contents())


def sizes(page: Any) -> list[float]:
    found = page.locator(".graph .node text, .graph .group text").evaluate_all(SIZES)
    return [float(it) for it in found]


def drawn(page: Any) -> None:
    page.evaluate("new Promise((it) => requestAnimationFrame(() => requestAnimationFrame(it)))")


def box(page: Any, words: str) -> Any:
    return page.locator(".node", has_text=words).first


def test_one_public_call_is_one_box_that_opens_into_its_nodes(
    open_page: Open, pages: Callable[[str], Path]
) -> None:
    page = open_page(pages("cnn"))
    press(page, " ")
    shown = titles(page)
    assert [it.split()[0] for it in shown if "buffer" not in it and it != "results"] == [
        "conv2d", "relu", "max_pool2d", "conv2d", "relu", "max_pool2d", "flatten", "matmul",
        "softmax",
    ][: len(shown) - 1]  # fmt: skip
    assert page.locator(".node", has_text="buffer").count() == 1, "weights are in their operators"
    assert box(page, "conv2d").locator(".detail").text_content() == "f32[4,8,8,8]"
    box(page, "conv2d").dblclick()
    drawn(page)
    assert any(it.startswith("correlate") for it in titles(page)), titles(page)
    assert page.locator(".group text").first.text_content() == "conv2d: 2 nodes"
    assert state(page)["folding"] == "path" and len(state(page)["open"]) == 1


def test_a_network_opens_as_its_blocks(open_page: Open, pages: Callable[[str], Path]) -> None:
    page = open_page(pages("transformer"), width=993)
    assert "block × 12" in titles(page)
    assert page.locator(".node").count() <= 16
    box(page, "block × 12").dblclick()
    press(page, " ")
    labels = page.locator(".group text").all_text_contents()
    assert any(it.startswith("iteration 1:") for it in labels)
    assert "layernorm" in titles(page) and "attention" in titles(page)


CROSSED = """() => {
  const world = document.querySelector(".graph .nodes");
  const boxes = [...world.querySelectorAll(".node")].map((it) => it.getBoundingClientRect());
  const isInside = ({ x, y }, box) => x > box.left + 6 && x < box.right - 6
    && y > box.top + 6 && y < box.bottom - 6;
  return [...document.querySelectorAll(".graph .edges path:not(.loose)")].filter((path) => {
    const toScreen = path.getScreenCTM();
    const length = path.getTotalLength();
    const points = Array.from({ length: 60 }, (_, i) =>
      path.getPointAtLength(length * i / 59).matrixTransform(toScreen));
    return boxes.some((box) => points.some((point) => isInside(point, box)));
  }).length;
}"""


def test_arrows_into_a_group_lead_around_what_stands_in_it(
    open_page: Open, pages: Callable[[str], Path]
) -> None:
    page = open_page(pages("transformer"))
    box(page, "block × 12").dblclick()
    press(page, " ")
    assert page.locator(".graph .group rect").count() > 0
    assert page.locator(".graph .edges path").count() > 5
    assert page.evaluate(CROSSED) == 0
    # What the group is called is drawn over them.
    assert page.locator(".graph .edges ~ .labels .group text").count() > 0


def test_a_hundred_steps_are_one_box(open_page: Open, pages: Callable[[str], Path]) -> None:
    page = open_page(pages("stencil"))
    set_state(page, folding="path", open=["none"])
    drawn(page)
    (folded,) = [it for it in titles(page) if "×" in it]
    assert folded.endswith("× 100")
    assert box(page, "× 100").locator(".detail").text_content() == (
        "11 operators each → f32[16,16]"
    )
    assert page.locator(".node").count() == 3, "input, iterations, results"
    box(page, "× 100").click()
    press(page, "Enter")
    assert "roll" in titles(page) and "iterations 2 … 100" in titles(page)
    press(page, "Enter")
    assert state(page)["folding"] == "path"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_first_graph_can_be_read(
    open_page: Open, pages: Callable[[str], Path], name: str, width: int
) -> None:
    page = open_page(pages(name), width=width)
    assert min(sizes(page)) >= LEAST
    assert 3 <= page.locator(".node").count() <= 45
    press(page, " ")
    assert min(sizes(page)) >= LEAST


def test_fit_folds_what_would_be_too_small(
    open_page: Open, pages: Callable[[str], Path]
) -> None:
    page = open_page(pages("transformer"), width=420)
    set_state(page, folding="path", open=[f"scope {it}" for it in range(400)])
    drawn(page)
    press(page, " ")
    assert min(sizes(page)) >= LEAST
    assert len(state(page)["open"]) < 400


def test_passes_are_folded_by_the_same_operators(
    open_page: Open, pages: Callable[[str], Path]
) -> None:
    page = open_page(pages("transformer"))
    places = "(all) => all.map((it) => [it.querySelector('.title').textContent.split(' ')[0], "
    places += "it.getBoundingClientRect().top])"
    before = dict(page.locator(".node.folded").evaluate_all(places))
    set_state(page, stage="passes", step=-1, **{"pass": 1})
    drawn(page)
    after = dict(page.locator(".node.folded").evaluate_all(places))
    assert set(before) <= set(after)
    assert sorted(before, key=before.__getitem__) == sorted(
        (it for it in after if it in before), key=after.__getitem__
    )
    assert any("rewrite" in it for it in page.locator(".node .detail").all_text_contents())


def test_every_way_of_folding_is_offered_and_comes_back(
    open_page: Open, pages: Callable[[str], Path]
) -> None:
    page = open_page(pages("transformer"))
    choice = page.get_by_label("Fold the graph by")
    offered = {str(it.get_attribute("value")) for it in choice.locator("option").all()}
    assert {"", "none", "call", "line", "module", "repeat", "kernel"} <= offered
    for folding in ("call", "line", "repeat", "module"):
        choice.select_option(folding)
        drawn(page)
        assert state(page)["folding"] == folding
        assert page.locator(".node.folded").count() > 0 or page.locator("canvas.overview").count()


def test_kernels_are_called_by_what_they_do(
    open_page: Open, pages: Callable[[str], Path]
) -> None:
    page = open_page(pages("cnn"))
    set_state(page, stage="schedule", view="timeline")
    rows = page.locator(".pane").inner_text()
    assert "conv2d+relu" in rows and "max_pool2d" in rows
    set_state(page, stage="kernels", view="graph")
    drawn(page)
    assert any("matmul" in it for it in titles(page))
    calls = [it for it in titles(page) if it.startswith("call ")]
    assert calls and all(not it.endswith("k0") for it in calls)
    set_state(page, stage="asm", view="text")
    assert "k0_conv2d" in page.locator(".pane").inner_text()


def test_results_of_calls_stand_below_them(open_page: Open, pages: Callable[[str], Path]) -> None:
    page = open_page(pages("cnn"))
    set_state(page, stage="kernels", view="graph")
    drawn(page)
    tops = dict(page.locator(".node").evaluate_all(
        "(all) => all.map((it) => [it.querySelector('.title').textContent, "
        "it.getBoundingClientRect().top])"
    ))  # fmt: skip
    first = next(it for it in tops if it.startswith("call k0"))
    assert tops["buffer images"] < tops[first] < tops["buffer tmp0"]
    assert not any(it.startswith("after") for it in tops)


def test_a_line_that_calls_a_helper_leads_to_what_it_made(
    open_page: Open, pages: Callable[[str], Path]
) -> None:
    page = open_page(pages("transformer"))
    set_state(page, stage="source", view="text")
    line = page.locator(".line", has_text="x = x + attention(layernorm(x))").first
    line.click()
    set_state(page, stage="graph", view="graph")
    drawn(page)
    assert page.locator(".node.related").count() > 0
    set_state(page, stage="graph", view="graph", selected=node_of(transformer, "sqrt"))
    set_state(page, stage="source", view="text")
    drawn(page)
    own = page.locator(".line.related:not(.caller)").all_text_contents()
    callers = page.locator(".line.related.caller").all_text_contents()
    assert len(own) == 1 and "(variance + 1e-5).sqrt()" in own[0]
    assert callers and all("variance" not in it for it in callers)


def node_of(program: Callable[[], Tensor], op: str) -> str:
    """The entity of the first node of an operation in the graph as written."""
    graph = compile(program()).graph
    return next(graph.entity(it) for it in graph.nodes if f"= {op} " in graph.definition(it))
