"""Every composite kind on every engine, for every element type, against NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import GraphBuilder, GraphError, Strided, Tensor
from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.graph.decompose import EXPANDED, SCHEDULED, decompose
from compiler.graph.kinds.by_hand import (
    BufferView,
    Gep,
    ScatterAxis,
    Valid,
    VConst,
    Vectorize,
    Wmma,
)
from compiler.graph.kinds.composite import Composite
from compiler.graph.kinds.correlate import Correlate, Spread
from compiler.graph.kinds.gradient import Backward, Checkpoint, Gradient, Recalled, Ruled, Wrt
from compiler.graph.kinds.joins import Cat, Contract, Gather
from compiler.graph.kinds.kernel import Kernel
from compiler.graph.kinds.markers import Later, Placeholder
from compiler.graph.kinds.placement import Unique
from compiler.graph.kinds.views import View
from compiler.graph.nodes import Buffer, Param, Sink, TensorNode
from compiler.graph.verify import verify
from compiler.graph.words import describe_argument, kind, operation
from compiler.ops.composed import of_log1p
from compiler.program.compilation import Compilation
from compiler.settings.options import Options
from tests.evaluate import ENGINES, NUMPYS, assert_same, samples

Array = np.ndarray[Any, Any]
BY_SWEEPS = (Backward, Gradient)
"""Kinds that `differentiate` removes, tested there."""
g = GraphBuilder()
Case = tuple[Callable[[TensorNode, TensorNode, DType], TensorNode], Callable[[Array, Array], Any]]
POSITIONS = np.array([[3, 0, -1, 9], [1, 1, 2, 0]])
MASK = ((0, 2), (1, 3))


def positions() -> TensorNode:
    return Tensor(POSITIONS).node


def masked(a: Array) -> Array:
    values = np.zeros_like(a)
    values[:2, 1:3] = a[:2, 1:3]
    return values


def taken(a: Array) -> Array:
    rows = np.take_along_axis(a[:2], np.clip(POSITIONS, 0, 3), 1)
    return np.where((POSITIONS >= 0) & (POSITIONS < 4), rows, a.dtype.type(0))


def scattered(a: Array) -> Array:
    values = np.zeros((3, 4), a.dtype)
    values[0, 3], values[0, 0] = a[0, 0], a[0, 1]  # the others are outside
    values[1, [1, 2, 0]] = a[1, [1, 2, 3]]  # the second of two on 1 wins
    return values


def validated(a: Array) -> Array:
    return np.where(np.arange(6) % 2 == 0, a.reshape(-1)[3:9], a.dtype.type(0))


def indexed(x: TensorNode) -> TensorNode:
    flat = g.reshape(x, (12,))
    odd = g.op("mod", g.iota(6), g.constant(2, "int64", (6,)))
    even = g.op("eq", odd, g.constant(0, "int64", (6,)))
    where = g.op("add", g.iota(6), g.constant(3, "int64", (6,)))
    return g.index(flat, where, validity=even)


def joined(p: TensorNode, q: TensorNode) -> TensorNode:
    return g.cat(p, g.permute(q, (1, 0)))


def correlated(a: Array, b: Array) -> Array:
    """Windows of 3, every second, of images with a zero in front: [2, 3, 4] and [2, 4, 3]."""
    slid = np.lib.stride_tricks.sliding_window_view(np.pad(a, [(0, 0), (0, 0), (1, 0)]), 3, 2)
    result = np.einsum("nctr,ocr->not", slid[:, :, ::2], b[:, :3])
    return np.asarray(result)


def spread(a: Array, c: Array) -> Array:
    """Two channels of [2, 4], each element [3, 3] times itself, two apart; the last is cut off."""
    values = np.zeros((2, 3, 9), a.dtype)
    for t in range(4):
        values[:, :, 2 * t : 2 * t + 3] += np.einsum("no,ocr->ncr", a[:, :2, t], c)
    return values[:, :, :8]


def half(dtype: DType) -> DType:
    """A type that a buffer of this type can be viewed as."""
    return dtype if dtype.kind == "bool" else dtypes.uint16


# x is (3, 4) and y is (4, 3), of the type under test.
CASES: dict[str, Case] = {
    "buffer_view": (lambda x, y, t: g.buffer_view(x, 5, 6), lambda a, b: a.reshape(-1)[6:11]),
    "buffer_view as other": (
        lambda x, y, t: g.buffer_view(x, 5, 1, half(t)),
        lambda a, b: a.reshape(-1).view(a.dtype if a.dtype == bool else np.uint16)[1:6],
    ),
    "buffer_view empty": (lambda x, y, t: g.buffer_view(x, 0, 12), lambda a, b: a[:0, 0]),
    "view": (
        lambda x, y, t: g.view(x, Strided((2, 3), (-1, 4), 2)), lambda a, b: a[:, 2:0:-1].T
    ),
    "view overlap": (
        lambda x, y, t: g.view(x, Strided((10, 3), (1, 1))),
        lambda a, b: np.lib.stride_tricks.sliding_window_view(a.reshape(-1), 3),
    ),
    "view mask": (
        lambda x, y, t: g.view(x, Strided((3, 4), (4, 1), 0, MASK)), lambda a, b: masked(a)
    ),
    "view twice": (
        lambda x, y, t: g.view(x, Strided((3, 4), (4, 1), 0, MASK), Strided((4, 2), (1, 8), 0)),
        lambda a, b: masked(a)[::2].T,
    ),
    "view of computed": (
        lambda x, y, t: g.view(g.op("max", x, x), Strided((12,), (-1,), 11)),
        lambda a, b: np.maximum(a, a).reshape(-1)[::-1],
    ),
    "view rank 0": (lambda x, y, t: g.view(x, Strided((), (), 7)), lambda a, b: a.reshape(-1)[7]),
    "view empty": (lambda x, y, t: g.view(x, Strided((0, 2), (9, 9), 99)), lambda a, b: a[:0, :2]),
    "valid": (
        lambda x, y, t: g.valid(x, 12, Strided((3, 4), (4, 1), 0, MASK)), lambda a, b: masked(a)
    ),
    "valid twice": (
        lambda x, y, t: g.valid(
            y, 12, Strided((3, 4), (4, 1), 0, MASK), Strided((4, 3), (1, 4))),
        lambda a, b: masked(b.T).T,
    ),
    "gep": (lambda x, y, t: g.gep(x, 3, 0, 0, 2), lambda a, b: a[:, [3, 0, 0, 2]]),
    "gep neighbours": (lambda x, y, t: g.gep(x, 1, 2), lambda a, b: a[:, 1:3]),
    "gep none": (lambda x, y, t: g.gep(x), lambda a, b: a[:, :0]),
    "vectorize": (lambda x, y, t: g.vectorize(x, x, g.reshape(y, (3, 4))),
                  lambda a, b: np.stack([a, a, b.reshape(3, 4)], -1)),
    "cat": (lambda x, y, t: g.cat(y, g.shrink(y, ((0, 0), (0, 3))), g.shrink(y, ((1, 2), (0, 3)))),
            lambda a, b: np.concatenate([b, b[1:2]])),
    "gather": (lambda x, y, t: g.gather(x, positions(), 1), lambda a, b: taken(a)),
    "scatter_axis": (lambda x, y, t: g.scatter_axis(positions(), g.shrink(x, ((0, 2), (0, 4))), 1,
                                                    (3, 4)), lambda a, b: scattered(a)),
    "scatter_axis nothing": (
        lambda x, y, t: g.scatter_axis(Tensor(np.zeros((0, 4), "i4")),
                                       g.shrink(x, ((0, 0), (0, 4))), 0, (2, 4)),
        lambda a, b: np.zeros((2, 4), a.dtype),
    ),
    "index": (lambda x, y, t: indexed(x), lambda a, b: validated(a)),
    "detach": (lambda x, y, t: g.detach(x), lambda a, b: a),
    "contiguous_backward": (lambda x, y, t: g.contiguous_backward(x), lambda a, b: a),
    "wrt": (lambda x, y, t: Wrt((x, Unique((), 1))), lambda a, b: a),
    "recalled": (lambda x, y, t: Recalled((x, g.op("max", x, x))), lambda a, b: a),
    "checkpoint": (lambda x, y, t: Checkpoint((g.op("max", x, x), x), 1), lambda a, b: a),
    "later": (lambda x, y, t: Later((x, g.op("max", y, y))), lambda a, b: a),
    "ruled": (lambda x, y, t: Ruled((g.op("max", x, x), x), (of_log1p,)), lambda a, b: a),
    "ruled reduction": (lambda x, y, t: Ruled((g.reduce(x, "max", (1,)), x), (of_log1p,)),
                        lambda a, b: a.max(1, keepdims=True)),
    "noop": (lambda x, y, t: g.noop(x), lambda a, b: a),
    "noop alone": (lambda x, y, t: g.noop(), lambda a, b: np.array(False)),
    "fuse": (lambda x, y, t: g.fuse(x), lambda a, b: a),
    "unroll": (lambda x, y, t: g.unroll(g.reduce(x, "max", (1,)), 2),
               lambda a, b: a.max(1, keepdims=True)),
    "kernel": (lambda x, y, t: g.kernel("joined", joined, x, y),
               lambda a, b: np.concatenate([a, b.T])),
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", NUMPYS, ids=lambda t: t.short)
def test_a_kind_moves_bits(dtype: DType, engine: str) -> None:
    a, b = samples(dtype).reshape(3, 4), samples(dtype)[::-1].reshape(4, 3).copy()
    x, y = Tensor(a).node, Tensor(b).node
    made = [build(x, y, dtype) for build, _ in CASES.values()]
    for name, got in zip(CASES, ENGINES[engine](made), strict=True):
        assert_same(got, CASES[name][1](a, b), name)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", NUMPYS, ids=lambda t: t.short)
def test_products(dtype: DType, engine: str) -> None:
    """Small whole numbers: every order of summing gives the same."""
    a = (np.arange(24) % 5).reshape(2, 3, 4).astype(dtype.numpy)
    b = (np.arange(24) % 3).reshape(2, 4, 3).astype(dtype.numpy)
    c = (np.arange(18) % 2).reshape(2, 3, 3).astype(dtype.numpy)
    x, y, z = (Tensor(each).node for each in (a, b, c))
    nodes = {
        "wmma": (g.wmma(x, y, z, 3, 3, 4), c + a @ b),
        "matrices": (g.contract(x, y, ((2, 1),), 1), a @ b),
        "two pairs": (g.contract(x, y, ((1, 2), (2, 1))), np.einsum("ijk,lkj->il", a, b)),
        "outer": (g.contract(x, z, ()), np.tensordot(a, c, 0)),
        "whole": (g.contract(x, x, ((0, 0), (1, 1), (2, 2))), np.einsum("ijk,ijk->", a, a)),
        "empty": (
            g.contract(g.shrink(x, ((0, 2), (0, 3), (0, 0))), g.shrink(z, ((0, 0), (0, 3), (0, 3))),
                       ((2, 0),)), np.zeros((2, 3, 3, 3), dtype.numpy),
        ),
        "windows": (
            Correlate((x, g.shrink(y, ((0, 2), (0, 3), (0, 3)))), ((1, 0),), (2,), (1,)),
            correlated(a, b),
        ),
        "spread": (
            Spread((g.shrink(x, ((0, 2), (0, 2), (0, 4))), z), ((0, 1),), (2,), (1,), 1, (8,)),
            spread(a, c),
        ),
        "unrolled": (g.unroll(g.contract(x, y, ((2, 1),), 1), 4), a @ b),
    }  # fmt: skip
    results = ENGINES[engine]([node for node, _ in nodes.values()])
    for (name, (_, expected)), got in zip(nodes.items(), results, strict=True):
        assert_same(got, np.asarray(expected), name)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", NUMPYS, ids=lambda t: t.short)
def test_constants(dtype: DType, engine: str) -> None:
    """Rows of one value, of steps that wrap around, and of anything; NaN and -0.0 keep bits."""
    rows = [samples(dtype, n) for n in (0, 1, 5, 12, 64)]
    if dtype.is_integer:
        rows.append((np.arange(20) * 37 + 100).astype(dtype.numpy))
        rows.append(np.arange(9)[::-1].astype(dtype.numpy))
    rows += [np.repeat(samples(dtype)[:3], 4), np.repeat(samples(dtype)[1], 7)]
    inputs = [g.vconst([v.item() for v in row], dtype) for row in rows]
    for got, row in zip(ENGINES[engine](inputs), rows, strict=True):
        assert_same(got, row)


def test_wide_products_of_halves() -> None:
    """float16 tiles may be added up in float32."""
    a, b = (np.full((2, 2), 300, np.float16) for _ in range(2))
    node = g.wmma(Tensor(a), Tensor(b), Tensor.zeros(2, 2, dtype="float32"), 2, 2, 2)
    np.testing.assert_array_equal(Tensor.from_node(node).numpy(), np.full((2, 2), 180000, "f4"))


X = Buffer((), 1, (3, 4), dtypes.float32, "x")
Y = Buffer((), 2, (4, 3), dtypes.float32, "y")
N = Buffer((), 3, (3, 4), dtypes.int32, "n")
S = Buffer((), 4, (), dtypes.float32, "s")
B = Buffer((), 5, (3, 4), dtypes.bool_, "b")
IMAGE = Buffer((), 6, (2, 4, 5, 6), dtypes.float32, "i")
W = Buffer((), 7, (6, 2, 3, 2), dtypes.float32, "w")
P = Param((), 1, (3, 4), dtypes.float32)
ROW = Strided((3, 4), (4, 1))


@pytest.mark.parametrize(
    ("node", "printed", "colour"),
    [
        (BufferView((X,), 5, 3, dtypes.int16), "buffer_view 3:8 as i16", "buffer"),
        (View((X,), (ROW, Strided((2,), (3,), 1, ((0, 1),)))),
         "view (3,4) strides (4,1) then (2) strides (3) offset 1 mask 0:1", "movement"),
        (Valid((X,), (ROW,), 12), "valid (3,4) strides (4,1)", "movement"),
        (g.vconst((1.5, -0.0), "float32"), "vconst (1.5, -0.0)", "const"),
        (Gep((X,), (1, 3)), "gep (1,3)", "movement"),
        (Vectorize((X, X)), "vectorize ", "movement"),
        (Wmma((X, Y, X), 3, 3, 4), "wmma 3×3×4", "reduce"),
        (Cat((X, X), 1), "cat axis 1", "movement"),
        (Contract((X, Y), ((1, 0), (0, 1))), "contract 1·0 0·1", "reduce"),
        (Contract((X, X), (), 1), "contract batch 1", "reduce"),
        (Correlate((IMAGE, W), ((1, 0), (0, -1)), (2, 1), (1, 3), 2),
         "correlate step (2,1) gap (1,3) border 1:0 0:-1 groups 2", "reduce"),
        (Correlate((IMAGE, W), ((0, 0),) * 2, (1, 1), (1, 1), 2), "correlate groups 2", "reduce"),
        (Spread((IMAGE, g.permute(W, (1, 0, 2, 3))), ((0, 0),) * 2, (1, 2), (1, 1), 2, (7, 12)),
         "spread step (1,2) groups 2", "reduce"),
        (Gather((X, N), 1), "gather axis 1", "memory"),
        (ScatterAxis((N, X), 0, (5, 4)), "scatter_axis axis 0 (5,4)", "memory"),
        (g.detach(X), "detach ", "control"),
        (g.contiguous_backward(X), "contiguous_backward ", "control"),
        (g.noop(X), "noop ", "control"),
        (g.fuse(X), "fuse ", "control"),
        (g.unroll(g.reduce(X, "sum", (0,)), 8), "unroll 8", "control"),
        (g.placeholder("p", (2,), "int8"), "placeholder p", "buffer"),
        (Kernel((X,), P, "f"), "kernel f", "control"),
    ],
)  # fmt: skip
def test_printed(node: Composite, printed: str, colour: str) -> None:
    assert f"{operation(node)} {describe_argument(node)}" == printed
    assert kind(node) == colour


def test_every_kind_is_listed_and_tested() -> None:
    listed = {*EXPANDED, *SCHEDULED, *BY_SWEEPS}
    assert {c.__name__ for c in listed} == {c.__name__ for c in _subclasses(Composite)} - {"Marker"}
    x, y = X, Y
    built = (build(x, y, dtypes.float32) for build, _ in CASES.values())
    tested = {type(node) for node in built}
    # above, and in tests/test_placeholder.py
    apart = {VConst, Wmma, Contract, Correlate, Spread, Placeholder}
    assert listed == (tested | apart | {*BY_SWEEPS}) & listed


def _subclasses(kind: type) -> set[type]:
    found = set(kind.__subclasses__())
    return found.union(*map(_subclasses, found)) if found else found


@pytest.mark.parametrize("name", CASES)
def test_decompose_leaves_core_nodes(name: str) -> None:
    node = CASES[name][0](X, Y, dtypes.float32)
    matches: list[Match] = []
    root = decompose(Sink((node,)), Provenance(), matches)
    verify(root, is_decomposed=True)
    left = {type(n) for n in toposort([root]) if isinstance(n, Composite)}
    assert left <= set(SCHEDULED)
    assert (node.shape, node.dtype) == (root.sources[0].shape, root.sources[0].dtype)
    is_expanded = isinstance(node, EXPANDED)
    assert not is_expanded or operation(node) in [m.rule for m in matches]


def test_an_identity_is_in_the_graph_as_written_and_gone_after() -> None:
    made = Compilation([g.detach(g.contiguous_backward(g.noop(Tensor([1.0]))))], Options(), "t")
    assert [operation(n) for n in made.graph.nodes] == [
        "buffer", "noop", "contiguous_backward", "detach", "sink",
    ]  # fmt: skip
    assert [operation(n) for n in made.optimized_graph.nodes] == ["buffer", "sink"]


def loops_of(node: TensorNode) -> str:
    """The generated loops, without the line of arguments."""
    (made,) = Compilation([node], Options(), "t").loops
    return "\n".join(line.text for line in made.lines[1:])


@pytest.mark.parametrize("node", [
    g.view(Tensor(np.zeros(24)), Strided((3, 4), (1, 6), 2)),
    g.view(Tensor(np.zeros((4, 6))), Strided((8, 3), (1, 1), 2)),
    g.view(Tensor(np.zeros(24)), Strided((3, 4), (-1, 6), 2)),
    g.view(Tensor(np.zeros(10)), Strided((4,), (3,))),
    g.view(Tensor(np.zeros(24)), Strided((2, 5, 2), (0, 4, 1), 3)),
])  # fmt: skip
def test_plain_strides_leave_no_division_and_no_check(node: TensorNode) -> None:
    text = loops_of(node)
    assert not any(sign in text for sign in ("//", "%5", "min", "max", " if ", "where")), text


def test_a_joined_tensor_is_one_choice() -> None:
    x = Tensor(np.zeros(3))
    assert loops_of(x.cat(x).node).splitlines()[-2].split("=", 1)[1].startswith(" where((i0 < 3), ")


def test_a_builder_refuses_what_does_not_fit() -> None:
    with pytest.raises(GraphError, match="wmma: operand b has another shape"):
        g.wmma(X, X, X, 3, 4, 4)
    with pytest.raises(GraphError, match="permute: the operands or arguments do not fit"):
        g.permute(X, (0, 7))
    with pytest.raises(GraphError, match="reshape: invariant 3: a reshape changes the size"):
        g.reshape(X, (5,))
    with pytest.raises(GraphError, match="an operand is no node"):
        g.fuse(3)
    with pytest.raises(GraphError, match="elementwise: the operands or arguments do not fit"):
        g.op("no such", X)
