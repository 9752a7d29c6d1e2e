"""Batches of many sizes: one program for all of them, against a program for each.

A perceptron with softmax and the mean over its batch runs for each size. With a variable
the first size compiles and the others find the program; without one each size compiles again.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import compiler
from compiler import Tensor, Variable

SIZES = (37, 512, 1, 100, 256, 64, 5, 400, 128, 300, 16, 200)
INPUTS, HIDDEN, OUTPUTS = 784, 128, 10


def perceptron(x: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """The mean over the batch of the probabilities of each class."""
    return ((x @ first).relu() @ second).softmax().mean(0)


def measure(make: Callable[[Any], Tensor], weights: tuple[Tensor, Tensor]) -> list[float]:
    """Seconds of the call for each size, in order."""
    data = np.random.default_rng(0).standard_normal((max(SIZES), INPUTS)).astype(np.float32)
    times = []
    for size in SIZES:
        start = time.perf_counter()
        perceptron(make(data[:size]), *weights).numpy()
        times.append(time.perf_counter() - start)
    return times


def main() -> None:
    """Print the times of both ways."""
    random = np.random.default_rng(1)
    first = Tensor(random.standard_normal((INPUTS, HIDDEN)).astype(np.float32))
    second = Tensor(random.standard_normal((HIDDEN, OUTPUTS)).astype(np.float32))
    n = Variable("n", 1, max(SIZES))
    ways = {
        "one program": lambda data: Tensor(data, symbolic={0: n}),
        "one per size": Tensor,
    }
    print(f"{len(SIZES)} batch sizes, ms{'first call':>18}{'later, new size':>18}"
          f"{'size met before':>18}{'compiled':>10}")  # fmt: skip
    for name, make in ways.items():
        before = compiler.cache_info().programs.misses
        new, known = measure(make, (first, second)), measure(make, (first, second))
        made = compiler.cache_info().programs.misses - before
        cells = (new[0], statistics.median(new[1:]), statistics.median(known))
        print(f"{name:<19}" + "".join(f"{1e3 * c:18.2f}" for c in cells) + f"{made:10}")


if __name__ == "__main__":
    main()
