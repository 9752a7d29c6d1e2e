"""Every node kind of the seeds in a program: shown, verified, run at each stage, as machine code.

`VOCABULARY` has a row per kind, under the name it has in the seeds: the class here, a program that
contains it, and what NumPy makes of the same. The seeds are the five listings that the compiler
was specified by (`docs/seeds.md`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from compiler import GraphBuilder, Strided, Tensor, Variable, compile, custom
from compiler.core.node import toposort
from compiler.device.buffers import data
from compiler.graph import nodes
from compiler.graph.kinds import by_hand, effects, joins, kernel, markers, placement, views
from compiler.graph.nodes import Buffer, TensorNode
from compiler.graph.words import operation
from compiler.program.compilation import Compilation
from svodviz.wire.payload import wire

Array = np.ndarray[Any, Any]
G = GraphBuilder()
X = np.arange(12, dtype="float32").reshape(3, 4) - 5
Y = np.linspace(-1, 2, 12, dtype="float32").reshape(3, 4)
POSITIONS = np.array([2, 0, 2, 1])
UPDATES = np.array([1, 2, 3, 4], "float32")
DEVICES = ("CPU:0", "CPU:1")
n = Variable("n", 0, 9)


@custom.host(shape=lambda s: s, dtype=lambda t: t)
def ordered(x: Array) -> Array:
    """The rows in order, by a function on the host."""
    return np.sort(x, axis=-1)


def t(array: Array, name: str = "") -> Tensor:
    """A tensor of its own, not shared with another program."""
    return Tensor(array.copy(), name=name)


def built(make: Callable[[TensorNode], TensorNode], array: Array = X) -> Tensor:
    """A tensor from a node that the builder makes of a tensor's node."""
    return Tensor.from_node(make(t(array).node))


def assigned() -> Tensor:
    """A tensor written in place, and then read."""
    x = t(X)
    x[1:, 2:] = Tensor(Y[1:, 2:])
    return x + 1


def written() -> Array:
    """The array that `assigned` makes."""
    x = X.copy()
    x[1:, 2:] = Y[1:, 2:]
    return x + 1


def added(a: TensorNode, b: Array) -> TensorNode:
    """The sum of a node and an array."""
    return G.op("add", a, t(b).node)


@dataclass(frozen=True)
class Row:
    """A kind: its class, a program with such a node, the value, and what a run is given."""

    kind: type[TensorNode]
    program: Callable[[], Tensor]
    value: Any
    inputs: dict[str, Array] = field(default_factory=dict)
    variables: dict[str, int] = field(default_factory=dict)


WINDOWS = Strided((3, 2), (1, 1))
MASKED = Strided((4, 5), (4, 1), -4, ((1, 4), (0, 4)))
FRAME = np.pad(X, ((1, 0), (0, 1)))
VOCABULARY: dict[str, Row] = {
    "Buffer": Row(nodes.Buffer, lambda: t(X) + 1, X + 1),
    "Buffer_View": Row(
        by_hand.BufferView, lambda: built(lambda x: G.buffer_view(x, 5, 3)), X.reshape(-1)[3:8]),
    "Placeholder": Row(
        markers.Placeholder, lambda: Tensor.placeholder(3, 4, dtype="float32", name="p") * 2, X * 2,
        inputs={"p": X}),
    "Const_Scalar": Row(nodes.Const, lambda: t(X) * 3, X * 3),
    "Vconst": Row(
        by_hand.VConst,
        lambda: Tensor.from_node(G.vconst([1.5, -0.0, float("inf"), 2], "float32")),
        np.array([1.5, -0.0, np.inf, 2], "float32")),
    "Binop": Row(nodes.Elementwise, lambda: t(X) - t(Y), X - Y),
    "Unary": Row(nodes.Elementwise, lambda: t(X).sqrt(), np.sqrt(np.where(X < 0, np.nan, X))),
    "Ternary": Row(nodes.Elementwise, lambda: (t(X) > 0).where(t(X), t(Y)), np.where(X > 0, X, Y)),
    "View": Row(
        views.View, lambda: built(lambda x: G.view(x, Strided((2, 3), (4, 2), 1), WINDOWS)),
        np.lib.stride_tricks.sliding_window_view(X.reshape(-1)[[1, 3, 5, 5, 7, 9]], 2)[:3]),
    "Reshape": Row(nodes.Reshape, lambda: t(X).reshape(2, 6) * 1, X.reshape(2, 6)),
    "Permute": Row(nodes.Permute, lambda: t(X).T * 1, X.T),
    "Expand": Row(nodes.Expand, lambda: t(X[:, :1]).expand(3, 5) * 1, np.repeat(X[:, :1], 5, 1)),
    "Pad": Row(nodes.Pad, lambda: t(X).pad(((1, 0), (0, 1))) * 1, FRAME),
    "Shrink": Row(nodes.Shrink, lambda: t(X)[1:, :3] * 1, X[1:, :3]),
    "Flip": Row(nodes.Flip, lambda: t(X).flip(1) * 1, X[:, ::-1]),
    "Reduce_Axis": Row(nodes.Reduce, lambda: t(X).max(0), X.max(0)),
    "Valid": Row(by_hand.Valid, lambda: built(lambda x: G.valid(x, 12, MASKED), FRAME + 1),
                 np.where(np.pad(np.ones((3, 4), bool), ((1, 0), (0, 1))), FRAME + 1, 0)),
    "Index": Row(
        nodes.Index,
        lambda: built(lambda x: G.index(x, t(POSITIONS).node, G.iota(4), validity=(
            t(np.array([True, False, True, True])).node))),
        np.array([X[2, 0], 0, X[2, 2], X[1, 3]], "float32")),
    "Gep": Row(by_hand.Gep, lambda: built(lambda x: G.gep(x, 2, 0, 0)), X[:, [2, 0, 0]]),
    "Vectorize": Row(
        by_hand.Vectorize, lambda: built(lambda x: G.vectorize(x, t(Y).node)),
        np.stack([X, Y], -1)),
    "Wmma": Row(
        by_hand.Wmma, lambda: built(lambda x: G.wmma(x, t(Y.T).node, t(X[:, :3]).node, 3, 3, 4)),
        X @ Y.T + X[:, :3]),
    "Cast": Row(nodes.Cast, lambda: t(X).cast("int32"), X.astype("int32")),
    "Bitcast": Row(nodes.Bitcast, lambda: t(X).bitcast("int32"), X.view("int32")),
    "Contiguous": Row(nodes.Contiguous, lambda: (t(X) * 2).T.contiguous() + 1, X.T * 2 + 1),
    "Copy": Row(placement.Copy, lambda: (t(X) * 2).to("CPU:1") + 1, X * 2 + 1),
    "Assign": Row(effects.Assign, assigned, written()),
    "Define_Var": Row(nodes.Variable, lambda: t(X) * n, X * 7, variables={"n": 7}),
    "Bind": Row(nodes.Bind, lambda: t(X)[: Variable("m", 1, 3).bind(2)] + 1, X[:2] + 1),
    "Detach": Row(markers.Detach, lambda: t(X).detach() + 1, X + 1),
    "Contiguous_Backward": Row(
        markers.ContiguousBackward, lambda: t(X).contiguous_backward() + 1, X + 1),
    "Sink": Row(nodes.Sink, lambda: t(X).exp2(), np.exp2(X)),
    "Kernel": Row(
        kernel.Kernel,
        lambda: built(lambda x: G.kernel("squares", lambda p: G.op("mul", p, p), x)), X * X),
    "Unique": Row(placement.Unique, lambda: t(X).clone() + 1, X + 1),
    "Device": Row(placement.Device, lambda: t(X).to("CPU:1").sum(1), X.sum(1)),
    "Multi": Row(placement.Multi, lambda: t(X).shard(DEVICES, 1).max(1), X.max(1)),
    "Fuse": Row(markers.Fuse, lambda: (lambda s: s + s.flip(0))((t(X).sum(1)).fuse()),
                X.sum(1) + X.sum(1)[::-1]),
    "Unroll": Row(markers.Unroll, lambda: t(X).sum(1).unroll(2), X.sum(1)),
    "Contract": Row(
        joins.Contract, lambda: built(lambda x: G.contract(x, t(Y).node, ((0, 0), (1, 1)))),
        np.tensordot(X, Y, 2)),
    "Cat": Row(joins.Cat, lambda: t(X).cat(t(Y), dim=1), np.concatenate([X, Y], 1)),
    "Threefry": Row(
        nodes.Threefry,
        lambda: Tensor.from_node(G.threefry(*(G.constant(0, "uint64", (1,)) for _ in "ck"))),
        np.array([0x99BA4EFE6B200159], "uint64")),
    "Gather": Row(
        joins.Gather, lambda: built(lambda x: G.gather(x, t(POSITIONS[None]).node, 0)),
        np.take_along_axis(X, POSITIONS[None], 0)),
    "Scatter": Row(
        by_hand.ScatterAxis,
        lambda: built(lambda u: G.scatter_axis(t(POSITIONS).node, u, 0, (5,)), UPDATES),
        np.array([2, 4, 3, 0, 0], "float32")),
    "Custom": Row(effects.Custom, lambda: ordered(t(X).flip(1)) + 1, X + 1),
    "Noop": Row(by_hand.Noop, lambda: built(lambda x: added(G.noop(x), Y)), X + Y),
}  # fmt: skip
ROUNDED = ("Wmma", "Contract", "Sink", "Unary", "Reduce_Axis", "Unroll", "Fuse", "Device")
"""Kinds whose sums and elementary functions may differ in the last places."""


def test_there_is_a_row_per_kind() -> None:
    assert len(VOCABULARY) == 44


@pytest.mark.parametrize("kind", VOCABULARY)
def test_machine_code(kind: str) -> None:
    """The program has such a node, LLVM's code computes NumPy's value, and no stage disagrees."""
    row = VOCABULARY[kind]
    made = compile(row.program())
    assert any(isinstance(node, row.kind) for node in toposort([made.written]))
    assert made.load(), "nothing runs as machine code"
    if not row.inputs:
        assert made.check(variables=row.variables).ok
    (found,) = made.run(inputs=row.inputs, variables=row.variables)
    expected = np.asarray(row.value)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    tolerance = 1e-6 if kind in ROUNDED else 0
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("kind", VOCABULARY)
def test_shown(kind: str) -> None:
    """The node is printed under its name and is a node of the explorer's graph."""
    row = VOCABULARY[kind]
    made = compile(row.program())
    found = next(node for node in toposort([made.written]) if isinstance(node, row.kind))
    if kind != "Sink":
        assert f"= {operation(found)}" in str(made.graph)
    assert _is_drawn(made, found)


def _is_drawn(made: Compilation, node: TensorNode) -> bool:
    """True if the explorer's data have `node` in the graph as written."""
    return made.entity(node) in wire(made)["entities"]


def test_an_assign_writes_the_memory_of_its_target() -> None:
    x = t(X)
    node = x.node
    assert isinstance(node, Buffer)
    x[0] = 7.0
    x.realize()
    np.testing.assert_array_equal(data(node)[0], np.full(4, 7, "float32"))
