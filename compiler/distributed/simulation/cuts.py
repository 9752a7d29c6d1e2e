"""cuts: a network partitioned in three ways, as programs for any number of workers.

    data_parallel     each worker has a part of the rows and all of the weights
    tensor_parallel   each worker has some columns of the weights and all of the rows
    pipeline          each worker has some of the layers; microbatches of rows pass through them

The inputs are placeholders, since a simulation needs no data. `given(name, rows, columns, put)`
supplies data instead; `put` shards a tensor or moves it to its worker:

    def given(name, rows, columns, put):
        return put(Tensor(random(rows, columns))).realize()
"""

from collections.abc import Callable
from typing import TypeAlias

from compiler.tensor import Tensor

ROWS, WIDTH = 65_536, 1_024
LAYERS, CLASSES, PARTS = 8, 16, 32
RATE = 0.1
Put: TypeAlias = Callable[[Tensor], Tensor]
Given: TypeAlias = Callable[[str, int, int, Put], Tensor]


def placeholder(name: str, rows: int, columns: int, put: Put) -> Tensor:
    """A placeholder of float32, `rows` by `columns`, placed by `put`."""
    return put(Tensor.placeholder(rows, columns, dtype="float32", name=name))


def data_parallel(
    devices: tuple[str, ...], rows: int = ROWS, width: int = WIDTH, classes: int = CLASSES,
    given: Given = placeholder,
) -> list[Tensor]:  # fmt: skip
    """One step of gradient descent of a network of two layers: its new weights.

    The rows are sharded, the weights replicated, and an all-reduce adds up the gradients.
    """
    x = given("x", rows, width, lambda t: t.shard(devices, 0))
    y = given("y", rows, classes, lambda t: t.shard(devices, 0))
    first = given("first", width, width, lambda t: t.shard(devices))
    last = given("last", width, classes, lambda t: t.shard(devices))
    hidden = (x @ first).relu()
    error = (hidden @ last - y) * (2.0 / rows)
    behind = (error @ last.T) * (hidden > 0.0)
    return [first - (x.T @ behind) * RATE, last - (hidden.T @ error) * RATE]


def tensor_parallel(
    devices: tuple[str, ...], rows: int = ROWS, width: int = WIDTH, classes: int = CLASSES,
    given: Given = placeholder,
) -> Tensor:  # fmt: skip
    """The forward pass of the same network: the first weights are sharded by columns, the last by
    rows. An all-reduce adds up the last products.
    """
    x = given("x", rows, width, lambda t: t.shard(devices))
    first = given("first", width, width, lambda t: t.shard(devices, 1))
    last = given("last", width, classes, lambda t: t.shard(devices, 0))
    return (x @ first).relu() @ last


def pipeline(
    devices: tuple[str, ...], rows: int = ROWS, width: int = WIDTH, layers: int = LAYERS,
    parts: int = PARTS, given: Given = placeholder,
) -> list[Tensor]:  # fmt: skip
    """A chain of layers, each on one worker; the rows pass through in `parts` microbatches.

    At most `layers` workers are used.
    """
    places = [devices[layer * min(len(devices), layers) // layers] for layer in range(layers)]
    weights = [given(f"w{layer}", width, width, _to(place)) for layer, place in enumerate(places)]
    results = []
    for part in range(parts):
        x = given(f"x{part}", rows // parts, width, _to(places[0]))
        for weight, place in zip(weights, places, strict=True):
            x = (x.to(place) @ weight).relu()
        results.append(x)
    return results


def _to(place: str) -> Put:
    return lambda t: t.to(place)
