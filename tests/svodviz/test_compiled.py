"""The explorer on what the compiler really makes: contract and links from program to machine."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
import svodviz
from compiler import Tensor
from svodviz.stages import STAGES
from svodviz.subject import compilation_of
from svodviz.wire import wire
from tests.svodviz.conftest import Open


def network() -> Tensor:
    rng = np.random.default_rng(7)
    x, w1, b1, w2 = (
        Tensor(rng.random(shape, dtype=np.float32), name=name)
        for name, shape in (("x", (8, 5)), ("w1", (5, 6)), ("b1", (6,)), ("w2", (6, 3)))
    )
    hidden = (x @ w1 + b1).relu()
    return (hidden @ w2 * 1.0).softmax(axis=1)


@pytest.fixture(scope="module")
def compilation() -> Any:
    return compiler.compile(network())


@pytest.fixture(scope="module")
def data(compilation: Any) -> dict[str, Any]:
    return wire(compilation)


def test_every_stage_is_there(data: dict[str, Any]) -> None:
    assert data["notes"] == []
    for stage in data["stages"]:
        if stage["id"] != "passes":
            assert stage["units"], stage["id"]
            assert all(unit["lines"] for unit in stage["units"])


def test_passes_can_be_stepped_through(data: dict[str, Any], compilation: Any) -> None:
    assert len(data["passes"]) == len(compilation.passes)
    for row, record in zip(data["passes"], compilation.passes, strict=True):
        steps = data["films"][row["film"]]["passes"][row["shot"]]["steps"]
        assert len(steps) == len(record.rewrites) == len(row["rewrites"])
    assert any(row["rewrites"] for row in data["passes"])
    assert not [place for _, _, place in data["rules"] if place.startswith("/")]


def test_the_program_leads_to_the_machine(data: dict[str, Any]) -> None:
    """From every line of the program that made nodes there is a way down to assembly."""
    names, parents = data["entities"], data["parents"]
    reached: set[int] = set()
    stack = [it for it, name in enumerate(names) if name.startswith("asm:")]
    while stack:
        entity = stack.pop()
        if entity not in reached:
            reached.add(entity)
            stack.extend(parents[entity])
    sources = [it for it, name in enumerate(names) if name.startswith("source:")]
    assert sources
    assert set(sources) <= reached


def test_parents_stand_earlier(data: dict[str, Any]) -> None:
    order = [row.id for row in STAGES]
    place = [order.index(name.split(":")[0]) for name in data["entities"]]
    for entity, parents in enumerate(data["parents"]):
        assert all(place[it] <= place[entity] for it in parents)


def test_values_are_those_of_the_program(data: dict[str, Any], compilation: Any) -> None:
    (result,) = compilation.run()
    shown = [it for it in data["values"].values() if it["shape"] == "8×3"]
    assert f"{result.max():.4g}" in [f"{float(it['max']):.4g}" for it in shown]


def test_what_may_be_explored() -> None:
    assert compilation_of(network()).loops
    assert len(compilation_of((network(), network())).graph.lines) > 0
    assert compilation_of(lambda a: a + 1, Tensor(np.ones(3, dtype=np.float32))).loops


def test_the_text_is_stable() -> None:
    assert repr(svodviz.explore(network())) == repr(svodviz.explore(network()))


@pytest.mark.browser
def test_a_line_is_followed_to_the_machine(open_page: Open, tmp_path: Path) -> None:
    explorer = svodviz.explore(network(), view="columns")
    explorer.export_html(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    page.locator(".column").nth(0).locator(".line.linked").last.locator(".number").click()
    for column in (1, 2):
        assert page.locator(".column").nth(column).locator(".related").count() > 0
