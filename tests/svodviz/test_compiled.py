"""The explorer on what the compiler really makes: contract and links from program to machine."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
import svodviz
from compiler import Tensor
from svodviz.foundation.stages import STAGES
from svodviz.foundation.subject import compilation_of
from svodviz.wire.payload import wire
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
        if stage["id"] != "passes" and not stage.get("asked"):
            assert stage["units"], stage["id"]
            assert all(unit["lines"] for unit in stage["units"])


def test_passes_can_be_stepped_through(data: dict[str, Any], compilation: Any) -> None:
    assert len(data["passes"]) == len(compilation.passes)
    for row, record in zip(data["passes"], compilation.passes, strict=True):
        steps = data["replays"][row["replay"]]["passes"][row["replay_pass"]]["steps"]
        assert len(steps) == len(record.rewrites) == len(row["rewrites"])
    assert any(row["rewrites"] for row in data["passes"])
    assert not [place for _, _, place, _ in data["rules"] if place.startswith("/")]


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


def loop_on_two_devices() -> Tensor:
    """Four iterations of a step, and a kernel on another device that needs a copy."""
    matrix = Tensor(np.ones((6, 6), dtype=np.float32), name="matrix")
    vector = Tensor(np.ones(6, dtype=np.float32), name="vector")
    last = compiler.repeat(4, lambda i, v: matrix @ v * 0.1, vector)
    return last.to("CPU:1") + 1


def test_a_loop_and_a_copy_are_seen() -> None:
    data = wire(compiler.compile(loop_on_two_devices()))
    found = data["schedule"]
    assert found["lanes"] == ["CPU", "CPU:1"]
    assert {it["op"] for it in found["items"]} == {"kernel", "transfer"}
    assert {len(it["items"]) for it in found["loops"]} == {4}
    assert {"data", "anti"} <= {kind for _, _, kind, *_ in found["dependencies"]}
    assert all(max(it["items"]) < len(found["items"]) for it in found["loops"])
    (kernels,) = next(it for it in data["stages"] if it["id"] == "kernels")["units"]
    kinds = {node["kind"] for node in kernels["scene"]["nodes"]}
    assert {"transfer", "loop", "order", "call", "buffer"} <= kinds
    ((label, *_),) = kernels["scene"]["layouts"][0]["groups"]
    assert label.endswith("= 0 … 3, 4 iterations")
    buffers = [it for it in found["buffers"] if data["parents"][it["e"]]]
    assert len(buffers) == len(found["buffers"])


def test_a_node_says_which_variables_its_extents_have() -> None:
    n = compiler.Variable("n", 1, 64)
    x = Tensor(np.ones((5, 3), dtype=np.float32), symbolic={0: n}, name="x")
    data = wire(compiler.compile((x + 1).exp()))
    (graph, *_) = next(it for it in data["stages"] if it["id"] == "graph")["units"]
    said = {it["op"]: it["variables"] for it in graph["scene"]["nodes"] if "variables" in it}
    assert said["exp"] == "n (1 … 64)"
    (item,) = data["schedule"]["items"]
    assert ("variables", "n") in item["facts"]


def test_what_may_be_explored() -> None:
    assert compilation_of(network()).loops
    assert len(compilation_of((network(), network())).graph.lines) > 0
    assert compilation_of(lambda a: a + 1, Tensor(np.ones(3, dtype=np.float32))).loops


def test_the_text_is_stable() -> None:
    assert repr(svodviz.explore(network())) == repr(svodviz.explore(network()))


@pytest.mark.browser
def test_the_schedule_of_a_loop_opens(open_page: Open, tmp_path: Path) -> None:
    explorer = svodviz.explore(loop_on_two_devices(), stage="schedule")
    explorer.export_html(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    assert page.locator(".lane-name").all_inner_texts() == ["CPU", "CPU:1"]
    assert page.locator(".loop-row").count() == len(explorer.wire["schedule"]["loops"])
    assert page.locator(".item").count() == len(explorer.wire["schedule"]["items"])


@pytest.mark.browser
def test_a_line_is_followed_to_the_machine(open_page: Open, tmp_path: Path) -> None:
    explorer = svodviz.explore(network(), view="columns")
    explorer.export_html(tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    page.locator(".column").nth(0).locator(".line.linked").last.locator(".number").click()
    for column in (1, 2):
        assert page.locator(".column").nth(column).locator(".related").count() > 0
