"""Programs for the workers of a cluster.

    python examples/cluster/more_than_one_machine.py [tcp://10.0.0.1:8786]

A product of matrices of which no worker could hold both, k-means on a million rows, and training
on rows that lie on all workers. Each is run on 1, 2 and 4 workers, and gives the same answer.
Without the address of a Dask scheduler, four processes of this machine are the cluster.
"""

import sys
import time
from typing import Any

import numpy as np

import compiler
from compiler import Tensor

Array = np.ndarray[Any, Any]
Devices = tuple[str, ...]


def product(a: Array, b: Array, devices: Devices, panels: int = 8) -> Array:
    """`a @ b`: rows of `a`, and of the result, lie on all workers; of `b`, a panel of rows moves
    from the worker that has it to the others, is used, and is forgotten."""
    width = len(b) // panels
    parts = [slice(n * width, (n + 1) * width) for n in range(panels)]
    columns = [Tensor(a[:, part].copy()).shard(devices, 0).realize() for part in parts]
    homes = [devices[n % len(devices)] for n in range(panels)]
    rows = [Tensor(b[part]).to(home).realize() for part, home in zip(parts, homes, strict=True)]
    made = columns[0] @ rows[0].shard(devices)
    for column, row in zip(columns[1:], rows[1:], strict=True):
        made = (made + column @ row.shard(devices)).realize()
    return made.numpy()


def k_means(rows: Array, centers: Array, devices: Devices, steps: int = 5) -> Array:
    """The centres after some steps. Workers exchange sums and counts: never rows."""
    x = Tensor(rows).shard(devices, 0).realize()
    c = Tensor(centers).shard(devices)
    numbers = Tensor(np.arange(len(centers))).shard(devices)
    for _ in range(steps):
        squares = (c * c).sum(1) - (x @ c.T) * 2
        nearest = squares.argmin(1).unsqueeze(1).eq(numbers).cast(x.dtype)
        counts = nearest.sum(0).unsqueeze(1).maximum(1)
        c = ((nearest.T @ x) / counts).realize()
    return c.numpy()


def descent(x: Tensor, y: Tensor, first: Tensor, second: Tensor) -> tuple[Tensor, ...]:
    """New weights of a network of two layers, and its loss before.

    Rows lie on all workers, so that each has a part of the gradient: the sum of the parts is the
    only thing that they exchange.
    """
    hidden = (x @ first).tanh()
    error = hidden @ second - y
    slope = error * (2 / error.size)
    second_slope = hidden.T @ slope
    first_slope = x.T @ ((slope @ second.T) * (1 - hidden * hidden))
    return first - first_slope * 0.5, second - second_slope * 0.5, (error * error).mean()


def train(rows: Array, wanted: Array, devices: Devices, steps: int = 20) -> tuple[Array, Array]:
    """The last weights, and the loss of each step."""
    random = np.random.default_rng(0)
    x, y = (Tensor(each).shard(devices, 0).realize() for each in (rows, wanted))
    shapes = (rows.shape[1], 32), (32, wanted.shape[1])
    first, second = (
        Tensor(random.standard_normal(shape) / np.sqrt(shape[0])).shard(devices) for shape in shapes
    )
    losses = []
    for _ in range(steps):
        first, second, loss = descent(x, y, first, second)
        first.realize(second, loss)
        losses.append(loss.item())
    return second.numpy(), np.array(losses)


def examples(size: int = 1024, count: int = 1_000_000) -> dict[str, Any]:
    """Each example as a function of the devices."""
    random = np.random.default_rng(1)
    a, b = random.standard_normal((2, size, size))
    middles = random.integers(-50, 50, (8, 4))
    rows = (middles[random.integers(0, 8, count)] + random.integers(-5, 6, (count, 4))) * 1.0
    x = random.standard_normal((4096, 16))
    return {
        "product": lambda devices: product(a, b, devices),
        "k-means": lambda devices: k_means(rows, rows[:8], devices),
        "training": lambda devices: train(x, np.sin(x[:, :2]), devices)[1],
    }


def main() -> None:
    """Run each on 1, 2 and 4 workers."""
    given = sys.argv[1:2]
    with compiler.cluster(*given, **({} if given else {"workers": 4, "threads": 1})) as cluster:
        print(cluster)
        for name, example in examples().items():
            expected = example(cluster.workers[:1])
            for count in (1, 2, 4):
                begin = time.perf_counter()
                found = example(cluster.workers[:count])
                seconds = time.perf_counter() - begin
                error = np.abs(found - expected).max()
                what = f"{name:10} {count} workers  {seconds:6.2f} s"
                print(f"{what}   differs by {error:.1e} at most")


if __name__ == "__main__":
    main()
