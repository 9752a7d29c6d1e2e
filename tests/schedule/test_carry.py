"""Loop states that get one new row per iteration: values as in NumPy, only the row is copied."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor, repeat
from compiler.core.node import toposort
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import Sink
from compiler.schedule.carry import NO_LINE, ONE_ROW, OUTSIDE, Row, carry
from compiler.schedule.items import MemoryTransfer
from compiler.settings.options import Options
from tests.evaluate import Array, assert_same, evaluate, every_engine
from tests.rows import after_graph_passes

T = 6


def put(x: Any, place: Any, row: Any, axis: int = 0) -> Any:
    """`x` with another row at `place`, for tensors and arrays alike."""
    shape = [1] * x.ndim
    shape[axis] = -1
    if isinstance(x, Tensor):
        is_there = Tensor.arange(x.shape[axis]).eq(place).reshape(*shape)
        return is_there.where(row.unsqueeze(axis) if row.ndim else row, x)
    return np.where((np.arange(x.shape[axis]) == place).reshape(shape),
                    np.expand_dims(row, axis) if np.ndim(row) else row, x)  # fmt: skip


def constant(h: Any) -> Any:
    """A row that no state is read for, in the type of a state."""
    return Tensor.full((), 2.5, dtype="float64") if isinstance(h, Tensor) else np.float64(2.5)


def stacking(i: Any, h: Any, rows: Any) -> Any:
    new = h * 2 + i
    return new, put(rows, i, new)


CASES: dict[str, tuple[Callable[..., Any], Row | None]] = {
    "stacked": (stacking, Row(0, 0, 1)),
    "from the end": (lambda i, h, r: (h + 1, put(r, T - 1 - i, h + i)), Row(0, T - 1, -1)),
    "the old state": (lambda i, h, r: (h + i, put(r, i, h)), Row(0, 0, 1)),
    "reads the rows": (lambda i, h, r: (h + 1, put(r, i, r.sum(0) + h + i)), Row(0, 0, 1)),
    "another reads them": (lambda i, h, r: (h + r.sum(0), put(r, i, h + 1)), Row(0, 0, 1)),
    "every second": (lambda i, h, r: (h, put(r, i * 2 + 1, h + i)), Row(0, 1, 2)),
    "one place": (lambda i, h, r: (h + 1, put(r, i * 0 + 2, h)), Row(0, 2, 0)),
    "outside at last": (lambda i, h, r: (h + 1, put(r, i + T - 2, h)), None),
    "not a line": (lambda i, h, r: (h + 1, put(r, i * i, h)), None),
    "a number": (lambda i, h, r: (h + 1, put(r, i, (h * 1).sum())), Row(0, 0, 1)),
    "a constant": (lambda i, h, r: (h + 1, put(r, i, constant(h))), Row(0, 0, 1)),
}
FIRST = np.arange(3.0), np.arange(T * 3.0).reshape(T, 3)


def rows_of(tensor: Tensor) -> dict[int, Row]:
    """The rows of the one loop of a program, and of none that is the program itself."""
    unit = after_graph_passes(Sink((tensor.node,)), Options())
    assert not carry(unit.graph, unit.provenance).rows
    (body,) = {n.body for n in toposort([unit.graph]) if isinstance(n, Repeat)}
    inner = after_graph_passes(body, Options())
    return dict(carry(inner.graph, inner.provenance).rows)


@every_engine
@pytest.mark.parametrize("name", CASES)
def test_like_the_loop_in_numpy(name: str, engine: str) -> None:
    step, row = CASES[name]
    results = repeat(3, step, *map(Tensor, FIRST))
    assert rows_of(results[1]).get(1) == row
    state: tuple[Array, ...] = FIRST
    for i in range(3):
        state = step(np.int64(i), *state)
    for got, want in zip(results, state, strict=True):
        assert_same(evaluate(got, engine), want, name)


@every_engine
@pytest.mark.parametrize("axis", (1, 2))
def test_along_a_later_axis(axis: int, engine: str) -> None:
    first = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    row = np.take(first, 0, axis) * -1
    results = repeat(3, lambda i, x: put(x, i, Tensor(row), axis), Tensor(first))
    want = first
    for i in range(3):
        want = put(want, i, row, axis)
    assert rows_of(results) == {0: Row(axis, 0, 1)}
    assert_same(evaluate(results, engine), want)


@every_engine
def test_loops_in_loops(engine: str) -> None:
    """The inner loop gets rows at its own counter; the outer one at the outer's, all of them."""

    def outer(i: Tensor, x: Tensor) -> Tensor:
        inner = repeat(2, lambda j, y: put(y, j, (i * 10 + j).cast("float32").reshape(1).expand(3)),
                       Tensor.zeros(2, 3, dtype="float32"))  # fmt: skip
        return put(x, i, inner)  # type: ignore[no-any-return]

    results = repeat(3, outer, Tensor.zeros(3, 2, 3, dtype="float32"))
    want = np.array([[[i * 10 + j] * 3 for j in range(2)] for i in range(3)], np.float32)
    assert_same(evaluate(results, engine), want)


def test_each_iteration_copies_a_row() -> None:
    compilation = compiler.compile(list(repeat(3, stacking, *map(Tensor, FIRST))))
    carries = [i.operation for i in compilation.schedule.items if i.operation.name == "carry"]
    copies = [c for c in carries if isinstance(c, MemoryTransfer)]
    rows = [c for c in copies if c.destination.shape == (T, 3)]
    assert [row.destination_offset for row in rows] == [0, 3, 6]
    assert {row.dims for row in rows} == {(1, 3)}
    assert {row.nbytes for row in rows} == {24}
    assert compilation.check().ok and "then 3 on" in str(compilation.kernels)


@pytest.mark.parametrize(("name", "why"), [
    ("stacked", ONE_ROW), ("outside at last", OUTSIDE), ("not a line", NO_LINE),
])  # fmt: skip
def test_what_is_carried_over_is_told_with_its_reason(name: str, why: str) -> None:
    compilation = compiler.compile(list(repeat(3, CASES[name][0], *map(Tensor, FIRST))))
    (decision,) = [each for each in compilation.decisions if each.kind == "carry"]
    assert decision.taken == (why == ONE_ROW) and decision.reason.endswith(f": {why}")
    assert "test_carry.py:" in decision.reason and decision.subject.startswith("kernels:")
    (number,) = decision.numbers
    assert (number.value, number.limit) == (24 if decision.taken else 24 * T, 24 * T)
