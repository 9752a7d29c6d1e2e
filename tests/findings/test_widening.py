"""Where a float32 program becomes float64: listed in its summary and among its decisions."""

from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor, compile
from compiler.findings.widening import widenings
from compiler.graph.nodes import Sink


def notes(*results: Tensor) -> list[str]:
    """The warnings of a program."""
    return [str(each) for each in widenings(Sink(tuple(result.node for result in results)))]


def line() -> int:
    """The number of the line that calls."""
    import inspect

    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return frame.f_back.f_lineno


def narrow() -> Any:
    return Tensor(np.ones((4, 4), np.float32))


def test_the_line_the_operation_and_what_it_met() -> None:
    x = narrow()
    bias = Tensor.arange(4)
    met = line() - 1
    y = (x + bias).relu()
    assert notes(y) == [
        f"float32 becomes float64 at test_widening.py:{line() - 2} in add, "
        f"with int64 arange (test_widening.py:{met})"
    ]


def test_names_of_data() -> None:
    wide = Tensor(np.ones(4), name="w")
    made = line() - 1
    y = narrow() * wide
    (note,) = notes(y)
    assert f"test_widening.py:{line() - 2} in mul" in note
    assert note.endswith(f"float64 w (test_widening.py:{made})")


@pytest.mark.parametrize("call", [
    lambda x: x + Tensor.zeros(4),
    lambda x: x * np.sqrt(2),
    lambda x: x @ Tensor(np.eye(4)),
    lambda x: x.cat(Tensor(np.ones((1, 4)))),
    lambda x: (x > 0).where(x, Tensor.ones(4, 4)),
])  # fmt: skip
def test_operations(call: Any) -> None:
    y = call(narrow())
    assert y.dtype == "float64" and len(notes(y)) == 1


@pytest.mark.parametrize("call", [
    lambda x: x * 2.0 + 1,
    lambda x: x.double() + Tensor.zeros(4),
    lambda x: x.astype(np.float64) * 2,
    lambda x: x.sum(dtype="float64"),
    lambda x: x + np.float32(2),
    lambda x: x.cast("int32") + Tensor.zeros(4),
    lambda x: x.zeros_like() + x,
])  # fmt: skip
def test_what_was_asked_for_is_not_told(call: Any) -> None:
    assert notes(call(narrow())) == []


def test_what_follows_is_not_told_again() -> None:
    x = narrow()
    first = x + Tensor.zeros(4)
    second = first @ x
    assert len(notes(second + x, second - x)) == 1


def test_summary_and_decisions() -> None:
    x = narrow()
    made = compile([x + Tensor.zeros(4), x * Tensor.zeros(4), x - Tensor.eye(4), x / Tensor.eye(4)])
    summary = made.summary().splitlines()
    warnings = [row for row in summary if row.startswith("warning: float32 becomes float64 at")]
    # one line of this file, four operations
    assert len(warnings) == 3 and "warning: and at 1 more places" in summary
    assert warnings[0].endswith("made = compile([x + Tensor.zeros(4), x * Tensor.zeros(4), "
                                "x - Tensor.eye(4), x / Tensor.eye(4)])")  # fmt: skip
    assert summary[-1].startswith('compiler.set_default_dtype("float32")')
    decisions = [each for each in made.decisions if each.kind == "widen"]
    graph = {made.graph.entity(node) for node in made.graph.nodes}
    assert len(decisions) == 4 and all(each.subject in graph for each in decisions)


def test_a_default_type_keeps_it_narrow() -> None:
    with compiler.default_dtype("float32"):
        y = (narrow() + Tensor.zeros(4)) @ Tensor.eye(4)
    assert y.dtype == "float32" and "warning" not in compile(y).summary()
