"""Predicted against measured times of twenty programs: `python -m benchmarks.predicted`.

Predicted: the sum over a schedule's items of the estimate on the model of this machine. Measured:
the least time of all kernels one after the other on warm memory, without compilation, in several
runs, each with the threads that it has in a program. `--default` predicts with the default model
instead.
"""

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import compiler
from compiler import MachineModel, Options, Tensor
from compiler.core.text import microseconds
from compiler.machines.model import DEFAULT
from compiler.program.compilation import Compilation
from compiler.run.allocation import allocate
from compiler.run.execution import bind
from compiler.schedule.host import Host

SECONDS = 0.15
_random = np.random.default_rng(0)


def _data(*shape: int) -> Tensor:
    return Tensor(_random.standard_normal(shape).astype(np.float32))


def _whole(low: int, high: int, *shape: int) -> Tensor:
    return Tensor(_random.integers(low, high, shape))


def _layer_norm() -> Tensor:
    x = _data(512, 512)
    centred = x - x.mean(1, keepdim=True)
    return centred / (centred.square().mean(1, keepdim=True) + 1e-5).sqrt()


def _network() -> Tensor:
    hidden = (_data(64, 784) @ _data(784, 128)).relu()
    return (hidden @ _data(128, 10)).softmax(1)


PROGRAMS: dict[str, Callable[[], Tensor]] = {
    "tiny: negate 4": lambda: -_data(4),
    "add 4,096": lambda: _data(64, 64) + _data(64, 64),
    "add 1,048,576": lambda: _data(1024, 1024) + _data(1024, 1024),
    "add 16,777,216": lambda: _data(4096, 4096) + 1.0,
    "exp 1,048,576": lambda: _data(1024, 1024).exp(),
    "chain of 5": lambda: ((_data(512, 512) * 2.0 + 1.0).relu() + 0.5).sqrt(),
    "divide": lambda: _data(512, 512) / _data(512, 512),
    "whole division": lambda: _whole(1, 1000, 65536) // _whole(1, 100, 65536),
    "sum of rows": lambda: _data(1024, 1024).sum(1),
    "sum of columns": lambda: _data(1024, 1024).sum(0),
    "sum of all": lambda: _data(1024, 1024).sum(),
    "softmax": lambda: _data(512, 1024).softmax(1),
    "layer norm": _layer_norm,
    "64 x 64 matrices": lambda: _data(64, 64) @ _data(64, 64),
    "256 x 256 matrices": lambda: _data(256, 256) @ _data(256, 256),
    "512 x 512 matrices": lambda: _data(512, 512) @ _data(512, 512),
    "two layers": _network,
    "convolution": lambda: _data(1, 8, 32, 32).conv2d(_data(16, 8, 3, 3)),
    "max pooling": lambda: _data(8, 16, 32, 32).max_pool2d(2),
    "gathered rows": lambda: _data(1000, 64)[_whole(0, 1000, 4096)],
    "running sum": lambda: _data(256, 256).cumsum(1),
    "transposed copy": lambda: _data(1024, 1024).permute(1, 0).contiguous(),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One program: predicted and measured nanoseconds."""

    name: str
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """How many times one is the other: at least 1."""
        return max(self.predicted / self.measured, self.measured / self.predicted)


def rows(model: MachineModel) -> Iterator[Row]:
    """One row per program."""
    for name, build in PROGRAMS.items():
        made = Compilation([build().node], Options(machine=model), name)
        predicted = sum(row.estimated_ns for row in made.schedule.analysis)
        yield Row(name, predicted, measured_ns(made))


def measured_ns(made: Compilation) -> float:
    """The sum over the items of the least time of each, on memory that is warm."""
    items, programs, host = made.schedule.items, made.load(), Host()
    held = dict(made.inputs()) | allocate(items, None)
    runs = [bind(item, held, programs, {}, host) for item in items]
    for run in runs:
        run()
    return sum(_least(run, SECONDS / len(runs)) for run in runs)


def _least(run: Callable[[], None], seconds: float) -> float:
    """Nanoseconds of the fastest of the runs that fit in so many seconds."""
    least, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end or least == float("inf"):
        start = time.perf_counter_ns()
        run()
        least = min(least, time.perf_counter_ns() - start)
    return least


def main() -> None:
    """Print the table and the median error."""
    start = time.perf_counter()
    model = DEFAULT if "--default" in sys.argv else compiler.calibrate(again="--again" in sys.argv)
    print(f"{model}\n({time.perf_counter() - start:.2f} s)\n")
    table = []
    print(f"{'program':<22}{'predicted':>14}{'measured':>14}{'ratio':>8}")
    for row in rows(model):
        table.append(row)
        ratio = row.predicted / row.measured
        times = f"{microseconds(row.predicted, 1):>14}{microseconds(row.measured, 1):>14}"
        print(f"{row.name:<22}{times}{ratio:>8.2f}")
    median = statistics.median(row.error for row in table)
    print(f"\nmedian error: a factor of {median:.2f} over {len(table)} programs")


if __name__ == "__main__":
    main()
