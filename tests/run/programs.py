"""Programs of all sorts, small, each run by itself: what a process finds that others ran before.

    python -m tests.run.programs          a row of JSON for each program

Networks and workloads of the benchmarks, models of ONNX files, every layer, steps of training,
functions captured by `jit`. A program gives arrays, the same in each process.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import llvmlite.binding as llvm
import numpy as np

import compiler
from benchmarks.networks import ours
from benchmarks.networks.network import Network
from benchmarks.peers import on_svodviz
from benchmarks.workloads import Workload
from compiler import Tensor, nn, optim
from tests.benchmarks.small import NETS, SMALL
from tests.models import LENGTH, WORDS, convolutions, transformer
from tests.nn.test_layers import CASES

Program = Callable[[], Iterable[Any]]


@dataclass(frozen=True)
class Found:
    """A program as a process ran it: the number of LLVM's modules that it made, the plans that it
    found and did not find, those not remembered, by reason, and a hash of its results."""

    name: str
    modules: int
    hits: int
    misses: int
    left: tuple[tuple[str, int], ...]
    results: str


def data(*shape: int, low: float = -1.0) -> Any:
    """Numbers of float32, the same for the same shape."""
    return np.random.default_rng(shape).uniform(low, 1.0, shape).astype(np.float32)


def network(made: Network) -> Iterable[Any]:
    """A network of the benchmarks."""
    return [ours.call(made)()]


def workload(made: Workload) -> Iterable[Any]:
    """A workload of the benchmarks."""
    return [on_svodviz.result(made, made.data()).numpy()]


def model(made: Callable[[], Any], *given: Any) -> Iterable[Any]:
    """A model of a file."""
    (result,) = compiler.from_onnx(made())(*given).values()
    return [result.numpy()]


def layer(name: str) -> Iterable[Any]:
    """A layer: its outputs, and the gradients of what it learns."""
    Tensor.manual_seed(1)
    make, shape = CASES[name]
    made = make()
    x = Tensor(data(*shape).astype(np.float64), requires_grad=True)
    y = made(x)
    (y * y).sum().backward()
    grads = [x.grad, *(each.grad for each in made.parameters())]
    return compiler.prepare([y, *(each for each in grads if each is not None)]).run()


class Cnn(nn.Module):
    """Of all that networks of images have: normalised over the batch, pooled, dropped, strided."""

    def __init__(self) -> None:
        self.first, self.norm = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.second = nn.Conv2d(4, 4, 3, stride=2, padding=1)
        self.drop, self.out = nn.Dropout(0.25), nn.Linear(16, 3)

    def forward(self, x: Tensor) -> Tensor:
        """[n, 1, 8, 8] to scores [n, 3]."""
        x = self.norm(self.first(x)).relu().max_pool2d(2)
        return self.out(self.drop(self.second(x).clip(-1, 1).flatten(1)))


class Reader(nn.Module):
    """A transformer of one layer."""

    def __init__(self) -> None:
        self.words, self.norm = nn.Embedding(11, 8), nn.LayerNorm(8)
        self.attention, self.out = nn.MultiheadAttention(8, 2), nn.Linear(8, 11)

    def forward(self, x: Tensor) -> Tensor:
        """[n, l] to scores [n * l, 11]."""
        x = self.words(x)
        x = x + self.attention(self.norm(x), is_causal=True)[0]
        return self.out(x.gelu()).flatten(0, 1)


def training(
    make: Callable[[], nn.Module], rule: Callable[[Any], optim.Optimizer], x: Any, classes: int,
    is_captured: bool,
) -> Iterable[Any]:  # fmt: skip
    """Two steps of training, by themselves or captured: the losses, and a parameter afterwards."""
    Tensor.manual_seed(3)
    learner = make()
    optimizer = rule(learner.parameters())
    rows = x.size if x.ndim == 2 else len(x)

    def step(x: Tensor, y: Tensor) -> Tensor:
        loss = nn.cross_entropy(learner(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    called = compiler.jit(step) if is_captured else step
    y = np.arange(rows) % classes
    losses = [called(Tensor(x), Tensor(y)).numpy() for _ in range(2)]
    return [*losses, learner.parameters()[0].numpy()]


def captured() -> Iterable[Any]:
    """A function that is captured, called with two shapes and with numbers that move."""
    @compiler.jit
    def smooth(x: Tensor, by: float) -> Tensor:
        return (x * by).softplus().std(-1, keepdim=True) + x.log1p() % 0.75

    return [smooth(Tensor(data(*shape, low=0.0)), by).numpy()
            for shape in ((3, 5), (4, 6)) for by in (0.5, 0.75, 1.25)]  # fmt: skip


IMAGES, TEXTS = data(4, 1, 8, 8), np.arange(10).reshape(2, 5) % 11
TRAINED: dict[str, tuple[Any, ...]] = {
    "cnn": (Cnn, partial(optim.SGD, lr=0.1, momentum=0.9), IMAGES, 3),
    "text": (Reader, optim.AdamW, TEXTS, 11),
}
PROGRAMS: dict[str, Program] = {
    **{f"network {it.name}": partial(network, it) for it in NETS},
    **{f"workload {it.name}": partial(workload, it) for it in SMALL},
    "model transformer": partial(model, transformer, np.arange(LENGTH)[None] % WORDS),
    "model convolutions": partial(model, convolutions, data(1, 3, 8, 8)),
    **{f"layer {name}": partial(layer, name) for name in CASES},
    **{f"training {name}": partial(training, *it, False) for name, it in TRAINED.items()},
    **{f"training {name}, captured": partial(training, *it, True) for name, it in TRAINED.items()},
    "captured": captured,
}
"""Each by its name."""


def found(name: str, modules: list[str]) -> Found:
    """A program, run as a process runs it that knows nothing but what is on disk."""
    compiler.cache_clear()
    modules.clear()
    digest = hashlib.sha256()
    for array in PROGRAMS[name]():
        digest.update(np.ascontiguousarray(array).tobytes())
    count = compiler.cache_info().remembered
    return Found(name, len(modules), count.hits, count.misses, count.left, digest.hexdigest())


def main() -> None:
    """Run all of them."""
    modules: list[str] = []
    parse = llvm.parse_assembly

    def counted(text: str, *given: Any) -> Any:
        if text:  # an empty one holds code that is there already
            modules.append(text)
        return parse(text, *given)

    llvm.parse_assembly = counted
    json.dump([asdict(found(name, modules)) for name in PROGRAMS], sys.stdout)


if __name__ == "__main__":
    main()
