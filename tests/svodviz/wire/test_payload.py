"""The data of a page: complete, consistent, printable, and the same every time."""

import json
import re
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from compiler import Tensor, compile
from svodviz.foundation.entities import Entities
from svodviz.foundation.stages import USUAL
from svodviz.wire import payload, previews, stage_rows
from svodviz.wire.payload import VERSION, wire
from tests.svodviz.sample import HOSTILE, UNSEEN, Decision, as_json, hostile, large, sample
from tests.svodviz.sample_schedule import empty


class FailingLate:
    """The sample on a machine where LLVM fails."""

    def __init__(self) -> None:
        self.plain = sample()

    def __getattr__(self, name: str) -> Any:
        if name == "optimized":
            raise RuntimeError("no target <x>")
        return getattr(self.plain, name)


def test_it_is_json_and_versioned() -> None:
    data = wire(sample())
    assert json.loads(json.dumps(data, allow_nan=False)) == as_json(data)
    assert (data["format"], data["version"]) == ("svodviz", VERSION)
    assert [stage["id"] for stage in data["stages"]] == [row.id for row in USUAL]


def without_times(data: Any) -> Any:
    return re.sub(r'"seconds": [\d.e-]+', '"seconds": 0', json.dumps(data))


def test_the_same_every_time() -> None:
    assert without_times(wire(sample())) == without_times(wire(sample()))


@pytest.mark.parametrize("compilation", [sample(), hostile()])
def test_every_number_names_something(compilation: Any) -> None:
    data = wire(compilation)
    count = len(data["entities"])
    assert len(data["parents"]) == count == len(set(data["entities"]))
    numbers = [it for parents in data["parents"] for it in parents]
    for stage in data["stages"]:
        for unit in stage["units"]:
            numbers += [entity for _, entity, *_ in unit["lines"] if entity >= 0]
            nodes = unit["scene"]["nodes"] if unit["scene"] else []
            numbers += [node["e"] for node in nodes]
            for source, target, *_ in unit["scene"]["edges"] if unit["scene"] else []:
                assert max(source, target) < len(nodes)
    numbers += [number for record in data["passes"] for _, *ends in record["rewrites"]
                for number in ends]  # fmt: skip
    assert min(numbers) >= 0
    assert max(numbers) < count


def test_every_line_arrives() -> None:
    plain = sample()
    lowered = next(it for it in wire(plain)["stages"] if it["id"] == "lowered")
    for unit, stage in zip(lowered["units"], plain.lowered, strict=True):
        assert [text for text, *_ in unit["lines"]] == str(stage).splitlines()


def test_lines_without_an_entity_keep_their_origin() -> None:
    data = wire(sample())
    loops = next(it for it in data["stages"] if it["id"] == "loops")
    number = loops["units"][0]["lines"][0][1]
    assert data["entities"][number] == "loops:0:line 1"
    assert [data["entities"][it] for it in data["parents"][number]] == ["schedule:0"]


def test_loops_descend_from_the_items_that_run_their_kernel_and_no_others() -> None:
    x = Tensor(np.ones((8, 16), np.float32))
    data = wire(compile((x.softmax(1) @ x.T).softmax(1)))
    stages = {it["id"]: it for it in data["stages"]}
    nodes = stages["schedule"]["units"][0]["scene"]["nodes"]
    assert len(stages["loops"]["units"]) > 1
    for unit in stages["loops"]["units"]:
        run = {node["e"] for node in nodes if node.get("name") == unit["name"]}
        for _, number, *_ in unit["lines"]:
            items = {it for it in data["parents"][number]
                     if data["entities"][it].startswith("schedule:")}  # fmt: skip
            assert number < 0 or items == run != set()


def test_nothing_descends_from_itself() -> None:
    entities = Entities()
    entities.number("a", ["a", "b", "a"])
    entities.number("b", ["b"])
    assert entities.names == ["a", "b"] and entities.parents == [[1], []]


def test_a_stage_that_fails_late_is_told() -> None:
    data = wire(FailingLate())
    stage = next(it for it in data["stages"] if it["id"] == "optimized")
    assert stage["missing"] == "RuntimeError: no target <x>"
    assert stage["units"] == []
    assert data["notes"] == [UNSEEN, f"LLVM optimised is missing: {stage['missing']}"]
    assert next(it for it in data["stages"] if it["id"] == "asm")["units"]


def test_what_is_left_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_rows, "GRAPH_LIMIT", 20)
    monkeypatch.setattr(previews, "LIMIT", 3)
    data = wire(sample())
    (first, _) = next(it for it in data["stages"] if it["id"] == "graph")["units"]
    drawn = first["scene"]["nodes"]
    assert first["nodes"] == 33 and len(drawn) <= 20
    assert first["note"] == ("The graph has 33 nodes; up to 20 are drawn. "
                             f"Here are {len(drawn)} stretches of its layers.")  # fmt: skip
    assert data["notes"] == [UNSEEN, "values of 3 of 16 nodes were computed"]


def test_text_graphs_stay_small() -> None:
    graph = nx.path_graph([f"llvm:k0:{it}" for it in range(401)], create_using=nx.DiGraph)
    plain = sample()
    long = replace(plain.source[0], graph=graph)
    data = wire(replace(plain, source=(long, *plain.source[1:])))
    unit = next(it for it in data["stages"] if it["id"] == "llvm")["units"][0]
    assert unit["scene"] is None
    assert "401" in unit["note"]


def test_values_that_fail_are_told_once() -> None:
    class NoValues(FailingLate):
        def values(self, entity: str) -> None:
            raise KeyError("no input x")

        def __getattr__(self, name: str) -> Any:
            return getattr(sample(), name)

    data = wire(NoValues())
    assert data["values"] == {}
    assert data["notes"] == [UNSEEN, "no values: KeyError: 'no input x'"]


def test_hostile_text_arrives_printable() -> None:
    text = json.dumps(wire(hostile()), ensure_ascii=False)
    entities = json.dumps(wire(hostile())["entities"])
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200e\u200f\x00-\x1f]", text)
    assert "script" not in entities
    assert HOSTILE[0] in text


def test_decisions_on_unknown_entities_are_kept() -> None:
    plain = replace(sample(), decisions=(Decision("graph:999", "fuse", False, "gone"),))
    data = wire(plain)
    ((entity, *rest),) = data["decisions"]
    assert data["entities"][entity] == "graph:999"
    assert rest == ["fuse", False, "gone", []]


def test_rule_places_do_not_name_this_machine() -> None:
    inside = payload.PACKAGES / "compiler" / "graph" / "simplify.py"
    assert payload.place(f"{inside}:12") == "compiler/graph/simplify.py:12"
    assert payload.place("mine.py:3") == "mine.py:3"


def test_large_graphs_travel() -> None:
    data = wire(large(3000))
    assert len(data["stages"][1]["units"][0]["scene"]["nodes"]) == 3000


def test_an_empty_stage_has_no_graph() -> None:
    data = wire(replace(sample(), schedule=empty()))
    assert next(it for it in data["stages"] if it["id"] == "schedule")["units"][0]["scene"] is None
