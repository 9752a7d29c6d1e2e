"""Cold compile: the first call of a program less a steady call, each run a fresh process.

Ours and tinygrad's (CPU device, LLVM, disk cache off; taken where it is installed, or from the
interpreter given by `--tinygrad PYTHON`) alternate, so that both see the same machine. The first
call includes everything from graph to executed machine code; importing is not counted.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

SETTINGS = {"DEV": "CPU:LLVM", "CACHELEVEL": "0"}
PROGRAMS = {
    "softmax 1024x1024": ((1024, 1024), "x.softmax(axis=1)"),
    "matmul 512x512": ((512, 512), "x @ x"),
    "relu(x*x+x)*0.5 4096x4096": ((4096, 4096), "(x * x + x).relu() * 0.5"),
}
_MEASURE = """
import json, statistics, time
import numpy as np
from {package} import Tensor
data = np.random.default_rng(0).standard_normal({shape}).astype(np.float32)
x = Tensor(data)
x.realize()
def call():
    start = time.perf_counter()
    ({expression}).numpy()
    return time.perf_counter() - start
first = call()
steady = statistics.median(call() for _ in range(7))
print(json.dumps([first, steady]))
"""


def measure(python: str, package: str, program: str) -> tuple[float, float]:
    """Seconds of the first and of a steady call, in a fresh process."""
    shape, expression = PROGRAMS[program]
    if package == "tinygrad":
        expression = expression.replace("axis=", "")
    code = _MEASURE.format(package=package, shape=shape, expression=expression)
    root = Path(__file__).resolve().parent.parent
    ran = subprocess.run(
        [python, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
        env={**os.environ, **SETTINGS},
    )
    first, steady = json.loads(ran.stdout.splitlines()[-1])
    return first, steady


def main(arguments: list[str] | None = None) -> None:
    """Measure and print one row per program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tinygrad", metavar="PYTHON", help="an interpreter that has tinygrad")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args(arguments)
    peer = given.tinygrad or (sys.executable if importlib.util.find_spec("tinygrad") else None)
    who = [(sys.executable, "compiler")] + ([(peer, "tinygrad")] if peer else [])
    if not peer:
        print("tinygrad is not installed: only our own times")
    print(f"{'cold compile, ms (steady call, ms)':<36}" + "".join(f"{n:>22}" for _, n in who))
    for program in PROGRAMS:
        runs: dict[str, list[tuple[float, float]]] = {name: [] for _, name in who}
        for _ in range(given.runs):
            for python, name in who:
                runs[name].append(measure(python, name, program))
        print(f"{program:<36}" + "".join(f"{_cell(runs[name]):>22}" for _, name in who))


def _cell(runs: list[tuple[float, float]]) -> str:
    cold = statistics.median(first - steady for first, steady in runs)
    steady = statistics.median(steady for _, steady in runs)
    return f"{cold * 1e3:,.1f} ({steady * 1e3:,.2f})"


if __name__ == "__main__":
    main()
