"""Gradients of imported modules, by their inputs and their parameters, are PyTorch's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.tensors import trees

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")
nn, F = torch.nn, torch.nn.functional


class Convolutions(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6)
        self.second = nn.Conv2d(6, 4, 3, stride=2, groups=2)
        self.norm.running_mean.uniform_(-1, 1)
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x: Any) -> Any:
        x = F.max_pool2d(self.norm(self.first(x)).relu(), 2)
        return F.adaptive_avg_pool2d(F.relu6(self.second(x) * 4), 1).flatten(1)


class Recurrent(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.net = getattr(nn, kind)(4, 5, 2, batch_first=True, bidirectional=kind == "LSTM")

    def forward(self, x: Any) -> Any:
        return self.net(x)[0]


class Attention(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x: Any) -> Any:
        q, k, v = (
            part.unflatten(-1, (2, 4)).transpose(1, 2)
            for part in self.qkv(self.norm(x)).chunk(3, -1)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(y.transpose(1, 2).flatten(2))


class Picking(nn.Module):  # type: ignore[misc, name-defined]
    """Indexing, writing in place, comparing, sorting, scattering."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(6, 4))
        self.register_buffer("rows", torch.tensor([[0, 2], [5, 2]]))

    def forward(self, x: Any) -> Any:
        h = self.table[self.rows] * x[:, None, :4]
        y = torch.zeros(2, 2, 5)
        y[:, :, 1:] = h
        y = y.masked_fill(y < -1, 0.5)
        best, _ = y.topk(3, -1)
        last, _ = y.max(-1)
        gathered = y.gather(-1, y.argsort(-1)[..., :2])
        spread = torch.zeros(2, 6).index_add(1, self.rows[0], last)
        return torch.cat(
            [best.flatten(1), gathered.flatten(1), spread, y.clamp(-0.5, 0.5).cumsum(1).flatten(1)],
            1,
        )


class Mixed(nn.Module):  # type: ignore[misc, name-defined]
    """Functions of elements, and folds."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(5) + 0.5)

    def forward(self, x: Any) -> Any:
        y = torch.logsumexp(x * self.weight, -1) + x.norm(dim=-1) + x.std(-1) + x.var(-1)
        z = F.gelu(x) + F.silu(x) + F.elu(x) + torch.log1p(x.abs()) + torch.erf(x) + F.mish(x)
        w = torch.where(x > 0, x.abs().sqrt(), x.exp()) + torch.atan2(x, self.weight) + x % 0.7
        return (
            (z * w).prod(-1)
            + y
            + torch.einsum("bi,bj->b", x, w)
            + F.pad(x, (1, 2), "reflect").amax(-1)
        )


def encoder() -> Any:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


MODULES: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "convolutions": (Convolutions, (2, 3, 10, 10)),
    "lstm": (lambda: Recurrent("LSTM"), (2, 3, 4)),
    "gru": (lambda: Recurrent("GRU"), (2, 3, 4)),
    "attention": (Attention, (2, 5, 8)),
    "encoder": (encoder, (2, 5, 8)),
    "picking": (Picking, (2, 5)),
    "mixed": (Mixed, (3, 5)),
    "perceptron": (
        lambda: nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3), nn.Softmax(-1)),
        (3, 4),
    ),
}


def wanted(module: Any, x: Any, weight: Any) -> tuple[Any, dict[str, Any]]:
    """PyTorch's, by the input and by each parameter."""
    x = x.clone().requires_grad_()
    module.zero_grad()
    (module(x) * weight).sum().backward()
    return x.grad, {name: each.grad for name, each in module.named_parameters()}


def check(ours: Any, theirs: Any, name: str) -> None:
    assert ours is not None, name
    scale = max(float(theirs.abs().max()), 1e-3)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 2e-4, 2e-5 * scale, err_msg=name)


@pytest.mark.parametrize("name", MODULES)
def test_by_inputs_and_parameters(name: str) -> None:
    torch.manual_seed(0)
    made, shape = MODULES[name]
    module, x = made().eval(), torch.randn(shape)
    weight = torch.rand_like(module(x).detach()) + 0.5
    by_input, by_parameters = wanted(module, x, weight)
    program = compiler.from_torch(module, x)

    slope = compiler.grad(lambda x: (program(x) * weight.numpy()).sum())(x.numpy())
    check(slope, by_input, "the input, by a function")

    given = Tensor(x.numpy(), requires_grad=True)
    for each in program.parameters.values():
        each.requires_grad_()
    (program(given) * weight.numpy()).sum().backward()
    check(given.grad, by_input, "the input")
    for parameter, theirs in by_parameters.items():
        check(program.parameters[parameter].grad, theirs, parameter)


def test_a_step_of_learning_moves_the_module() -> None:
    torch.manual_seed(0)
    module, x = nn.Linear(4, 1), torch.randn(16, 4)
    program = compiler.from_torch(module, x)
    parameters = list(program.parameters.values())
    for each in parameters:
        each.requires_grad_()
    losses = []
    for _ in range(5):
        loss = ((program(x) - 1) ** 2).mean()
        losses.append(loss.item())
        loss.backward()
        for each in parameters:
            each.assign(each.detach() - 0.1 * each.grad)
            each.grad = None
            each.realize()
    assert losses == sorted(losses, reverse=True)
    with torch.no_grad():
        theirs = ((module(x) - 1) ** 2).mean().item()
    assert theirs < losses[-1]


def test_several_results() -> None:
    class Two(nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return {"a": x.sin(), "b": (x * 2, x.exp().sum())}

    x = torch.randn(3)
    program = compiler.from_torch(Two(), x)
    result, pull = compiler.vjp(program, x.numpy())
    (slope,) = pull({"a": np.ones(3, "f4"), "b": (np.zeros(3, "f4"), np.ones((), "f4"))})
    check(slope, x.cos() + x.exp(), "x")
    assert len(trees.flat(result)) == 3


@pytest.mark.parametrize(
    "name", ["hardtanh", "relu6", "hardsigmoid", "hardswish", "hardshrink", "softshrink"]
)
def test_derivatives_at_kinks(name: str) -> None:
    """And NaN stays NaN."""

    class Kinked(nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return getattr(F, name)(x)

    points = torch.tensor([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0], requires_grad=True)
    Kinked()(points).sum().backward()
    x = Tensor(points.detach().numpy(), requires_grad=True)
    program = compiler.from_torch(Kinked(), (points.detach(),))
    np.testing.assert_allclose(program(x).sum().gradient(x).numpy(), points.grad, rtol=1e-6)
    nan = np.full(8, np.nan, np.float32)
    assert np.isnan(program(Tensor(nan)).numpy()).all()
