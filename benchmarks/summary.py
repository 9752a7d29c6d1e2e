"""The results of whole runs in the documentation: the newest, and a row for each machine."""

import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.report import between
from benchmarks.results import OURS, Results, Run, read
from benchmarks.workloads import AWKWARD, WORKLOADS

ROWS = """\
The last whole run on each machine: how many times longer the best library takes, as a geometric
mean over all workloads, and the workload with the least ratio. *Held to*: LLVM and every library
were limited to that instruction set by their own options (`make bench ISA=avx2`), and reported that
they comply."""
BEGIN, END = "<!-- benchmarks: written by make bench -->", "<!-- end of benchmarks -->"


def summary(results: Results) -> str:
    """Our times and rates, and the speedup over each peer's better entry."""
    run = results.all_threads
    peers = [name for name in run.peers() if name != OURS and not name.endswith(" out=")]
    names = [name for name in run.workloads if not name.endswith(AWKWARD)]
    head = ["workload", "ms", "rate", *peers]
    rows = [[f"`{name}`", *_ours(run, name), *_ratios(run, name, peers)] for name in names]
    lines = [_line(head), _line([":--", *(["--:"] * (len(head) - 1))]), *map(_line, rows)]
    return "\n".join([*_words(results), "", *lines])


def by_machine(every: Sequence[Results]) -> str:
    """A row for each machine: the ratios to the best peer of each workload."""
    head = ["machine", "held to", "date", "all cores", "awkward sizes", "one core", "least"]
    lines = [_line(head), _line([":--", ":--", ":--", *["--:"] * 4])]
    return "\n".join([*lines, *(_line(_row(each)) for each in every)])


def _row(results: Results) -> list[str]:
    about = results.machine
    found = over_the_best(results.all_threads)
    usual = {n: ratio for n, ratio in found.items() if not n.endswith(AWKWARD)}
    awkward = [ratio for name, ratio in found.items() if name.endswith(AWKWARD)]
    single = over_the_best(results.single_thread) if results.single_thread else {}
    least = min(usual, key=usual.__getitem__, default="")
    return [
        f"{about['processor']} ({about['llvm_cpu']})", about.get("isa") or "–",
        about["date"].split()[0], _mean(usual.values()), _mean(awkward), _mean(single.values()),
        f"{usual[least]:.2f} `{least}`" if least else "–",
    ]  # fmt: skip


def over_the_best(run: Run) -> dict[str, float]:
    """The ratio of the best peer's time to ours, by workload."""
    peers = [name for name in run.peers() if name != OURS and not name.endswith(" out=")]
    found = {
        name: [ratio for peer in peers if (ratio := run.ratio(name, peer)) is not None]
        for name in run.workloads
    }
    return {name: min(ratios) for name, ratios in found.items() if ratios}


def _mean(ratios: Iterable[float]) -> str:
    found = list(ratios)
    return f"{statistics.geometric_mean(found):.2f}" if found else "–"


def _words(results: Results) -> list[str]:
    about, run = results.machine, results.all_threads
    memory, arithmetic = (run.limits.get(it, 0.0) / 1e9 for it in ("triad", "fma"))
    speeds = f"{memory:.0f} GB/s, {arithmetic:.0f} GFLOP/s"
    return [
        f"{about['processor']}, {run.threads} threads, float32; limits of the machine, measured",
        f"in the same run: {speeds}. The columns of the libraries are ratios: how many times",
        "longer than svodviz their better entry takes (as users call it, or with preallocated",
        "outputs). All times, awkward sizes, and one thread:",
        f"`benchmarks/results/{results.name}.json`.",
    ]


def _ours(run: Run, name: str) -> list[str]:
    entry = run.best(name, OURS)
    if entry is None:
        return ["–", "–"]
    rate, unit = WORKLOADS[name].rate(entry.seconds)
    return [f"{1e3 * entry.seconds:.3g}", f"{rate:.0f} {unit}"]


def _ratios(run: Run, name: str, peers: list[str]) -> list[str]:
    found = [run.ratio(name, peer) for peer in peers]
    return ["–" if ratio is None else _rounded(ratio) for ratio in found]


def _rounded(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.3g}" if ratio >= 10 else f"{ratio:.2f}"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def told(readme: str, every: Sequence[Results]) -> str:
    """The page with these results between its two marks, oldest first: the newest without a limited
    instruction set as a table, and a row for each."""
    newest = next(it for it in reversed(every) if not it.machine.get("isa"))
    text = f"{summary(newest)}\n\n{ROWS}\n\n{by_machine(every)}"
    return between(readme, BEGIN, END, text)


def kept(folder: Path) -> list[Results]:
    """The results of each machine, the newest last."""
    every = map(read, folder.glob("*.json"))
    return sorted(every, key=lambda results: str(results.machine["date"]))


def tell(path: Path, folder: Path) -> None:
    """Write the results of a folder into a page."""
    path.write_text(told(path.read_text(), kept(folder)))
