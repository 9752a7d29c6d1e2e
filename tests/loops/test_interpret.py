"""The interpreter of loops agrees with that of the graph, after each pass, in blocks or not."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.graph.nodes import Reduce as GraphReduce
from compiler.loops.interpret import interpret
from compiler.loops.nodes import (
    After,
    Argument,
    Body,
    Load,
    Local,
    Range,
    ScalarNode,
    Store,
    alu,
    axis,
    const,
    index,
)
from tests.loops.bodies import BODIES
from tests.loops.programs import (
    PROGRAMS,
    arguments,
    assert_close,
    data,
    f32,
    forms,
    kernels,
    matmul,
    reference,
)

OUT = Argument((), 0, f32, 4, True)
IN = Argument((), 1, f32, 4, False)
I = axis(4, 0, "normal")  # noqa: E741 - a loop counter


@pytest.mark.parametrize("limit", (2**22, 40, 1))
@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_the_graph(name: str, limit: int) -> None:
    for body in kernels(PROGRAMS[name]()):
        values = arguments(body)
        expected = reference(body, values)
        for form in forms(body):
            found = [v.copy() for v in values]
            interpret(form, found, limit)
            assert_close(found[0], expected)
            for before, after in zip(values[1:], found[1:], strict=True):
                np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("limit", (2**22, 60, 1))
@pytest.mark.parametrize("name", BODIES)
def test_levels_scratch_memory_and_predicates(name: str, limit: int) -> None:
    example = BODIES[name]()
    values = example.arguments()
    interpret(example.body, values, limit, example.variables)
    np.testing.assert_allclose(values[0], example.result(values), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("where", "problem"), ((I, "not written"), (alu("add", I, index(1)), "outside its scratch"))
)
def test_scratch_memory_is_read_where_it_was_written(where: ScalarNode, problem: str) -> None:
    local, k = Local((), 0, f32, 4), axis(3, 1, "normal")
    filled = After((local, Store((local, k, const(1.0, f32), k))))
    with pytest.raises(InternalError, match=problem):
        interpret(store(Load((filled, where)), I), [np.zeros(4, np.float32)])


@pytest.mark.parametrize("op", ("max", "min"))
def test_nan_is_kept(op: str) -> None:
    (body,) = kernels(GraphReduce((data(3, 4),), op, (1,)))
    values = arguments(body)
    values[1][5] = np.nan
    for form in forms(body):
        interpret(form, values)
        assert np.isnan(values[0]).tolist() == [False, True, False]


def test_memory_is_bounded_by_blocks() -> None:
    """27 million products are never held together: 8 MiB is 16 times less than they take."""
    (body,) = kernels(matmul(data(300, 300), data(300, 300)))
    values = arguments(body)
    (*_, form) = forms(body)
    tracemalloc.start()
    interpret(form, values, 2**18)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * 2**20
    np.testing.assert_allclose(values[0], reference(body, values), rtol=1e-4, atol=1e-4)


def test_scratch_memory_is_bounded_by_blocks() -> None:
    """The rows of 1000 elements that 4000 iterations keep are never there together: 16 MiB."""
    i, k, j = axis(4000, 0, "normal"), axis(1000, 1, "normal"), axis(1000, 2, "normal")
    local, row = Local((), 0, f32, 1000), Load((Argument((), 1, f32, 4000, False), i))
    filled = After((local, Store((local, k, row, k))))
    target = Argument((), 0, f32, 4_000_000, True)
    where = alu("add", alu("mul", i, index(1000)), j)
    values = [np.zeros(4_000_000, np.float32), np.arange(4000, dtype=np.float32)]
    tracemalloc.start()
    interpret(Body((Store((target, where, Load((filled, j)), i, j)),)), values, 2**16)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * 2**20
    np.testing.assert_array_equal(values[0], np.repeat(values[1], 1000))


def store(value: ScalarNode, *ranges: Range) -> Body:
    return Body((Store((OUT, ranges[0] if ranges else index(0), value, *ranges)),))


def run(body: Body) -> Any:
    values = [np.zeros(4, np.float32), np.arange(1, 5, dtype=np.float32)]
    interpret(body, values)
    return values[0].tolist()


def test_predicate_masks_before_the_access() -> None:
    """Index 3 - 2 i + 4 leaves the buffer where the predicate is false, and is not read there."""
    where = alu("sub", alu("mul", I, index(3)), index(2))
    predicate = alu("and", alu("ge", I, index(1)), alu("lt", I, index(2)))
    assert run(store(Load((IN, where, predicate)), I)) == [0, 2, 0, 0]


@pytest.mark.parametrize("by", (1, -1))
def test_access_outside_is_refused(by: int) -> None:
    body = store(Load((IN, alu("add", I, index(by)))), I)
    with pytest.raises(InternalError, match=r"load from in1: .*outside its buffer") as caught:
        run(body)
    assert caught.value.got == f"index {4 if by > 0 else -1}"
    assert caught.value.expected == "0 … 3, for the 4 elements"


def test_store_outside_is_refused() -> None:
    where = alu("add", I, index(1))
    body = Body((Store((OUT, where, const(1.0, f32), I)),))
    with pytest.raises(InternalError, match=r"store to out: .*outside its buffer"):
        run(body)


def test_range_outside_its_loop_is_refused() -> None:
    other = axis(4, 1, "reduction")
    with pytest.raises(InternalError, match="r1 is used outside its loop"):
        run(store(Load((IN, other)), I))


def test_store_of_another_type_is_refused() -> None:
    with pytest.raises(InternalError, match=r"store to out: .*wrong type") as caught:
        run(store(const(1, dtypes.int32), I))
    assert (caught.value.got, caught.value.expected) == ("int32", "float32")


def test_two_ranges_of_one_nest_have_two_axes() -> None:
    """A value that depends on one range only still fills the loop of the other."""
    outer, inner = axis(2, 0, "normal"), axis(2, 1, "normal")
    where = alu("add", alu("mul", outer, index(2)), inner)
    assert run(Body((Store((OUT, where, Load((IN, outer)), outer, inner)),))) == [1, 1, 2, 2]
