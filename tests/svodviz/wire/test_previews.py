"""Which values a page is given, and those that it asks for."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from compiler import Compilation, Tensor, compile
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
        assert "That of what it comes from" not in words
        page.evaluate(select, {"stage": "asm", "selected": code})
        assert "That of what it comes from" in page.locator(".inspector").inner_text()
        page.evaluate(select, {"stage": "graph", "selected": chosen})
        assert page.locator(".inspector figure.value").count() == 1
    explorer.close()
