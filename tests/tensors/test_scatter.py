"""Scatter: every update × element type × engine, with positions that repeat and lie outside.

The reference is a plain loop over the updates in row-major order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Tensor
from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.errors import AxisError, DataError, DTypeError, ShapeError, SizeError
from compiler.device import device
from compiler.device.buffers import new_buffer
from compiler.graph.kinds.effects import Scatter
from compiler.graph.nodes import Const, Reduce, TensorNode, const, elementwise
from compiler.ops.updates import UPDATES
from compiler.pipeline.kernels import program_spec
from compiler.program.compilation import Compilation
from compiler.settings.options import Options
from tests.evaluate import ENGINES, assert_same, evaluate, every_engine, samples

Array = np.ndarray[Any, Any]
JOIN: dict[str, Callable[[Any, Any], Any]] = {
    "replace": lambda old, new: new, "add": np.add, "mul": np.multiply,
    "max": np.maximum, "min": np.minimum,
}  # fmt: skip


def looped(op: str, base: Array, updates: Array, *positions: Array) -> Array:
    """One update after the other."""
    result = base.copy()
    with np.errstate(all="ignore"):
        for at in np.ndindex(updates.shape):
            place = tuple(int(p[at]) for p in positions)
            if all(0 <= i < n for i, n in zip(place, base.shape, strict=True)):
                result[place] = JOIN[op](result[place], updates[at])
    return result


def node_of(op: str, base: Array, updates: Array, *positions: Array) -> Scatter:
    return Scatter(tuple(map(new_buffer, (base, updates, *positions))), op)


@every_engine
@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda d: d.short)
@pytest.mark.parametrize("op", UPDATES)
def test_every_update_equals_a_loop(op: str, dtype: DType, engine: str) -> None:
    base = samples(dtype, 12).reshape(3, 4)
    updates = samples(dtype, 21)[::-1].reshape(3, 7).copy()
    rng = np.random.default_rng(3)
    rows, columns = rng.integers(-1, 4, (3, 7)), rng.integers(-2, 5, (3, 7))
    (got,) = ENGINES[engine]([node_of(op, base, updates, rows, columns)])
    expected = looped(op, base, updates, rows, columns)
    assert_same(got, expected, f"{op} {dtype}", has_signed_zeros=op in ("replace", "mul"))


def test_there_is_a_join_for_every_update() -> None:
    assert set(JOIN) == set(UPDATES)


@every_engine
def test_sums_of_floats_have_an_order(engine: str) -> None:
    """1e8 + 1 - 1e8 in float32 is 0, in any other order 1."""
    base, updates = np.zeros(1, np.float32), np.array([1e8, 1, -1e8], np.float32)
    (got,) = ENGINES[engine]([node_of("add", base, updates, np.zeros(3, np.int64))])
    assert got.tolist() == [0.0]


@every_engine
@pytest.mark.parametrize(("size", "count"), [(0, 0), (0, 3), (4, 0), (1, 1), (1, 5), (5, 1)])
def test_sizes(size: int, count: int, engine: str) -> None:
    base, updates = np.arange(size) + 10, np.arange(count) + 1
    node = node_of("add", base, updates, np.zeros(count, np.int64))
    (got,) = ENGINES[engine]([node])
    assert_same(got, looped("add", base, updates, np.zeros(count, np.int64)))


@every_engine
def test_what_is_around_is_fused(engine: str) -> None:
    """Base, updates and positions are computed in the kernel; the updates hold a reduction."""
    rng = np.random.default_rng(4)
    x, w = rng.standard_normal((3, 4)), rng.standard_normal((6, 5))
    rows = rng.integers(0, 3, 6)
    source = (Tensor(w) * 2).sum(1, keepdim=True).expand(6, 4)
    t = Tensor(x).exp().index_add(0, Tensor(rows) + 0, source)
    expected = np.exp(x)
    np.add.at(expected, rows, (w * 2).sum(1, keepdims=True))
    np.testing.assert_allclose(evaluate(t, engine), expected, rtol=1e-12)
    assert len(Compilation([t.node], Options(), "test").schedule.items) == 1


@every_engine
def test_scatters_of_scatters_and_many_readers(engine: str) -> None:
    x = Tensor(np.arange(6.0))
    first = x.scatter(0, [1, 3, 1], [10.0, 20.0, 30.0])
    second = (first + 1).scatter_add(0, [3, 3], [5.0, 6.0]) * first
    a = np.arange(6.0)
    a[[1, 3]] = 30.0, 20.0
    b = a + 1
    b[3] += 11
    assert_same(evaluate(second, engine), b * a)


@pytest.mark.parametrize("seed", range(3))
def test_blocks_of_the_loops_interpreter_keep_the_order(seed: int) -> None:
    """However little memory there is, the last update wins."""
    from compiler.loops.interpret import interpret

    rng = np.random.default_rng(seed)
    updates, rows = rng.standard_normal((4, 3, 5)), rng.integers(0, 7, (4, 3, 5))
    base = np.zeros(7)
    compilation = Compilation([node_of("replace", base, updates, rows)], Options(), "test")
    (item,) = compilation.schedule.items
    body = compilation.kernel(item.operation.body).loops
    for limit in (1, 30, 200, 10_000):
        out = np.full(7, np.nan)
        interpret(body, [out, base, updates.reshape(-1), rows.reshape(-1)], limit)
        np.testing.assert_array_equal(out, looped("replace", base, updates, rows))


def test_each_stage_shows_it() -> None:
    node = node_of("add", np.zeros(4), np.ones(6), np.arange(6))
    compilation = Compilation([node], Options(verify=True), "test")
    text = str(compilation)
    assert "scatter add %0 %1 %2" in text
    assert "for s1 in 6   serial" in text
    assert "= add(out[" in text
    assert "range %5 s1 serial" in text
    (kernel,) = (compilation.kernel(i.operation.body) for i in compilation.schedule.items)
    spec = program_spec(kernel, device.CPU)
    assert spec.outs == (0,) and spec.ins == (0, 1, 2, 3)
    assert "ptr noalias nocapture %out" in compilation.source[0].text
    node = node_of("replace", np.zeros(4), np.ones(6), np.arange(6))
    replaced = Compilation([node], Options(), "test")
    assert "writeonly %out" in replaced.source[0].text
    assert compilation.check().ok


def test_a_scatter_that_is_read_is_written_to_memory_with_a_reason() -> None:
    t = Tensor(np.zeros(4)).scatter_add(0, [1, 1], 1.0) * 2
    compilation = Compilation([t.node], Options(), "test")
    assert len(compilation.schedule.items) == 2
    (decision,) = (it for it in compilation.decisions if it.kind == "fuse")
    assert not decision.taken
    assert "one after the other" in decision.reason


def test_the_interpreter_counts_what_a_scatter_does() -> None:
    from compiler.lowered.interpret import interpret

    node = node_of("add", np.zeros(4), np.ones(6), np.array([0, 0, -1, 3, 4, 1]))
    compilation = Compilation([node], Options(), "test")
    (item,) = compilation.schedule.items
    linear = compilation.kernel(item.operation.body).linear
    arrays = [np.empty(4), np.zeros(4), np.ones(6), np.array([0, 0, -1, 3, 4, 1])]
    counts = interpret(linear.instructions, arrays)
    assert arrays[0].tolist() == [2.0, 1.0, 0.0, 1.0]
    assert counts.stores == 4 + 4  # the base, and the updates that are inside
    assert counts.loads == 4 + 6 + 6 + 4


INDICES = (
    np.s_[1], np.s_[1:3], np.s_[::2, 1:4], np.s_[::-2, ::-1], np.s_[..., 2], np.s_[:, [1, 3, 1]],
    np.s_[[0, 2], [1, 1]], np.s_[2:2], np.s_[-1, -2], np.s_[None, 1], np.s_[[3, -4], 1:3],
    np.s_[np.eye(4, 5) > 0], np.s_[:0], np.s_[3:0:-2], np.s_[...],
)  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
@every_engine
def test_set_is_numpys_assignment(index: Any, engine: str) -> None:
    x = np.arange(20.0).reshape(4, 5)
    for value in (-7.5, -np.arange(x[index].size).reshape(x[index].shape) - 1.0):
        expected = x.copy()
        expected[index] = value
        assert_same(evaluate(Tensor(x).set(index, value), engine), expected)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_set_with_any_slices(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=3))
    ends = st.none() | st.integers(-8, 8)
    steps = st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3])
    index = tuple(slice(data.draw(ends), data.draw(ends), data.draw(steps)) for _ in shape)
    x = np.arange(float(np.prod(shape))).reshape(shape)
    value = -1.0 - np.arange(x[index].size).reshape(x[index].shape)
    expected = x.copy()
    expected[index] = value
    assert_same(evaluate(Tensor(x).set(index, value), "graph"), expected)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_scatter_on_machine_code(data: st.DataObject) -> None:
    """Two kernels of fixed shape, so that machine code is compiled once."""
    op = data.draw(st.sampled_from(["replace", "add", "max"]))
    numbers = st.lists(st.integers(-3, 8), min_size=9, max_size=9)
    rows, values = (np.array(data.draw(numbers)).reshape(3, 3) for _ in range(2))
    base = np.arange(6)
    (got,) = ENGINES["machine"]([node_of(op, base, values, rows)])
    assert_same(got, looped(op, base, values, rows))


@pytest.mark.parametrize("axis", [0, 1, -1])
@every_engine
def test_scatter_along_an_axis(axis: int, engine: str) -> None:
    rng = np.random.default_rng(5)
    x, src = rng.integers(0, 9, (4, 3)), rng.integers(0, 9, (5, 4))
    shape = (5, 3) if axis == 0 else (4, 4)
    index = rng.integers(-x.shape[axis], x.shape[axis], shape)
    expected, added = x.copy(), x.copy()
    wide = np.resize(src, (6, 6))
    for i, j in np.ndindex(shape):
        place = (index[i, j], j) if axis == 0 else (i, index[i, j])
        expected[place] = wide[i, j]
        added[place] += wide[i, j]
    assert_same(evaluate(Tensor(x).scatter(axis, index, wide), engine), expected)
    assert_same(evaluate(Tensor(x).scatter_add(axis, Tensor(index), wide), engine), added)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["sum", "prod", "amax", "amin", "mean"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
@every_engine
def test_scatter_reduce(dtype: str, reduce: str, include_self: bool, engine: str) -> None:
    x = np.array([9, 7, 5, 3], dtype)
    index, src = np.array([0, 2, 0, 2, 0]), np.array([4, 2, 3, 8, 6], dtype)
    join = {"sum": np.sum, "prod": np.prod, "amax": np.max, "amin": np.min, "mean": np.mean}[reduce]
    expected = x.copy()
    for place in (0, 2):
        own = [x[place]] if include_self else []
        whole = join(np.array([*own, *src[index == place]], "float64"))
        expected[place] = np.floor(whole) if dtype != "float32" else whole
    got = evaluate(Tensor(x).scatter_reduce(0, index, src, reduce, include_self), engine)
    assert_same(got, expected, reduce)


def test_a_mean_of_negative_integers_rounds_down() -> None:
    t = Tensor(np.array([10, 10, 10])).scatter_reduce(0, [0, 0, 1], [-1, -2, -5], "mean", False)
    assert t.tolist() == [-2, -5, 10]


@every_engine
def test_computed_positions_outside_are_left_out(engine: str) -> None:
    x = Tensor(np.zeros((2, 3)))
    index = Tensor(np.array([0, 5, -1, -9])) * 1
    got = evaluate(x.set((1, index), 1.0), engine)
    assert got.tolist() == [[0, 0, 0], [1, 0, 1]]
    assert evaluate(x.scatter(1, (index * 1).reshape(1, 4), 2.0), engine).tolist() == [
        [2, 0, 2], [0, 0, 0]
    ]  # fmt: skip


@every_engine
def test_index_put_and_index_add(engine: str) -> None:
    x = np.arange(12.0).reshape(3, 4)
    rows, columns = [0, 2, 0], [1, 1, 1]
    replaced, added, sliced = x.copy(), x.copy(), x.copy()
    replaced[rows, columns] = [5, 6, 7]
    np.add.at(added, (rows, columns), [5, 6, 7])
    np.add.at(sliced, (slice(None), [3, 0, 3]), 2 * np.arange(9.0).reshape(3, 3))
    t = Tensor(x)
    assert_same(evaluate(t.index_put((rows, columns), [5, 6, 7]), engine), replaced)
    assert_same(evaluate(t.index_put((rows, columns), [5, 6, 7], True), engine), added)
    got = t.index_add(1, [3, 0, 3], np.arange(9.0).reshape(3, 3), alpha=2)
    assert_same(evaluate(got, engine), sliced)


def test_bincount() -> None:
    rng = np.random.default_rng(6)
    x, w = rng.integers(0, 7, 50), rng.standard_normal(50)
    assert_same(Tensor(x).bincount().numpy(), np.bincount(x))
    assert_same(Tensor(x).bincount(minlength=12).numpy(), np.bincount(x, minlength=12))
    assert_same(Tensor(x).bincount(w).numpy(), np.bincount(x, w))
    assert_same(Tensor(np.zeros(0, np.int64)).bincount().numpy(), np.bincount([]))
    assert (Tensor(x) + 1).bincount().tolist() == np.bincount(x + 1).tolist()


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint8"])
@pytest.mark.parametrize(("bins", "limits"), [(7, None), (10, (0, 8)), (3, (-1.0, 0.5)), (1, None)])
def test_histogram(dtype: str, bins: int, limits: tuple[float, float] | None) -> None:
    x = (np.random.default_rng(7).standard_normal(200) * 4 + 8).clip(0, 30).astype(dtype)
    counts, edges = Tensor(x).histogram(bins, limits)
    expected = np.histogram(x, bins, limits)
    assert_same(counts.numpy(), expected[0])
    assert_same(edges.numpy(), expected[1])


def test_histogram_leaves_nan_out_where_a_range_is_given() -> None:
    counts, _ = Tensor(np.array([np.nan, 0.0, 1.0, 2.0, np.inf])).histogram(2, (0, 2))
    assert counts.tolist() == [1, 2]
    assert Tensor(np.zeros(0)).histogram(2)[0].tolist() == [0, 0]
    assert Tensor(np.full(3, 2.0)).histogram(2)[0].tolist() == [0, 3]


X = Tensor(np.zeros((2, 3)))
REFUSED: tuple[tuple[Callable[[], object], type[Exception], str], ...] = (
    (lambda: X.set(5, 1.0), AxisError, "index 5 is out of range for axis 0"),
    (lambda: X.set([0, 5], 1.0), AxisError, "index 5 is out of range"),
    (lambda: X.set(0, [1.0, 2.0]), ShapeError, "the value does not fit the written part"),
    (lambda: X.cast("int8").set(0, 300), DataError, "does not fit into int8"),
    (lambda: X.scatter(0, [0], 1.0), ShapeError, "the index does not fit the tensor"),
    (lambda: X.scatter(0, [[0, 1, 0, 1]], 1.0), ShapeError, "the index does not fit the tensor"),
    (lambda: X.scatter(0, [[0, 1]], [[1.0]]), ShapeError, "the source does not fit the index"),
    (lambda: X.scatter(2, [[0]], 1.0), AxisError, "axis"),
    (lambda: X.scatter(0, [[0.5]], 1.0), DTypeError, "positions must be integers"),
    (lambda: X.scatter(0, [[2]], 1.0), AxisError, "out of range"),
    (lambda: X.scatter_reduce(0, [[0]], 1.0, "median"), DataError, "no such reduction"),
    (lambda: (X > 0).scatter_reduce(0, [[0]], True, "mean"), DTypeError, "no mean"),
    (lambda: X.bincount(), DTypeError, "counts integers of rank 1"),
    (lambda: Tensor([-1]).bincount(), DataError, "a negative number"),
    (lambda: Tensor([1]).bincount([1.0, 2.0]), ShapeError, "one weight per element"),
    (lambda: X.histogram(0), DataError, "no bins"),
    (lambda: X.histogram(2, (1, 0)), DataError, "the range is not finite"),
)


@pytest.mark.parametrize(("call", "error", "problem"), REFUSED)
def test_refused(call: Callable[[], object], error: type[Exception], problem: str) -> None:
    with pytest.raises(error, match=problem):
        call()


def test_too_large_for_the_interpreter_is_said() -> None:
    node = Scatter((const(0, dtypes.float32, (8,)), const(1, dtypes.float32, (10**6,)),
                    const(3, dtypes.int64, (10**6,))), "add")  # fmt: skip
    with pytest.raises(SizeError, match="too large to interpret"):
        ENGINES["lowered"]([node])
    assert ENGINES["machine"]([node])[0].tolist() == [0, 0, 0, 1e6, 0, 0, 0, 0]


def test_a_reduction_of_a_scatter_is_its_own_kernel() -> None:
    base: TensorNode = Const((), 0, dtypes.float64, (5,))
    updates = elementwise("neg", new_buffer(np.arange(3.0)))
    scatter = Scatter((base, updates, new_buffer(np.arange(3))), "add")
    node = Reduce((scatter,), "sum", (0,))
    for engine in ENGINES:
        assert ENGINES[engine]([node])[0].tolist() == [-3.0], engine
