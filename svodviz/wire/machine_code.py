"""What the page asks about machine code: LLVM's passes, and the assembly of other machines.

    llvm_passes   {"kernel": name, "level": 0 … 3 or -1 for the kernel's own}
      answer      {"kernel", "number", "level", "because", "start": [row], "changes": [change],
                   "remarks": [[words, original, line, loop, taken]], "unseen", "seconds"}
      change      {"name", "title", "on", "kind", "purpose", "edits": [[at, removed, [row]]]}
    assembly_for  {"machine": id}
      answer      {"machine", "units": [{"name", "lines": [row], "flow": flow or null}], "seconds"}
    row           [text, line of the generated IR, …]; no numbers where nothing is known
    flow          {"blocks": [[label, first, end, [head]]], "jumps": [[from, to, way, back]]}

The heads of a block are the blocks at the heads of the loops around it, outermost first. Edits
apply to the text before, which is that of the change before of the same kind ("IR" begins
with `start`, "machine" with nothing). Answers are kept, so exports show what was asked for;
`recorded` asks everything at once.
"""

import platform
from typing import Any

from svodviz.foundation.escape import visible
from svodviz.foundation.requests import Json, Progress, key_of, request
from svodviz.wire.scene import Wire, plain

OWN_LEVEL = -1
HOSTS = {"x86_64": "x86", "amd64": "x86", "aarch64": "arm", "arm64": "arm", "riscv64": "riscv"}
Row = list[Any]


@request("llvm_passes", is_kept=True)
def llvm_passes(explorer: Any, arguments: dict[str, Any], progress: Progress) -> Json:
    """LLVM's passes on one kernel, as far as they changed something."""
    progress("LLVM is compiling the kernel in a process of its own …")
    return _passes(explorer.compilation, **arguments)


@request("assembly_for", is_kept=True)
def assembly_for(explorer: Any, arguments: dict[str, Any], progress: Progress) -> Json:
    """The assembly of every kernel for another machine."""
    progress("LLVM is writing the assembly in a process of its own …")
    return _assembly(explorer.compilation, **arguments)


def machine_rows() -> list[list[str]]:
    """The machines whose assembly can be asked for: [id, title, note]."""
    from compiler.llvm.looking.machines import MACHINES

    return [[it.id, it.title, it.note] for it in MACHINES.values()]


def host() -> str:
    """Whose assembly the code that runs here has, as the ids of machines begin; "" for others."""
    return HOSTS.get(platform.machine().lower(), "")


def recorded(compilation: Any) -> dict[str, Json]:
    """The answer to everything that the page can ask about machine code, for an export.

    Where LLVM cannot do it the answer is {"problem": words}.
    """
    questions = [
        ("llvm_passes", _passes, {"kernel": visible(str(loops.name)), "level": OWN_LEVEL})
        for loops in compilation.loops
    ]
    questions += [
        ("assembly_for", _assembly, {"machine": machine}) for machine, *_ in machine_rows()
    ]
    answers: dict[str, Json] = {}
    for name, answer, arguments in questions:
        try:
            answers[key_of(name, arguments)] = answer(compilation, **arguments)
        except Exception as error:  # a machine that this LLVM lacks must not spoil the export
            answers[key_of(name, arguments)] = {"problem": visible(f"{error}")}
    return answers


def flow_row(listing: Any) -> Wire | None:
    """Blocks and jumps of assembly; None where a listing says nothing of them."""
    found = getattr(listing, "flow", None)
    if found is None:
        return None
    return {
        "blocks": [[visible(b.label), b.first, b.end, list(b.loops)] for b in found.blocks],
        "jumps": [[j.source, j.target, j.way, j.is_back] for j in found.jumps],
    }


def _passes(compilation: Any, kernel: str, level: int) -> Wire:
    names = {visible(str(loops.name)): str(loops.name) for loops in compilation.loops}
    run = compilation.llvm_passes(names.get(kernel, kernel), None if level == OWN_LEVEL else level)
    return {
        "kernel": visible(run.kernel),
        "number": run.number,
        "level": visible(run.level.done),
        "because": visible(run.level.because),
        "start": _rows(run.start.rows, run.start.sources),
        "changes": [_change(change) for change in run.changes],
        "remarks": [
            [visible(it.words), visible(it.original), it.line, visible(it.loop), it.taken]
            for it in run.remarks
        ],
        "unseen": run.unseen,
        "seconds": plain(run.seconds),
    }


def _change(change: Any) -> Wire:
    after = change.after
    return {
        "name": visible(change.name),
        "title": visible(change.title),
        "on": visible(change.on),
        "kind": change.kind,
        "purpose": visible(change.purpose),
        "edits": [
            [it.at, it.removed, _rows(after.rows[it.start : it.end], after.sources[it.start :])]
            for it in change.edits
        ],
    }


def _rows(rows: Any, sources: Any) -> list[Row]:
    # `sources` may go on past the rows that are wanted
    pairs = zip(rows, sources, strict=False)
    return [[visible(text.expandtabs(4)), *lines] for text, lines in pairs]


def _assembly(compilation: Any, machine: str) -> Wire:
    listings = compilation.assembly_for(machine)
    return {
        "machine": machine,
        "units": [
            {
                "name": visible(it.name),
                "number": it.kernel,
                "lines": _rows(it.rows, it.sources),
                "flow": flow_row(it),
            }
            for it in listings
        ],
        "seconds": plain(sum(it.seconds for it in listings)),
    }
