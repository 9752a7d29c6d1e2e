"""run: the command.

    python -m benchmarks shapes [--count n] [--seed n] [--only a,b] [--isa avx2]

Each case is built and checked on both sides, then timed alternately. `--only` repeats cases by
their numbers. The results are written into `build/`, or to the path of `--json`.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.measuring import ROOT, Effort, Worker, WorkerError
from benchmarks.results import OURS
from benchmarks.run import add_isa, cores, holding
from benchmarks.shapes.cases import case
from benchmarks.shapes.results import Results, Shape, report, to_json

MODULE = "benchmarks.shapes.worker"
RESULTS = ROOT / "build" / "shapes.json"
COUNT = 500
EFFORT = Effort(rounds=5, seconds=0.01)
TOLERANCE = 1e-4
SECONDS = 0.1
"""For the kernels of one of the worst."""


@dataclass(frozen=True, slots=True)
class Cases:
    """The task of a worker: all cases of a seed."""

    seed: int

    @property
    def name(self) -> str:
        """The argument of a worker."""
        return str(self.seed)


class Pair:
    """Ourselves and PyTorch, each in its process; one that ended is started again."""

    def __init__(self, seed: int, folder: Path, threads: int) -> None:
        self.seed, self.folder, self.threads = seed, folder, threads
        self.workers: dict[str, Worker] = {}

    def ask(self, peer: str, *command: str) -> dict[str, Any]:
        """The answer of one of them; `WorkerError` says why there is none."""
        try:
            if peer not in self.workers:
                about = Cases(self.seed)
                self.workers[peer] = Worker(peer, about, self.folder, self.threads, MODULE)
                self.workers[peer].hear()
            return self.workers[peer].ask(*command)
        except WorkerError:
            self.workers.pop(peer).close()
            raise

    def close(self) -> None:
        """End both."""
        for worker in self.workers.values():
            worker.close()

    def shape(self, number: int, effort: Effort) -> Shape:
        """One case, checked and measured alternately."""
        made = case(self.seed, number)
        found = Shape(number, made.kind, str(made))
        times: dict[str, list[float]] = {OURS: [], "torch": []}
        try:
            for peer in times:
                distance = self.ask(peer, "make", str(number))["error"]
                if not distance <= TOLERANCE:
                    return replace(found, failed=f"{peer} is wrong: {distance:.1e}")
            for place in range(effort.rounds):
                for peer in list(times)[:: 1 if place % 2 else -1]:
                    answer = self.ask(peer, "measure", str(number), str(effort.seconds))
                    times[peer].append(min(answer["seconds"]))
        except WorkerError as error:
            return replace(found, failed=str(error))
        return replace(found, ours=tuple(times[OURS]), torch=tuple(times["torch"]))

    def why(self, shape: Shape) -> Shape:
        """The shape, with the reasons of our kernels."""
        try:
            answer = self.ask(OURS, "why", str(shape.number), str(SECONDS))
        except WorkerError as error:
            return replace(shape, why=str(error))
        return replace(shape, why=str(answer["why"]))


def run(seed: int, numbers: Iterable[int], effort: Effort, threads: int) -> Results:
    """Measure the cases, and look into the worst of them."""
    with tempfile.TemporaryDirectory(prefix="svodviz-shapes-") as name:
        pair = Pair(seed, Path(name), threads)
        try:
            shapes = tuple(_told(pair.shape(number, effort) for number in numbers))
            made = Results(seed, threads, shapes)
            looked = {shape.number: pair.why(shape) for shape in made.worst}
        finally:
            pair.close()
    return replace(made, shapes=tuple(looked.get(it.number, it) for it in made.shapes))


def _told(shapes: Iterable[Shape]) -> Iterator[Shape]:
    """The shapes; progress goes to standard error."""
    for shape in shapes:
        result = f"failed: {shape.failed}" if shape.failed else f"{shape.ratio:.2f}"
        print(f"{shape.number:4} {shape.kind:12} {result:>6}  {shape.text}", file=sys.stderr)
        yield shape


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the report, write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks shapes", description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", metavar="A,B", help="cases by number")
    parser.add_argument("--rounds", type=int, default=EFFORT.rounds)
    parser.add_argument("--seconds", type=float, default=EFFORT.seconds,
                        help="for each of the two, in each round")  # fmt: skip
    parser.add_argument("--threads", type=int, default=cores())
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="FILE")
    add_isa(parser)
    given = parser.parse_args(arguments)
    only = [int(number) for number in given.only.split(",") if number.strip()]
    effort = Effort(given.rounds, given.seconds)
    with holding(given.isa):
        results = run(given.seed, only or range(given.count), effort, given.threads)
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(to_json(results))
    print(report(results))
    print(f"\nwritten: {given.json}")


if __name__ == "__main__":
    main()
