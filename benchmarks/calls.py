"""The overhead of a call, measured on tiny kernels: `python -m benchmarks calls`.

Each way to run a program on 16 numbers, next to `x + 1` of NumPy and, if it is installed, of
PyTorch: a plan on its own data, on an array, on two alternating arrays, with kept results; a
tensor realised; a compilation run. Then plans of more kernels and inputs. All take turns, in rounds
of a few milliseconds; the least and the median of the rounds are microseconds of a call.
"""

import argparse
import importlib
import importlib.util
import itertools
import statistics
import time
from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import compiler
from compiler import Tensor
from compiler.run.execution_plan import ExecutionPlan

Call: TypeAlias = Callable[[], object]
Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
ROUNDS, SECONDS = 41, 0.004
X = np.arange(16, dtype=np.float32)


def peers() -> dict[str, Call]:
    """`x + 1` of the libraries that are installed."""
    found: dict[str, Call] = {"NumPy: x + 1": lambda: X + 1}
    if importlib.util.find_spec("torch"):
        torch = importlib.import_module("torch")
        tensor = torch.arange(16, dtype=torch.float32)
        found["torch: x + 1"] = lambda: tensor + 1
    return found


def ways() -> dict[str, Call]:
    """The ways to run one kernel."""
    x = Tensor(X, name="x")
    plan, made = compiler.prepare(x + 1), compiler.compile(x + 1)
    turns, kept = itertools.cycle([[X], [X.copy()]]), deque[list[Array]](maxlen=8)
    return {
        "plan.run()": plan.run,
        "plan.run([x])": lambda: plan.run([X]),
        "plan.run([x]), two arrays": lambda: plan.run(next(turns)),
        "plan.run([x]), results kept": lambda: kept.append(plan.run([X])),
        'plan.run({"x": x})': lambda: plan.run({"x": X}),
        "(x + 1).realize()": lambda: (x + 1).realize(),
        "compile(…).run()": made.run,
    }


def plans() -> dict[str, Call]:
    """Plans of several results, inputs and kernels, each with a little work."""
    x = Tensor(X.reshape(1, 16), name="x")
    weight = np.eye(16, dtype=np.float32)
    chains = {length: chain(x, weight, length) for length in (10, 100)}
    four = compiler.prepare([x + 1, x * 2, x - 3, x.sum()])
    inputs = compiler.prepare(sum((Tensor(X + n) for n in range(8)), Tensor(X)))
    given = [X] * 9
    rows: dict[str, Call] = {
        "four results": lambda: four.run([X.reshape(1, 16)]),
        "nine inputs given": lambda: inputs.run(given),
    }
    for length, plan in chains.items():
        rows[f"{length} layers of 16 × 16"] = plan.run
    return rows


def chain(x: Tensor, weight: Array, length: int) -> ExecutionPlan:
    """Layers, each with a weight of its own."""
    for _ in range(length):
        x = (x @ Tensor(weight.copy())).relu()
    return compiler.prepare(x)


def measure(calls: dict[str, Call], rounds: int) -> dict[str, list[float]]:
    """The microseconds of a call in each round, with all calls interleaved."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        _timed(call, 100)  # what is made once
    counts = {name: max(1, round(SECONDS / _timed(call, 20))) for name, call in calls.items()}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(1e6 * _timed(call, counts[name]))
    return times


def _timed(call: Call, count: int) -> float:
    """Seconds of one call of `count`."""
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def main(arguments: list[str] | None = None) -> None:
    """Print a row for each call."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args(arguments).rounds
    times = measure({**peers(), **ways(), **plans()}, rounds)
    print(f"{'µs of a call':<32}{'least':>9}{'median':>9}")
    for name, each in times.items():
        print(f"{name:<32}{min(each):>9.2f}{statistics.median(each):>9.2f}")


if __name__ == "__main__":
    main()
