"""The results of a whole run as the README tells them: a sentence and a table in Markdown."""

from pathlib import Path

from benchmarks.results import OURS, Results, Run
from benchmarks.workloads import AWKWARD, WORKLOADS

BEGIN, END = "<!-- benchmarks: written by make bench -->", "<!-- end of benchmarks -->"


def summary(results: Results) -> str:
    """Our times and rates, and how many times faster than each peer's better entry we are."""
    run = results.all_threads
    peers = [name for name in run.peers() if name != OURS and not name.endswith(" out=")]
    names = [name for name in run.workloads if not name.endswith(AWKWARD)]
    head = ["workload", "ms", "rate", *peers]
    rows = [[f"`{name}`", *_ours(run, name), *_ratios(run, name, peers)] for name in names]
    lines = [_line(head), _line([":--", *(["--:"] * (len(head) - 1))]), *map(_line, rows)]
    return "\n".join([*_words(results), "", *lines])


def _words(results: Results) -> list[str]:
    about, run = results.machine, results.all_threads
    memory, arithmetic = (run.limits.get(it, 0.0) / 1e9 for it in ("triad", "fma"))
    speeds = f"{memory:.0f} GB/s, {arithmetic:.0f} GFLOP/s"
    return [
        f"{about['processor']}, {run.threads} threads, float32; limits of the machine, measured",
        f"in the same run: {speeds}. The columns of the libraries say how many times longer than",
        "svodviz their better entry takes (as users call it, or with outputs made before). All",
        "times, awkward sizes, and one thread: `benchmarks/results.json`.",
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


def told(readme: str, results: Results) -> str:
    """The README's text with these results between its two marks."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{summary(results)}\n\n{END}{after}"


def tell(path: Path, results: Results) -> None:
    """Writes the results into a README."""
    path.write_text(told(path.read_text(), results))
