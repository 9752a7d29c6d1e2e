"""A compilation in words: the stable text of an explorer, and `svodviz show --stage summary`."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from svodviz.foundation.escape import visible
from svodviz.foundation.stages import STAGES, printed, units
from svodviz.foundation.subject import compilation_of, name_of
from svodviz.wire.scene import Wire
from svodviz.wire.schedule import schedule_text


@dataclass(frozen=True)
class _Sizes:
    """What a summary tells; `rewrites` is None where they were not recorded."""

    name: str
    operations: list[str]
    changed: list[bool]
    rewrites: int | None
    kernels: list[str]
    items: int
    on_path: int
    loops: list[int]
    lowered: list[int]
    source: list[int]


def summary(subject: Any) -> str:
    """A few lines with sizes and names only: no addresses, no times, nothing of this machine.

    `subject` is what `explore` takes; TypeError where that is nothing to explore.
    """
    return _words(_counted(compilation_of(subject, by="summary")))


def summary_of_page(data: Wire, compilation: Any) -> str:
    """The same from the data of its page, where these have all nodes: nothing is made again."""
    units = {stage["id"]: stage["units"] for stage in data["stages"]}
    scenes = [units[name][0]["scene"] for name in ("graph", "schedule")]
    if None in scenes or any(units[name][0]["note"] for name in ("graph", "schedule")):
        return summary(compilation)
    return _words(_Sizes(
        data["name"],
        [node["op"] for node in scenes[0]["nodes"]],
        [record["changed"] for record in data["passes"]],
        _rewrites(compilation.passes),
        [unit["name"] for unit in units["loops"]],
        len(scenes[1]["nodes"]),
        _on_path(compilation),
        *_line_counts(compilation),
    ))  # fmt: skip


def _counted(compilation: Any) -> _Sizes:
    graph, items = compilation.graph.to_networkx(), compilation.schedule.to_networkx()
    return _Sizes(
        visible(name_of(compilation)),
        [str(op) for _, op in graph.nodes(data="op")],
        [bool(record.changed) for record in compilation.passes],
        _rewrites(compilation.passes),
        [visible(stage.name) for stage in compilation.loops],
        len(items),
        _on_path(compilation),
        *_line_counts(compilation),
    )


def _on_path(compilation: Any) -> int:
    return len(getattr(compilation.schedule, "critical_path", ()))


def _rewrites(passes: Any) -> int | None:
    """How many there were; None where one that changed the program was not traced."""
    counts = [len(it.applied) for it in passes]
    is_known = all(n or not it.changed for n, it in zip(counts, passes, strict=True))
    return sum(counts) if is_known else None


def _line_counts(compilation: Any) -> list[list[int]]:
    return [[it.line_count for it in getattr(compilation, name)]
            for name in ("loops", "lowered", "source")]  # fmt: skip


def _words(it: _Sizes) -> str:
    lines = [
        f"compilation {it.name}",
        f"  graph      {_count(len(it.operations), 'node')}: {_operations(it.operations)}",
        f"  passes     {sum(it.changed)} changed the program,"
        f" {'rewrites not recorded' if it.rewrites is None else _count(it.rewrites, 'rewrite')}",
        f"  kernels    {len(it.kernels)}: {_listed(it.kernels)}".removesuffix(": "),
        f"  schedule   {_count(it.items, 'item')}, {it.on_path} on the critical path",
        f"  loops      {_lines(it.loops)}",
        f"  lowered    {_lines(it.lowered, 'instruction')}",
        f"  LLVM IR    {_lines(it.source)}",
    ]
    return "\n".join(lines)


def full_summary(compilation: Any) -> str:
    """`summary`, and what LLVM made of the program on this machine."""
    lines = [
        summary(compilation),
        f"  optimised  {_lines([len(it.lines) for it in compilation.optimized])} of LLVM IR",
        f"  assembly   {_lines([len(it.lines) for it in compilation.assembly])}",
    ]
    return "\n".join(lines)


def _lines(counts: list[int], noun: str = "line") -> str:
    """How many lines the kernels have, together and each."""
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
        is_known = record.applied or not record.changed
        rewrites = _count(len(record.applied), "rewrite") if is_known else "not recorded"
        lines.append(f"{mark} {place:<10} {record.name:<20} {rewrites:<13} {record.because}")
        rules = Counter((it.rule, it.algebra) for it in record.applied)
        lines += [f"    {count:>3} × {rule}: {algebra}" for (rule, algebra), count in rules.items()]
    return lines


def _operations(operations: list[str]) -> str:
    counts = Counter(operations)
    ordered = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
    return _listed([visible(f"{op} {n}" if n > 1 else op) for op, n in ordered])


def _listed(words: list[str], longest: int = 6) -> str:
    more = len(words) - longest
    return ", ".join(words[:longest]) + (f" and {more} more" if more > 0 else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
