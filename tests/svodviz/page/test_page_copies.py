"""Lines, texts, graphs, pictures and Python are copied from the page itself, without any Python."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import pygraphviz
import pytest

from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import Open

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"
# What a page asks the clipboard for lands here; without one it is "copied as if selected".
CLIPBOARD = """() => {
    window.taken = null;
    const write = async (text) => { window.taken = text; };
    Object.defineProperty(navigator, "clipboard", {
        value: {writeText: write}, configurable: true });
}"""


@pytest.fixture
def page(open_page: Open, compiled_page: Path) -> Any:
    made = open_page(compiled_page, is_kept=False)
    made.set_default_timeout(8_000)
    made.evaluate(CLIPBOARD)
    return made


def go(page: Any, **state: object) -> None:
    page.evaluate(
        "(state) => window.svodviz.model.set('state', {...window.svodviz.model.get('state'),"
        " ...state})", state,
    )  # fmt: skip


def copy(page: Any, title: str, label: str = "copy") -> str:
    """Copies from the menu that is open; what came into the clipboard."""
    page.evaluate("window.taken = null")
    page.click(f'[role=menuitem][aria-label="{title}: {label}"]')
    page.wait_for_function("window.taken !== null")
    assert page.inner_text(".announced") == f"copied: {title}"
    assert not page.is_visible(".copy-menu")
    return str(page.evaluate("window.taken"))


def test_a_line_is_copied_with_its_place(page: Any) -> None:
    go(page, stage="loops", view="text")
    line = page.locator(".line.linked").nth(3)
    line.click(button="right")
    words = line.locator("code").inner_text().strip()
    assert re.fullmatch(r"conftest\.py:\d+: " + re.escape(words), copy(page, "This line"))
    go(page, stage="source", view="text")
    source = page.locator(".line.linked").nth(1)
    source.click()
    page.keyboard.press("Shift+F10")  # what has the focus is asked, so: the selection
    place, _, text = copy(page, "This line").partition(": ")
    name, _, number = place.partition(":")
    assert name == "conftest.py" and text == source.locator("code").inner_text().strip()
    lines = (Path(__file__).parents[1] / name).read_text("utf-8").splitlines()
    assert lines[int(number) - 1].strip() == text


def test_texts_are_copied_whole(page: Any, complete: Explorer) -> None:
    go(page, stage="asm", view="text", unit=1)
    page.click(".copy-button")
    expected = [it.text.expandtabs(4) for it in complete.compilation.assembly[1].lines]
    assert copy(page, "Text of Assembly k1").splitlines() == expected
    page.click(".copy-button")
    assert copy(page, "Text of Assembly, all").count("k0 matmul+relu assembly") == 1
    page.click(".copy-button")
    assert copy(page, "This text in Python") == "print(program.assembly[1])"


def test_graphs_are_copied_for_other_programs(page: Any, complete: Explorer) -> None:
    go(page, stage="graph", view="graph", folding="none", unit=0)
    expected = complete.compilation.graph.to_networkx()
    page.click(".copy-button")
    graph = nx.node_link_graph(json.loads(copy(page, "Graph as drawn", "JSON")), edges="edges")
    assert set(graph.nodes) == set(expected.nodes)
    assert set(nx.DiGraph(graph).edges) == set(expected.edges)
    page.click(".copy-button")
    drawn = pygraphviz.AGraph(string=copy(page, "Graph as drawn", "DOT"))
    assert set(drawn.nodes()) == set(expected.nodes)
    page.click(".copy-button")
    chart = copy(page, "Graph as drawn", "Mermaid").splitlines()
    assert chart[0] == "flowchart TD" and sum("-->" in it for it in chart) == len(graph.edges)
    page.locator(".node", has_text="mul").first.click(button="right")
    part = json.loads(copy(page, "mul and its neighbours", "JSON"))
    assert len(part["nodes"]) == 4 and {it["op"] for it in part["nodes"]} > {"mul", "reduce sum"}
    page.click(".copy-button")
    assert copy(page, "This graph in Python") == "program.graph.to_networkx()"
    go(page, stage="passes", view="graph", **{"pass": 2, "step": 1})
    page.click(".copy-button")
    assert copy(page, "This graph in Python") == "[*program.passes[2].replay()][1]"


def saved(page: Any, label: str) -> bytes:
    page.click(".copy-button")
    with page.expect_download() as waiting:
        page.click(f'[aria-label="Picture: save {label}"]')
    path = Path(waiting.value.path())
    page.wait_for_function("document.querySelector('.announced').textContent.startsWith('saved: ')")
    return path.read_bytes()


@pytest.mark.parametrize(("stage", "view"), [("graph", "graph"), ("schedule", "memory")])
def test_pictures_are_whole_and_need_no_page(page: Any, stage: str, view: str) -> None:
    go(page, stage=stage, view=view, folding="none")
    page.emulate_media(color_scheme="dark")  # pictures are light all the same
    text = saved(page, "SVG").decode()
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg" and root[0].text.startswith("conftest.py")
    assert root[1].get("fill") == "#ffffff"
    assert not re.search(r'class=|data-|var\(|color\(|url\(|<script|href|style=', text)
    words = {it.text for it in root.iter(f"{SVG}text")}
    assert words >= ({"permute (1,0)", "f32[64,16]"} if view == "graph" else {"level"})
    fills = {it.get("fill") for it in root.iter()} - {None}
    assert len(fills) >= 4
    image = saved(page, "PNG")
    assert image.startswith(b"\x89PNG")
    width, height = (int.from_bytes(image[at : at + 4]) for at in (16, 20))
    assert (width, height) == (2 * int(root.get("width")), 2 * int(root.get("height")))
    assert not page.query_selector(".paper")
    if view == "graph":  # what appears just now is there in the picture
        go(page, stage="passes", view="graph", **{"pass": 2, "step": 1})
        assert ' opacity="0"' not in (steps := saved(page, "SVG").decode()) and "const 0.0" in steps


def test_without_a_clipboard_text_is_copied_as_if_selected(page: Any) -> None:
    page.evaluate("""() => {
        Object.defineProperty(navigator, "clipboard", {value: undefined, configurable: true});
        document.addEventListener("copy", () => { window.taken = String(getSelection()); });
    }""")
    page.click(".copy-button")
    page.click('[aria-label="This graph in Python: copy"]')
    page.wait_for_function("document.querySelector('.announced').textContent.startsWith('copied')")
    page.evaluate("document.execCommand = () => false")
    page.click(".copy-button")
    page.click('[aria-label="This graph in Python: copy"]')
    field = page.locator(".copy-menu textarea")
    assert field.input_value() == "program.graph.to_networkx()"
    assert field.evaluate("(it) => it.selectionEnd") == len(field.input_value())
    page.keyboard.press("Escape")
    assert not page.is_visible(".copy-menu")


def test_the_menu_is_used_by_keys_alone(page: Any) -> None:
    page.focus(".copy-button")
    page.keyboard.press("Enter")
    names = "() => document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(names) == "Link to this place: copy"
    page.keyboard.press("End")
    assert page.evaluate(names) == "This text in Python: copy"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_function("window.taken === 'print(program.graph)'")
    assert page.evaluate("document.activeElement.className") == "copy-button"
    page.click(".graph", position={"x": 5, "y": 5})
    page.keyboard.press("Shift+F10")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.classList.contains('graph')")


def test_the_link_leads_here(page: Any) -> None:
    go(page, stage="loops", view="text", selected="graph:3")
    page.click(".copy-button")
    link = copy(page, "Link to this place")
    assert re.search(r"\.html#stage=loops&unit=k\d&selected=graph:3$", link)
