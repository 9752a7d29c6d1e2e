"""Results as tables of text: times, rates, shares of the limits, ratios, and the targets."""

import math
from collections.abc import Iterator, Sequence

from benchmarks.bars import Check, checks, share
from benchmarks.results import OURS, Entry, Results, Run
from benchmarks.workloads import WORKLOADS, Workload
from compiler.core.text import aligned, counted

KEY = """\
How it is measured. Each library runs in a separate process; in every round all are measured one at
a time, in rotating order. A time is the median over rounds of the median of a round's calls; ± is
half the distance of the quartiles over all calls. `first` is the first call in a fresh process with
empty caches; for svodviz and tinygrad the median of several.
Allocations. Every library, ours too, gets its inputs in its own memory before anything is timed and
returns a new result from each call. That result is dropped before the next call, so that the
allocator can reuse its memory. Entries with `out=` write into one preallocated array. tinygrad's
TinyJit always replays into the same buffer; JAX has no such option.
Results are compared with NumPy in float64: the greatest difference as a share of the greatest
magnitude must not exceed 1e-5, for sums, mlp_forward and small_chain 1e-4. A wrong entry is left
out and listed."""


APART = 1.15
"""If the times of two runs differ by more than this factor, no target is decided: one of the runs
was disturbed, or the machine has changed."""


def between(page: str, begin: str, end: str, text: str) -> str:
    """A page with `text` between its two marks."""
    before, rest = page.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def report(results: Results, before: Results | None = None) -> str:
    """The text printed at the end of a run; `before` is an earlier run on the same machine."""
    parts = [machine(results), KEY, table(results.all_threads), ratios(results.all_threads)]
    if results.single_thread:
        parts += [table(results.single_thread), ratios(results.single_thread)]
    parts.append(missing(results))
    earlier = checks(before.all_threads) if before else ()
    parts.append(bars(checks(results.all_threads), earlier))
    return "\n\n".join(part for part in parts if part)


def machine(results: Results) -> str:
    """The machine that it was measured on, and its limits."""
    lines = [f"{key}: {_plain(value)}" for key, value in results.machine.items()]
    runs = [run for run in (results.all_threads, results.single_thread) if run]
    for run in runs:
        limits = ", ".join(
            f"{name} {value / 1e9:.1f} {'GFLOP/s' if name == 'fma' else 'GB/s'}"
            for name, value in run.limits.items()
        )
        lines.append(f"limits with {_threads(run)}: {limits or 'not measured'}")
    return "\n".join(lines)


def _threads(run: Run) -> str:
    return counted(run.threads, "thread")


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {v}" for k, v in value.items())
    return str(value)


def table(run: Run) -> str:
    """One row per workload and entry."""
    head = ("workload", "entry", "ms", "±", "least", "rate", "of limit", "svodviz is", "first ms",
            "error")  # fmt: skip
    rows = []
    for name, entries in run.workloads.items():
        workload = WORKLOADS[name]
        for label, entry in entries.items():
            rows.append((name, label, *_cells(run, workload, label, entry)))
    title = f"times with {_threads(run)}"
    return f"{title}\n{_table([head, *rows])}"


def _cells(run: Run, workload: Workload, label: str, entry: Entry) -> Iterator[str]:
    yield f"{1e3 * entry.seconds:,.3f}"
    yield f"{1e3 * (entry.spread[1] - entry.spread[0]) / 2:,.3f}"
    yield f"{1e3 * entry.least:,.3f}"
    (rate, unit), limit = workload.rate(entry.seconds), run.limit_nearby.get(workload.name)
    yield f"{rate:,.1f} {unit}"
    yield f"{1e9 * rate / limit:.2f}" if limit else ""
    ours = run.workloads[workload.name].get(OURS)
    yield f"{entry.seconds / ours.seconds:.3g}×" if ours and label != OURS else ""
    yield f"{1e3 * entry.first:,.1f}"
    yield f"{entry.error:.0e}"


def ratios(run: Run) -> str:
    """The speedup over each peer, against the better of its entries."""
    names = [n for n in run.peers() if n != OURS and not n.endswith(" out=")]
    rows = [("workload", *names, "share of limit")]
    for workload in run.workloads:
        found = (run.ratio(workload, peer) for peer in names)
        part = share(run, workload)
        cells = ["–" if ratio is None else f"{ratio:.3g}" for ratio in found]
        rows.append((workload, *cells, "–" if part is None else f"{part:.2f}"))
    title = f"svodviz, times faster than a peer's better entry, with {_threads(run)}"
    return f"{title}\n{_table(rows)}" if run.workloads and names else ""


def missing(results: Results) -> str:
    """The missing entries, with reasons."""
    rows = [(name, why) for name, why in results.missing.items()]
    return f"missing\n{_table([('entry', 'why'), *rows])}" if rows else ""


def bars(made: Sequence[Check], before: Sequence[Check] = ()) -> str:
    """One row per target: met, not met, or the difference between two runs."""
    words = {True: "met", False: "not met", None: "not measured"}
    earlier = {(c.workload, c.what): c.measured for c in before}
    apart = [_apart(c, earlier.get((c.workload, c.what))) for c in made]
    rows = [
        (c.workload, c.what, f"{'≥' if c.is_least else '≤'} {c.bar:,.2f}{c.unit}",
         _measured(c), differs or words[c.passed])
        for c, differs in zip(made, apart, strict=True)
    ]  # fmt: skip
    clear = [c for c, differs in zip(made, apart, strict=True) if not differs]
    met = sum(c.passed is True for c in clear)
    decided = sum(c.passed is not None for c in clear)
    head = ("workload", "against", "target", "measured", "")
    return f"targets: {met} of {decided} met\n{_table([head, *rows])}" if made else ""


def _apart(check: Check, before: float | None) -> str:
    """The earlier figure, if it differs too much from this one to decide on the target."""
    now = check.measured
    if not now or not before or not check.is_least:
        return ""
    if max(now, before) <= APART * min(now, before):
        return ""
    return f"undecided: {before:,.2f}{check.unit} in the run before"


def _measured(check: Check) -> str:
    if check.measured is None or math.isnan(check.measured):
        return "–"
    return f"{check.measured:,.2f}{check.unit}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Columns of text: words to the left, figures to the right."""
    return "\n".join(aligned(rows, range(2, len(rows[0]))))
