"""run: the benchmark itself, from the choice of workloads to the files it writes.

    python -m benchmarks [--workloads a,b] [--peers x,y] [--rounds n] [--isa avx2]

A workload's name stands for its awkward size too. Everything runs with all cores first, then the
usual sizes again with one. A whole run writes `benchmarks/results/MACHINE.json`, the README's
tables and, where nobody is held to an instruction set, `docs/benchmarks.svg`; a part (some
workloads, some peers, `--brief`) writes such files in `build/`. MACHINE is LLVM's name of the
processor, with the instruction set that everybody was held to.
"""

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import llvmlite.binding as llvm

from benchmarks.instruction_sets import SETS, held, without_foreign
from benchmarks.measuring import ROOT, Effort, Measured, measure
from benchmarks.peers import PEERS
from benchmarks.plot import plot
from benchmarks.report import report
from benchmarks.results import LIMITS, OURS, Results, Run, read, to_json
from benchmarks.summary import tell
from benchmarks.workloads import AWKWARD, WORKLOADS, Workload

RESULTS = ROOT / "benchmarks" / "results"
"""The folder with a file for each machine."""
PICTURE = ROOT / "docs" / "benchmarks.svg"
PAGE = ROOT / "docs" / "benchmarks.md"
PART = ROOT / "build"
"""The folder for results and picture of a part: the other ones show a whole run."""


def chosen_workloads(names: str) -> list[Workload]:
    """The workloads of a list with commas, each with its awkward size; empty means all."""
    wanted = _split(names)
    unknown = [n for n in wanted if n not in WORKLOADS]
    if unknown:
        usual = ", ".join(n for n in WORKLOADS if not n.endswith(AWKWARD))
        sys.exit(f"no such workload: {', '.join(unknown)}\nthere are {usual}")
    return [
        w for name, w in WORKLOADS.items()
        if not wanted or name in wanted or name.removesuffix(AWKWARD) in wanted
    ]  # fmt: skip


def chosen_peers(names: str) -> list[str]:
    """The peers of a list with commas, and ourselves; empty means all."""
    wanted = _split(names)
    if unknown := [n for n in wanted if n not in PEERS]:
        sys.exit(f"no such peer: {', '.join(unknown)}\nthere are {', '.join(PEERS)}")
    return [p for p in PEERS if not wanted or p in wanted or p == OURS]


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def machine(versions: dict[str, str], isa: str = "") -> dict[str, object]:
    """The machine and the versions that the run was measured with."""
    return {
        "processor": _processor(),
        "llvm_cpu": str(llvm.get_host_cpu_name()),
        "isa": isa,
        "cores": cores(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "llvmlite": metadata.version("llvmlite"),
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "versions": versions,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((r.split(":", 1)[1].strip() for r in lines if r.startswith("model name")), "")


def cores() -> int:
    """The cores that this process may use."""
    is_limited = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if is_limited else os.cpu_count() or 1


def run(
    workloads: Iterable[Workload],
    peers: list[str],
    threads: int,
    effort: Effort,
    missing: dict[str, str],
    versions: dict[str, str],
) -> Run:
    """All workloads with one number of threads; progress goes to standard error."""
    made, limits = Run(threads), dict[str, list[float]]()
    for workload in workloads:
        start = time.perf_counter()
        found = measure(workload, [*peers, LIMITS], threads, effort)
        _enter(made, workload, found, limits)
        missing |= {f"{workload.name}, {who}, {threads} threads": why
                    for who, why in found.missing.items()}  # fmt: skip
        versions |= {who: word for who, word in found.versions.items() if who != LIMITS}
        print(_progress(workload, threads, found, time.perf_counter() - start), file=sys.stderr)
    made.limits.update({kind: statistics.median(rates) for kind, rates in limits.items()})
    return made


def _progress(workload: Workload, threads: int, found: Measured, seconds: float) -> str:
    """One line for a workload that has just been measured: medians in milliseconds."""
    times = ", ".join(f"{name} {1e3 * e.seconds:.3g}" for name, e in found.entries.items())
    missing = f"; missing {', '.join(found.missing)}" if found.missing else ""
    return f"{workload.name}, {threads} threads, {seconds:.0f} s, ms: {times}{missing}"


def _enter(made: Run, workload: Workload, found: Measured, limits: dict[str, list[float]]) -> None:
    """Put what was found for one workload into a run."""
    made.workloads[workload.name] = found.entries
    if found.memory:
        made.memory[workload.name] = found.memory
    if found.limit:
        made.limit_nearby[workload.name] = found.limit
        limits.setdefault(workload.limit, []).append(found.limit)


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the tables, write the results and the picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--workloads", default="", metavar="A,B")
    parser.add_argument("--peers", default="", metavar="X,Y")
    parser.add_argument("--rounds", type=int, default=Effort().rounds)
    parser.add_argument("--starts", type=int, default=Effort().starts,
                        help="fresh processes for the time of a first call")  # fmt: skip
    parser.add_argument("--brief", action="store_true",
                        help="the usual sizes alone, with all cores alone")  # fmt: skip
    add_isa(parser)
    given = parser.parse_args(arguments)
    workloads, peers = chosen_workloads(given.workloads), chosen_peers(given.peers)
    usual = [w for w in workloads if not w.is_awkward]
    effort = Effort(rounds=given.rounds, starts=given.starts, isa=given.isa)
    missing, versions = dict[str, str](), dict[str, str]()
    single = None
    with holding(given.isa):
        whole = run(usual if given.brief else workloads, peers, cores(), effort, missing, versions)
        if cores() > 1 and not given.brief:
            brief = replace(effort, starts=1)
            single = run(usual, peers, 1, brief, missing, versions)
    results = Results(machine(versions, given.isa), whole, single, missing)
    is_part = bool(given.workloads or given.peers or given.brief)
    kept = RESULTS / f"{results.name}.json"
    before = read(kept) if kept.exists() else None
    paths = (kept,) if given.isa else (kept, PICTURE)
    places = [PART / path.name if is_part else path for path in paths]
    write(results, *places)
    if not is_part:
        tell(PAGE, RESULTS)
    print(report(results, before))
    print("\nwritten:", *(path.relative_to(ROOT) for path in places))


def add_isa(parser: argparse.ArgumentParser) -> None:
    """The option for an instruction set that LLVM and all peers are held to."""
    parser.add_argument("--isa", default="", choices=("", *SETS), help="held to by everybody")


@contextmanager
def holding(isa: str) -> Iterator[None]:
    """Processes that start inside are held to an instruction set; of none each to its own."""
    before = dict(os.environ)
    _set({**without_foreign(before), **held(isa)})
    try:
        yield
    finally:
        _set(before)


def _set(settings: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(settings)


def write(results: Results, data: Path, picture: Path | None = None) -> None:
    """The results as data and, where there is a place for it, as a picture."""
    texts = {data: to_json(results)}
    if picture is not None:
        texts[picture] = plot(results.all_threads)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
