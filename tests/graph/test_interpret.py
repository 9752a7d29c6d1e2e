"""The graph interpreter: each kind of node, deep graphs, memory, and refusals."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.core.node import toposort
from compiler.device.buffers import data, new_buffer
from compiler.graph.interpret import evaluate_all, interpret
from compiler.graph.kinds.composite import Composite
from compiler.graph.kinds.effects import Assign, Custom, Scatter
from compiler.graph.kinds.placement import Copy, Device, Joint, Multi, Received, Unique
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.kinds.scan import Scan
from compiler.graph.nodes import (
    Bind,
    Bitcast,
    Buffer,
    Cast,
    Const,
    Contiguous,
    Elementwise,
    Expand,
    Flip,
    Index,
    Iota,
    Narrow,
    Pad,
    Param,
    Permute,
    Prefix,
    Reduce,
    Reshape,
    Shrink,
    Sink,
    Store,
    TensorNode,
    Threefry,
    Variable,
    const,
    elementwise,
)
from compiler.ops.table import OPS, REDUCTIONS
from tests.evaluate import assert_same

X = np.arange(6, dtype="f4").reshape(2, 3)


def run(node: TensorNode, **inputs: Any) -> Any:
    """The value of one node, the inputs taken from the table of buffers."""
    found = {n: data(n) for n in toposort([node]) if isinstance(n, Buffer)}
    return interpret([node], found)[0]


KINDS: tuple[tuple[type[TensorNode], tuple[Any, ...], Any], ...] = (
    (Cast, (dtypes.int32,), X.astype("i4")),
    (Bitcast, (dtypes.uint32,), X.view("u4")),
    (Reshape, ((3, 2),), X.reshape(3, 2)),
    (Permute, ((1, 0),), X.T),
    (Pad, (((1, 0), (0, 2)),), np.pad(X, ((1, 0), (0, 2)))),
    (Shrink, (((0, 1), (1, 3)),), X[:1, 1:]),
    (Flip, ((0, 1),), X[::-1, ::-1]),
    (Reduce, ("sum", (1,)), X.sum(1, keepdims=True)),
    (Reduce, ("max", (0, 1)), X.max(keepdims=True)),
    (Contiguous, (), X),
    (Elementwise, ("neg",), -X),
)


@pytest.mark.parametrize(("kind", "arguments", "expected"), KINDS, ids=lambda it: repr(it)[:40])
def test_kinds(kind: type[TensorNode], arguments: tuple[Any, ...], expected: Any) -> None:
    node = kind((new_buffer(X),), *arguments)
    assert_same(run(node), expected)


def test_every_kind_of_node_is_known() -> None:
    tested = {kind for kind, _, _ in KINDS}
    others = {Buffer, Param, Const, Iota, Expand, Store, Sink}  # tested below
    others |= {Variable}
    others |= {Narrow}  # tests/schedule/test_share.py
    others |= {Bind, Prefix}  # tests/graph/test_extents.py
    others |= {Repeat}  # tests/tensors/test_repeat.py
    others |= {Composite}  # tests/graph/kinds/test_composite.py
    others |= {Index, Threefry}  # tests/tensors/: test_tensor_gathering, test_random
    others |= {Scatter, Custom, Assign}  # tests/tensors/, test_custom.py
    others |= {Scan}  # tests/graph/kinds/test_scan.py
    others |= {Device, Unique, Copy, Multi}  # tests/graph/kinds/test_placement.py
    others |= {Joint, Received}  # tests/graph/test_collectives.py
    names = {kind.__name__ for kind in tested | others}
    assert names == {kind.__name__ for kind in TensorNode.__subclasses__()}


def test_variable() -> None:
    n = Variable((), "n", -2, 5)
    assert_same(interpret([n], {n: np.array(-2)})[0], np.int64(-2))
    with pytest.raises(InternalError, match="variable n is out of bounds"):
        interpret([n], {n: np.array(6)})
    with pytest.raises(InternalError, match="no data for Variable"):
        interpret([n], {})


def test_leaves() -> None:
    assert_same(run(Iota((), 4, dtypes.uint8)), np.arange(4, dtype="u1"))
    assert_same(run(const(1.5, dtypes.float16, (2, 2))), np.full((2, 2), 1.5, "f2"))
    assert_same(run(const(-0.0, dtypes.float32)), np.float32(-0.0))
    slot = Param((), 3, (2, 3), dtypes.float32)
    assert_same(interpret([slot], {slot: X})[0], X)


def test_constants_keep_the_bits_of_a_nan() -> None:
    for bits in (0x7FC00123, 0x7F800001, 0xFFC00000):  # quiet, signalling, negative
        value = run(Const((), bits, dtypes.float32))
        assert int(value.view("u4")) == bits


def test_expand_store_and_sink() -> None:
    wide = Expand((Reshape((new_buffer(X),), (2, 1, 3)),), (2, 4, 3))
    assert_same(run(wide), np.broadcast_to(X[:, None], (2, 4, 3)))
    slot = Param((), 0, (2, 3), dtypes.float32)
    stored = Store((slot, new_buffer(X)))
    buffers = {n: data(n) for n in toposort([stored]) if isinstance(n, Buffer)}
    values = evaluate_all([Sink((stored,))], {slot: np.zeros_like(X), **buffers})
    assert_same(values[stored], X)


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
@pytest.mark.parametrize("op", REDUCTIONS)
def test_a_reduction_of_nothing_is_its_identity(op: str, dtype: dtypes.DType) -> None:
    empty = new_buffer(np.zeros((2, 0), dtype.numpy))
    expected = np.full((2, 1), REDUCTIONS[op].identity(dtype), dtype.numpy)
    assert_same(run(Reduce((empty,), op, (1,))), expected)


@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions_stay_in_their_type(op: str) -> None:
    for dtype in dtypes.ALL:
        x = new_buffer(np.ones((3, 2), dtype.numpy))
        assert run(Reduce((x,), op, (0,))).dtype == dtype.numpy
    wrapped = run(Reduce((new_buffer(np.full(3, 100, "i1")),), "sum", (0,)))
    assert wrapped.tolist() == [44]


@pytest.mark.parametrize("shape", ((), (0,), (1,), (2, 3)), ids=str)
@pytest.mark.parametrize("op", OPS)
def test_every_operation_keeps_its_type_and_shape(op: str, shape: tuple[int, ...]) -> None:
    for dtype in dtypes.ALL:
        if dtype.kind not in OPS[op].accepts:
            continue
        operands: list[TensorNode] = [new_buffer(np.ones(shape, dtype.numpy))] * OPS[op].arity
        if op == "where":
            operands[0] = const(True, dtypes.bool_, shape)
        node = elementwise(op, *operands)
        assert run(node).dtype == node.dtype.numpy


def test_a_chain_of_30_000_nodes() -> None:
    start = node = new_buffer(np.zeros(2, "i4"))
    one = const(1, dtypes.int32, (2,))
    for _ in range(30_000):
        node = elementwise("add", node, one)
    assert interpret([node], {start: data(start)})[0].tolist() == [30_000] * 2


def test_values_are_freed_after_their_last_use() -> None:
    size = 1 << 20
    start = node = new_buffer(np.zeros(size, "f8"))
    for _ in range(30):
        node = elementwise("neg", node)
    tracemalloc.start()
    interpret([node], {start: data(start)})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 8 * size


def test_roots_that_other_roots_read() -> None:
    x = new_buffer(X)
    once = elementwise("neg", x)
    twice = elementwise("neg", once)
    values = interpret([once, twice, x, once], {x: data(x)})
    for value, expected in zip(values, (-X, X, X, -X), strict=True):
        assert_same(value, expected)


def test_roots_are_row_major() -> None:
    x = new_buffer(X)
    roots = interpret([Permute((x,), (1, 0)), Reduce((x,), "sum", (0, 1))], {x: X})
    assert all(value.flags.c_contiguous for value in roots)


def test_evaluate_all_keeps_every_value() -> None:
    x = new_buffer(X)
    total = Reduce((elementwise("neg", x),), "sum", (0,))
    values = evaluate_all([total], {x: X})
    assert list(values) == toposort([total])
    assert_same(values[total.sources[0]], -X)


def test_evaluate_all_leaves_out_what_is_too_large() -> None:
    x = new_buffer(X)
    large = elementwise("neg", Expand((Reshape((x,), (1, 2, 3)),), (5, 2, 3)))
    total = Reduce((large,), "sum", (0, 1, 2))
    values = evaluate_all([total, elementwise("neg", x)], {x: X}, most=6)
    assert x in values and large not in values and total not in values
    assert len(values) == 3


def test_missing_and_wrong_inputs() -> None:
    x = new_buffer(X, "x")
    with pytest.raises(InternalError, match="no data for Buffer"):
        interpret([x], {})
    with pytest.raises(InternalError, match="wrong type or shape") as caught:
        interpret([x], {x: X.astype("f8")})
    assert "float64 (2, 3)" in str(caught.value)
    assert "f32[2,3]" in str(caught.value)
    with pytest.raises(InternalError, match="wrong type or shape"):
        interpret([x], {x: X[0]})


def test_no_warning_escapes() -> None:
    x = new_buffer(np.array([0.0, -1.0, np.inf]))
    for op in ("log", "recip", "sqrt", "sin", "exp"):
        run(elementwise(op, x))
