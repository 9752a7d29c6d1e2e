"""Two nodes of a graph: all paths between them are highlighted and counted."""

from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import Open

pytestmark = pytest.mark.browser


@pytest.fixture
def page(open_page: Open, compiled_page: Path) -> Any:
    made = open_page(compiled_page)
    made.set_default_timeout(8_000)
    made.evaluate("window.svodviz.model.set('state', {stage: 'graph', folding: 'none'})")
    zoom_out(made)
    made.focus(".graph")
    return made


def zoom_out(page: Any) -> None:
    """So far that all nodes are in view."""
    for _ in range(5):
        page.click("[aria-label='Zoom out']")


def select(page: Any, entity: str, **how: Any) -> None:
    """Clicks a node, wherever it is."""
    page.locator(f".node[data-entity='{entity}']").dispatch_event("click", how)


def names(page: Any, selector: str) -> set[str]:
    found: list[str] = page.evaluate(
        """(selector) => [...document.querySelectorAll(selector)].map((it) => it.dataset.entity)""",
        selector,
    )
    return set(found)


def test_all_paths_are_lit_and_counted(page: Any, complete: Explorer) -> None:
    graph = complete.compilation.graph.to_networkx()
    number = {name: str(at) for at, name in enumerate(complete.wire["entities"])}
    first = next(it for it in graph if graph.in_degree(it) == 0)
    last = next(it for it in graph if graph.out_degree(it) == 0)
    paths = list(nx.all_simple_paths(graph, first, last))
    expected = {number[it] for path in paths for it in path}
    shortest = nx.shortest_path_length(graph, first, last)
    assert len(paths) > 1
    select(page, number[last])
    select(page, number[first], shiftKey=True)  # against the edges
    words = f"{len(paths)} paths, the shortest of {shortest} edges · "
    assert page.inner_text(".status-text").startswith(words)
    assert names(page, ".node.near") == expected
    assert names(page, ".node.far") == {number[it] for it in graph} - expected
    assert page.locator(".edge.on-path").count() == sum(
        {a, b} <= {it for path in paths for it in path} for a, b in graph.edges
    )
    assert names(page, ".node.end") == {number[first]}
    page.wait_for_function(f"location.hash.includes('path={first}')")
    page.keyboard.press("Escape")
    assert page.locator(".on-path, .node.end, .node.far").count() == 0
    page.wait_for_function("!location.hash.includes('path=')")


def test_keys_find_paths_too_and_groups_take_part(page: Any, complete: Explorer) -> None:
    graph = complete.compilation.graph.to_networkx()
    number = {name: str(at) for at, name in enumerate(complete.wire["entities"])}
    inputs = [it for it in graph if graph.in_degree(it) == 0]
    select(page, number[inputs[0]])
    page.keyboard.press("Shift+P")
    assert page.inner_text(".status-text").startswith("paths lead from here to the next selection")
    page.keyboard.press("Shift+O")
    page.keyboard.press("Shift+O")
    assert page.inner_text(".status-text").startswith("1 path of 2 edges · ")
    page.evaluate("window.svodviz.model.set('state', {...window.svodviz.model.get('state'), "
                  f"selected: '{inputs[1]}'}})")  # fmt: skip
    assert page.inner_text(".status-text").startswith("no path between the two nodes · ")
    page.evaluate("window.svodviz.model.set('state', {...window.svodviz.model.get('state'), "
                  "folding: '', selected: 'graph:18'})")  # fmt: skip
    assert " · 3 of 19 nodes shown" in page.inner_text(".status-text")
    assert "path of 4 edges" in page.inner_text(".status-text")
    page.keyboard.press("Shift+P")
    assert page.locator(".on-path").count() == 0


def boxes(page: Any) -> dict[str, list[float]]:
    found: dict[str, list[float]] = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll(".node")].map((it) => {
            const box = it.querySelector(".outline").getBoundingClientRect();
            return [it.dataset.entity, [box.left, box.top, box.right, box.bottom]];
        }))"""
    )
    return found


def test_graphs_lead_from_left_to_right(page: Any, complete: Explorer) -> None:
    graph = complete.compilation.graph.to_networkx()
    number = {name: str(at) for at, name in enumerate(complete.wire["entities"])}
    page.click("[aria-label='From left to right']")
    page.wait_for_function("location.hash.includes('across=yes')")
    zoom_out(page)
    placed = boxes(page)
    assert len(placed) == len(graph)
    for source, target in graph.edges:
        assert placed[number[source]][2] < placed[number[target]][0]
    assert page.locator("[aria-label='From left to right'][aria-pressed=true]").count() == 1
    page.evaluate("window.svodviz.model.set('state', {...window.svodviz.model.get('state'), "
                  "stage: 'passes', pass: 1, step: 1, view: 'graph'})")  # fmt: skip
    before, after = boxes(page), page.keyboard.press("ArrowLeft")
    assert after is None and page.locator(".position").inner_text() != ""
    stayed = [name for name, box in boxes(page).items() if before.get(name) == box]
    assert len(stayed) >= len(graph) - 3  # what stays holds its place here too
    page.click("[aria-label='From left to right']")
    low = boxes(page)
    assert max(it[3] for it in low.values()) - min(it[1] for it in low.values()) > 400
