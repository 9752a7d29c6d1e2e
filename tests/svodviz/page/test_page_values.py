"""Values, strides and meanings in the inspector, at every stage of a compiled program."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor
from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import Exported, Open

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def made() -> Any:
    x = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4), name="x")
    return compiler.compile((x.permute(1, 0) * 2).sum(1))


@pytest.fixture(scope="module")
def page_file(made: Any, exported: Exported) -> Path:
    return exported(Explorer(made))


def entity(stage: Any, word: str) -> str:
    return next(str(line.entity) for line in stage.lines if word in line.text)


def inspected(page: Any, stage: str, selected: str) -> str:
    script = "(it) => window.svodviz.model.set('state', it)"
    page.evaluate(script, {"stage": stage, "selected": selected})
    return str(page.locator(".inspector").inner_text())


def test_each_stage_shows_a_value(open_page: Open, page_file: Path, made: Any) -> None:
    page = open_page(page_file)
    graph = inspected(page, "graph", entity(made.graph, "permute"))
    assert "1, 4" in graph and "strides" in graph
    assert "The value it comes from" not in graph
    loads = inspected(page, "lowered", entity(made.lowered[0], "load"))
    assert "11" in loads and "computed" in loads
    asm = inspected(page, "asm", entity(made.assembly[0], "mov"))
    assert "The value it comes from" in asm
    item = inspected(page, "schedule", "schedule:0")
    assert "The value it comes from" in item


def test_a_line_without_links_says_why(open_page: Open, page_file: Path) -> None:
    page = open_page(page_file)
    page.locator(".stage", has_text="Source").click()
    alone = page.locator('.line[title^="not linked"]')
    assert alone.count() > 0
    assert "nothing of this program" in str(alone.first.get_attribute("title"))
