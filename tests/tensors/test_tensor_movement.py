"""Movements, indexing and joining against NumPy, with views of views and empty axes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from compiler.core import dtypes
from compiler.core.errors import (
    AxisError,
    CompileError,
    DataError,
    DTypeError,
    ShapeError,
    SizeError,
)
from compiler.core.node import toposort
from compiler.graph.nodes import Const, Pad, Reshape
from compiler.tensor import Tensor
from tests.evaluate import NUMPYS, Array, assert_same, evaluate, every_engine, samples

X = np.arange(24, dtype="f4").reshape(2, 3, 4)
ONE = np.arange(6, dtype="i2").reshape(1, 6, 1)
EMPTY = np.zeros((2, 0, 3), "f8")
Case = tuple[Array, Callable[[Any], Any], Callable[[Array], Any]]

CASES: dict[str, Case] = {
    "reshape": (X, lambda t: t.reshape(4, 6), lambda x: x.reshape(4, 6)),
    "reshape tuple": (X, lambda t: t.reshape((6, -1)), lambda x: x.reshape(6, -1)),
    "reshape to rank 0": (X[:1, 0, 0], lambda t: t.reshape(()), lambda x: x.reshape(())),
    "reshape empty": (EMPTY, lambda t: t.reshape(-1, 3), lambda x: x.reshape(-1, 3)),
    "view": (X, lambda t: t.view(24), lambda x: x.reshape(24)),
    "permute": (X, lambda t: t.permute(2, 0, 1), lambda x: x.transpose(2, 0, 1)),
    "permute negative": (X, lambda t: t.permute((-1, 0, 1)), lambda x: x.transpose(2, 0, 1)),
    "transpose": (X, lambda t: t.transpose(), lambda x: x.transpose()),
    "transpose order": (X, lambda t: t.transpose(1, 0, 2), lambda x: x.transpose(1, 0, 2)),
    "transpose two": (X, lambda t: t.transpose(0, -1), lambda x: x.swapaxes(0, -1)),
    "transpose matrix": (X[0], lambda t: t.transpose(1, 0), lambda x: x.T),
    "transpose in order": (X[0], lambda t: t.transpose((0, 1)), lambda x: x),
    "T": (X, lambda t: t.T, lambda x: x.T),
    "mT": (X, lambda t: t.mT, lambda x: x.mT),
    "swapaxes": (X, lambda t: t.swapaxes(0, 2), lambda x: x.swapaxes(0, 2)),
    "movedim": (X, lambda t: t.movedim(0, -1), lambda x: np.moveaxis(x, 0, -1)),
    "movedim two": (
        X, lambda t: t.movedim((0, 1), (2, 0)), lambda x: np.moveaxis(x, (0, 1), (2, 0)),
    ),
    "movedim crossed": (
        X[None], lambda t: t.movedim((0, 1), (2, 1)), lambda x: np.moveaxis(x, (0, 1), (2, 1)),
    ),
    "expand": (ONE, lambda t: t.expand(3, -1, 2), lambda x: np.broadcast_to(x, (3, 6, 2))),
    "expand more axes": (X, lambda t: t.expand(5, -1, -1, -1),
                         lambda x: np.broadcast_to(x, (5, 2, 3, 4))),
    "expand to nothing": (ONE, lambda t: t.expand(0, 6, 1), lambda x: np.zeros((0, 6, 1), "i2")),
    "broadcast_to": (ONE, lambda t: t.broadcast_to((2, 2, 6, 3)),
                     lambda x: np.broadcast_to(x, (2, 2, 6, 3))),
    "shrink": (X, lambda t: t.shrink(((0, 1), None, (1, 3))), lambda x: x[0:1, :, 1:3]),
    "shrink to nothing": (X, lambda t: t.shrink(((1, 1), None, None)), lambda x: x[1:1]),
    "flip": (X, lambda t: t.flip(0, -1), lambda x: np.flip(x, (0, -1))),
    "flip all": (X, lambda t: t.flip(), np.flip),
    "flip none": (X, lambda t: t.flip(()), lambda x: x),
    "squeeze": (ONE, lambda t: t.squeeze(), np.squeeze),
    "squeeze axis": (ONE, lambda t: t.squeeze(-1), lambda x: x.squeeze(-1)),
    "squeeze dim": (ONE, lambda t: t.squeeze(dim=(0, 2)), lambda x: x.squeeze((0, 2))),
    "unsqueeze": (X, lambda t: t.unsqueeze(1), lambda x: x[:, None]),
    "unsqueeze last": (X, lambda t: t.unsqueeze(-1), lambda x: x[..., None]),
    "flatten": (X, lambda t: t.flatten(), lambda x: x.reshape(-1)),
    "flatten some": (X, lambda t: t.flatten(1), lambda x: x.reshape(2, 12)),
    "flatten front": (X, lambda t: t.flatten(0, -2), lambda x: x.reshape(6, 4)),
    "flatten rank 0": (np.array(3.0), lambda t: t.flatten(), lambda x: x.reshape(1)),
    "unflatten": (X, lambda t: t.unflatten(-1, (2, -1)), lambda x: x.reshape(2, 3, 2, 2)),
    "contiguous": (X, lambda t: t.T.contiguous(), lambda x: x.T),
    "pad int": (X, lambda t: t.pad(1), lambda x: np.pad(x, 1)),
    "pad pairs": (X, lambda t: t.pad(((1, 0), None, (0, 2))),
                  lambda x: np.pad(x, ((1, 0), (0, 0), (0, 2)))),
    "pad flat": (X, lambda t: t.pad((1, 2, 0, 3)), lambda x: np.pad(x, ((0, 0), (0, 3), (1, 2)))),
    "pad value": (X, lambda t: t.pad((1, 1), value=-2),
                  lambda x: np.pad(x, ((0, 0), (0, 0), (1, 1)), constant_values=-2)),
    "pad minus zero": (X, lambda t: t.pad((1, 0), value=-0.0),
                       lambda x: np.pad(x, ((0, 0), (0, 0), (1, 0)), constant_values=-0.0)),
    "pad NaN": (X, lambda t: t.pad(1, value=float("nan")),
                lambda x: np.pad(x, 1, constant_values=np.nan)),
    "pad empty": (EMPTY, lambda t: t.pad(1, value=7.0), lambda x: np.pad(x, 1, constant_values=7)),
    "pad rank 0": (np.array(2.0), lambda t: t.pad(1, value=3.0), lambda x: x),
    "pad cut": (X, lambda t: t.pad((-1, 2)),
                lambda x: np.pad(x, ((0, 0), (0, 0), (0, 2)))[..., 1:]),
    "pad bool": (X > 3, lambda t: t.pad(1, value=True),
                 lambda x: np.pad(x, 1, constant_values=True)),
    "repeat": (X, lambda t: t.repeat(2, 1, 3), lambda x: np.tile(x, (2, 1, 3))),
    "repeat fewer": (X, lambda t: t.repeat(2), lambda x: np.tile(x, 2)),
    "repeat more": (X, lambda t: t.tile((2, 3, 1, 1)), lambda x: np.tile(x, (2, 3, 1, 1))),
    "repeat none": (X, lambda t: t.repeat(0, 1, 1), lambda x: np.tile(x, (0, 1, 1))),
    "repeat rank 0": (np.array(2.0), lambda t: t.repeat(), lambda x: x),
    "view of view": (X, lambda t: t.T[1:].flip(0).reshape(-1)[::2],
                     lambda x: np.flip(x.T[1:], 0).reshape(-1)[::2]),
    "pad of flip of shrink": (X, lambda t: t[:, 1:].flip(1).pad(((0, 0), (2, 1), (0, 0))).mT,
                              lambda x: np.pad(x[:, :0:-1], ((0, 0), (2, 1), (0, 0))).mT),
    "shrink of pad": (X, lambda t: t.pad(2)[1:-1, 2:, :3], lambda x: np.pad(x, 2)[1:-1, 2:, :3]),
}  # fmt: skip

INDICES: tuple[Any, ...] = (
    0, -1, slice(None), slice(1, None), slice(None, None, -1), slice(None, None, 2), ...,
    None, (1, 2, 3), (0, ..., -1), (..., None), (None, 0, None), (slice(None), 1), (..., 0, 0),
    slice(5, 1), slice(-100, 100, 3), slice(100, -100, -2), (),
    (0, slice(2, 0, -2), slice(None, None, 3)), np.int8(1), (slice(np.int64(0), None), 1),
    slice(1, 1), (..., slice(3, None, -3)),
)  # fmt: skip


@every_engine
@pytest.mark.parametrize("name", CASES)
def test_movement(name: str, engine: str) -> None:
    array, ours, theirs = CASES[name]
    assert_same(evaluate(ours(Tensor(array)), engine), theirs(array), name)


@every_engine
@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_index(index: Any, engine: str) -> None:
    assert_same(evaluate(Tensor(X)[index], engine), X[index])


@every_engine
@given(st.data())
def test_index_of_index(engine: str, data: st.DataObject) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=7))
    array = np.arange(np.prod(shape, dtype=int), dtype="i4").reshape(shape)
    ours = Tensor(array)
    for _ in range(2):
        index = data.draw(hnp.basic_indices(array.shape, allow_newaxis=True, max_dims=6))
        ours, array = ours[index], array[index]
    assert_same(evaluate(ours, engine), np.asarray(array))


@every_engine
@given(st.integers(0, 9), st.integers(-12, 12), st.integers(-12, 12), st.integers(-4, 4))
def test_slices(engine: str, extent: int, start: int, stop: int, step: int) -> None:
    array = np.arange(extent)
    if step:
        got = evaluate(Tensor(array)[start:stop:step], engine)
        assert_same(got, array[start:stop:step])


@every_engine
def test_cat(engine: str) -> None:
    parts = [X, X[:, :1], X[:, :0], X[:, 1:]]
    got = evaluate(Tensor(parts[0]).cat(*map(Tensor, parts[1:]), dim=1), engine)
    assert_same(got, np.concatenate(parts, 1))
    assert_same(evaluate(Tensor(X).cat(dim=-1), engine), X)
    assert_same(evaluate(Tensor.cat(Tensor(EMPTY), EMPTY, dim=1), engine), EMPTY)


@every_engine
def test_cat_keeps_every_bit(engine: str) -> None:
    a, b = np.array([-0.0, np.nan, np.inf]), np.array([-0.0, 0.0])
    assert_same(evaluate(Tensor(a).cat(b, a), engine), np.concatenate([a, b, a]))
    truths = np.array([True, False])
    assert_same(evaluate(Tensor(truths).cat(~truths), engine), np.concatenate([truths, ~truths]))


@every_engine
def test_cat_and_stack_promote(engine: str) -> None:
    for left in NUMPYS:
        for right in (dtypes.bool_, dtypes.int16, dtypes.uint64, dtypes.float16):
            a, b = samples(left, 3), samples(right, 3)
            got = evaluate(Tensor(a).cat(b), engine)
            assert_same(got, np.concatenate([a, b]), f"cat {left} {right}")
            got = evaluate(Tensor(a).stack(b, dim=-1), engine)
            assert_same(got, np.stack([a, b], -1), f"stack {left} {right}")


@every_engine
def test_stack(engine: str) -> None:
    for axis in (0, 1, -1):
        got = evaluate(Tensor(X).stack(X * 2, X * 3, dim=axis), engine)
        assert_same(got, np.stack([X, X * 2, X * 3], axis))
    assert_same(evaluate(Tensor(1.0).stack(Tensor(2.0)), engine), np.array([1.0, 2.0]))


@every_engine
def test_iteration(engine: str) -> None:
    rows = list(Tensor(X))
    assert len(rows) == 2
    for row, expected in zip(rows, X, strict=True):
        assert_same(evaluate(row, engine), expected)


def test_no_node_is_made_for_nothing() -> None:
    x = Tensor(X)
    unchanged = (
        x.reshape(2, 3, 4), x.permute(0, 1, 2), x.expand(2, -1, -1), x[...], x[:], x.pad(0),
        x.shrink((None, None, None)), x.flip(()), x.cast("f4"), x.flatten(0, 0), x.repeat(1),
    )  # fmt: skip
    assert all(tensor.node is x.node for tensor in unchanged)


def test_a_step_that_fits_needs_no_padding() -> None:
    kinds = [type(node) for node in toposort([Tensor(np.arange(8))[::2].node])]
    assert Pad not in kinds
    assert Pad in [type(node) for node in toposort([Tensor(np.arange(7))[::2].node])]
    assert Pad not in [type(node) for node in toposort([Tensor(np.arange(3))[::5].node])]


def test_a_number_is_broadcast_as_a_constant() -> None:
    nodes = toposort([(Tensor(X) + 1).node])
    assert [node.shape for node in nodes if isinstance(node, Const)] == [(2, 3, 4)]
    assert not any(isinstance(node, Reshape) for node in nodes)


REFUSED: dict[str, tuple[type[CompileError], Callable[[Tensor], object], str]] = {
    "reshape size": (ShapeError, lambda t: t.reshape(5, 5), "number of elements changes"),
    "reshape -1": (ShapeError, lambda t: t.reshape(-1, 5), "number of elements changes"),
    "reshape two -1": (ShapeError, lambda t: t.reshape(-1, -1), "at most one -1"),
    "reshape -2": (ShapeError, lambda t: t.reshape(-2, 12), "not valid"),
    "reshape float": (ShapeError, lambda t: t.reshape(2.0, 12), "integers"),
    "permute short": (AxisError, lambda t: t.permute(0, 1), "does not name every axis"),
    "permute twice": (AxisError, lambda t: t.permute(0, 0, 1), "named twice"),
    "permute range": (AxisError, lambda t: t.permute(0, 1, 3), "axis 3 is out of range"),
    "expand": (ShapeError, lambda t: t.expand(2, 3, 5), "extent 1"),
    "expand fewer": (ShapeError, lambda t: t.expand(3, 4), "extent 1"),
    "expand -1 in front": (ShapeError, lambda t: t.expand(-2, 2, 3, 4), "negative"),
    "broadcast_to": (ShapeError, lambda t: t.broadcast_to(2, 3, -1), "negative"),
    "shrink": (ShapeError, lambda t: t.shrink(((0, 3), None, None)), "0 <= begin <= end <= 2"),
    "shrink pairs": (ShapeError, lambda t: t.shrink(((0, 1, 2), None, None)), "not inside"),
    "shrink rank": (ShapeError, lambda t: t.shrink(((0, 1),)), "one part per axis"),
    "shrink int": (ShapeError, lambda t: t.shrink(1), "one part per axis"),
    "shrink ints": (ShapeError, lambda t: t.shrink((1, 2, 3)), "not inside"),
    "pad float": (ShapeError, lambda t: t.pad(1.5), "3 pairs"),
    "squeeze": (ShapeError, lambda t: t.squeeze(0), "cannot be removed"),
    "unsqueeze": (AxisError, lambda t: t.unsqueeze(5), "out of range"),
    "flatten": (AxisError, lambda t: t.flatten(2, 1), "start_dim comes after end_dim"),
    "movedim": (AxisError, lambda t: t.movedim((0, 1), (0,)), "differ in length"),
    "mT": (ShapeError, lambda t: t[0, 0].mT, "two axes"),
    "pad rank": (ShapeError, lambda t: t.pad(((1, 1), (1, 1))), "3 pairs"),
    "pad odd": (ShapeError, lambda t: t.pad((1, 1, 1)), "3 pairs"),
    "pad triple": (ShapeError, lambda t: t.pad(((1, 1, 1), None, None)), "3 pairs"),
    "pad cut": (ShapeError, lambda t: t.pad((-3, -2)), "cropped by more than its extent"),
    "pad value": (DTypeError, lambda t: t.cast("i4").pad(1, value=0.5), "does not fit"),
    "cat rank": (ShapeError, lambda t: t.cat(t[0]), "tensor 1 does not fit"),
    "cat shape": (ShapeError, lambda t: t.cat(t[:, 1:]), "tensor 1 does not fit"),
    "cat axis": (AxisError, lambda t: t.cat(t, dim=3), "out of range"),
    "cat rank 0": (AxisError, lambda t: t[0, 0, 0].cat(t[0, 0, 0]), "rank 0"),
    "stack": (ShapeError, lambda t: t.stack(t[1:]), "another shape"),
    "index range": (AxisError, lambda t: t[2], "index 2 is out of range for axis 0"),
    "index below": (AxisError, lambda t: t[0, -4], "index -4 is out of range for axis 1"),
    "index empty": (AxisError, lambda t: t[:, :0][:, 0], "the axis is empty"),
    "index many": (AxisError, lambda t: t[0, 0, 0, 0], "too many indices"),
    "index ellipses": (AxisError, lambda t: t[..., ...], "too many indices"),
    "index step 0": (AxisError, lambda t: t[::0], "zero"),
    "index float slice": (AxisError, lambda t: t[0.5:], "slice indices"),
    "index float": (DataError, lambda t: t[1.0], "cannot index with float"),
    "index text": (DataError, lambda t: t["a"], "cannot index with str"),
    "assignment": (AxisError, lambda t: t.__setitem__(9, 1), "out of range"),
    "length": (DataError, lambda t: len(t[0, 0, 0]), "no length"),
    "iteration": (DataError, lambda t: list(t[0, 0, 0]), "no length"),
    "too large": (SizeError, lambda t: t.repeat(2**40, 2**20, 1), "too many elements"),
    "pad too large": (SizeError, lambda t: t.pad(2**30), "too many elements"),
    "expand too large": (SizeError, lambda t: t[:1].expand(2**60, 3, 4), "too many elements"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    kind, call, message = REFUSED[name]
    with pytest.raises(kind) as caught:
        call(Tensor(X))
    assert message in str(caught.value)
    assert "test_tensor_movement.py:" in str(caught.value)
