"""Cold compile: the first call of a program less a steady call, each run a fresh process.

Caches on disk are empty: every run of ours gets a new folder for them, tinygrad's is off. The same
program in a second process that finds its machine code in that folder is "kept". Both compilers
(tinygrad on its CPU device with LLVM; taken where it is installed, or from the interpreter given
by `--tinygrad PYTHON`) alternate, so that both see the same machine. The first call includes
everything from graph to executed machine code and new memory for the result, which a steady call
has already: results are small, so that this is little. Importing is not counted.
"""

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import ROOT, environment
from benchmarks.run import cores

SHARE = 0.4
"""The most that a cold compile may take of tinygrad's."""


@dataclass(frozen=True)
class Program:
    """A program, the shapes of its inputs, and the milliseconds that it may take."""

    expression: str
    shapes: tuple[tuple[int, ...], ...]
    bar: float


PROGRAMS = {
    "ew_chain": Program("(a * b + c).relu() * 0.5", ((1024, 1024),) * 3, 25),
    "softmax": Program("a.softmax(axis=1)", ((1024, 1024),), 45),
    "matmul_512": Program("a @ b", ((512, 512), (512, 512)), 45),
    "conv2d": Program("a.conv2d(b, padding=1)", ((8, 64, 32, 32), (64, 64, 3, 3)), 80),
}
_MEASURE = """
import json, statistics, time
import numpy as np
from {package} import Tensor
{imported}
draw = np.random.default_rng(0).standard_normal
names = dict(zip("abc", [Tensor(draw(s).astype(np.float32)).realize() for s in {shapes}]))
def call():
    start = time.perf_counter()
    eval({expression!r}, names).numpy()
    return time.perf_counter() - start
first = call()
steady = statistics.median(call() for _ in range(5))
print(json.dumps([first, steady]))
"""
IMPORTED = {"compiler": "import compiler.run.building, compiler.run.realize", "tinygrad": ""}
"""Modules that are loaded where a program is first compiled: importing is not counted."""
Run = tuple[float, float]


def measure(python: str, package: str, program: Program, caches: str) -> Run:
    """Seconds of the first and of a steady call, in a fresh process."""
    expression = program.expression
    if package == "tinygrad":
        expression = expression.replace("axis=", "")
    code = _MEASURE.format(
        package=package, imported=IMPORTED[package], shapes=program.shapes, expression=expression
    )
    ran = subprocess.run(
        [python, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=environment(Path(caches), cores()),
    )
    first, steady = json.loads(ran.stdout.splitlines()[-1])
    return first, steady


def measure_all(program: Program, peer: str | None, runs: int) -> dict[str, list[Run]]:
    """The runs of all programs, interleaved."""
    found: dict[str, list[Run]] = {}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as caches:
            for who in ("cold", "kept"):
                run = measure(sys.executable, "compiler", program, caches)
                found.setdefault(who, []).append(run)
            if peer:
                run = measure(peer, "tinygrad", program, caches)
                found.setdefault("tinygrad", []).append(run)
    return found


def cold(runs: list[Run]) -> float:
    """Milliseconds of the first call less a steady one: the median."""
    return statistics.median(first - steady for first, steady in runs) * 1e3


def row(name: str, program: Program, found: dict[str, list[Run]]) -> str:
    """One row of the table."""
    ours = cold(found["cold"])
    least = min(first - steady for first, steady in found["cold"]) * 1e3
    steady = statistics.median(steady for _, steady in found["cold"]) * 1e3
    text = f"{name:<12}{ours:>9.1f}{least:>9.1f}{program.bar:>9.0f}{cold(found['kept']):>9.1f}"
    text += f"{steady:>10.2f}"
    if "tinygrad" not in found:
        return text
    theirs = cold(found["tinygrad"])
    return f"{text}{theirs:>10.1f}{ours / theirs:>8.2f}"


def main(arguments: list[str] | None = None) -> None:
    """Measure and print one row per program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--tinygrad", metavar="PYTHON", help="an interpreter that has tinygrad")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args(arguments)
    unknown = set(given.programs) - set(PROGRAMS)
    if unknown:
        parser.error(f"no such program: {', '.join(sorted(unknown))}")
    peer = given.tinygrad or (sys.executable if importlib.util.find_spec("tinygrad") else None)
    if not peer:
        print("tinygrad is not installed: only our own times")
    head = f"{'ms':<12}{'cold':>9}{'least':>9}{'bar':>9}{'kept':>9}{'steady':>10}"
    print(head + (f"{'tinygrad':>10}{f'≤ {SHARE}':>8}" if peer else ""))
    for name in given.programs or PROGRAMS:
        program = PROGRAMS[name]
        print(row(name, program, measure_all(program, peer, given.runs)), flush=True)


if __name__ == "__main__":
    main()
