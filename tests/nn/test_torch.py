"""Layers, losses and optimisers against PyTorch's, with the same weights; if it is installed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, nn, optim

torch = pytest.importorskip("torch")
tn = torch.nn
Array = np.ndarray[Any, Any]
Layers = tuple[Callable[[], Any], Callable[[], Any], tuple[tuple[int, ...], ...]]

LAYERS: dict[str, Layers] = {
    "Linear": (
        lambda: nn.Linear(5, 7), lambda: tn.Linear(5, 7), ((3, 5), (2, 3, 5), (5,), (0, 5))),
    "Linear without bias": (
        lambda: nn.Linear(5, 1, bias=False), lambda: tn.Linear(5, 1, bias=False), ((3, 5), (1, 5))),
    "Conv1d": (lambda: nn.Conv1d(4, 6, 3, 2, 1, 2, 2),
               lambda: tn.Conv1d(4, 6, 3, 2, 1, 2, 2), ((2, 4, 11), (1, 4, 5))),
    "Conv2d": (lambda: nn.Conv2d(3, 8, 3, padding=1),
               lambda: tn.Conv2d(3, 8, 3, padding=1), ((2, 3, 8, 8), (1, 3, 5, 9))),
    "Conv2d strided": (lambda: nn.Conv2d(4, 4, (2, 3), (2, 1), (1, 0), (1, 2), 4, False),
                       lambda: tn.Conv2d(4, 4, (2, 3), (2, 1), (1, 0), (1, 2), 4, False),
                       ((2, 4, 7, 9),)),
    "Conv2d 1×1": (lambda: nn.Conv2d(3, 5, 1), lambda: tn.Conv2d(3, 5, 1), ((2, 3, 4, 4),)),
    "Conv3d": (lambda: nn.Conv3d(2, 3, 2, padding=1), lambda: tn.Conv3d(2, 3, 2, padding=1),
               ((1, 2, 4, 3, 5),)),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(4, 6, 3, 2, 1, 1, 2),
                        lambda: tn.ConvTranspose1d(4, 6, 3, 2, 1, 1, 2), ((2, 4, 6),)),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(3, 5, 3, 2),
                        lambda: tn.ConvTranspose2d(3, 5, 3, 2), ((2, 3, 4, 5),)),
    "ConvTranspose3d": (lambda: nn.ConvTranspose3d(2, 3, 2), lambda: tn.ConvTranspose3d(2, 3, 2),
                        ((1, 2, 3, 2, 4),)),
    "LayerNorm": (lambda: nn.LayerNorm(6), lambda: tn.LayerNorm(6), ((3, 6), (2, 3, 6))),
    "LayerNorm of two axes": (
        lambda: nn.LayerNorm((4, 6)), lambda: tn.LayerNorm((4, 6)), ((3, 4, 6),)),
    "RMSNorm": (lambda: nn.RMSNorm(6), lambda: tn.RMSNorm(6, eps=1e-6), ((3, 6), (2, 2, 6))),
    "GroupNorm": (
        lambda: nn.GroupNorm(2, 6), lambda: tn.GroupNorm(2, 6), ((3, 6, 4), (2, 6, 3, 3))),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(4), lambda: tn.BatchNorm1d(4), ((8, 4), (3, 4, 5))),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(4), lambda: tn.BatchNorm2d(4), ((3, 4, 5, 2),)),
    "BatchNorm3d": (lambda: nn.BatchNorm3d(2), lambda: tn.BatchNorm3d(2), ((2, 2, 3, 2, 2),)),
    "Sequential": (lambda: nn.Sequential(nn.Linear(5, 8), nn.gelu, nn.Linear(8, 2), nn.tanh),
                   lambda: tn.Sequential(
                       tn.Linear(5, 8), tn.GELU("tanh"), tn.Linear(8, 2), tn.Tanh()), ((4, 5),)),
}  # fmt: skip


def array(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype("f")


def loaded(own: Any, other: Any) -> None:
    """Give the module of PyTorch the weights of ours, none of them 0 or 1."""
    for n, (name, value) in enumerate(own.state_dict().items()):
        if value.dtype.is_float:
            noise = np.random.default_rng(n).uniform(-0.1, 0.1, value.shape).astype("f")
            value.assign(value + noise).realize()
        theirs = {**dict(other.named_parameters()), **dict(other.named_buffers())}
        theirs[name].data.copy_(torch.from_numpy(value.numpy().copy()))


def close(found: Any, expected: Any, what: str = "") -> None:
    np.testing.assert_allclose(
        found.numpy(), expected.detach().numpy(), rtol=2e-4, atol=2e-5, err_msg=what
    )


def same_gradients(own: Any, other: Any) -> None:
    theirs = dict(other.named_parameters())
    for name, value in own.named_parameters():
        close(value.grad, theirs[name].grad, name)


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str) -> None:
    make, theirs, shapes = LAYERS[name]
    own, other = make(), theirs()
    assert {n: tuple(p.shape) for n, p in own.named_parameters()} == {
        n: tuple(p.shape) for n, p in other.named_parameters()}  # fmt: skip
    loaded(own, other)
    for shape in shapes:
        for is_training in (True, False):
            own.train(is_training)
            other.train(is_training)
            x = Tensor(array(*shape), requires_grad=True)
            tx = torch.from_numpy(array(*shape)).requires_grad_()
            y, ty = own(x), other(tx)
            close(y, ty)
            g = array(*y.shape, seed=1)
            y.backward(Tensor(g))
            ty.backward(torch.from_numpy(g))
            close(x.grad, tx.grad, f"{name} of {shape}")
            same_gradients(own, other)
            for p in own.parameters():
                p.grad = None
            other.zero_grad()
    for key, value in other.named_buffers():
        if value.is_floating_point():
            close(own.state_dict()[key], value, key)


@pytest.mark.parametrize("name", ["LSTM", "GRU"])
@pytest.mark.parametrize("bias", [True, False])
def test_recurrent(name: str, bias: bool) -> None:
    own = getattr(nn, name)(3, 5, num_layers=2, bias=bias)
    other = getattr(tn, name)(3, 5, num_layers=2, bias=bias, batch_first=True)
    loaded(own, other)
    x, tx = Tensor(array(2, 4, 3), requires_grad=True), torch.from_numpy(array(2, 4, 3))
    y, state = own(x)
    ty, last = other(tx.requires_grad_())
    close(y, ty)
    y.square().sum().backward()
    ty.square().sum().backward()
    close(x.grad, tx.grad)
    same_gradients(own, other)
    pairs = zip(state, last, strict=True) if name == "LSTM" else [(state, last)]
    for part, their in pairs:
        close(part, their)
    again, other_again = own(x, state)[0], other(tx, last)[0]
    close(again, other_again)


MASKS: dict[str, dict[str, Any]] = {
    "none": {}, "causal": {"is_causal": True, "attn_mask": np.triu(np.ones((5, 5), bool), 1)},
    "pairs": {"attn_mask": np.eye(5, dtype=bool)},
    "added": {"attn_mask": array(5, 5, seed=9)}, "of heads": {"attn_mask": array(4, 5, 5, seed=8)},
    "keys": {"key_padding_mask": np.array([[False] * 4 + [True], [True] + [False] * 4])},
    "both": {"key_padding_mask": np.array([[False] * 5, [False] * 3 + [True] * 2]),
             "attn_mask": np.triu(np.ones((5, 5), bool), 1)},
    "each head": {"average_attn_weights": False}, "no weights": {"need_weights": False},
}  # fmt: skip


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("name", MASKS)
def test_attention(name: str, batch_first: bool) -> None:
    own = nn.MultiheadAttention(8, 2, batch_first=batch_first)
    other = tn.MultiheadAttention(8, 2, batch_first=batch_first)
    loaded(own, other)
    shape = (2, 5, 8) if batch_first else (5, 2, 8)
    x, tx = Tensor(array(*shape), requires_grad=True), torch.from_numpy(array(*shape))
    tx.requires_grad_()
    masks = MASKS[name]
    given = {n: Tensor(m) if isinstance(m, np.ndarray) else m for n, m in masks.items()}
    theirs = {n: torch.tensor(m) if isinstance(m, np.ndarray) else m for n, m in masks.items()}
    y, weights = own(x, x, x, **given)
    ty, their = other(tx, tx, tx, **theirs)
    close(y, ty)
    assert (weights is None) == (their is None)
    if weights is not None:
        close(weights, their)
    y.square().sum().backward()
    ty.square().sum().backward()
    close(x.grad, tx.grad)
    same_gradients(own, other)


def test_tables_of_vectors() -> None:
    own, other = nn.Embedding(7, 3), tn.Embedding(7, 3)
    loaded(own, other)
    places = np.array([[1, 1, 6], [0, 1, 3]])
    own(Tensor(places)).square().sum().backward()
    other(torch.from_numpy(places)).square().sum().backward()
    same_gradients(own, other)


F = tn.functional
LOSSES: dict[str, tuple[Callable[..., Any], Callable[..., Any], str]] = {
    "cross_entropy": (nn.cross_entropy, F.cross_entropy, "classes"),
    "cross_entropy of weights": (
        lambda x, y, r: nn.cross_entropy(x, y, array(5) ** 2, reduction=r),
        lambda x, y, r: F.cross_entropy(x, y, torch.from_numpy(array(5) ** 2), reduction=r),
        "classes"),
    "cross_entropy smoothed": (
        lambda x, y, r: nn.cross_entropy(x, y, reduction=r, label_smoothing=0.1),
        lambda x, y, r: F.cross_entropy(x, y, reduction=r, label_smoothing=0.1), "classes"),
    "cross_entropy ignoring": (
        lambda x, y, r: nn.cross_entropy(x, y, ignore_index=2, reduction=r),
        lambda x, y, r: F.cross_entropy(x, y, ignore_index=2, reduction=r), "classes"),
    "cross_entropy of probabilities": (nn.cross_entropy, F.cross_entropy, "shares"),
    "nll_loss": (nn.nll_loss, F.nll_loss, "classes"),
    "mse_loss": (nn.mse_loss, F.mse_loss, "values"),
    "l1_loss": (nn.l1_loss, F.l1_loss, "values"),
    "huber_loss": (nn.huber_loss, F.huber_loss, "values"),
    "smooth_l1_loss": (nn.smooth_l1_loss, F.smooth_l1_loss, "values"),
    "binary_cross_entropy_with_logits": (
        nn.binary_cross_entropy_with_logits, F.binary_cross_entropy_with_logits, "shares"),
}  # fmt: skip


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str, reduction: str) -> None:
    own, other, kind = LOSSES[name]
    y: Array = array(6, 5, seed=2)
    if kind == "classes":
        y = np.array([0, 4, 2, 2, 1, 3])
    elif kind == "shares":
        y = np.exp(y) / np.exp(y).sum(1, keepdims=True)
    x, tx = Tensor(array(6, 5), requires_grad=True), torch.from_numpy(array(6, 5)).requires_grad_()
    is_plain = own.__name__ != "<lambda>"
    r: dict[str, Any] = {"reduction": reduction}
    loss = own(x, Tensor(y), **r) if is_plain else own(x, Tensor(y), reduction)
    theirs = torch.from_numpy(y)
    expected = other(tx, theirs, **r) if is_plain else other(tx, theirs, reduction)
    close(loss, expected)
    loss.sum().backward()
    expected.sum().backward()
    close(x.grad, tx.grad)


RULES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "SGD": (lambda p: optim.SGD(p, 0.1), lambda p: torch.optim.SGD(p, 0.1)),
    "momentum": (lambda p: optim.SGD(p, 0.1, 0.9), lambda p: torch.optim.SGD(p, 0.1, 0.9)),
    "dampening, decay": (lambda p: optim.SGD(p, 0.1, 0.8, 0.2, 0.05),
                         lambda p: torch.optim.SGD(p, 0.1, 0.8, 0.2, 0.05)),
    "Nesterov": (lambda p: optim.SGD(p, 0.1, 0.9, nesterov=True),
                 lambda p: torch.optim.SGD(p, 0.1, 0.9, nesterov=True)),
    "Adam": (lambda p: optim.Adam(p, 0.01), lambda p: torch.optim.Adam(p, 0.01)),
    "Adam, decay": (lambda p: optim.Adam(p, 0.01, (0.8, 0.99), 1e-6, 0.1),
                    lambda p: torch.optim.Adam(p, 0.01, (0.8, 0.99), 1e-6, 0.1)),
    "AdamW": (lambda p: optim.AdamW(p, 0.01), lambda p: torch.optim.AdamW(p, 0.01)),
    "AdamW, decay": (lambda p: optim.AdamW(p, 0.01, weight_decay=0.3),
                     lambda p: torch.optim.AdamW(p, 0.01, weight_decay=0.3)),
}  # fmt: skip
LIMITS: dict[str, Callable[[Any, Any], Any]] = {
    "": lambda own, other: None,
    "norm": lambda own, other: (optim.clip_grad_norm(own, 0.05),
                                tn.utils.clip_grad_norm_(other, 0.05)),
    "value": lambda own, other: (optim.clip_grad_value(own, 0.01),
                                 tn.utils.clip_grad_value_(other, 0.01)),
}  # fmt: skip


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", RULES)
def test_twenty_steps(name: str, limit: str) -> None:
    own, other = nn.Linear(5, 3), tn.Linear(5, 3)
    loaded(own, other)
    rule, theirs = RULES[name][0](own.parameters()), RULES[name][1](other.parameters())
    schedule = optim.Schedule(rule, optim.cosine(25, 0.1))
    other_schedule = torch.optim.lr_scheduler.LambdaLR(theirs, optim.cosine(25, 0.1))
    for step in range(20):
        x = array(8, 5, seed=step)
        own(Tensor(x)).square().mean().backward()
        other(torch.from_numpy(x)).square().mean().backward()
        LIMITS[limit](own.parameters(), list(other.parameters()))
        rule.step()
        theirs.step()
        schedule.step()
        other_schedule.step()
        rule.zero_grad()
        theirs.zero_grad()
    for key, value in other.named_parameters():
        close(own.state_dict()[key], value, key)
