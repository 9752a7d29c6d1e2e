"""The modules of a model on the wire: what the page adds up is what Python says."""

import numpy as np
import pytest

import compiler
from compiler import Compilation
from svodviz.wire.modules import has_modules
from svodviz.wire.payload import opening, wire
from tests.models import LENGTH, transformer


@pytest.fixture(scope="module")
def compiled() -> Compilation:
    pytest.importorskip("onnx")
    model = compiler.from_onnx(transformer())
    return compiler.compile([*model(ids=np.arange(LENGTH)[np.newaxis]).values()])


def test_parts_and_codes_are_those_of_python(compiled: Compilation) -> None:
    data = wire(compiled)
    made = compiled.by_module()
    table = data["modules"]
    assert data["stages"][0]["id"] == "modules"
    assert [it["path"] for it in table["rows"]] == [it.row.path for it in made.rows]
    assert len(table["parts"]) == len(table["roofs"]) == len(compiled.schedule.items)
    items = zip(table["parts"], compiled.schedule.analysis, strict=True)
    encoder = made.modules.find("encoder")
    ns = sum(part * cost.estimated_ns for row, cost in items for at, part, *_ in row
             if made.modules.is_inside(at, encoder))  # fmt: skip
    assert ns == pytest.approx(made["encoder"].work.ns, rel=1e-3)
    assert [it[0] for it in data["codes"]] == [it.code.instructions for it in made.rows]
    names = data["entities"]
    assert [names[it["e"]] for it in table["rows"]] == [
        made.modules.entity(at) for at in range(len(made.rows))
    ]


def test_nodes_descend_from_their_module(compiled: Compilation) -> None:
    data = wire(compiled)
    query = data["modules"]["rows"][compiled.modules.find("layer.0.attention.query")]["e"]
    children = [name for name, parents in zip(data["entities"], data["parents"], strict=True)
                if query in parents]  # fmt: skip
    assert children and all(it.startswith("graph:") for it in children)
    names = [line.text.split()[0] for line in compiled.lineage(children[0])]
    assert names[:5] == ["(whole", "encoder", "layer.0", "attention", "query"]


def test_codes_come_later(compiled: Compilation) -> None:
    data, rest = opening(compiled, None)
    assert "modules" in data and "codes" not in data
    assert len(rest.made()["codes"]) == len(data["modules"]["rows"])


def test_programs_without_modules_have_no_such_stage() -> None:
    from tests.svodviz.sample import sample

    assert not has_modules(sample())
    data = wire(sample())
    assert "modules" not in data and "codes" not in data
    assert all(stage["id"] != "modules" for stage in data["stages"])
