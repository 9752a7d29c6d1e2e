"""Which values a page is given, and those that it asks for."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from compiler import Compilation, Tensor, compile, first_nan
from svodviz.foundation.requests import respond
from svodviz.foundation.values import preview
from svodviz.widget.explorer import Explorer
from svodviz.wire import previews
from svodviz.wire.payload import wire
from tests.svodviz.answering import answered_page


def program() -> Compilation:
    x = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4), name="x")
    return compile((x.exp() + 1.0).sum(axis=1))


def asked(compilation: Any, entity: str) -> Any:
    """The answer to a page."""
    sent: list[Any] = []
    message = {"kind": "request", "id": 1, "name": "value", "arguments": {"entity": entity}}
    respond(SimpleNamespace(compilation=compilation), message, sent.append)
    return sent[-1]


@pytest.mark.parametrize("name", ["LIMIT", "SECONDS"])
def test_what_is_left_out_is_counted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = wire(program())["values"]
    monkeypatch.setattr(previews, name, 0 if name == "LIMIT" else -1.0)
    data = wire(program())
    assert len(data["values"]) < len(whole)
    (note,) = (it for it in data["notes"] if it.startswith("values of 0 of "))
    assert note.endswith(" nodes were computed")


def test_large_programs_take_no_longer_for_all_their_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(previews, "HURRIED_SECONDS", -1.0)
    assert any("values of" in it for it in wire(program())["notes"]) is False
    monkeypatch.setattr(previews, "LIMIT", 3)
    assert any("values of 0 of" in it for it in wire(program())["notes"])


def test_every_value_can_be_asked_for() -> None:
    made = program()
    nodes = [line.entity for line in (*made.graph.lines, *made.kernels.lines) if line.entity]
    known = {it: made.values(it) for it in nodes}
    assert sum(it is not None for it in known.values()) > 5
    for entity, value in known.items():
        answer = asked(made, entity)
        assert answer["kind"] == "answer"
        assert answer["result"] == (None if value is None else preview(value))


def test_what_has_no_value_is_answered_all_the_same() -> None:
    assert asked(program(), "graph:999")["result"] is None
    data = compile(Tensor.placeholder((3,), dtype="float32", name="x") + 1.0)
    assert asked(data, str(data.graph.lines[0].entity))["result"] is None


@pytest.mark.browser
def test_a_page_asks_for_a_value_that_it_was_not_given(
    monkeypatch: pytest.MonkeyPatch, chromium: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(previews, "LIMIT", 0)
    explorer = Explorer(program())
    chosen = next(str(it.entity) for it in explorer.compilation.graph.lines if "exp" in it.text)
    code = next(it.entity for it in explorer.compilation.assembly[0].lines if it.parents)
    select = "(it) => window.svodviz.model.set('state', it)"
    with answered_page(explorer, chromium, tmp_path) as page:
        page.evaluate(select, {"stage": "graph", "selected": chosen})
        page.wait_for_selector(".inspector figure.value")
        words = page.locator(".inspector").inner_text()
        assert "59874" in words and "shape 3×4, 1 light" in words
        assert "The value it comes from" not in words
        page.evaluate(select, {"stage": "asm", "selected": code})
        assert "The value it comes from" in page.locator(".inspector").inner_text()
        page.evaluate(select, {"stage": "graph", "selected": chosen})
        assert page.locator(".inspector figure.value").count() == 1
    explorer.close()


def nan_program() -> Compilation:
    x = Tensor(np.array([[1.0, -2.0, 0.0], [4.0, 0.0, 9.0]]), name="x")
    return compile((x.sqrt() + 1) * x)


def test_where_a_nan_began_is_in_the_preview() -> None:
    made = nan_program()
    first = first_nan(made).beginnings[0].entity
    entity = next(str(it.entity) for it in made.optimized_graph.lines if " mul " in it.text)
    answered = asked(made, entity)["result"]
    assert answered["nan"] == 1 and answered["began"] == first
    told = [value["began"] for value in wire(made)["values"].values() if "began" in value]
    assert told and set(told) == {first}


@pytest.mark.browser
def test_the_inspector_leads_back_to_the_first_nan(chromium: Any, tmp_path: Path) -> None:
    explorer = Explorer(nan_program())
    lines = explorer.compilation.optimized_graph.lines
    last = next(str(it.entity) for it in lines if " mul " in it.text)
    first = next(str(it.entity) for it in lines if " sqrt " in it.text)
    with answered_page(explorer, chromium, tmp_path) as page:
        page.evaluate("(it) => window.svodviz.model.set('state', it)",
                      {"stage": "graph", "selected": last})
        page.wait_for_selector(".inspector .histogram rect")
        words = page.locator(".inspector").inner_text()
        assert "Its NaN began at" in words and "1 of 6, 17 %" in words and "zeros" in words
        page.locator(".inspector .hint:has-text('Its NaN began') ~ * button").first.click()
        page.wait_for_function(
            "(it) => window.svodviz.model.get('state').selected === it", arg=first)
        assert "NaN begins here" in page.locator(".inspector").inner_text()
