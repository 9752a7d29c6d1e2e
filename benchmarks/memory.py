"""Memory of one run: the peak of a fresh process against what the memory plan says.

    python -m benchmarks memory

For each program: the peak resident set while it compiles and runs, less that before (where inputs
are there already) and the results, against 1.2 times the planned peak and 150 MB. Then the resident
set after many programs of different shapes have been compiled and forgotten.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import compiler
from compiler import Options, Tensor
from compiler.machines.system import most_resident_bytes, resident_bytes
from compiler.run import plans

FACTOR, FIXED = 1.2, 150e6


def _data(*shape: int) -> Tensor:
    return Tensor(np.full(shape, 1 / shape[-1], np.float32))


def perceptron() -> Tensor:
    """Six layers of 4096 over a batch of 4096: 64 MiB for each value in between."""
    x = _data(4096, 4096)
    for _ in range(6):
        x = (x @ _data(4096, 4096)).relu()
    return x.sum()


def chain() -> Tensor:
    """Ten operations on 256 MiB, each in memory of its own if nobody shares it."""
    x = _data(8192, 8192)
    for _ in range(10):
        x = (x * 1.5 + 0.5).contiguous()
    return x.sum(0)


def network() -> Tensor:
    """Four layers of 512 over a batch of 65536: 128 MiB for each value in between."""
    x = _data(65536, 512)
    for _ in range(4):
        x = (x @ _data(512, 512)).relu().contiguous()
    return x.max(0)


PROGRAMS: dict[str, Callable[[], Tensor]] = {
    "perceptron 6 x 4096": perceptron,
    "chain of 10, 256 MiB": chain,
    "network 4 x 512, batch 65536": network,
}
COMPILED = 60
"""Programs compiled to see whether memory comes back."""


def measure(name: str) -> tuple[int, int]:
    """The planned peak, and the bytes that a run in this process took beyond its inputs."""
    result = PROGRAMS[name]()
    before = resident_bytes()
    made, buffers = plans.structure_of([result.node], Options())
    planned = made.memory.peak if made.memory else 0
    del buffers
    result.numpy()
    return planned, most_resident_bytes() - before


def after_compiling() -> list[int]:
    """The resident set before, and after each half of many programs that are different."""
    found = [resident_bytes()]
    for number in range(COMPILED):
        x = Tensor(np.ones((3, number + 2), np.float32))
        (x * 2.0 + 1.0).softmax(1).numpy()
        if number == COMPILED // 2:
            compiler.cache_clear()
            found.append(resident_bytes())
    compiler.cache_clear()
    return [*found, resident_bytes()]


def _fresh(name: str) -> list[int]:
    """The figures of a fresh process."""
    command = [sys.executable, "-m", "benchmarks.memory", "--one", name]
    root = Path(__file__).resolve().parent.parent
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    return [int(number) for number in json.loads(ran.stdout)]


def main(arguments: list[str] | None = None) -> None:
    """Print one row per program, then what compiling leaves behind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", metavar="PROGRAM")
    given = parser.parse_args(arguments)
    if given.one:
        print(json.dumps(measure(given.one) if given.one in PROGRAMS else after_compiling()))
        return
    print(f"{'memory, MB':<32}{'planned':>10}{'taken':>10}{'allowed':>10}")
    for name in PROGRAMS:
        planned, taken = _fresh(name)
        allowed = FACTOR * planned + FIXED
        cells = "".join(f"{n / 1e6:>10,.1f}" for n in (planned, taken, allowed))
        print(f"{name:<32}{cells} {'ok' if taken <= allowed else '!'}")
    first, middle, last = _fresh("compiling")
    print(f"{COMPILED} programs: {first / 1e6:,.1f} MB before, {middle / 1e6:,.1f} half way, "
          f"{last / 1e6:,.1f} at the end")  # fmt: skip


if __name__ == "__main__":
    main()
