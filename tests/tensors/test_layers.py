"""Attention and normalisations with weights, against NumPy in float64, on every engine."""

from typing import Any

import numpy as np
import pytest

from compiler import DataError, ShapeError, Tensor, compile
from tests.evaluate import assert_same, evaluate, every_engine

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(8)


def made(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


Q, K, V = made(2, 4, 5, 8), made(2, 4, 6, 8), made(2, 4, 6, 3)
MASK = RNG.random((5, 6)) > 0.4
MASK[:, 0] = True


def attention(
    q: Array, k: Array, v: Array, mask: Array | None = None, is_causal: bool = False,
    scale: float | None = None, softcap: float | None = None,
) -> Array:  # fmt: skip
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    greatest = scores.max(-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(greatest), greatest, 0))
    total = powers.sum(-1, keepdims=True)
    return (powers / np.where(total, total, 1) @ v).astype(np.float32)


GIVEN: dict[str, dict[str, Any]] = {
    "plain": {}, "causal": {"is_causal": True}, "scale": {"scale": 0.3},
    "mask": {"mask": MASK}, "numbers": {"mask": made(4, 5, 6)}, "softcap": {"softcap": 0.7},
    "both": {"mask": MASK, "is_causal": True},
}  # fmt: skip


@every_engine
@pytest.mark.parametrize("name", GIVEN)
def test_attention(name: str, engine: str) -> None:
    given = dict(GIVEN[name])
    expected = attention(Q, K, V, **given)
    if "mask" in given:
        given["attn_mask"] = given.pop("mask")
    got = Tensor(Q).scaled_dot_product_attention(K, V, **given)
    assert_same(evaluate(got, engine), expected, rtol=1e-5)


def test_a_query_that_sees_nothing_is_zero() -> None:
    mask = MASK.copy()
    mask[2] = False
    got = Tensor(Q).scaled_dot_product_attention(K, V, attn_mask=mask).numpy()
    assert not got[:, :, 2].any() and np.isfinite(got).all()
    assert_same(got, attention(Q, K, V, mask), rtol=1e-5)


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_heads_that_serve_several(heads: int) -> None:
    k, v = made(2, heads, 6, 8), made(2, heads, 6, 3)
    expected = attention(Q, np.repeat(k, 4 // heads, 1), np.repeat(v, 4 // heads, 1))
    made_of = Tensor(Q).scaled_dot_product_attention(k, v, enable_gqa=True)
    assert_same(made_of.numpy(), expected, rtol=1e-5)
    assert compile(made_of).check().ok


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_attention_of_16_bits(dtype: str) -> None:
    q, k, v = (Tensor(a).cast(dtype) for a in (Q, K, V))
    got = q.scaled_dot_product_attention(k, v, is_causal=True)
    assert got.dtype == dtype
    rounded = (a.numpy().astype(np.float32) for a in (q, k, v))
    exact = attention(*rounded, is_causal=True)
    assert np.abs(got.numpy().astype(np.float32) - exact).max() < 0.03


def normalised(x: Array, axes: tuple[int, ...], eps: float = 1e-5) -> Array:
    x = x.astype(np.float64)
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axes, keepdims=True) + eps)


X, WEIGHT, BIAS = made(3, 6, 4, 5), made(6), made(6)


@every_engine
def test_normalisations(engine: str) -> None:
    x, w, b = Tensor(X), WEIGHT[:, None, None], BIAS[:, None, None]
    groups = normalised(X.reshape(3, 2, 3, 4, 5), (2, 3, 4)).reshape(X.shape)
    assert_same(evaluate(x.group_norm(2, WEIGHT, BIAS), engine), (groups * w + b).astype("f4"),
                rtol=1e-5)  # fmt: skip
    own = normalised(X, (2, 3), 1e-3)
    assert_same(evaluate(x.instance_norm(WEIGHT, BIAS, 1e-3), engine),
                (own * w + b).astype("f4"), rtol=1e-5)  # fmt: skip
    plain = X / np.sqrt((X.astype("f8") ** 2).mean(-1, keepdims=True) + 1e-6)
    last = made(5)
    assert_same(evaluate(x.rms_norm(), engine), plain.astype("f4"), rtol=1e-5)
    assert_same(evaluate(x.rms_norm(-1, last), engine), (plain * last).astype("f4"), rtol=1e-5)
    mean, variance = made(6), np.abs(made(6))
    expected = (X - mean[:, None, None]) / np.sqrt(variance.astype("f8") + 1e-5)[:, None, None]
    assert_same(evaluate(x.batch_norm(mean, variance, WEIGHT, BIAS), engine),
                (expected * w + b).astype("f4"), rtol=1e-4)  # fmt: skip


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: x.group_norm(4), ShapeError, "the channels do not fit into groups"),
        (lambda x: x[0, 0].instance_norm(), ShapeError, "there are too few axes"),
        (lambda x: x[0, 0, 0].batch_norm(0, 1), ShapeError, "there are too few axes"),
        (lambda x: x.scaled_dot_product_attention(x[..., :2], x), ShapeError, "do not fit"),
        (lambda x: x.scaled_dot_product_attention(x, x, dropout_p=1.5), DataError, "0 to 1"),
        (lambda x: x.scaled_dot_product_attention(x[:, :4], x[:, :4], enable_gqa=True), ShapeError,
         "the numbers of heads do not fit"),
    ],
)  # fmt: skip
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(Tensor(X))


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


CELL = {gates: (made(gates * 4, 3), made(gates * 4, 4), made(gates * 4), made(gates * 4))
        for gates in (1, 3, 4)}  # fmt: skip
GIVEN_ROWS, HIDDEN, MEMORY = made(2, 3), made(2, 4), made(2, 4)


def products(gates: int) -> tuple[list[Array], list[Array]]:
    w, r, b, c = (each.astype(np.float64) for each in CELL[gates])
    return np.split(GIVEN_ROWS @ w.T + b, gates, -1), np.split(HIDDEN @ r.T + c, gates, -1)


@every_engine
def test_cells(engine: str) -> None:
    (a,), (b,) = products(1)
    x, h, c = Tensor(GIVEN_ROWS), Tensor(HIDDEN), Tensor(MEMORY)
    for name, want in (("tanh", np.tanh(a + b)), ("relu", np.maximum(a + b, 0))):
        found = x.rnn_cell(h, *map(Tensor, CELL[1]), nonlinearity=name)
        assert_same(evaluate(found, engine), want.astype("f4"), name, 1e-5)
    (r, z, n), (r2, z2, n2) = products(3)
    new, kept = np.tanh(n + sigmoid(r + r2) * n2), sigmoid(z + z2)
    want = (1 - kept) * new + kept * HIDDEN
    found = x.gru_cell(h, *map(Tensor, CELL[3]))
    assert_same(evaluate(found, engine), want.astype("f4"), "gru", 1e-5)
    i, f, g, o = (p + q for p, q in zip(*products(4), strict=True))
    cell = sigmoid(f) * MEMORY + sigmoid(i) * np.tanh(g)
    wanted = sigmoid(o) * np.tanh(cell), cell
    w, *others = map(Tensor, CELL[4])
    whole = x.lstm_cell((h, c), w, *others)
    before = x.linear(w.T, others[1]).lstm_cell((h, c), None, others[0], None, others[2])
    for pair in (whole, before):
        for got, each in zip(pair, wanted, strict=True):
            assert_same(evaluate(got, engine), each.astype("f4"), "lstm", 1e-5)


def test_cells_refuse_what_does_not_fit() -> None:
    x, h = Tensor(GIVEN_ROWS), Tensor(HIDDEN)
    w, r, *_ = map(Tensor, CELL[1])
    with pytest.raises(DataError, match="unknown nonlinearity"):
        x.rnn_cell(h, w, r, nonlinearity="gelu")
    with pytest.raises(ShapeError, match="weights do not fit"):
        x.gru_cell(h, w, r)
    with pytest.raises(ShapeError, match="input does not fit"):
        x.rnn_cell(h, None, r)
