"""One module through every stage: the lines of each that came of it, and no others."""

import numpy as np
import pytest

import compiler
from compiler import Compilation, DataError
from tests.models import LENGTH, transformer


@pytest.fixture(scope="module")
def compiled() -> Compilation:
    pytest.importorskip("onnx")
    model = compiler.from_onnx(transformer())
    return compiler.compile([*model(ids=np.arange(LENGTH)[np.newaxis]).values()])


def test_its_lines_are_those_of_the_module(compiled: Compilation) -> None:
    found = compiled.trace("layer.0.attention.query")
    by_stage = {it.stage: it for it in found.stages}
    source = [line.text for _, line in by_stage["source"].lines]
    assert [it.partition("(")[0].split()[-1] for it in source] == ["MatMul", "Add"]
    assert all("layer.0.attention.query" in it for it in source)
    assert len(by_stage["graph"].lines) == found.account.row.nodes
    (kernel,) = found.account.kernels
    for stage in ("loops", "lowered", "llvm", "assembly"):
        parts = [it for it in found.stages if it.stage == stage]
        assert len(parts) == 1 and parts[0].lines and kernel.name in parts[0].title, stage
    items = [line.entity for _, line in by_stage["schedule"].lines]
    assert f"schedule:{kernel.items[0]}" in items


def test_code_that_several_modules_run_says_so(compiled: Compilation) -> None:
    found = compiled.trace("layer.0.attention.query", to="loops")
    (loops,) = (it for it in found.stages if it.stage == "loops")
    assert loops.shared == len(loops.lines) > 0 and "all of them also of" in loops.words
    assert [it.stage for it in found.stages][-1] == "loops"


def test_it_is_printed_stage_by_stage(compiled: Compilation) -> None:
    text = str(compiled.trace("layer.1.act"))
    lines = text.splitlines()
    assert lines[0] == "encoder.layer.1.act"
    assert lines[1].startswith("  1 node made") and "after simplify" in lines[1]
    assert "Relu" in lines[2] and "also of 1 other module" in lines[2]
    heads = [it for it in lines if it.startswith("== ")]
    assert any("assembly" in it for it in heads) and any("loops" in it for it in heads)
    assert "Relu(" in text and " max" in text.lower()


def test_wrong_names_are_said(compiled: Compilation) -> None:
    with pytest.raises(DataError, match=r"trace: no such module[\s\S]*encoder"):
        compiled.trace("decoder")
    with pytest.raises(DataError, match=r"trace: no such stage[\s\S]*'PTX'[\s\S]*lowered"):
        compiled.trace("encoder", to="PTX")
