"""The widget of a comparison, and its page in a browser."""

import base64
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import traitlets

import svodviz
from compiler import Tensor
from svodviz.cli.main import main
from svodviz.comparing.compare import compare
from svodviz.comparing.comparison_picture import still_of_two
from svodviz.comparing.comparison_wire import FORMAT, VERSION, comparison_wire
from svodviz.foundation.requests import respond
from svodviz.widget.side_by_side import SideBySide, side_by_side
from tests.svodviz.comparing.test_compare import softmax
from tests.svodviz.conftest import Exported, Open
from tests.svodviz.page.test_page import set_state, state, texts
from tests.svodviz.poison import poisoned, unprintable
from tests.svodviz.sample import as_json, hostile, large, rich, sample


@pytest.fixture(scope="module")
def shown() -> SideBySide:
    """The softmax of a product, and one with two more operations."""
    return side_by_side(softmax(), softmax(more=True))


@pytest.fixture(scope="module")
def path(shown: SideBySide, exported: Exported) -> Path:
    return exported(shown)


def test_explore_of_two_shows_both() -> None:
    x = Tensor([1.0, 2.0])
    found = svodviz.explore(x * 2.0, x * 3.0, tab="graphs")
    assert isinstance(found, SideBySide)
    assert found.state["tab"] == "graphs"
    assert isinstance(svodviz.explore(lambda it: it * 2.0, x), svodviz.Explorer)


def test_the_words_of_it(shown: SideBySide) -> None:
    assert repr(shown).endswith(
        "side by side: differ in passes, graph, kernels, schedule, loops, lowered, llvm"
    )
    assert repr(side_by_side(softmax(), softmax())).endswith("side by side: no difference")
    data, _ = shown._repr_mimebundle_()
    assert data["text/plain"] == repr(shown)


def test_a_still_picture_stands_in_for_it(shown: SideBySide) -> None:
    data, _ = shown._repr_mimebundle_()
    picture = data["image/svg+xml"]
    words = re.findall("<text[^>]*>([^<]*)</text>", picture)
    nodes = [it for it in words if it in "+−~" and it]
    assert (nodes.count("+"), nodes.count("−")) == (3, 0)
    assert words.count("softmax") == 0 and words.count("relu") == 1
    lines = [it.replace("\u00a0", " ") for it in words]
    assert any(it.startswith("~  graph nodes") and it.endswith("+3") for it in lines)
    found = re.fullmatch(r'<img alt="([^"]*)" src="data:image/svg\+xml;base64,([^"]*)">',
                         data["text/html"])  # fmt: skip
    assert found and found[1] == repr(shown)
    assert base64.b64decode(found[2]).decode() == picture
    assert len(picture) < 200_000


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("a", "b"), [(sample, rich), (sample, sample), (poisoned, hostile),
                                      (lambda: large(400), sample)])  # fmt: skip
def test_still_pictures_of_two(a: Any, b: Any, theme: Any) -> None:
    read = ET.fromstring(still_of_two(compare(a(), b()), theme))
    assert {it.tag.partition("}")[2] for it in read.iter()} <= {
        "svg", "title", "rect", "g", "path", "text"}  # fmt: skip
    words = "".join(read.itertext()).replace("\u00a0", " ")
    assert unprintable(words, "\n") == ""
    assert ("Graph: no difference" in words or "Graph as written: no" in words) == (a is b)


def test_large_graphs_leave_the_kernels_to_be_seen() -> None:
    words = still_of_two(compare(large(400), sample()))
    assert "Graph" not in words and "Kernels" in words


def test_its_state(shown: SideBySide) -> None:
    with pytest.raises(traitlets.TraitError, match="tab is 'x'; expected one of"):
        shown.state = {"tab": "x"}
    with pytest.raises(traitlets.TraitError, match="unknown \\['view'\\]"):
        shown.state = {"view": "graph"}


def test_the_wire_names_every_difference(shown: SideBySide) -> None:
    data = comparison_wire(shown.comparison)
    assert (data["format"], data["version"]) == (FORMAT, VERSION)
    assert json.loads(json.dumps(data)) == as_json(data)
    graph = data["stages"]["graph"][0]
    names = [data["b"]["entities"][it] for it in graph["only"][1]]
    nodes = shown.comparison.b.graph.to_networkx().nodes
    assert sorted(nodes[it]["op"] for it in names) == ["add", "const", "relu"]
    assert graph["only"][0] == []
    assert [it["mark"] for it in data["kernels"]] == ["~", "="]


def test_measuring_is_a_request(shown: SideBySide) -> None:
    said: list[dict[str, Any]] = []
    respond(shown, {"kind": "request", "id": 1, "name": "measure_both"}, said.append)
    assert said[-1]["kind"] == "answer"
    name, unit, a, b, *_ = said[-1]["result"]
    assert (name, unit) == ("measured, one run", "ns")
    assert a > 100
    assert b > 100


def test_programs_that_show_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "two.py"
    program.write_text("import svodviz\nfrom tests.svodviz.sample import rich, sample\n"
                       "svodviz.explore(sample(), rich())\n")  # fmt: skip
    assert main(["explore", str(program), "-o", str(tmp_path / "page.html")]) == 0
    assert "<title>network.py and rich.py" in (tmp_path / "page.html").read_text("utf-8")
    assert main(["show", str(program)]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("compilation rich.py")


@pytest.mark.browser
def test_what_changed_is_listed(open_page: Open, path: Path) -> None:
    page = open_page(path)
    rows = [re.sub(r"\s+", " ", it) for it in texts(page, ".changes-figures tbody tr")]
    assert "~ differs graph nodes 18 21 +3" in [it.strip() for it in rows]
    assert any("= the same kernels 2 2" in it for it in rows)
    assert "+1 relu" in page.locator(".changes").inner_text()
    page.get_by_role("button", name=re.compile("show .* with the same rewrites")).click()
    assert "split_reduction" in page.locator(".changes").inner_text()
    assert "explore(a, b, measure=True)" in page.locator(".changes").inner_text()
    page.get_by_role("button", name="Compare the loops of k0").click()
    assert state(page)["tab"] == "texts"
    assert page.locator(".diff-row.b").count() == 2


@pytest.mark.browser
def test_graphs_are_linked(open_page: Open, path: Path) -> None:
    page = open_page(path)
    page.get_by_role("button", name="Graphs").click()
    side_a, side_b = page.locator(".side-a.compare-side"), page.locator(".side-b.compare-side")
    assert side_b.locator(".node.added").count() == 3
    assert side_a.locator(".node.added, .node.removed").count() == 0
    assert "only in b" in side_b.locator(".node.added").first.get_attribute("aria-label")
    side_a.locator(".node", has_text="sub").click()
    selected = state(page)["selected"]
    assert selected.startswith("a graph:")
    label = ".node.selected .title"
    assert side_a.locator(label).text_content() == side_b.locator(label).text_content() == "sub"
    side_b.locator(".node", has_text="relu").click()
    assert side_a.locator(".node.selected").count() == 0
    assert "a: not there" in page.locator(".compare-facts").inner_text()


@pytest.mark.browser
def test_differences_one_after_the_other(open_page: Open, path: Path) -> None:
    page = open_page(path)
    set_state(page, tab="graphs", stage="graph")
    seen = []
    for _ in range(6):
        page.keyboard.press("n") if seen else page.get_by_label("Next difference").click()
        seen.append(state(page)["selected"])
    assert len(set(seen[:5])) == 5
    assert seen[5] == seen[0]
    page.keyboard.press("p")
    assert state(page)["selected"] == seen[4]
    side_b = page.locator(".side-b.compare-side")
    pane, node = side_b.bounding_box(), side_b.locator(".node.selected").bounding_box()
    assert pane["y"] <= node["y"]
    assert node["y"] + node["height"] <= pane["y"] + pane["height"]


@pytest.mark.browser
def test_texts_fold_what_is_equal(open_page: Open, path: Path) -> None:
    page = open_page(path)
    set_state(page, tab="texts", stage="loops")
    rows = page.locator(".diff-row")
    before = rows.count()
    page.locator(".gap button").first.click()
    assert rows.count() > before
    assert [it.strip()[:6] for it in texts(page, ".diff-row.b code:last-child")] == [
        "%27 = ", "%29 = "]  # fmt: skip
    page.keyboard.press("n")
    assert "difference 1 of 1" in page.locator(".status").inner_text()


@pytest.mark.browser
def test_equal_texts_are_shown_and_called_so(open_page: Open, tmp_path: Path) -> None:
    side_by_side(softmax(), softmax(), tab="texts", stage="graph").export_html(tmp_path / "x.html")
    page = open_page(tmp_path / "x.html")
    assert "No line differs" in page.locator(".compare-texts").inner_text()
    assert page.locator(".diff-row.equal").count() > 10 and not page.locator(".gap").count()


@pytest.mark.browser
@pytest.mark.parametrize("width", [700, 1400])
@pytest.mark.parametrize("tab", ["changes", "graphs", "texts"])
def test_nothing_sticks_out(open_page: Open, path: Path, width: int, tab: str) -> None:
    page = open_page(path, width=width)
    set_state(page, tab=tab, stage="lowered")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".compare-pane").bounding_box()["height"] > 300


@pytest.mark.browser
def test_hostile_names_stay_words(open_page: Open, tmp_path: Path) -> None:
    side_by_side(hostile(), sample()).export_html(tmp_path / "hostile.html")
    page = open_page(tmp_path / "hostile.html")
    for tab in ("changes", "graphs", "texts"):
        for stage in ("graph", "schedule", "loops"):
            set_state(page, tab=tab, stage=stage)
            assert page.evaluate("window.hacked") is None
            assert page.locator("img, .compare-pane script, svg [onload]").count() == 0
    assert "</script><img src=x" in page.locator(".compare-head").inner_text()


@pytest.mark.browser
def test_impossible_states_become_possible(open_page: Open, path: Path) -> None:
    page = open_page(path)
    set_state(page, tab="nowhere", stage="nowhere", unit=99, selected="c graph:1")
    assert state(page) == {"tab": "changes", "stage": "graph", "unit": 0, "selected": ""}
