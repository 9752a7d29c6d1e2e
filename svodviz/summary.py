"""A compilation in words: the stable text of an explorer, and `svodviz show --stage summary`."""

from collections import Counter
from typing import Any

from svodviz.escape import visible
from svodviz.schedule import schedule_text
from svodviz.stages import STAGES, printed, units
from svodviz.subject import name_of


def summary(compilation: Any) -> str:
    """A few lines with sizes and names only: no addresses, no times, nothing of this machine."""
    graph = compilation.graph.to_networkx()
    rewrites = sum(len(record.applied) for record in compilation.passes)
    changed = sum(bool(record.changed) for record in compilation.passes)
    items = compilation.schedule.to_networkx()
    critical = sum(bool(it) for _, it in items.nodes(data="critical"))
    kernels = [visible(stage.name) for stage in compilation.loops]
    lines = [
        f"compilation {visible(name_of(compilation))}",
        f"  graph      {_count(len(graph), 'node')}: {_operations(graph)}",
        f"  passes     {len(compilation.passes)}, {changed} changed the program,"
        f" {_count(rewrites, 'rewrite')}",
        f"  kernels    {len(kernels)}: {_listed(kernels)}",
        f"  schedule   {_count(len(items), 'item')}, {critical} on the critical path",
        f"  loops      {_lines(compilation.loops)}",
        f"  lowered    {_lines(compilation.lowered, 'instruction')}",
        f"  LLVM IR    {_lines(compilation.source)}",
    ]
    return "\n".join(lines)


def full_summary(compilation: Any) -> str:
    """`summary`, and what LLVM made of the program on this machine."""
    lines = [
        summary(compilation),
        f"  optimised  {_lines(compilation.optimized)} of LLVM IR",
        f"  assembly   {_lines(compilation.assembly)}",
    ]
    return "\n".join(lines)


def _lines(stages: Any, noun: str = "line") -> str:
    """How many lines the stages print, together and each."""
    counts = [len(stage.lines) for stage in stages]
    each = f" ({_listed([str(n) for n in counts])})" if len(counts) > 1 else ""
    return f"{_count(sum(counts), noun)}{each}"


def text_of(compilation: Any, stage_id: str) -> str:
    """The printed program of one stage, of every kernel where there are several."""
    row = next(row for row in STAGES if row.id == stage_id)
    if row.id == "passes":
        return "\n".join(map(visible, _pass_lines(compilation)))
    if row.id == "schedule":
        return schedule_text(compilation)
    found = list(units(compilation, row))
    if len(found) == 1:
        return printed(found[0].stage)
    titled = ((visible(it.name or it.title), printed(it.stage)) for it in found)
    return "\n\n".join(f"── {title} ──\n{text}" for title, text in titled)


def _pass_lines(compilation: Any) -> list[str]:
    lines: list[str] = []
    for record in compilation.passes:
        place = f"{record.stage} {record.kernel}".strip()
        mark = "●" if record.changed else "○"
        rewrites = _count(len(record.applied), "rewrite")
        lines.append(f"{mark} {place:<10} {record.name:<20} {rewrites:<13} {record.because}")
        rules = Counter((it.rule, it.algebra) for it in record.applied)
        lines += [f"    {count:>3} × {rule}: {algebra}" for (rule, algebra), count in rules.items()]
    return lines


def _operations(graph: Any) -> str:
    counts = Counter(str(op) for _, op in graph.nodes(data="op"))
    ordered = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
    return _listed([visible(f"{op} {n}" if n > 1 else op) for op, n in ordered])


def _listed(words: list[str], longest: int = 6) -> str:
    more = len(words) - longest
    return ", ".join(words[:longest]) + (f" and {more} more" if more > 0 else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
