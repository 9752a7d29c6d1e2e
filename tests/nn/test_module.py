"""Modules, their named tensors, saving and loading."""

from pathlib import Path

import numpy as np
import pytest

import compiler
from compiler import DataError, Tensor, nn


class Net(nn.Module):
    """Modules in lists and dicts, a tensor of its own, one layer under two names."""

    def __init__(self) -> None:
        self.layers = [nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 2), nn.relu)]
        self.heads = {"a": nn.Linear(2, 1)}
        self.scale = Tensor.ones(2, dtype="float32").requires_grad_()
        self.again = self.layers[0]
        self.norm = nn.BatchNorm1d(2)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return self.heads["a"](self.norm(x * self.scale))


NAMES = ["layers.0.weight", "layers.0.bias", "layers.1.0.weight", "layers.1.0.bias",
         "heads.a.weight", "heads.a.bias", "scale", "again.weight", "again.bias", "norm.weight",
         "norm.bias", "norm.running_mean", "norm.running_var"]  # fmt: skip


def test_names() -> None:
    net = Net()
    assert sorted(net.state_dict()) == sorted(NAMES)
    parameters = [name for name, _ in net.named_parameters()]
    assert len(parameters) == len(net.parameters()) == 9 and "scale" in parameters
    modules = [name for name, _ in net.named_modules()]
    assert modules[0] == "" and {"layers.1.0", "heads.a", "norm"} <= set(modules)
    assert "heads: {'a': Linear(weight f32[1,2]" in repr(net)
    assert repr(nn.Sequential(nn.Linear(1, 1), nn.relu)).endswith("1: relu")


def test_learning_or_not() -> None:
    net = Net()
    assert not net.eval().norm.training and net.train().layers[1][0].training
    net.heads["a"].requires_grad_(False)
    assert len(net.parameters()) == 7
    net(Tensor(np.ones((4, 3), "float32"))).sum().backward()
    assert net.scale.grad is not None and net.heads["a"].weight.grad is None
    net.zero_grad()
    assert net.scale.grad is None


def test_saved_and_loaded(tmp_path: Path) -> None:
    Tensor.manual_seed(0)
    net, other = Net(), Net()
    x = Tensor(np.random.default_rng(0).normal(size=(4, 3)).astype("float32"))
    net(x).realize()
    path = tmp_path / "net.safetensors"
    compiler.save(path, net.state_dict())
    where = other.scale.numpy().ctypes.data
    other.load_state_dict(Tensor.load(path))  # type: ignore[arg-type]
    np.testing.assert_array_equal(other.eval()(x).numpy(), net.eval()(x).numpy())
    assert other.scale.numpy().ctypes.data == where and len(other.parameters()) == 9


def test_every_difference_is_told_and_nothing_is_written() -> None:
    net = Net()
    state = {name: tensor.numpy().copy() + 1 for name, tensor in net.state_dict().items()}
    del state["scale"]
    state["more"] = np.ones(1)
    state["heads.a.weight"] = np.ones((1, 3), "float32")
    state["norm.bias"] = np.ones(2)
    before = net.layers[0].weight.numpy().copy()
    with pytest.raises(DataError) as found:
        net.load_state_dict(state)
    for words in ("scale is missing", "more is unknown", "heads.a.weight is f32[1,3], not f32[1,2]",
                  "norm.bias is f64[2], not f32[2]"):  # fmt: skip
        assert words in str(found.value)
    np.testing.assert_array_equal(net.layers[0].weight.numpy(), before)


def test_buffers_and_gradients_that_begin_at_zero() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("scale", Tensor(np.full(2, 3.0, "float32")))
            self.inner = nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.inner(x) * self.scale

    net = Scaled()
    assert "scale" in net.state_dict() and len(net.parameters()) == 2
    net(Tensor(np.ones((1, 2), "float32"))).sum().backward()
    net.zero_grad(set_to_none=False)
    grads = [p.grad.numpy() for p in net.parameters() if p.grad is not None]
    assert len(grads) == 2 and not any(grad.any() for grad in grads)
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    with pytest.raises(DataError, match="always saved"):
        net.register_buffer("other", Tensor(np.ones(1)), persistent=False)


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    first, second = nn.Linear(3, 2), nn.Linear(3, 2)
    compiler.save(tmp_path / "model.safetensors", first.state_dict())
    second.load_state_dict(compiler.load(tmp_path / "model.safetensors"))
    np.testing.assert_array_equal(first.weight.numpy(), second.weight.numpy())
