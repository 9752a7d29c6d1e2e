"""Stage 8: the optimised IR and the assembly of a kernel, linked to the generated IR.

Each line of the source gets a debug location, its own line number. LLVM keeps as many of them as it
can; `.loc` directives and `!dbg` references lead back. Moved instructions inherit a location
(`inherited.py`).
"""

import contextlib
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from compiler.core.lazy import loading
from compiler.core.stage import Stage
from compiler.core.trace import Line
from compiler.llvm import jit, unlocked
from compiler.llvm.flow import Flow, control_flow, flow
from compiler.llvm.level import Level
from compiler.llvm.looking import inherited
from compiler.llvm.source import Source, label_of, targets_of
from compiler.machines.processors import is_x86
from compiler.machines.system import comment_of

if TYPE_CHECKING:
    import networkx as nx

    from compiler.llvm.looking.inner_loop import InnerLoop

_DEBUG = re.compile(r",? !dbg !(\d+)")
_LOCATION = re.compile(
    r"^!(\d+) = (?:distinct )?!DI(?:Location|Subprogram)\((?:name: .*?)?line: (\d+)"
    r"(?:.*?inlinedAt: !(\d+))?",
    re.MULTILINE,
)
_REMARK = re.compile(r"^; Function Attrs:.*\n(?=declare)", re.MULTILINE)
_NO_CODE = (
    "!", "; ModuleID", "source_filename", "declare", "attributes", "target datalayout",
    "target triple",
)  # fmt: skip
_LOC = re.compile(r"\.loc\s+\d+\s+(\d+)")
_ASM_LABEL = re.compile(r"^(\.?L?[\w.$]+):")
_ASM_TARGET = re.compile(r"(\.?LBB\w+|\$L__BB\w+)")
_ENDS = frozenset(("jmp", "ret", "retq", "b", "br", "ud2", "j", "jr", "bra", "bra.uni", "ret;"))
"""Instructions of all machines after which control does not go on with the next line."""
STRUCTURED = "wasm"
"""The machine whose jumps name no labels."""
_NO_INSTRUCTION = re.compile(
    r"^\s*(\.(?!LBB)|#|;|$)|^\.L(?!BB)\w*:|^\.?Ltmp|^\$L__(?!BB)|^[lL](CPI|JTI|func_|loh)\w*:"
)
"""Directives, comments, and labels that no jump names; the last are macOS's."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Listing(Stage):
    """A text LLVM printed, line by line; `sources[i]` are the source lines of line i.

    `level` names the passes that ran, and why; the code that is executed was compiled the same way.
    `comment` begins a comment in the assembly of its machine.
    """

    rows: tuple[str, ...]
    sources: tuple[tuple[int, ...], ...]
    kernel: int
    prefix: str
    level: Level
    comment: str = "#"
    choices: str = ""
    """The choices for the loops, if they differ from those of the other stages; in words."""
    inner: "InnerLoop | None" = None
    """The cost of an iteration of the hottest loop, if it was requested."""

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Each line, with the lines of generated IR it comes from."""
        return tuple(
            Line(
                text,
                f"{self.prefix}:{self.kernel}:{number}",
                tuple(f"llvm:{self.kernel}:{line}" for line in lines),
                "" if lines else _alone(text),
            )
            for number, (text, lines) in enumerate(
                zip(self.rows, self.sources, strict=True), start=1
            )
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes above the text: the choices, and the cost of an iteration."""
        return (*filter(None, [self.choices]), *(self.inner.words if self.inner else ()))

    def __str__(self) -> str:
        return "\n".join((*(f"{self.comment} {it}" for it in self.notes), Stage.__str__(self)))

    def network(self) -> "nx.DiGraph[Any]":
        """The control-flow graph: one node per basic block."""
        if self.prefix != "optimized":
            return control_flow(self.lines, _asm_label, _asm_targets, self.flow)
        start, end = self._body
        return control_flow(self.lines[start:end], label_of, targets_of)

    @property
    def _body(self) -> tuple[int, int]:
        """The lines of the first function of LLVM IR."""
        start = next(i for i, row in enumerate(self.rows) if row.startswith("define"))
        end = next(i for i, row in enumerate(self.rows) if i > start and row == "}")
        return start + 1, end

    @property
    def instruction_count(self) -> int:
        """The number of instructions of the assembly: its lines without labels."""
        return sum(_asm_label(row) is None for row in self.rows)

    @cached_property
    def flow(self) -> Flow:
        """The blocks, jumps and loops of assembly, by position in `rows`."""
        if self.prefix == STRUCTURED:
            with loading():  # few ask for WebAssembly
                from compiler.llvm.looking.structured import structured

            return structured(self.rows)
        return flow(self.rows, _asm_label, _asm_targets)


def _alone(text: str) -> str:
    """The reason why a line comes from no line of the generated IR."""
    if text.startswith(";"):
        return "a remark by LLVM"
    return "added by LLVM: it has no origin, and no instruction with an origin uses its result"


def _asm_label(text: str) -> str | None:
    match = _ASM_LABEL.match(text)
    return match.group(1) if match else None


def _asm_targets(text: str) -> tuple[list[str], bool]:
    word = text.split(None, 1)[0] if text.split() else ""
    return _ASM_TARGET.findall(text), word in _ENDS


def with_locations(source: Source) -> str:
    """The text of `source` with a debug location on each line of each function."""
    lines: list[str] = []
    metadata = _Metadata(len(source.rows))
    scope = 0
    for number, row in enumerate(source.rows, start=1):
        text = row.text
        if text.startswith("define"):
            scope = metadata.function(text, number)
            text = text.rstrip(" {") + f" !dbg !{scope} {{"
        elif scope and text.startswith("  ") and not text.lstrip().startswith(";"):
            code, comment, note = text.partition(" ; ")
            text = f"{code.rstrip()}, !dbg !{metadata.location(number, scope)}{comment}{note}"
        elif text == "}":
            scope = 0
        lines.append(text)
    return "\n".join([*lines, *metadata.lines])


class _Metadata:
    """Hands out numbers of debug metadata and keeps their lines."""

    def __init__(self, rows: int) -> None:
        self.next = 5
        self.lines = [
            "!llvm.dbg.cu = !{!0}",
            "!llvm.module.flags = !{!1}",
            "!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !2, "
            "emissionKind: LineTablesOnly)",
            '!1 = !{i32 2, !"Debug Info Version", i32 3}',
            '!2 = !DIFile(filename: "kernel.ll", directory: "/")',
            "!3 = !DISubroutineType(types: !4)",
            "!4 = !{}",
        ]

    def _add(self, text: str) -> int:
        self.lines.append(f"!{self.next} = {text}")
        self.next += 1
        return self.next - 1

    def function(self, text: str, line: int) -> int:
        """The metadata of a function defined on `line`."""
        name = re.search(r"@([\w.]+)", text)
        return self._add(
            f'distinct !DISubprogram(name: "{name.group(1) if name else ""}", scope: !2, '
            f"file: !2, line: {line}, type: !3, spFlags: DISPFlagDefinition, unit: !0)"
        )

    def location(self, line: int, scope: int) -> int:
        """The metadata of a location."""
        return self._add(f"!DILocation(line: {line}, column: 1, scope: !{scope})")


@contextlib.contextmanager
def _passed(source: Source, level: Level) -> Iterator[tuple[Any, Any]]:
    """The module of `source` after the passes of `level`, and their target machine."""
    with (
        jit.parse(with_locations(source)) as module,
        jit.borrowed_machine(level.number) as machine,
    ):
        jit.optimise(module, machine, level)
        yield module, machine


def listings(source: Source, level: Level) -> tuple[Listing, Listing]:
    """`optimized` and `assembly`, for which the passes run only once. Threads may call it."""
    start = time.perf_counter()
    with _passed(source, level) as (module, machine):
        text, passed = str(module), time.perf_counter() - start
        code = unlocked.emit_assembly(machine, module)
        emitted = time.perf_counter() - start
    return _optimized(source, level, text, passed), _assembly(source, level, code, emitted)


def optimized(source: Source, level: Level) -> Listing:
    """The IR of `source` after the passes of `level`."""
    start = time.perf_counter()
    with _passed(source, level) as (module, _):
        return _optimized(source, level, str(module), time.perf_counter() - start)


def _optimized(source: Source, level: Level, text: str, seconds: float) -> Listing:
    rows, sources = linked_ir(text)
    return Listing(
        title=f"{source.name} optimised",
        seconds=seconds,
        name=source.name,
        rows=tuple(rows),
        sources=tuple(inherited.of_optimized(rows, sources)),
        kernel=source.kernel,
        prefix="optimized",
        level=level,
    )


def linked_ir(text: str) -> tuple[list[str], list[tuple[int, ...]]]:
    """The lines of a module that LLVM printed, without its metadata, and their source lines."""
    locations = {
        int(number): (int(line), int(inlined) if inlined else None)
        for number, line, inlined in _LOCATION.findall(text)
    }
    rows, sources = [], []
    for line in _REMARK.sub("", text).splitlines():
        if line.startswith(_NO_CODE):
            continue
        reference = _DEBUG.search(line)
        rows.append(_DEBUG.sub("", line))
        sources.append(_chain(int(reference.group(1)), locations) if reference else ())
    return rows, sources


def _chain(number: int, locations: dict[int, tuple[int, int | None]]) -> tuple[int, ...]:
    """The source line of a location and of the calls it was inlined through."""
    lines: list[int] = []
    at: int | None = number
    while at is not None and at in locations:
        line, at = locations[at]
        if line:
            lines.append(line)
    return tuple(lines)


def printed(source: Source, level: Level) -> str:
    """The machine code of `source` as LLVM prints it, with all directives for an assembler."""
    with _passed(source, level) as (module, machine):
        return unlocked.emit_assembly(machine, module)


def assembly(source: Source, level: Level) -> Listing:
    """The machine code of `source`, as assembly for this host."""
    start = time.perf_counter()
    with _passed(source, level) as (module, machine):
        text = unlocked.emit_assembly(machine, module)
        return _assembly(source, level, text, time.perf_counter() - start)


def _assembly(source: Source, level: Level, text: str, seconds: float) -> Listing:
    rows, sources = linked_assembly(text, comment_of(is_x86()))
    return Listing(
        title=f"{source.name} assembly",
        seconds=seconds,
        name=source.name,
        rows=tuple(rows),
        sources=tuple(inherited.of_assembly(rows, sources)),
        kernel=source.kernel,
        prefix="asm",
        level=level,
    )


def linked_assembly(text: str, comment: str) -> tuple[list[str], list[tuple[int, ...]]]:
    """The labels and instructions of printed assembly, and the source lines that `.loc` says.

    `comment` is what begins a comment in the assembly of that machine.
    """
    rows = [(row, of) for _, row, of in code_lines(text, comment) if row]
    return [row for row, _ in rows], [of for _, of in rows]


def code_lines(text: str, comment: str) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Each printed line before the debug sections, with its row in a listing
    ("" where it is none), and the source lines that `.loc` says.
    """
    current: tuple[int, ...] = ()
    has_rows = False
    for line in text.splitlines():
        location = _LOC.search(line)
        if location:
            current = (int(location.group(1)),) if int(location.group(1)) else ()
        elif line.strip().startswith(".section") and has_rows and _is_debug(line):
            return
        code = line.split(comment, 1)[0].strip().expandtabs(8)
        if _NO_INSTRUCTION.match(line) or location or code.strip("(){},") == "":
            yield line, "", ()
            continue
        has_rows, is_label = True, code.endswith(":")
        yield line, code if is_label else f"  {code}", () if is_label else current


def _is_debug(line: str) -> bool:
    return "debug" in line or "note" in line
