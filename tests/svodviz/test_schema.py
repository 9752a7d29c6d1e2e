"""docs/schema.json says what the JSON of a stage is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, compile
from svodviz.exporting.export import export_stage
from svodviz.foundation.stages import EXPORTED
from tests.svodviz.comparing.test_compare import softmax
from tests.svodviz.sample import hostile, rich, sample

jsonschema = pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
SCHEMA = json.loads(
    (Path(__file__).parent.parent.parent / "docs" / "schema.json").read_text("utf-8")
)


def devices() -> Any:
    """A program with copies between devices."""
    x = Tensor(np.ones((8, 8), np.float32)).to("CPU:1")
    return compile((x + 1.0).to("CPU").sum())


@pytest.fixture(scope="module")
def validator() -> Any:
    jsonschema.meta.validate(SCHEMA)
    return jsonschema.Draft202012Validator(SCHEMA)


@pytest.mark.parametrize("stage", EXPORTED)
@pytest.mark.parametrize(
    "make", [sample, rich, hostile, lambda: compile(softmax()), devices],
    ids=["sample", "rich", "hostile", "softmax", "devices"],
)  # fmt: skip
def test_what_is_written_is_what_is_described(
    validator: Any, make: Callable[[], Any], stage: str
) -> None:
    validator.validate(json.loads(export_stage(make(), stage, "json")))


def changed(path: tuple[Any, ...], value: Any) -> Any:
    data = json.loads(export_stage(rich(), "schedule", "json"))
    place = data
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return data


@pytest.mark.parametrize(("path", "value"), [
    (("version",), 2),
    (("format",), "svodviz"),
    (("more",), 1),
    (("entities",), ...),
    (("nodes", 0, "entity"), ...),
    (("nodes", 0, "parents"), "graph:1"),
    (("edges", 0, "operand"), -2),
    (("schedule", "items", 0, "lane"), "CPU"),
    (("schedule", "items", 0, "args", 0, 1), "inout"),
    (("schedule", "items", 0, "ns"), "long"),
    (("schedule", "dependencies", 0), [0, 1, "data"]),
    (("schedule", "memory", "plan", "places", 0, "size"), -1),
    (("schedule", "buffers", 0, "made"), "yes"),
])  # fmt: skip
def test_what_is_described_is_all_there_may_be(
    validator: Any, path: tuple[Any, ...], value: Any
) -> None:
    data = changed(path, value)
    assert not validator.is_valid(data), path
    assert validator.is_valid(changed(("title",), "another title"))


def test_every_definition_is_used() -> None:
    text = json.dumps(SCHEMA)
    unused = [it for it in SCHEMA["$defs"] if f'"#/$defs/{it}"' not in text]
    assert unused == []
