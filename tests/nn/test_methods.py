"""Tensor methods as modules, with PyTorch's argument names: equal to the method, and to PyTorch."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, Tensor, nn, optim
from compiler.nn import methods

Array = np.ndarray[Any, Any]
IMAGE, ROWS = (2, 3, 8, 8), (6, 4)
OF_ONE: dict[str, tuple[tuple[int, ...], Callable[[Any], Any]]] = {
    "Identity": (ROWS, lambda n: n.Identity(54, unused=0.1)),
    "Flatten": (IMAGE, lambda n: n.Flatten()),
    "Flatten from 2": (IMAGE, lambda n: n.Flatten(start_dim=2)),
    "Unflatten": (ROWS, lambda n: n.Unflatten(1, (2, 2))),
    "ReLU": (ROWS, lambda n: n.ReLU(inplace=True)),
    "ReLU6": (ROWS, lambda n: n.ReLU6()),
    "LeakyReLU": (ROWS, lambda n: n.LeakyReLU(negative_slope=0.2)),
    "ELU": (ROWS, lambda n: n.ELU(alpha=0.5)),
    "GELU": (ROWS, lambda n: n.GELU()),
    "GELU by tanh": (ROWS, lambda n: n.GELU(approximate="tanh")),
    "SiLU": (ROWS, lambda n: n.SiLU()),
    "Mish": (ROWS, lambda n: n.Mish()),
    "Sigmoid": (ROWS, lambda n: n.Sigmoid()),
    "Softplus": (ROWS, lambda n: n.Softplus()),
    "Softsign": (ROWS, lambda n: n.Softsign()),
    "Tanh": (ROWS, lambda n: n.Tanh()),
    "Hardtanh": (ROWS, lambda n: n.Hardtanh(-0.5, 0.25)),
    "Softmax": (ROWS, lambda n: n.Softmax(dim=0)),
    "LogSoftmax": (ROWS, lambda n: n.LogSoftmax(1)),
    "MaxPool1d": (IMAGE[1:], lambda n: n.MaxPool1d(3, padding=1)),
    "MaxPool2d": (IMAGE, lambda n: n.MaxPool2d(kernel_size=3, stride=2, padding=1)),
    "MaxPool3d": (IMAGE, lambda n: n.MaxPool3d((1, 2, 2))),
    "AvgPool1d": (IMAGE[1:], lambda n: n.AvgPool1d(2)),
    "AvgPool2d": (IMAGE, lambda n: n.AvgPool2d(2, 1, count_include_pad=False)),
    "AvgPool3d": (IMAGE, lambda n: n.AvgPool3d(2)),
    "AdaptiveAvgPool1d": (IMAGE[1:], lambda n: n.AdaptiveAvgPool1d(3)),
    "AdaptiveAvgPool2d": (IMAGE, lambda n: n.AdaptiveAvgPool2d((1, 1))),
    "AdaptiveMaxPool2d": (IMAGE, lambda n: n.AdaptiveMaxPool2d(3)),
}
OF_TWO: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "CrossEntropyLoss": ("classes", lambda n: n.CrossEntropyLoss(label_smoothing=0.1)),
    "NLLLoss": ("classes", lambda n: n.NLLLoss(ignore_index=1, reduction="sum")),
    "MSELoss": ("values", lambda n: n.MSELoss()),
    "L1Loss": ("values", lambda n: n.L1Loss(reduction="none")),
    "SmoothL1Loss": ("values", lambda n: n.SmoothL1Loss(beta=0.5)),
    "HuberLoss": ("values", lambda n: n.HuberLoss(delta=0.5)),
    "KLDivLoss": ("shares", lambda n: n.KLDivLoss(reduction="batchmean")),
    "BCELoss": ("shares", lambda n: n.BCELoss()),
    "BCEWithLogitsLoss": ("shares", lambda n: n.BCEWithLogitsLoss()),
}
NAMED: dict[str, Callable[[Any], Any]] = {
    "Linear": lambda n: n.Linear(in_features=3, out_features=5, bias=False),
    "Conv2d": lambda n: n.Conv2d(in_channels=4, out_channels=6, kernel_size=3, padding=1),
    "ConvTranspose2d": lambda n: n.ConvTranspose2d(in_channels=4, out_channels=6, kernel_size=2),
    "Embedding": lambda n: n.Embedding(num_embeddings=7, embedding_dim=3, padding_idx=0),
    "LayerNorm": lambda n: n.LayerNorm(normalized_shape=(4, 3), elementwise_affine=True),
    "RMSNorm": lambda n: n.RMSNorm(normalized_shape=4),
    "GroupNorm": lambda n: n.GroupNorm(num_groups=2, num_channels=4),
    "BatchNorm2d": lambda n: n.BatchNorm2d(num_features=4),
    "MultiheadAttention": lambda n: n.MultiheadAttention(embed_dim=8, num_heads=2),
    "LSTM": lambda n: n.LSTM(input_size=3, hidden_size=4, num_layers=2, batch_first=True),
    "Dropout": lambda n: n.Dropout(0.3, inplace=True),
}
"""Modules of tensors of one shape, and such of two tensors, made the same way in both libraries;
layers that are made by PyTorch's names of arguments."""


def _kinds() -> set[str]:
    return {
        name for name, kind in vars(methods).items()
        if isinstance(kind, type) and kind.__module__ == methods.__name__
    } - {"OfMethod"}  # fmt: skip


def _operands(kind: str) -> tuple[Array, Array]:
    numbers = np.random.default_rng(7)
    x = numbers.uniform(0.05, 0.95, ROWS).astype("f")
    match kind:
        case "classes":
            return np.log(x), numbers.integers(0, 4, 6)
        case "shares":
            return x, numbers.uniform(0, 1, ROWS).astype("f")
        case _:
            return x, numbers.standard_normal(ROWS).astype("f")


def test_every_module_is_here() -> None:
    assert {name.partition(" ")[0] for name in (*OF_ONE, *OF_TWO)} == _kinds()
    assert all(getattr(nn, name) is getattr(methods, name) for name in _kinds())


@pytest.mark.parametrize("name", OF_ONE)
def test_a_module_is_its_method(name: str) -> None:
    shape, make = OF_ONE[name]
    x = np.random.default_rng(3).standard_normal(shape).astype("f")
    module = make(nn)
    if isinstance(module, nn.Identity):
        np.testing.assert_array_equal(module(Tensor(x)).numpy(), x)
        return
    expected = getattr(Tensor(x), module.method)(**module._given).numpy()
    np.testing.assert_array_equal(module(Tensor(x)).numpy(), expected)
    assert re.fullmatch(rf"{type(module).__name__}\(.*\)", repr(module))


@pytest.mark.parametrize("name", OF_TWO)
def test_a_loss_is_its_method(name: str) -> None:
    kind, make = OF_TWO[name]
    x, y = map(Tensor, _operands(kind))
    module = make(nn)
    expected = getattr(x, module.method)(y, **module._given).numpy()
    np.testing.assert_array_equal(module(x, y).numpy(), expected)


@pytest.mark.parametrize("name", [*OF_ONE, *OF_TWO])
def test_beside_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch")
    if name in OF_ONE:
        shape, make = OF_ONE[name]
        given: tuple[Array, ...] = (np.random.default_rng(3).standard_normal(shape).astype("f"),)
    else:
        kind, make = OF_TWO[name]
        given = _operands(kind)
    expected = make(torch.nn)(*map(torch.tensor, given)).numpy()
    found = make(nn)(*map(Tensor, given)).numpy()
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", NAMED)
def test_arguments_by_pytorchs_names(name: str) -> None:
    shapes = {key: tuple(value.shape) for key, value in NAMED[name](nn).state_dict().items()}
    assert shapes or name == "Dropout"
    torch = pytest.importorskip("torch")
    theirs = NAMED[name](torch.nn).state_dict()
    assert shapes == {k: tuple(v.shape) for k, v in theirs.items() if "num_batches" not in k}


def test_a_network_in_pytorchs_words_learns() -> None:
    Tensor.manual_seed(1)
    model = nn.Sequential(
        nn.Conv2d(1, 4, kernel_size=3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True),
        nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.1), nn.Linear(4 * 16, 3),
    )  # fmt: skip
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.AdamW(model.parameters(), lr=1e-2, weight_decay=1e-3)
    numbers = np.random.default_rng(2)
    y = numbers.integers(0, 3, 32)
    x = numbers.standard_normal((32, 1, 8, 8)).astype("f") + y[:, None, None, None]

    @compiler.jit
    def step(x: Tensor, y: Tensor) -> Tensor:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optim.clip_grad_norm(model.parameters(), max_norm=1.0)
        optimizer.step()
        return loss

    losses = [step(x, y).item() for _ in range(25)]
    assert losses[-1] < 0.6 * losses[0]
    assert step.cache_info().captures == 1
    assert "MaxPool2d(kernel_size=2)" in repr(model) and "ReLU()" in repr(model)


def test_options_of_groups_by_pytorchs_names() -> None:
    first, second = nn.Linear(2, 3), nn.Linear(3, 1)
    model = nn.Sequential(first, second)
    rows = [
        {"params": first.parameters()},
        {"params": second.parameters(), "lr": 0.5, "weight_decay": 0.25},
    ]
    optimizer = optim.SGD(rows, lr=0.125)
    assert [group.lr for group in optimizer.groups] == [0.125, 0.5]
    assert [group.options["weight_decay"] for group in optimizer.groups] == [0, 0.25]
    with pytest.raises(DataError, match="no such option"):
        optim.SGD([{"params": model.parameters(), "speed": 1}])


def test_lists_dicts_and_parameters() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])
            self.heads = nn.ModuleDict({"a": nn.Linear(2, 1)})
            self.scale = nn.Parameter(np.ones(2, "float32"))
            self.fixed = nn.Parameter(Tensor(np.ones(2)), requires_grad=False)

    net = Net()
    names = {name for name, _ in net.named_parameters()}
    assert names == {"layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias",
                     "heads.a.weight", "heads.a.bias", "scale"}  # fmt: skip
    assert "fixed" in net.state_dict()
    data = Tensor(np.ones(2, "float32"))
    own = nn.Parameter(data)
    own.assign(own * 3).realize()
    assert data.numpy().tolist() == [1, 1] and own.requires_grad


@pytest.mark.parametrize(("make", "words"), [
    (lambda: nn.Linear(3, wide=2), "there is no argument wide"),
    (lambda: nn.Linear(3), "missing a required argument: 'outputs'"),
    (lambda: nn.Linear(3, 4, in_features=3), "multiple values"),
    (lambda: nn.LeakyReLU(slop=0.1), "did you mean slope"),
    (lambda: nn.MaxPool2d(), "missing a required argument: 'size'"),
    (lambda: nn.CrossEntropyLoss(size_average=True), "there is no argument size_average"),
    (lambda: optim.Adam([Tensor(np.ones(1), requires_grad=True)], amsgrad=True),
     "there is no argument amsgrad"),
])  # fmt: skip
def test_arguments_that_do_not_fit(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        make()
    assert re.match(r"(Linear|LeakyReLU|MaxPool2d|CrossEntropyLoss|Adam):", str(caught.value))
    assert __file__ in str(caught.value), "the line that wrote it"


@pytest.mark.parametrize(("look", "words"), [
    (lambda: nn.functional, "nn.cross_entropy"), (lambda: nn.utils, "optim.clip_grad_norm"),
    (lambda: nn.Relu, "did you mean ReLU"), (lambda: optim.lr_scheduler, "optim.Schedule"),
    (lambda: compiler.manual_seed, r"write Tensor.manual_seed\(...\)"),
    (lambda: compiler.relu, r"write x.relu\(...\)"),
])  # fmt: skip
def test_names_of_other_libraries(look: Callable[[], Any], words: str) -> None:
    with pytest.raises(AttributeError, match=words):
        look()
