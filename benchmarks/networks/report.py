"""Results as tables of text, and as a section of the documentation."""

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.networks.bars import checks
from benchmarks.networks.kernels import FAR, WORTH, KernelTime
from benchmarks.networks.results import PEERS, Found, Results
from benchmarks.report import bars, between
from benchmarks.results import OURS
from compiler.core.text import aligned, counted

BEGIN = "<!-- networks: written by python -m benchmarks networks -->"
END = "<!-- end of networks -->"
HEAD = ("network", "ms", *PEERS, "cold s", "again s", "their s", "kernels", "plain", "alone")
LONGEST = 3
"""Operations alone that are named."""
KEY = f"""\
`ms` is ours, the median over rounds; the columns of PyTorch are ratios: how many times longer it
takes. All are measured interleaved, each in a separate process. `cold s`: our compile time,
`again s`: the same with the machine code on disk, `their s`: torch.compile's compile time.
`plain`: kernels left to LLVM. `alone`: our kernels' time as a share of that of the operations,
each compiled and run alone. Far from the roofline: below {FAR} of it and over {WORTH:.0%} of the
time."""


def report(results: Results) -> str:
    """Everything that is printed at the end of a run."""
    lines = [f"{key}: {value}" for key, value in results.machine.items()]
    lines += [KEY, "", *aligned([HEAD, *map(row, results.networks)], range(1, len(HEAD)))]
    lines += ["", *means(results), *estimates(results)]
    for found in results.networks:
        lines += ["", *details(found)]
    lines += ["", bars(checks(results))]
    return "\n".join(lines)


def row(found: Found) -> tuple[str, ...]:
    """One network."""
    ours, compiled = found.entries.get(OURS), found.entries.get("torch.compile")
    return (
        found.name,
        _figure(1e3 * ours.seconds if ours else None),
        *(_figure(found.ratio(peer)) for peer in PEERS),
        _figure(ours.cold if ours else None),
        _figure(found.kept),
        _figure(compiled.cold if compiled else None),
        f"{len(found.kernels)}",
        f"{len(found.plain)}",
        _figure(found.beside_alone),
    )


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def means(results: Results) -> Iterator[str]:
    """A sentence for each peer."""
    for peer in PEERS:
        mean, ratios = results.mean(peer), results.ratios(peer)
        if mean is not None:
            yield (f"{peer}: geometric mean {mean:.2f} over {counted(len(ratios), 'network')}, "
                   f"least {min(ratios):.2f}")  # fmt: skip


def estimates(results: Results) -> Iterator[str]:
    """The error of the estimates of all kernels, and the kernel with the largest."""
    rows = [(it.off, found.name, it.title) for found in results.networks for it in found.kernels]
    if rows:
        off, name, title = max(rows)
        median = statistics.median(row[0] for row in rows)
        yield (f"estimates of {counted(len(rows), 'kernel')}: off by a median factor of "
               f"{median:.2f}, at most {off:.1f}: {title} of {name}")  # fmt: skip


def details(found: Found) -> Iterator[str]:
    """Missing entries, the kernels that are far from their roofline, and the sums."""
    yield f"{found.name}, {found.about}"
    for who, why in found.missing.items():
        yield f"  missing {who}: {why}"
    if found.entries:
        least = (f"{who} {1e3 * it.least:.3g}" for who, it in found.entries.items())
        yield f"  least of all calls, ms: {', '.join(least)}"
    if not found.kernels:
        return
    operations, kinds = sum(it.times for it in found.alone), counted(len(found.alone), "kind")
    yield (f"  {found.items} items of {counted(len(found.kernels), 'kernel')} "
           f"{found.kernels_ns / 1e6:.2f} ms; {operations} operations of {kinds} alone "
           f"{found.alone_ns / 1e6:.2f} ms; far from the roofline: {len(found.far)}")  # fmt: skip
    longest = (f"{it.title} {it.times} × {it.ns / 1e6:.3f} ms" for it in found.alone[:LONGEST])
    yield f"  the longest of these: {', '.join(longest)}"
    if found.far:
        yield from (f"  {line}" for line in kernel_table(found.far, found.kernels_ns))


def kernel_table(kernels: Sequence[KernelTime], total: float) -> list[str]:
    """A row for each kernel; `total` are the nanoseconds of all of one run."""
    head = ("kernel", "items", "ms", "share", "estimated", "of roof", "why")
    rows = [
        (it.title, f"{it.items}", f"{it.ns / 1e6:.3f}", f"{it.ns / total:.1%}",
         f"{it.estimated / 1e6:.3f}", f"{it.of_roof:.2f}", it.why)
        for it in kernels
    ]  # fmt: skip
    return aligned([head, *rows], range(1, 6))


def summary(results: Results) -> str:
    """The table in Markdown, with a sentence on the machine."""
    about = results.machine
    lines = [
        f"{about['processor']}, {results.threads} threads, float32, random weights. {KEY}", "",
        _line(HEAD), _line([":--", *(["--:"] * (len(HEAD) - 1))]),
    ]  # fmt: skip
    for found in results.networks:
        name, *cells = row(found)
        lines.append(_line([f"`{name}`", *cells]))
    words = (*means(results), *estimates(results))
    return "\n".join([*lines, "", *(f"* {line}" for line in words)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def tell(path: Path, results: Results) -> None:
    """Write the results between the two marks of a page."""
    path.write_text(between(path.read_text(), BEGIN, END, summary(results)))
