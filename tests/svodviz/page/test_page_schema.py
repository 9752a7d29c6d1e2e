"""docs/page.schema.json says what the data of pages is: of explorers, comparisons and quizzes."""

import copy
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from svodviz.comparing.compare import compare
from svodviz.comparing.comparison_wire import comparison_wire
from svodviz.quizzes.quiz import quiz
from svodviz.widget.explorer import Explorer
from svodviz.wire.checks import Checks
from svodviz.wire.grounds import recorded
from svodviz.wire.payload import opening, wire
from tests.svodviz.comparing.test_compare import softmax
from tests.svodviz.poison import poisoned
from tests.svodviz.sample import hostile, rich, sample
from tests.svodviz.test_schema import devices

jsonschema = pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
DOCS = Path(__file__).parents[3] / "docs"
PAGE, STAGE = (json.loads((DOCS / it).read_text("utf-8"))
               for it in ("page.schema.json", "schema.json"))  # fmt: skip


def closed(schema: Any) -> Any:
    """The schema with no property in any object but those described, so that nothing drifts."""
    if isinstance(schema, list):
        return [closed(it) for it in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(it) for key, it in schema.items()}
    is_object = made.get("type") == "object" and "properties" in made
    return {"additionalProperties": False, **made} if is_object else made


@cache
def validator(name: str) -> Any:
    """A validator of data against one definition."""
    registry = jsonschema.Registry([(it["$id"], closed(it)) for it in (PAGE, STAGE)])
    wanted = {"$ref": f"{PAGE['$id']}#/$defs/{name}"}
    return jsonschema.Draft202012Validator(wanted, registry=registry)


def faults(name: str, data: Any) -> list[str]:
    """The faults of the data against the description."""
    found = validator(name).iter_errors(json.loads(json.dumps(data)))
    return [f"{'.'.join(map(str, it.instance_path))}: {it.message[:300]}" for it in found]


def tuned() -> Any:
    """A program whose loops were searched for."""
    x = Tensor(np.ones((32, 32), np.float32))
    return compiler.compile((x @ x).relu(), Options(tune=0.2))


def looped() -> Any:
    """A program that repeats a step."""
    return compiler.repeat(3, lambda _, it: it * 0.5 + 1.0, Tensor(np.ones(64, np.float32)))


def placed() -> Any:
    """A program without its data."""
    return compiler.compile(Tensor.placeholder(4, dtype="float32", name="later") * 2)


def symbolic() -> Any:
    """A program for several extents."""
    rows = compiler.Variable("rows", 1, 8)
    return compiler.compile(Tensor(np.ones((5, 3), np.float32), symbolic={0: rows}).sum(1))


MAKERS: tuple[Callable[[], Any], ...] = (
    sample, rich, hostile, poisoned, lambda: compiler.compile(softmax()), devices, tuned,
    lambda: compiler.compile(looped()), placed, symbolic,
)  # fmt: skip
NAMES = ("sample", "rich", "hostile", "poisoned", "softmax", "devices", "tuned", "looped",
         "placed", "symbolic")


def test_the_schemas_are_schemas() -> None:
    for schema in (PAGE, STAGE, closed(PAGE), closed(STAGE)):
        jsonschema.meta.validate(schema)
    assert closed({"type": "object", "properties": {}})["additionalProperties"] is False


@pytest.mark.parametrize("make", MAKERS, ids=NAMES)
def test_explorers_are_as_described(make: Callable[[], Any]) -> None:
    assert faults("explorer", wire(make())) == []
    assert faults("explorer", wire(make(), Checks(note="nothing"))) == []


@pytest.mark.parametrize("make", MAKERS[:5], ids=NAMES[:5])
def test_what_arrives_later_is_as_described(make: Callable[[], Any]) -> None:
    data, rest = opening(make())
    assert any(stage.get("later") for stage in data["stages"])
    assert faults("explorer", data) == []
    assert faults("later", rest.made()) == []


def test_what_exports_have_recorded_is_as_described(complete: Explorer) -> None:
    tried = recorded(complete.compilation)
    data = complete.wire | {"recorded": complete.recorded, "playground": tried}
    assert faults("explorer", data) == []
    questions = [it.split(" ")[0] for it in complete.recorded]
    assert {"llvm_passes", "assembly_for"} <= set(questions)
    assert data["checks"]["steps"] and data["playground"]["roofs"]
    kernel, *_ = data["playground"]["kernels"].values()
    assert all(kernel["points"][0][it] for it in ("time", "cache", "texts", "trace"))


@pytest.mark.parametrize(("a", "b"), [
    (sample, rich), (sample, hostile), (poisoned, poisoned),
    (lambda: compiler.compile(softmax()), lambda: compiler.compile(softmax(more=True))),
], ids=["rich", "hostile", "poisoned", "softmax"])  # fmt: skip
def test_comparisons_are_as_described(a: Callable[[], Any], b: Callable[[], Any]) -> None:
    assert faults("comparison", comparison_wire(compare(a(), b()))) == []


def test_measured_comparisons_are_as_described() -> None:
    made = compare(softmax(), softmax(more=True), measure=True)
    assert faults("comparison", comparison_wire(made)) == []


@pytest.mark.parametrize("make", MAKERS[:5], ids=NAMES[:5])
def test_quizzes_are_as_described(make: Callable[[], Any]) -> None:
    assert faults("quiz", quiz(make()).wire) == []


def rows(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every object in the data, one for each place in the description."""
    if isinstance(data, dict):
        yield path
        for key, it in data.items():
            yield from rows(it, (*path, key))
    elif isinstance(data, list) and data:
        yield from rows(data[0], (*path, 0))


def test_a_property_more_is_found_everywhere() -> None:
    """Drift fails: whatever object gets a property that nobody described."""
    free = {("operations",), ("values",), ("playground", "tunings"), ("playground", "kernels"),
            ("playground", "roofs")}  # fmt: skip
    data = json.loads(json.dumps(wire(rich())))
    paths = [it for it in rows(data) if it not in free and it[-1:] != ("cost",)]
    assert len(paths) > 15
    for path in paths:
        changed = copy.deepcopy(data)
        place = changed
        for key in path:
            place = place[key]
        place["undescribed"] = 1
        assert not validator("explorer").is_valid(changed), path


@pytest.mark.parametrize(("path", "value"), [
    (("version",), 3), (("stages", 0, "units", 0, "lines", 0), ["text"]),
    (("passes", 0, "rewrites"), [[0, 1]]), (("replays", 0, "edges", 0), [0, 1, 0]),
    (("schedule", "items", 0, "ns"), "long"), (("views", 0, 3), "else"),
    (("checks",), {"passes": []}), (("values",), {"graph:1": {}}),
])  # fmt: skip
def test_what_is_not_as_described_is_found(path: tuple[Any, ...], value: Any) -> None:
    data = json.loads(json.dumps(wire(sample())))
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert not validator("explorer").is_valid(data)


def test_every_definition_is_used() -> None:
    text = json.dumps(PAGE)
    assert [it for it in PAGE["$defs"] if f'"#/$defs/{it}"' not in text] == []
