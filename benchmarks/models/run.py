"""run: the command.

    python -m benchmarks models [--models a,b] [--runtimes x,y] [--rounds n] [--seconds s]

Files of models are made once, in `build/models`; results of all go to `benchmarks/models.json` and
into the README's table, of a part to `build/models.json`. Needs torch, torchvision, transformers,
onnxruntime, onnxscript, tinygrad.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks import run as command
from benchmarks.measuring import ROOT
from benchmarks.models import report
from benchmarks.models.results import OURS, Measured, Model, Models, to_json
from benchmarks.models.runtimes import RUNTIMES
from benchmarks.models.zoo import NAMES, QUANTISED

FOLDER = ROOT / "build" / "models"
RESULTS, PART = ROOT / "benchmarks" / "models.json", ROOT / "build" / "models.json"
_WITHOUT_QUANTISED = ("torch", "torch_compile")


class Worker:
    """A runtime that holds one model, in a process with caches of its own."""

    def __init__(self, runtime: str, model: str, threads: int, cache: str) -> None:
        words = [sys.executable, "-m", "benchmarks.models.worker", runtime, model, str(FOLDER),
                 str(threads)]  # fmt: skip
        environment = {**os.environ, "XDG_CACHE_HOME": cache, "OMP_NUM_THREADS": str(threads),
                       "TORCHINDUCTOR_CACHE_DIR": f"{cache}/inductor",
                       "CACHEDB": f"{cache}/tinygrad.db"}  # fmt: skip
        self.process = subprocess.Popen(
            words, env=environment, cwd=ROOT, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.answer = self._read()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                found: dict[str, Any] = json.loads(line)
                return found
        return {"missing": f"ended with {self.process.wait()}"}

    def measure(self, seconds: float) -> dict[str, Any]:
        """The times of calls."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        return self._read()

    def end(self) -> None:
        """Stop the process."""
        self.process.kill()
        self.process.wait()


def measured(name: str, runtimes: list[str], given: argparse.Namespace) -> Model:
    """One model on all runtimes, interleaved."""
    made = Model(name)
    with tempfile.TemporaryDirectory() as folder:
        workers: dict[str, Worker] = {}
        for runtime in runtimes:
            found = made.runtimes[runtime] = Measured()
            if name in QUANTISED and runtime in _WITHOUT_QUANTISED:
                found.missing = "the model is no module of it"
                continue
            worker = Worker(runtime, name, given.threads, f"{folder}/{runtime}")
            found.missing = worker.answer.get("missing", "")
            if found.missing:
                worker.end()
                continue
            found.first, found.error = worker.answer["first"], worker.answer["error"]
            found.peak = worker.answer["peak"]
            workers[runtime] = worker
        for _ in range(given.rounds):
            for runtime, worker in workers.items():
                found, answer = made.runtimes[runtime], worker.measure(given.seconds)
                found.seconds += answer.get("seconds", [])
                found.missing = answer.get("missing", "")
        for worker in workers.values():
            worker.end()
        for runtime in (each for each in workers if each in (OURS, "torch_compile")):
            worker = Worker(runtime, name, given.threads, f"{folder}/{runtime}")
            made.runtimes[runtime].again = worker.answer.get("first", 0.0)
            worker.end()
    return made


def _versions() -> dict[str, str]:
    """Those of the peers that are installed."""
    names = ("torch", "onnxruntime", "tinygrad")
    installed = {each.metadata["Name"] for each in metadata.distributions()}
    return {name: metadata.version(name) for name in names if name in installed}


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the tables, write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks models", description=__doc__)
    parser.add_argument("--models", default="", metavar="A,B", help=", ".join(NAMES))
    parser.add_argument("--runtimes", default="", metavar="X,Y", help=", ".join(RUNTIMES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each in each round")
    parser.add_argument("--threads", type=int, default=command.cores())
    parser.add_argument("--json", type=Path, metavar="FILE", help="where results are written")
    given = parser.parse_args(arguments)
    names = [each for each in given.models.split(",") if each] or list(NAMES)
    runtimes = [each for each in given.runtimes.split(",") if each] or list(RUNTIMES)
    if unknown := [each for each in (*names, *runtimes) if each not in (*NAMES, *RUNTIMES)]:
        sys.exit(f"there is no {', '.join(unknown)}: models are {', '.join(NAMES)}, runtimes "
                 f"{', '.join(RUNTIMES)}")  # fmt: skip
    is_part = bool(given.models or given.runtimes or given.json)
    place = given.json or (PART if is_part else RESULTS)
    made = Models(command.machine(_versions()) | {"threads": given.threads}, found := [])
    for name in names:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "benchmarks.models.exports", name, str(FOLDER)],
                       cwd=ROOT, check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        found.append(measured(name, runtimes, given))
        print(report.table(found)[-1], f"({time.perf_counter() - start:.0f} s)",
              file=sys.stderr, flush=True)  # fmt: skip
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(to_json(made))
    print("\n".join([*report.table(found), "", *report.cold(found), "", *report.targets(found)]))
    if not is_part:
        report.tell(command.PAGE, made)
    print(f"\nwritten: {place}")


if __name__ == "__main__":
    main()
