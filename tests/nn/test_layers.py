"""Layers against NumPy, gradients of each against central differences."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, ShapeError, Tensor, nn
from tests.differences import values

F8 = "float64"
CASES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "linear": (lambda: nn.Linear(4, 3, dtype=F8), (2, 4)),
    "linear without bias": (lambda: nn.Linear(4, 3, False, F8), (2, 3, 4)),
    "conv1d": (lambda: nn.Conv1d(2, 4, 3, padding=1, groups=2, dtype=F8), (2, 2, 5)),
    "conv2d": (lambda: nn.Conv2d(2, 3, (3, 2), stride=2, padding=1, dtype=F8), (1, 2, 5, 4)),
    "conv2d dilated": (lambda: nn.Conv2d(1, 2, 2, dilation=2, dtype=F8), (1, 1, 4, 5)),
    "conv3d": (lambda: nn.Conv3d(1, 2, 2, dtype=F8), (1, 1, 2, 3, 3)),
    "transposed 1d": (lambda: nn.ConvTranspose1d(2, 2, 3, stride=2, dtype=F8), (1, 2, 3)),
    "transposed 2d": (lambda: nn.ConvTranspose2d(2, 1, 2, 2, output_padding=1, dtype=F8),
                      (1, 2, 2, 2)),
    "transposed 3d": (lambda: nn.ConvTranspose3d(1, 1, 2, dtype=F8), (1, 1, 2, 2, 2)),
    "layer norm": (lambda: nn.LayerNorm((3, 4), dtype=F8), (2, 3, 4)),
    "rms norm": (lambda: nn.RMSNorm(4, dtype=F8), (2, 4)),
    "group norm": (lambda: nn.GroupNorm(2, 4, dtype=F8), (2, 4, 3)),
    "batch norm": (lambda: nn.BatchNorm1d(3, dtype=F8), (4, 3)),
    "batch norm 2d": (lambda: nn.BatchNorm2d(2, dtype=F8), (2, 2, 2, 2)),
    "attention": (lambda: Last(nn.MultiheadAttention(4, 2, dtype=F8)), (2, 3, 4)),
    "lstm": (lambda: Last(nn.LSTM(3, 2, 2, dtype=F8)), (2, 3, 3)),
    "gru": (lambda: Last(nn.GRU(3, 2, dtype=F8)), (1, 3, 3)),
    "sequential": (lambda: nn.Sequential(nn.Linear(3, 4, dtype=F8), nn.gelu,
                                         nn.Linear(4, 2, dtype=F8)), (2, 3)),
}  # fmt: skip


class Last(nn.Module):
    """The first of what a layer gives: its outputs."""

    def __init__(self, inner: nn.Module) -> None:
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)[0]


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_parameters_and_input(name: str) -> None:
    """Along a random direction in all of them together."""
    Tensor.manual_seed(1)
    make, shape = CASES[name]
    layer = make()
    generator = np.random.default_rng(0)
    x = generator.uniform(-1, 1, shape)
    tensors = layer.parameters()
    held = [tensor.numpy().copy() for tensor in tensors]
    weight = generator.uniform(0.5, 1.5, layer(Tensor(x)).shape)
    steps = [generator.uniform(-1, 1, a.shape) for a in (x, *held)]

    def value(by: float) -> float:
        for tensor, array, step in zip(tensors, held, steps[1:], strict=True):
            tensor.assign(array + by * step)
        if tensors:
            tensors[0].realize(*tensors[1:])
        with compiler.no_grad():
            made = layer(Tensor(x + by * steps[0]))
        return float((values(made)[0] * weight).sum())

    slope = (value(1e-6) - value(-1e-6)) / 2e-6
    value(0.0)
    given = Tensor(x, requires_grad=True)
    layer.zero_grad()
    layer(given).backward(weight)
    grads = [tensor.grad for tensor in (given, *tensors)]
    assert all(grad is not None for grad in grads)
    grads[0].realize(*grads[1:])  # type: ignore[union-attr, arg-type]
    along = sum(
        float((grad.numpy() * step).sum())  # type: ignore[union-attr]
        for grad, step in zip(grads, steps, strict=True)
    )
    np.testing.assert_allclose(along, slope, rtol=1e-5)


def test_values() -> None:
    Tensor.manual_seed(0)
    x = np.random.default_rng(0).uniform(-1, 1, (2, 4)).astype("float32")
    linear = nn.Linear(4, 3)
    assert linear.weight.shape == (3, 4) and abs(linear.weight.numpy()).max() <= 0.5
    assert linear.bias is not None
    expected = x @ linear.weight.numpy().T + linear.bias.numpy()
    np.testing.assert_allclose(linear(Tensor(x)).numpy(), expected, rtol=1e-6)
    table = nn.Embedding(5, 3, padding_idx=2)
    rows = table(Tensor(np.array([[2, 1]])))
    assert rows.numpy()[0, 0].tolist() == [0, 0, 0]
    rows.sum().backward()
    assert table.weight.grad is not None
    assert table.weight.grad.numpy().sum(1).tolist() == [0, 3, 0, 0, 0]
    look = nn.MultiheadAttention(4, 2)
    seen, weights = look(Tensor(x[None]), is_causal=True)
    first, _ = look(Tensor(x[None, :1]))
    np.testing.assert_allclose(seen.numpy()[:, 0], first.numpy()[:, 0], rtol=1e-5)
    assert weights.numpy()[0, 0].tolist() == [1, 0]
    across, none = look(Tensor(x[None]), Tensor(x[None]), need_weights=False,
                        attn_mask=Tensor(np.zeros((2, 2), bool)))  # fmt: skip
    assert none is None
    np.testing.assert_allclose(across.numpy(), look(Tensor(x[None]))[0].numpy(), rtol=1e-5)


def test_batches_are_followed_and_used_later() -> None:
    layer = nn.BatchNorm1d(2)
    x = np.random.default_rng(0).normal(3, 2, (8, 2)).astype("float32")
    y = layer(Tensor(x))
    np.testing.assert_allclose(y.numpy().mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(layer.running_mean.numpy(), 0.1 * x.mean(0), rtol=1e-5)
    np.testing.assert_allclose(layer.running_var.numpy(), 0.9 + 0.1 * x.var(0, ddof=1), rtol=1e-5)
    later = layer.eval()(Tensor(x)).numpy()
    mean, spread = layer.running_mean.numpy(), layer.running_var.numpy()
    np.testing.assert_allclose(later, (x - mean) / np.sqrt(spread + 1e-5), rtol=1e-5, atol=1e-6)
    with pytest.raises(ShapeError, match="another rank"):
        layer(Tensor(np.ones((1, 2, 3, 4), "float32")))


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.LayerNorm(4), (3, 1)), (nn.LayerNorm(1), (3, 4)), (nn.LayerNorm((3, 4)), (4,)),
        (nn.RMSNorm(4), (3, 1)), (nn.GroupNorm(1, 3), (2, 1, 4, 4)), (nn.GroupNorm(3, 3), (3,)),
        (nn.BatchNorm1d(4), (3, 1)), (nn.BatchNorm2d(1), (2, 3, 4, 4)),
    ],
)  # fmt: skip
def test_no_layer_broadcasts_its_input(layer: nn.Module, shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match="the input does not fit the layer") as caught:
        layer(Tensor(np.ones(shape, "float32")))
    assert caught.value.operation == type(layer).__name__


def test_dropout_only_while_it_learns() -> None:
    drop = nn.Dropout(0.5)
    x = Tensor(np.ones(64, "float32"))
    assert set(drop(x).numpy().tolist()) == {0.0, 2.0}
    assert drop.eval()(x).numpy().tolist() == [1.0] * 64


def test_what_does_not_fit() -> None:
    for make, words in (
        (lambda: nn.Conv2d(3, 4, 3, groups=2), "do not fit into groups"),
        (lambda: nn.Conv2d(3, 4, (3,)), "no such window"),
        (lambda: nn.MultiheadAttention(5, 2), "divide into heads"),
        (lambda: nn.Dropout(2), "no such probability"),
        (lambda: nn.Embedding(3, 2, padding_idx=3), "no such row"),
        (lambda: nn.Sequential(3), "is not callable"),
        (lambda: nn.Module()(1), "has no forward"),
    ):
        with pytest.raises((DataError, ShapeError), match=words):
            make()


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_the_batch_comes_first_or_second(kind: type[nn.Module]) -> None:
    made: Any = kind
    first, second = made(3, 4, 2), made(3, 4, 2, batch_first=False)
    second.load_state_dict(first.state_dict())
    x = Tensor(np.random.default_rng(0).standard_normal((5, 2, 3)).astype("float32"))
    expected, _ = first(x)
    got, _ = second(x.permute(1, 0, 2))
    np.testing.assert_allclose(got.numpy(), expected.numpy().transpose(1, 0, 2), rtol=1e-6)


@pytest.mark.parametrize("is_looked_at", [True, False])
def test_a_value_by_running_means_that_was_looked_at_has_gradients(is_looked_at: bool) -> None:
    """The means still wait to be written when it is computed."""
    norm, found = nn.BatchNorm1d(3), []
    x = np.random.default_rng(4).standard_normal((8, 3)).astype("f")
    norm(Tensor(x, requires_grad=True)).sum().backward()
    norm.zero_grad()
    norm.eval()
    given = Tensor(x, requires_grad=True)
    y = norm(given)
    if is_looked_at:
        found.append(y.numpy())
    (y * Tensor(x)).sum().backward()
    assert given.grad is not None and norm.weight is not None and norm.weight.grad is not None
    spread = np.sqrt(0.9 + 0.1 * x.var(0, ddof=1) + 1e-5)
    np.testing.assert_allclose(given.grad.numpy(), x / spread, rtol=1e-5)
    scaled = (x - 0.1 * x.mean(0)) / spread
    np.testing.assert_allclose(norm.weight.grad.numpy(), (scaled * x).sum(0), rtol=1e-4)
    np.testing.assert_allclose(y.numpy(), scaled, rtol=1e-4, atol=1e-6)


def test_keys_that_are_masked_are_not_looked_at() -> None:
    look = nn.MultiheadAttention(4, 2)
    numbers = np.random.default_rng(6)
    x, s = (numbers.standard_normal((2, n, 4)).astype("f") for n in (3, 5))
    hidden = np.zeros((2, 5), bool)
    hidden[:, 3:] = True
    got, weights = look(Tensor(x), Tensor(s), Tensor(s), key_padding_mask=Tensor(hidden))
    expected, _ = look(Tensor(x), Tensor(s[:, :3]))
    np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
    assert weights is not None and not weights.numpy()[:, :, 3:].any()
    np.testing.assert_allclose(weights.numpy().sum(-1), 1, rtol=1e-5)
    added = np.where(hidden, -np.inf, 0)[0] + np.zeros((3, 1), "f")
    by_pairs, _ = look(Tensor(x), Tensor(s), attn_mask=Tensor(added.astype("f")))
    np.testing.assert_allclose(by_pairs.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_a_sequence_in_two_parts_is_one(kind: type[nn.Module]) -> None:
    made: Any = kind
    layer = made(3, 4, 2)
    x = np.random.default_rng(1).standard_normal((2, 6, 3)).astype("f")
    whole, last = layer(Tensor(x))
    first, between = layer(Tensor(x[:, :4]))
    second, again = layer(Tensor(x[:, 4:]), between)
    both = np.concatenate([first.numpy(), second.numpy()], 1)
    np.testing.assert_allclose(both, whole.numpy(), rtol=1e-5, atol=1e-6)
    pairs = zip(last, again, strict=True) if kind is nn.LSTM else [(last, again)]
    for expected, got in pairs:
        assert expected.shape == (2, 2, 4)  # layers, batch, hidden
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_attention_with_dropout_learns() -> None:
    x = Tensor(np.random.default_rng(0).standard_normal((2, 5, 8)), requires_grad=True)
    layer = nn.MultiheadAttention(8, 2, dropout=0.5, dtype=F8)
    Tensor.manual_seed(3)
    made, weights = layer(x, average_attn_weights=False)
    made.square().sum().backward()
    assert weights is not None and x.grad is not None and np.isfinite(x.grad.numpy()).all()
    dropped = weights.numpy() == 0
    assert 0 < dropped.mean() < 1
    layer.eval()
    whole = layer(x, average_attn_weights=False)[1]
    assert whole is not None
    np.testing.assert_allclose(np.where(dropped, 0, 2 * whole.numpy()), weights.numpy(), rtol=1e-12)
    seen = Tensor(np.ones((1, 3, 4))).scaled_dot_product_attention(
        Tensor(np.ones((1, 6, 4))), Tensor(np.ones((1, 6, 4))), dropout_p=0.5
    )
    assert set(np.round(seen.numpy().ravel() * 3, 9)) <= set(range(7))


X3 = Tensor.ones(2, 3, 4)
MISFITS: dict[str, Callable[[], object]] = {
    "groups": lambda: nn.GroupNorm(2, 3),
    "no groups": lambda: nn.GroupNorm(0, 3),
    "padding": lambda: nn.Conv2d(3, 4, 3, padding="bogus"),
    "same, with strides": lambda: nn.Conv2d(3, 4, 3, stride=2, padding="same"),
    "padding of a transposed one": lambda: nn.ConvTranspose2d(3, 4, 2, padding="same"),
    "stride": lambda: nn.Conv1d(3, 4, 2, stride=0),
    "maximum": lambda: nn.MaxPool2d(2, padding=3),
    "mean": lambda: nn.AvgPool1d(3, padding=2),
    "maximum of one axis": lambda: nn.MaxPool2d((4, 2), padding=(2, 2)),
    "extent": lambda: nn.Linear(-3, 4),
    "extent of a table": lambda: nn.Embedding(3, -4),
    "extent of a norm": lambda: nn.LayerNorm(-3),
    "extent of attention": lambda: nn.MultiheadAttention(-4, 2),
    "extent of a state": lambda: nn.GRU(4, -4),
    "rank": lambda: nn.LSTM(4, 4)(X3[0]),
    "state": lambda: nn.LSTM(4, 4)(X3, X3),
    "shape of a state": lambda: nn.GRU(4, 4)(X3, X3),
    "rank of queries": lambda: nn.MultiheadAttention(4, 2)(X3[0]),
    "rank of keys": lambda: nn.MultiheadAttention(4, 2)(X3, X3[0]),
}


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_is_refused(name: str) -> None:
    with pytest.raises(ShapeError, match="expected: "):
        MISFITS[name]()


def test_padding_of_half_a_window_fits() -> None:
    assert nn.MaxPool2d(3, padding=1)(X3).shape == (2, 1, 2)
    assert nn.MaxPool1d(2, padding=2, dilation=3)(X3).shape == (2, 3, 3)


@pytest.mark.parametrize("module", [nn.HuberLoss, nn.SmoothL1Loss])
def test_scales_of_losses(module: Any) -> None:
    name = "delta" if module is nn.HuberLoss else "beta"
    with pytest.raises(DataError, match=f"{name} is out of range"):
        module(**{name: -1})
    with pytest.raises(DataError, match=f"{name} is out of range"):
        getattr(X3, module.method)(X3, -1)


def test_a_smooth_loss_of_0_is_the_absolute_one() -> None:
    goal = Tensor.zeros(2, 3, 4)
    assert X3.smooth_l1_loss(goal, 0.0).item() == X3.l1_loss(goal).item() == 1
