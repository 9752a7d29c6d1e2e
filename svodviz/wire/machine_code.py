"""The page's questions about machine code: LLVM's passes, and the assembly of other machines.

    llvm_passes   {"kernel": name, "level": 0 … 3 or -1 for the kernel's own}
    assembly_for  {"machine": id}
    latencies     {"kernel": name}
    hot           {"kernel": name}        runs the program, up to the kernel

The heads of a block are the blocks at the heads of the loops around it, outermost first. Edits
apply to the text before, which is that of the change before of the same kind ("IR" begins
with `start`, "machine" with nothing). Answers are kept, so exports show what was asked for;
`recorded` asks everything at once.
"""

import platform
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from svodviz.foundation.escape import visible
from svodviz.foundation.requests import Arguments, Asked, Progress, key_of, request, whole
from svodviz.wire.scene import number

if TYPE_CHECKING:
    from compiler.llvm.looking.listing import Listing
    from compiler.llvm.looking.pass_changes import Change
    from compiler.program.compilation import Compilation
    from svodviz.data import answers, pages, records

OWN_LEVEL = -1
HOSTS = {"x86_64": "x86", "amd64": "x86", "aarch64": "arm", "arm64": "arm", "riscv64": "riscv"}


@request("llvm_passes", is_kept=True)
def llvm_passes(explorer: Asked, arguments: Arguments, progress: Progress) -> "answers.LlvmPasses":
    """LLVM's passes on one kernel, as far as they changed something."""
    progress("LLVM is compiling the kernel in a process of its own …")
    return _passes(explorer.compilation, str(arguments["kernel"]), whole(arguments, "level"))


@request("assembly_for", is_kept=True)
def assembly_for(explorer: Asked, arguments: Arguments, progress: Progress) -> "answers.Assembly":
    """The assembly of every kernel for another machine."""
    progress("LLVM is writing the assembly in a process of its own …")
    return _assembly(explorer.compilation, str(arguments["machine"]))


@request("latencies", is_kept=True)
def latencies(explorer: Asked, arguments: Arguments, progress: Progress) -> "answers.Latencies":
    """The cost of each instruction of a kernel's loops."""
    progress("LLVM is scheduling the kernel in a process of its own …")
    return _latencies(explorer.compilation, str(arguments["kernel"]))


@request("hot", is_kept=True)
def hot(explorer: Asked, arguments: Arguments, progress: Progress) -> "answers.Hot":
    """Runs a kernel and returns the instructions that its time goes to."""
    progress("running the kernel …")
    return _hot(explorer.compilation, str(arguments["kernel"]))


def recorded_hot(compilation: "Compilation") -> "answers.Recorded":
    """The hot instructions of every kernel, for an export. Runs the program once for each."""
    answers_by_kernel: answers.Recorded = {}
    for name in (visible(loops.name) for loops in compilation.loops):
        try:
            answers_by_kernel[key_of("hot", {"kernel": name})] = _hot(compilation, name)
        except Exception as error:  # a program without its data is still worth exploring
            answers_by_kernel[key_of("hot", {"kernel": name})] = {"problem": visible(f"{error}")}
    return answers_by_kernel


def machine_rows() -> "list[pages.Machine]":
    """The machines whose assembly can be asked for: [id, title, note]."""
    from compiler.machines.named import MACHINES

    return [(it.id, it.title, it.note) for it in MACHINES.values()]


def host() -> str:
    """Whose assembly the code that runs here has, as the ids of machines begin; "" for others."""
    return HOSTS.get(platform.machine().lower(), "")


def recorded(compilation: "Compilation") -> "answers.Recorded":
    """The answer to everything that the page can ask about machine code, for an export.

    Where LLVM cannot do it the answer is {"problem": words}.
    """
    questions: dict[str, Callable[[], answers.Answer]] = {}
    for name in (visible(loops.name) for loops in compilation.loops):
        key = key_of("llvm_passes", {"kernel": name, "level": OWN_LEVEL})
        questions[key] = partial(_passes, compilation, name, OWN_LEVEL)
        questions[key_of("latencies", {"kernel": name})] = partial(_latencies, compilation, name)
    for machine, *_ in machine_rows():
        key = key_of("assembly_for", {"machine": machine})
        questions[key] = partial(_assembly, compilation, machine)
    answers_by_kernel: answers.Recorded = {}
    for key, answer in questions.items():
        try:
            answers_by_kernel[key] = answer()
        except Exception as error:  # a machine that this LLVM lacks must not spoil the export
            answers_by_kernel[key] = {"problem": visible(f"{error}")}
    return answers_by_kernel


def flow_row(listing: "Listing") -> "records.Flow":
    """Blocks and jumps of assembly."""
    flow = listing.flow
    return {
        "blocks": [(visible(b.label), b.first, b.end, list(b.loops)) for b in flow.blocks],
        "jumps": [(j.source, j.target, j.way, j.is_back) for j in flow.jumps],
    }


def _passes(compilation: "Compilation", kernel: str, level: int) -> "answers.LlvmPasses":
    names = {visible(loops.name): loops.name for loops in compilation.loops}
    run = compilation.llvm_passes(names.get(kernel, kernel), None if level == OWN_LEVEL else level)
    return {
        "kernel": visible(run.kernel),
        "number": run.number,
        "level": visible(run.level.done),
        "because": visible(run.level.because),
        "start": _rows(run.start.rows, run.start.sources),
        "changes": [_change(change) for change in run.changes],
        "remarks": [
            (visible(it.words), visible(it.original), it.line, visible(it.loop), it.taken)
            for it in run.remarks
        ],
        "unseen": run.unseen,
        "seconds": number(run.seconds),
    }


def _latencies(compilation: "Compilation", kernel: str) -> "answers.Latencies":
    names = {visible(loops.name): loops.name for loops in compilation.loops}
    estimate = compilation.latencies(names.get(kernel, kernel))
    return {
        "kernel": visible(estimate.kernel),
        "number": estimate.number,
        "processor": visible(estimate.processor),
        "cycles": [-1 if it is None else it for it in estimate.cycles],
    }


def _hot(compilation: "Compilation", kernel: str) -> "answers.Hot":
    names = {visible(loops.name): loops.name for loops in compilation.loops}
    counts = compilation.hot(names.get(kernel, kernel))
    source = compilation.user_source
    return {
        "kernel": visible(counts.kernel),
        "number": counts.number,
        "measured": counts.is_measured,
        "how": visible(counts.how),
        "rows": [number(it) for it in counts.shares],
        "blocks": [number(it) for it in counts.blocks],
        "runs": list(counts.runs),
        "lines": [
            (number(share), visible(at.place), visible(at.text.strip()),
             visible(source.entities.get((at.file, at.line), "")))
            if at else (number(share), "", "", "")
            for at, share in counts.lines
        ],
    }  # fmt: skip


def _change(change: "Change") -> "answers.LlvmChange":
    after = change.after
    return {
        "name": visible(change.name),
        "title": visible(change.title),
        "on": visible(change.on),
        "kind": change.kind,
        "purpose": visible(change.purpose),
        "edits": [
            (it.at, it.removed, _rows(after.rows[it.start : it.end], after.sources[it.start :]))
            for it in change.edits
        ],
    }


def _rows(rows: Iterable[str], sources: Iterable[tuple[int, ...]]) -> "list[records.SourceLine]":
    # `sources` may go on past the rows that are wanted
    pairs = zip(rows, sources, strict=False)
    return [(visible(text.expandtabs(4)), *lines) for text, lines in pairs]


def _inner(listing: "Listing") -> int:
    """The block at the head of the inner loop that the notes are about; -1 where there is none."""
    if listing.inner is None:
        return -1
    firsts = [block.first for block in listing.flow.blocks]
    return firsts.index(listing.inner.first)


def _assembly(compilation: "Compilation", machine: str) -> "answers.Assembly":
    listings = compilation.assembly_for(machine)
    return {
        "machine": machine,
        "units": [
            {
                "name": visible(it.name),
                "number": it.kernel,
                "lines": _rows(it.rows, it.sources),
                "flow": flow_row(it),
                "figures": [visible(note) for note in it.notes],
                "inner": _inner(it),
            }
            for it in listings
        ],
        "seconds": number(sum(it.seconds for it in listings)),
    }
