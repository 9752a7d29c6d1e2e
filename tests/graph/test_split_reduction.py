"""Split reductions: which ones are split, into how many parts; the values stay the same."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compiler
from compiler import Options, Tensor, Variable
from compiler.core import dtypes
from compiler.core.node import toposort
from compiler.core.reason import Number, Reason
from compiler.core.trace import Match, Provenance
from compiler.graph import nodes
from compiler.graph import split_reduction as stage
from compiler.graph.interpret import interpret
from compiler.graph.nodes import TensorNode, elementwise
from compiler.graph.split_reduction import reasons, split_reduction
from compiler.graph.verify import verify

f32, i32 = dtypes.float32, dtypes.int32
OPERATIONS = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}


def buffer(*shape: int) -> nodes.Buffer:
    return nodes.Buffer((), 1, shape, f32, "x")


def cut(node: TensorNode) -> TensorNode:
    """The only root, as the pass makes it."""
    root = nodes.Sink((node,))
    after = split_reduction(root, Provenance())
    verify(after, True, True)
    return after.sources[0]


def is_cut(node: TensorNode) -> bool:
    return any(isinstance(n, nodes.Contiguous) for n in toposort([cut(node)]))


def partials(node: TensorNode) -> tuple[int, ...]:
    """The shape of the results of the parts."""
    order: list[TensorNode] = toposort([cut(node)])
    (found,) = (n for n in order if isinstance(n, nodes.Contiguous))
    return found.shape


@pytest.fixture
def all_are_long(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small reductions are cut too."""
    monkeypatch.setattr(stage, "LONG", 0.0)
    monkeypatch.setattr(stage, "FEWEST", 8)
    monkeypatch.setattr(stage, "SHARE", 1)
    monkeypatch.setattr(stage, "WORST", 0.5)
    compiler.cache_clear()
    yield
    compiler.cache_clear()


SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...] = (
    ((1 << 20,), (0,), (16, 1)),
    ((1 << 24,), (0,), (256, 1)),
    ((1 << 26,), (0,), (1024, 1)),
    ((17, 1000003), (1,), (17, 16, 1)),
    ((8192, 8192), (0, 1), (16, 1, 1)),
    ((8192, 8192), (0,), (16, 1, 8192)),
    ((1 << 20, 3), (0,), (16, 1, 3)),
    ((3, 1 << 20), (1,), (3, 16, 1)),
    ((2, 1 << 20), (0, 1), (1, 16, 1)),
    ((128, 128, 64), (0, 1, 2), (16, 1, 1, 1)),
    ((1000, 1000), (0, 1), (20, 1, 1)),
    ((640007, 5), (0,), (16, 1, 5)),
)


@pytest.mark.parametrize(("shape", "axes", "expected"), SHAPES)
def test_what_is_cut(
    shape: tuple[int, ...], axes: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    node = nodes.Reduce((buffer(*shape),), "sum", axes)
    assert partials(node) == expected
    assert cut(node).shape == node.shape


LEFT: tuple[tuple[str, TensorNode], ...] = (
    ("short", nodes.Reduce((buffer(1 << 18),), "sum", (0,))),
    ("empty", nodes.Reduce((buffer(0, 1 << 20),), "sum", (1,))),
    ("enough rows", nodes.Reduce((buffer(8192, 8192),), "sum", (1,))),
    ("enough rows", nodes.Reduce((buffer(32, 64, 64, 64),), "sum", (0, 2, 3))),
    ("enough rows", nodes.Reduce((buffer(64, 4096, 16),), "sum", (1,))),
    ("to write and read", nodes.Reduce((buffer(256, 1 << 15),), "max", (0,))),
    ("to write and read", nodes.Reduce((buffer(64, 1 << 14),), "sum", (0,))),
    ("equal parts", nodes.Reduce((buffer(2, 4, 1 << 18),), "sum", (0, 1))),
    ("unrolled", nodes.Reduce((buffer(1 << 20),), "sum", (0,), 4)),
)


@pytest.mark.parametrize(("why", "node"), LEFT)
def test_what_is_left_alone(why: str, node: TensorNode) -> None:
    assert cut(node) is node
    found = reasons(nodes.Sink((node,)))
    assert all(why in each.reason and not each.parts for each in found.values())


def test_rows_whose_statistics_are_used_again_are_left() -> None:
    x = buffer(4, 1 << 18)
    greatest = nodes.Reduce((x,), "max", (1,))
    assert is_cut(greatest)
    less = elementwise("sub", x, nodes.Expand((greatest,), x.shape))
    assert not is_cut(less)
    assert "also read where" in str(reasons(nodes.Sink((less,))))


def product(folded: int, rows: int, columns: int) -> TensorNode:
    """x.T @ y of `folded` rows."""
    sides = (folded, rows, 1), (folded, 1, columns)
    a, b = (nodes.Expand((buffer(*side),), (folded, rows, columns)) for side in sides)
    return nodes.Reduce((elementwise("mul", a, b),), "sum", (0,))


def test_a_product_of_matrices_is_cut_where_its_sum_is_long_beside_its_results() -> None:
    assert not is_cut(product(4096, 64, 64)) and not is_cut(product(65536, 256, 256))
    assert not is_cut(product(4096, 2, 4096)) and not is_cut(product(65536, 2, 4096))
    node = product(65536, 64, 64)
    assert partials(node) == (16, 1, 64, 64)
    assert "long compared with the results from" in {number.against for number in numbers(node)}


def numbers(node: TensorNode) -> tuple[Number, ...]:
    """The numbers in the reason for the only reduction, split or not."""
    (found,) = reasons(nodes.Sink((node,))).values()
    assert isinstance(found.reason, Reason)
    return found.reason.numbers


def test_a_dot_product_is_cut() -> None:
    long = buffer(1 << 20)
    assert is_cut(nodes.Reduce((elementwise("mul", long, long),), "sum", (0,)))


def test_a_reduction_above_another_is_cut_whatever_its_length() -> None:
    for rows in (4096, 4099, 4_194_301):
        x = buffer(rows)
        inside = nodes.Expand((nodes.Reduce((x,), "sum", (0,)),), x.shape)
        node = nodes.Reduce((elementwise("exp", elementwise("sub", x, inside)),), "sum", (0,))
        has_rest = any(isinstance(n, nodes.Shrink) for n in toposort([cut(node)]))
        assert is_cut(node) is (rows > 5000) and has_rest is (rows > 5000)


@pytest.mark.parametrize("length", [100_003, 1_000_003, 2_097_169])
def test_long_sums_are_exact_whatever_their_length(length: int) -> None:
    u = np.random.default_rng(1).random(length, dtype=np.float32)
    exact = u.astype(np.float64)
    x = Tensor(u)
    for found, right in (
        (x.var(correction=0), exact.var()), (x.square().sum(), (exact**2).sum()),
        (x.mse_loss(x * 0.5), (exact**2 / 4).mean()),
        (x.logsumexp(0), np.log(np.exp(exact).sum())),
    ):  # fmt: skip
        assert abs(found.item() / right - 1) < 5e-7


def test_what_is_left_over_is_folded_by_the_second_kernel() -> None:
    x = nodes.Buffer((), 1, (4099, 300), i32, "x")
    node = nodes.Reduce((x,), "sum", (0, 1))
    after = cut(node)
    values = np.random.default_rng(0).integers(-1000, 1000, x.shape).astype(np.int32)
    assert any(isinstance(n, nodes.Shrink) for n in toposort([after]))
    np.testing.assert_array_equal(
        interpret([after], {x: values})[0], values.sum(keepdims=True, dtype=np.int32)
    )


def test_the_match_and_where_the_nodes_come_from() -> None:
    node = nodes.Reduce((buffer(1 << 20),), "max", (0,))
    root, provenance, matches = nodes.Sink((node,)), Provenance[str](), list[Match]()
    provenance.add(node, frozenset(("here",)))
    after = split_reduction(root, provenance, matches)
    (match,) = matches
    assert (match.rule, match.before) == ("split_reduction", node)
    assert match.after is after.sources[0]
    made = set(toposort([after])) - {after, *toposort([root])}
    assert len(made) == 5 and all(provenance.of(n) == {"here"} for n in made)


def test_split_reductions_that_are_there_stay() -> None:
    root = nodes.Sink((nodes.Reduce((buffer(1 << 22),), "sum", (0,)),))
    once = split_reduction(root, Provenance())
    assert len([n for n in toposort([once]) if isinstance(n, nodes.Contiguous)]) == 1


@settings(max_examples=40, deadline=None)
@given(
    shape=st.lists(st.integers(1, 41), min_size=1, max_size=3),
    op=st.sampled_from(sorted(OPERATIONS)),
    is_float=st.booleans(),
    data=st.data(),
)
@pytest.mark.usefixtures("all_are_long")
def test_the_same_values(shape: list[int], op: str, is_float: bool, data: st.DataObject) -> None:
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))
    random = np.random.default_rng(math.prod(shape))
    values = random.integers(-3, 4, shape).astype(np.float32 if is_float else np.int32)
    dtype = f32 if is_float else i32
    x = nodes.Buffer((), 1, tuple(shape), dtype, "x")
    node = nodes.Reduce((x,), op, tuple(sorted(axes)))
    expected = OPERATIONS[op](values, axis=tuple(sorted(axes)), keepdims=True)
    (got,) = interpret([cut(node)], {x: values})
    if is_float:
        np.testing.assert_allclose(got, expected, rtol=1e-4)
    else:
        np.testing.assert_array_equal(got, expected.astype(np.int32))


COMPILED: tuple[tuple[tuple[int, ...], Callable[[Tensor], Tensor], Callable[..., object]], ...] = (
    ((997,), lambda x: x.sum(), lambda a: a.sum()),
    ((64, 33), lambda x: x.sum(0), lambda a: a.sum(0)),
    ((3, 1009), lambda x: x.max(1), lambda a: a.max(1)),
    ((61, 7), lambda x: x.mean(), lambda a: a.mean()),
    ((64, 5), lambda x: x.var(0, correction=0), lambda a: a.var(0)),
    ((128,), lambda x: x.softmax(0), lambda a: np.exp(a - a.max()) / np.exp(a - a.max()).sum()),
    ((40, 12), lambda x: -(x.log_softmax(1)).mean(), lambda a: -_log_softmax(a).mean()),
)


def _log_softmax(a: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> "np.ndarray":
    return a - np.log(np.exp(a).sum(1, keepdims=True))


@pytest.mark.parametrize(("shape", "ours", "numpy"), COMPILED)
@pytest.mark.usefixtures("all_are_long")
def test_compiled(
    shape: tuple[int, ...], ours: Callable[[Tensor], Tensor], numpy: Callable[..., object]
) -> None:
    values = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    compilation = compiler.compile(ours(Tensor(values)))
    assert any(d.kind == "split_reduction" and d.taken for d in compilation.decisions)
    subjects = {d.subject for d in compilation.decisions if d.subject.startswith("graph:")}
    assert subjects <= set(compilation.optimized_graph.to_networkx())
    np.testing.assert_allclose(compilation.run()[0], numpy(values.astype(np.float64)), rtol=2e-5)
    assert compilation.check().ok


@pytest.mark.usefixtures("all_are_long")
def test_variable_extents_and_shards_are_left_alone() -> None:
    n = Variable("n", 1, 100)
    x = Tensor(np.ones((50, 3), np.float32), symbolic={0: n})
    assert not any(d.kind == "split_reduction" for d in compiler.compile(x.sum()).decisions)
    sharded = Tensor(np.ones((64, 4), np.float32)).shard(("CPU", "CPU:1"), axis=0)
    np.testing.assert_array_equal(sharded.sum().numpy(), 256.0)


def test_a_conversion_is_folded_with_its_reduction() -> None:
    x = nodes.Buffer((), 1, (1 << 20,), i32, "x")
    compilation = compiler.compile(Tensor(np.ones(1 << 20, np.int32)).cast(f32).sum(), Options())
    assert is_cut(nodes.Reduce((nodes.Cast((x,), f32),), "sum", (0,)))
    assert len(compilation.loops) == 2 and compilation.run()[0] == 1 << 20
