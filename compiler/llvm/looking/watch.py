"""watch: LLVM's own passes on one kernel, one by one, those that changed something.

    Before:  the text of a kernel, with a debug location on every line
    After:   InstCombine        -3 +1    …
             LoopVectorize      -0 +41   …
             X86 DAG->DAG …     +120     from here on instructions of the machine
             Greedy Register …  -60 +60  …

A separate process compiles the kernel as for execution, and prints the program after each pass
(`-print-changed`); this module parses the output. That option leaves out the code generation passes
that work on LLVM IR: these are printed by name (`LATE`), and compared here.

Relies on: LLVM IR of one kernel, for this host.
Ensures: each change differs from the one before it of the same kind; this process is left alone.
"""

import re
import time
from collections.abc import Iterator

from compiler.llvm.apart import ask
from compiler.llvm.level import Level
from compiler.llvm.looking import remarks
from compiler.llvm.looking.listing import linked_ir, with_locations
from compiler.llvm.looking.pass_changes import Change, Kind, PassRun, Printed
from compiler.llvm.looking.pass_words import purpose_of
from compiler.llvm.source import Source

LATE = (
    "loop-reduce", "codegenprepare", "expand-reductions", "scalarize-masked-mem-intrin",
    "interleaved-access", "constant-hoisting", "partially-inline-libcalls", "canon-freeze",
    "unreachableblockelim", "atomic-expand", "replace-with-veclib",
)  # fmt: skip
OPTIONS = (
    "-print-changed=quiet",
    "-print-module-scope",
    f"-print-after={','.join(LATE)}",
    f"-pass-remarks={remarks.PASSES}",
    f"-pass-remarks-missed={remarks.PASSES}",
    f"-pass-remarks-analysis={remarks.PASSES}",
)
_HEADER = re.compile(
    r"\*\*\* IR Dump After (?P<pass>.+?)(?: on (?P<on>.+?))? \*\*\*(?: \((?P<late>.*)\))?$"
)
_LEGACY = re.compile(r"(?P<title>.*) \((?P<name>[\w-]*)\)$")
_FUNCTION = re.compile(r"# Machine code for function (\S+):")
_REFERENCE = re.compile(r"(![a-zA-Z.]+) !\d+|(?<=[ )])#\d+ ?(?=\{|$)")
_PLACE = re.compile(r";? ?kernel\.ll:(\d+):\d+(?: @\[.*)?$")
_SLOT = re.compile(r"^\d+B\t *")
_BEHIND = re.compile(r",? debug-location ![\w(): ,!]+?(?= ::|;|$)| :: \(.*\)")


def watch(source: Source, level: Level) -> PassRun:
    """The run of LLVM's passes of `level` over a kernel on this host.

    Raises `InternalError` if LLVM aborted.
    """
    clock = time.perf_counter()
    answer = ask({
        "job": "passes", "text": with_locations(source), "level": [level.number, level.passes],
        "options": OPTIONS,
    })  # fmt: skip
    printed = answer.printed.splitlines()
    start = _ir(answer.content["start"].splitlines())
    changes, unseen = _changes(start, [line for line in printed if not remarks.is_remark(line)])
    return PassRun(
        source.name, source.kernel, level, start, changes, remarks.remarks(printed, source.rows),
        unseen, time.perf_counter() - clock,
    )  # fmt: skip


def _changes(start: Printed, lines: list[str]) -> tuple[tuple[Change, ...], int]:
    """Each dump that differs from the one before, and the number of those that do not."""
    latest = {"IR": start}
    changes: list[Change] = []
    unseen = 0
    for header, body in _dumps(lines):
        function = next((m[1] for m in map(_FUNCTION.match, body) if m), "")
        kind: Kind = "machine" if function else "IR"
        after = _machine(body) if function else _ir(body)
        stream = f"machine {function}" if function else "IR"
        before = latest.get(stream, Printed())
        latest[stream] = after
        if before.rows == after.rows:
            unseen += not header["late"]
            continue
        name, title = _names(header["pass"])
        on = (header["on"] or header["late"] or "").replace("[module]", "module")
        changes.append(Change(name, title, on, kind, purpose_of(name), before, after))
    return tuple(changes), unseen


def _dumps(lines: list[str]) -> Iterator[tuple["re.Match[str]", list[str]]]:
    """Each dump that was printed: its header and its lines."""
    header: re.Match[str] | None = None
    body: list[str] = []
    for line in lines:
        match = _HEADER.match(line)
        if match is None:
            body.append(line)
            continue
        if header:
            yield header, body
        header, body = match, []
    if header:
        yield header, body


def _names(printed: str) -> tuple[str, str]:
    """The short name of a pass, and what it is called."""
    match = _LEGACY.match(printed)
    if match:
        title = match["title"]
        return match["name"] or title.lower().replace(" ", "-"), title
    name = printed.removesuffix("Pass")
    return name, re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


def _ir(lines: list[str]) -> Printed:
    """A module without metadata and without references to it."""
    rows, sources = linked_ir("\n".join(lines))
    kept = [
        (_REFERENCE.sub(r"\1", row).rstrip(), lines)
        for row, lines in zip(rows, sources, strict=True)
        if row.strip() and not row.startswith("; Function Attrs")
    ]
    return Printed(tuple(row for row, _ in kept), tuple(lines for _, lines in kept))


def _machine(lines: list[str]) -> Printed:
    """A function of the machine, without debug locations, numbers and notes on memory."""
    rows: list[str] = []
    sources: list[tuple[int, ...]] = []
    for line in lines:
        if line.startswith("# End machine code"):
            break
        if not line.strip():
            continue
        place = _PLACE.search(line)
        text = _BEHIND.sub("", _PLACE.sub("", _SLOT.sub("  ", line)))
        rows.append(text.expandtabs(2).rstrip(" ;"))
        sources.append((int(place[1]),) if place and int(place[1]) else ())
    return Printed(tuple(rows), tuple(sources))
