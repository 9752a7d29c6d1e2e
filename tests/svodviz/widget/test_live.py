"""`explorer.selected` is the compiler's own objects, by entity and back."""

from typing import Any

import numpy as np
import pytest
import traitlets

import compiler
import svodviz
from compiler import Tensor
from compiler.core.node import Node
from compiler.core.trace import Line
from compiler.graph.nodes import TensorNode
from compiler.loops.nodes import ScalarNode
from svodviz.foundation.stages import STAGES
from svodviz.widget.explorer import Explorer
from svodviz.widget.live import Live

x = Tensor(np.linspace(0, 1, 24, dtype=np.float32).reshape(4, 6), name="x")
y = (x * 1.0).relu().softmax(1)


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    made: Explorer = svodviz.explore(compiler.compile(y))
    return made


def first(explorer: Explorer, stage: str) -> str:
    return next(it for it in explorer.wire["entities"] if it.startswith(f"{stage}:"))


@pytest.mark.parametrize(("stage", "kind"), [
    ("source", Line), ("graph", TensorNode), ("kernels", Node), ("loops", ScalarNode),
    ("llvm", Line), ("optimized", Line), ("asm", Line),
])  # fmt: skip
def test_each_stage_gives_its_objects(explorer: Explorer, stage: str, kind: type) -> None:
    explorer.selected = first(explorer, stage)
    assert isinstance(explorer.selected, kind)
    assert explorer.state["selected"] == first(explorer, stage)


def test_items_buffers_and_instructions(explorer: Explorer) -> None:
    schedule = explorer.compilation.schedule
    explorer.selected = "schedule:0"
    assert explorer.selected is schedule.items[0]
    explorer.selected = "schedule:buffer 0"
    assert explorer.selected is schedule.items[0].operation.arguments[0]
    assert explorer.state["selected"] == "schedule:buffer 0"
    explorer.selected = "lowered:0:1"
    assert explorer.selected is explorer.compilation.lowered[0].instructions[1]


def test_every_entity_of_the_page_is_something(explorer: Explorer) -> None:
    live = Live(explorer.compilation)
    strays = [it for it in explorer.wire["entities"] if isinstance(live.object(it), str)]
    assert strays == []


def test_every_object_leads_back(explorer: Explorer) -> None:
    live = Live(explorer.compilation)
    for stage in STAGES:
        for entity in [it for it in explorer.wire["entities"] if it.startswith(f"{stage.id}:")]:
            assert live.entity(live.object(entity)) in explorer.wire["entities"]


def test_a_tensor_and_a_node_move_the_view(explorer: Explorer) -> None:
    explorer.selected = y
    assert explorer.selected is explorer.compilation.written.sources[0]
    node: Any = explorer.selected.sources[0]
    explorer.selected = node
    assert explorer.state["selected"] == explorer.compilation.entity(node)


def test_what_passes_took_away_is_still_there(explorer: Explorer) -> None:
    record = next(it for it in explorer.compilation.passes if it.matches and it.name != "cse")
    gone = record.matches[0].before
    explorer.state = {"selected": record.entity(gone)}
    assert record.entity(explorer.selected) == record.entity(gone)


@pytest.mark.parametrize("value", [Tensor([1.0]), 3, object(), "graph:999"])
def test_strangers_are_refused(explorer: Explorer, value: Any) -> None:
    explorer.selected = "graph:1"
    with pytest.raises(traitlets.TraitError, match="selected"):
        explorer.selected = value
    assert explorer.state["selected"] == "graph:1"
