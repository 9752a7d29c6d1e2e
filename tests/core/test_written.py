"""Nodes and records as plain data: the same nodes come back, and nothing else is made."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, repeat
from compiler.core import dtypes
from compiler.core.node import toposort
from compiler.core.written import Reader, Unwritable, Writer
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import Const, Param, Sink, TensorNode, const, elementwise
from compiler.run.plans import without_data


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a test."""

    name: str
    parts: tuple[Any, ...]


KINDS = {"Param": Param, "Const": Const, "record": Record}


def again(value: Any, kinds: Any = None) -> Any:
    """A value as it comes back from JSON."""
    known = kinds or KINDS
    writer = Writer(known)
    row = writer.value(value)
    rows, row = json.loads(json.dumps([writer.rows, row]))
    return Reader(known, rows).value(row)


@pytest.mark.parametrize(
    "value", [None, True, 7, -(2**63), 0.5, float("inf"), -0.0, "a ü \n", (), (1, (2, "x")), 2**64]
)
def test_plain_values_come_back(value: object) -> None:
    made = again(value)
    assert made == value and type(made) is type(value) and str(made) == str(value)


def test_types_and_records_come_back() -> None:
    record = Record("r", (dtypes.float16, Record("inner", (None,))))
    made = again(record)
    assert made == record and made.parts[0] is dtypes.float16


@pytest.mark.parametrize("value", [float("nan"), -0.0, 1e-45, float("-inf")])
def test_constants_come_back_bit_by_bit(value: float) -> None:
    node = const(value, dtypes.float32)
    assert again(node) is node


def test_a_graph_comes_back_as_the_same_nodes() -> None:
    def step(i: Any, s: Tensor) -> Tensor:
        return s * 0.5 + i

    x = Tensor(np.ones((4, 6), np.float32))
    values = [repeat(3, step, x), x.softmax(1)[1:3].sum(0), (x.T @ x).cast("int32")]
    root, _ = without_data([value.node for value in values])
    kinds = {type(n).__name__: type(n) for n in toposort([root])}
    body = next(n for n in toposort([root]) if isinstance(n, Repeat)).body
    kinds |= {type(n).__name__: type(n) for n in toposort([body])}
    assert again(root, kinds) is root


def test_a_node_of_many_readers_is_written_once() -> None:
    x: TensorNode = const(1.0, dtypes.float32)
    for _ in range(30):
        x = elementwise("add", x, x)
    writer = Writer({"Const": Const, "Elementwise": type(x)})
    assert writer.node(x) == 30 and writer.node(x) == 30 and len(writer.rows) == 31


def test_equal_graphs_have_equal_rows_and_others_have_not() -> None:
    def rows(value: Tensor) -> Any:
        root, _ = without_data([value.node])
        writer = Writer({type(n).__name__: type(n) for n in toposort([root])})
        writer.node(root)
        return writer.rows

    a, b = Tensor(np.ones(4, np.float32)), Tensor(np.zeros(4, np.float32))
    assert rows(a * 2.0 + 1.0) == rows(b * 2.0 + 1.0)
    assert rows(a * 2.0 + 1.0) != rows(a * 2.0 + 1.5)
    assert rows(a + b) != rows(a + a)


def test_what_is_of_another_kind_is_neither_written_nor_made() -> None:
    for value in (Sink((const(1, dtypes.int8),)), object(), {"a": 1}, Record("r", ([1],))):
        with pytest.raises(Unwritable, match="has no written form"):
            Writer(KINDS).value(value)
    with pytest.raises(KeyError):
        Reader({"Const": Const}, [["Param", [], 0, ["t"], ["d", "int8"]]])
    with pytest.raises(ValueError, match="no value begins with 'x'"):
        Reader(KINDS, []).value(["x", 1])
