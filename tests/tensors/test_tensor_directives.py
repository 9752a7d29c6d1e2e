"""detach, fuse, unroll, as_strided, tensordot, from_node and placeholders, as users call them."""

import numpy as np
import pytest

from compiler import (
    DataError,
    GraphBuilder,
    InternalError,
    Options,
    ShapeError,
    Strided,
    Tensor,
    compile,
)
from compiler.core.errors import CompileError
from compiler.graph.nodes import Buffer, Permute, Sink
from tests.evaluate import assert_same, evaluate, every_engine

X = np.arange(24, dtype="float32").reshape(4, 6)


@every_engine
def test_directives_change_no_value(engine: str) -> None:
    x = Tensor(X)
    assert_same(evaluate(x.detach().contiguous_backward().fuse(), engine), X)
    for made, expected in (
        (x.sum(1).unroll(4), X.sum(1)), (x.max().unroll(2), X.max()),
        (x.sum((0, 1), keepdim=True).unroll(8), X.sum(keepdims=True)),
        ((x @ x.T).unroll(3) + 1, X @ X.T + 1), (x.half().sum(0).unroll(2), X.sum(0, "float16")),
        (x[:, :0].sum(1).unroll(2), np.zeros(4, "float32")),
        (x[:, :1].sum(1).unroll(2), X[:, 0]),
    ):  # fmt: skip
        assert_same(evaluate(made, engine), expected)


def test_unroll_is_visible_in_every_stage() -> None:
    compilation = compile(Tensor(X).sum(1).unroll(4))
    assert any(" unroll 4" in line.text for line in compilation.optimized_graph.lines)
    assert "  for r1 in 6   reduction   unroll 4" in str(compilation.loops[0])
    lowered = [line.text.split(None, 1)[1] for line in compilation.lowered[0].lines]
    assert lowered[lowered.index("unroll 4") + 1].startswith("%8 = range %3 r1 reduction")
    assert '"llvm.loop.unroll.count", i32 4' in str(compilation.source[0])
    plain = compile(Tensor(X).sum(1))
    assert not any("unroll" in str(stage) for stage in plain.stages[1:])


def test_llvm_unrolls_as_asked() -> None:
    """At a level that does not vectorise, each iteration of the loop has as many remainders."""
    x = Tensor(np.arange(1000.0)) % Tensor(3.0)
    for factor in (2, 4, 8):
        compilation = compile(x.prod().unroll(factor), Options(optimize=1))
        assert str(compilation.optimized[0]).count("frem") == factor


def test_joined_loops_stay_unrolled() -> None:
    assert "for r2 in 24   reduction   unroll 4" in str(compile(Tensor(X).sum().unroll(4)).loops[0])


def test_unroll_refuses_what_is_no_reduction() -> None:
    with pytest.raises(ShapeError) as caught:
        (Tensor(X).sum(1) + 1).unroll(4)
    assert str(caught.value).splitlines()[:3] == [
        "unroll: only the loop of a reduction can be unrolled",
        "  got:      add",
        "  expected: a reduction",
    ]
    with pytest.raises(ShapeError, match="the factor is out of range"):
        Tensor(X).sum(1).unroll(1)


@every_engine
def test_as_strided(engine: str) -> None:
    x = Tensor(X)
    windows = np.lib.stride_tricks.sliding_window_view(X.reshape(-1), 5)[::2]
    assert_same(evaluate(x.as_strided((10, 5), (2, 1)), engine), windows)
    assert_same(evaluate(x.as_strided((6, 4), (1, 6)), engine), X.T)
    assert_same(evaluate(x.as_strided((3,), (-6,), 20), engine), X.reshape(-1)[[20, 14, 8]])
    assert_same(evaluate(x.as_strided((), (), 5), engine), X.reshape(-1)[5])
    assert_same(evaluate((x * 2).T.as_strided((4,), (5,)), engine), (X * 2).T.reshape(-1)[:20:5])


def test_as_strided_stays_inside() -> None:
    with pytest.raises(ShapeError) as caught:
        Tensor(X).as_strided((5, 5), (6, 1))
    assert str(caught.value).splitlines()[:3] == [
        "view: the view reaches outside its source",
        "  got:      elements 0 to 28",
        "  expected: inside 0 to 23",
    ]


@every_engine
def test_tensordot(engine: str) -> None:
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(24.0).reshape(3, 4, 2)
    for axes in (0, 2, ([0, 2], [2, 1]), ([-1], [1]), ([1, 2, 0], [0, 1, 2])):
        expected = np.tensordot(a, b, axes)
        assert_same(evaluate(Tensor(a).tensordot(b, axes), engine), expected)
    assert_same(evaluate(Tensor(a).tensordot(b[0].T.copy(), 0), engine), np.tensordot(a, b[0].T, 0))
    mixed = Tensor(np.float32(a)).tensordot(np.int64(b), 2)
    assert_same(evaluate(mixed, engine), np.tensordot(a, b, 2))


def test_from_node_takes_values_that_hold_together() -> None:
    g = GraphBuilder()
    window = g.view(Tensor(np.arange(24.0), name="x"), Strided((3, 8), (1, 3)))
    total = g.unroll(g.reduce(window, "sum", (1,)), 4)
    expected = np.arange(24.0).reshape(8, 3).T.sum(1, keepdims=True)
    assert_same(Tensor.from_node(total).numpy(), expected)
    assert all(n.origin and n.origin.file == __file__ for n in (window, total))
    x = Buffer((), 1, (2, 3), total.dtype)
    with pytest.raises(DataError, match="the node has no value"):
        Tensor.from_node(Sink((x,)))
    with pytest.raises(InternalError, match="invariant 4: the order is no permutation"):
        Tensor.from_node(Permute((x,), (1, 1)))


def test_a_placeholder_is_compiled_without_data_and_run_with() -> None:
    x = Tensor.placeholder(3, 2, dtype="float32", name="x")
    made = compile((x * 2).sum(0))
    assert "placeholder x" in str(made.graph) and "buffer x" in str(made.optimized_graph)
    assert all(str(stage) for stage in (*made.stages, *made.assembly))
    assert made.values("graph:0") is None
    for factor in (1, 2):
        (got,) = made.run({"x": np.full((3, 2), factor, "float32")})
        assert_same(got, np.full(2, 6 * factor, "float32"))
    (itself,) = compile(x).run({"x": X[:3, 4:]})
    assert_same(itself, X[:3, 4:])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "run: placeholder x has no data\n  got:      nothing\n  expected: float32 (3, 2)"),
        ({"y": 1}, "run: the program has no such input\n  got:      'y'\n  expected: x f32[3,2] "),
        ({"x": np.ones((3, 2))}, "run: x has another type\n"
         "  got:      float64\n  expected: float32"),
        ({"x": np.ones((2, 3), "f4")}, "run: x has another shape\n"
         "  got:      (2, 3)\n  expected: (3, 2)"),
    ],
)  # fmt: skip
def test_a_placeholder_needs_data_that_fit(given: dict[str, object], message: str) -> None:
    x = Tensor.placeholder(3, 2, dtype="float32", name="x")
    compilation = compile(x + 1)
    with pytest.raises(CompileError) as caught:
        compilation.run(given)
    assert str(caught.value).startswith(message)


def test_a_placeholder_has_no_value_of_its_own() -> None:
    x = Tensor.placeholder(2, dtype="int8", name="x")
    with pytest.raises(DataError, match="placeholder x has no data"):
        (x + 1).numpy()
    with pytest.raises(DataError, match="placeholder x has no data"):
        compile(x + 1).check()
    with pytest.raises(DataError, match="a placeholder needs a name"):
        Tensor.placeholder(2, dtype="int8", name="")
