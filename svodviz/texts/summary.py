"""A compilation in words: the stable text of an explorer, and `svodviz show --stage summary`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compiler.core.printable import printout
from compiler.core.text import counted
from svodviz.foundation.escape import visible
from svodviz.foundation.stages import BY_ID, printed, units
from svodviz.foundation.subject import compilation_of, name_of
from svodviz.wire.schedule import schedule_text

if TYPE_CHECKING:
    from compiler.core.trace import PassRecord
    from compiler.program.compilation import Compilation
    from svodviz.data import pages


@dataclass(frozen=True)
class _Sizes:
    """The figures of a summary; `rewrites` is None where they were not recorded."""

    name: str
    operations: list[str]
    changed: list[bool]
    rewrites: int | None
    kernels: list[str]
    items: int
    on_path: int
    critical: int
    loops: list[int]
    lowered: list[int]
    source: list[int]


def summary(subject: object) -> str:
    """A few lines with sizes and names only: no addresses, no times, nothing of this machine.

    `subject` is what `explore` takes; TypeError where that is nothing to explore.
    """
    return _words(_counted(compilation_of(subject, by="summary")))


def summary_of_page(data: "pages.Wire", compilation: "Compilation") -> str:
    """The same from the data of its page if these have all nodes: nothing is recomputed."""
    units = {stage["id"]: stage["units"] for stage in data["stages"]}
    graph, schedule = (units[name][0] for name in ("graph", "schedule"))
    if not graph["scene"] or not schedule["scene"] or graph["note"] or schedule["note"]:
        return summary(compilation)
    return _words(_Sizes(
        data["name"],
        [node["op"] for node in graph["scene"]["nodes"]],
        [record["changed"] for record in data["passes"]],
        _rewrites(compilation.passes),
        [unit["name"] for unit in units["loops"]],
        len(schedule["scene"]["nodes"]),
        len(compilation.schedule.critical_path),
        len(compilation.schedule.critical_items),
        *_line_counts(compilation),
    ))  # fmt: skip


def _counted(compilation: "Compilation") -> _Sizes:
    graph, items = compilation.graph.to_networkx(), compilation.schedule.to_networkx()
    return _Sizes(
        visible(name_of(compilation)),
        [str(op) for _, op in graph.nodes(data="op")],
        [record.changed for record in compilation.passes],
        _rewrites(compilation.passes),
        [visible(stage.name) for stage in compilation.loops],
        len(items),
        len(compilation.schedule.critical_path),
        len(compilation.schedule.critical_items),
        *_line_counts(compilation),
    )


def _rewrites(passes: "Sequence[PassRecord]") -> int | None:
    """The number of rewrites; None if a pass that changed the program was not traced."""
    counts = [len(it.applied) for it in passes]
    is_known = all(n or not it.changed for n, it in zip(counts, passes, strict=True))
    return sum(counts) if is_known else None


def _line_counts(compilation: "Compilation") -> list[list[int]]:
    stages = compilation.loops, compilation.lowered, compilation.source
    return [[it.line_count for it in kernels] for kernels in stages]


def _ties(count: int) -> str:
    """The critical items off the critical path, in words."""
    return f", {count:,} more on paths as long" if count else ""


def _words(it: _Sizes) -> str:
    lines = [
        f"compilation {it.name}",
        f"  graph      {counted(len(it.operations), 'node')}: {_operations(it.operations)}",
        f"  passes     {sum(it.changed)} changed the program,"
        f" {'rewrites not recorded' if it.rewrites is None else counted(it.rewrites, 'rewrite')}",
        f"  kernels    {len(it.kernels)}: {_listed(it.kernels)}".removesuffix(": "),
        f"  schedule   {counted(it.items, 'item')}, {it.on_path} on the critical path"
        f"{_ties(it.critical - it.on_path)}",
        f"  loops      {_lines(it.loops)}",
        f"  lowered    {_lines(it.lowered, 'instruction')}",
        f"  LLVM IR    {_lines(it.source)}",
    ]
    return "\n".join(lines)


def full_summary(compilation: "Compilation") -> str:
    """`summary`, and what LLVM made of the program on this machine."""
    lines = [
        summary(compilation),
        f"  optimised  {_lines([len(it.lines) for it in compilation.optimized])} of LLVM IR",
        f"  assembly   {_lines([len(it.lines) for it in compilation.assembly])}",
    ]
    return "\n".join(lines)


def _lines(counts: list[int], noun: str = "line") -> str:
    """The number of lines of the kernels, in total and each."""
    each = f" ({_listed([str(n) for n in counts])})" if len(counts) > 1 else ""
    return f"{counted(sum(counts), noun)}{each}"


def text_of(compilation: "Compilation", stage_id: str) -> str:
    """The printed program of one stage, of every kernel where there are several."""
    if stage_id == "passes":
        return "\n".join(map(visible, _pass_lines(compilation)))
    if stage_id == "schedule":
        return schedule_text(compilation)
    texts = _texts(compilation, stage_id)
    if len(texts) == 1:
        return texts[0][1]
    return "\n\n".join(f"── {visible(title)} ──\n{text}" for title, text in texts)


def _texts(compilation: "Compilation", stage_id: str) -> list[tuple[str, str]]:
    """The printed parts of a stage with their titles."""
    if stage_id == "llvm_passes":
        names = [loops.name for loops in compilation.loops]
        return [(it, printout(str(compilation.llvm_passes(it)).split("\n"))) for it in names]
    stage_units = units(compilation, BY_ID[stage_id])
    return [(it.name or it.title, printed(it.stage)) for it in stage_units]


def _pass_lines(compilation: "Compilation") -> list[str]:
    lines: list[str] = []
    for record in compilation.passes:
        place = f"{record.stage} {record.kernel}".strip()
        mark = "●" if record.changed else "○"
        is_known = record.applied or not record.changed
        rewrites = counted(len(record.applied), "rewrite") if is_known else "not recorded"
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
