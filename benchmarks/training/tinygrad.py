"""The same steps in tinygrad, on its CPU device, by TinyJit."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.training import BATCH, CHARACTERS, HEADS, LAYERS, LENGTH, WIDTH


def _transformer(nn: Any) -> Any:
    class Block:
        def __init__(self) -> None:
            self.norms = [nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)]
            self.into, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def __call__(self, x: Any) -> Any:
            n, length, width = x.shape
            parts = self.into(self.norms[0](x)).chunk(3, -1)
            q, k, v = (p.reshape(n, length, HEADS, -1).transpose(1, 2) for p in parts)
            seen = q.scaled_dot_product_attention(k, v, is_causal=True)
            x = x + self.out(seen.transpose(1, 2).reshape(n, length, width))
            return x + self.narrow(self.wide(self.norms[1](x)).gelu())

    class Transformer:
        def __init__(self) -> None:
            self.characters = nn.Embedding(CHARACTERS, WIDTH)
            self.places = nn.Embedding(LENGTH, WIDTH)
            self.blocks = [Block() for _ in range(LAYERS)]
            self.norm, self.last = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, CHARACTERS, bias=False)

        def __call__(self, numbers: Any) -> Any:
            x = self.characters(numbers) + self.places.weight
            return self.last(self.norm(x.sequential(self.blocks))).flatten(0, 1)

    return Transformer()


def _layered(nn: Any, network: str) -> Any:
    def pooled(x: Any) -> Any:
        return x.relu().max_pool2d()

    class Layers:
        def __init__(self) -> None:
            self.layers: list[Any] = [nn.Linear(784, 512), lambda x: x.relu(), nn.Linear(512, 10)]
            if network == "cnn":
                first = [nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm(32), pooled]
                second = [nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm(64), pooled]
                self.layers = [*first, *second, lambda x: x.flatten(1), nn.Linear(256, 10)]

        def __call__(self, x: Any) -> Any:
            return x.sequential(self.layers)

    return Layers()


def step_of(network: str, peer: str) -> Callable[[], Any]:
    """A step on data that stay the same; gives the loss, read once it is computed."""
    from tinygrad import Context, Tensor, TinyJit, nn

    generator = np.random.default_rng(0)
    rows = {"mlp": 128, "cnn": 64, "transformer": BATCH}[network]
    y = generator.integers(0, 10, rows)
    shape = (rows, 784) if network == "mlp" else (rows, 1, 8, 8)
    x: Any = generator.standard_normal(shape).astype("float32")
    if network == "transformer":
        x = generator.integers(0, CHARACTERS, (rows, LENGTH))
        y = generator.integers(0, CHARACTERS, rows * LENGTH)
    model = _transformer(nn) if network == "transformer" else _layered(nn, network)
    parameters = nn.state.get_parameters(model)
    optimizer: Any = (
        nn.optim.SGD(parameters, 0.1) if network == "mlp" else nn.optim.AdamW(parameters)
    )
    given = Tensor(x.astype("int32") if x.dtype.kind == "i" else x).realize()
    wanted = Tensor(y.astype("int32")).realize()

    @TinyJit
    @Context(TRAINING=1)
    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = model(x).sparse_categorical_crossentropy(y).backward()
        return loss.realize(*optimizer.schedule_step())

    return lambda: step(given, wanted).item()
