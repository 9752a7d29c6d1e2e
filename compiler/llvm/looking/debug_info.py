"""LLVM IR with the user's lines as its debug information, as debuggers and profilers read it.

    %t9 = fdiv float %t5, %t8, !dbg !14
    !14 = distinct !DILocation(line: 12, …, inlinedAt: !13)      in layernorm, model.py:12
    !13 = distinct !DILocation(line: 30, …, inlinedAt: !12)      called at model.py:30
    !12 = distinct !DILocation(line: 41, …)                      in the kernel, line 41 of its IR

Each function on the call stack of a node appears as inlined into its caller, and the outermost
into the kernel.
"""

import os
import re
from collections.abc import Mapping

from compiler.core.origin import Origin
from compiler.llvm.source import Source

_FUNCTION = re.compile(r"@([\w.]+)")


def with_call_stacks(source: Source, origins: Mapping[int, Origin]) -> str:
    """The text of `source`; `origins` has the user's line of each row, by position, if it has one.

    A row without a user line keeps its line number in the kernel's IR.
    """
    table = _Metadata(source.name)
    rows: list[str] = []
    scope = ""
    for position, row in enumerate(source.rows):
        text = row.text
        if text.startswith("define"):
            match = _FUNCTION.search(text)
            scope = table.function(table.file, match[1] if match else source.name, position + 1)
            text = f"{text.rstrip(' {')} !dbg {scope} {{"
        elif scope and text.startswith("  ") and not text.lstrip().startswith(";"):
            code, comment, note = text.partition(" ; ")
            at = table.location(scope, position + 1, origins.get(position))
            text = f"{code.rstrip()}, !dbg {at}{comment}{note}"
        elif text == "}":
            scope = ""
        rows.append(text)
    return "\n".join((*rows, *table.rows))


class _Metadata:
    """Metadata nodes, each written once and referred to by number, `!7`."""

    def __init__(self, name: str) -> None:
        self.numbers: dict[str, str] = {}
        self.rows = ["!llvm.dbg.cu = !{!0}", "!llvm.module.flags = !{!1}"]
        self.numbers["unit"] = "!0"
        self.rows.append(
            "!0 = distinct !DICompileUnit(language: DW_LANG_Python, file: !2, "
            "emissionKind: LineTablesOnly)"
        )
        self._add("flags", '!{i32 2, !"Debug Info Version", i32 3}')
        self.file = self._file(os.path.join(os.sep, f"{name}.ll"))
        self.type = self._add("type", "!DISubroutineType(types: !{null})")

    def _add(self, key: str, text: str) -> str:
        if key not in self.numbers:
            self.numbers[key] = f"!{len(self.numbers)}"
            self.rows.append(f"{self.numbers[key]} = {text}")
        return self.numbers[key]

    def _file(self, path: str) -> str:
        folder, name = os.path.split(path)
        text = f"!DIFile(filename: {_quoted(name)}, directory: {_quoted(folder)})"
        return self._add(f"file {path}", text)

    def function(self, file: str, name: str, line: int) -> str:
        """A function of a file, known by its name."""
        text = (
            f"distinct !DISubprogram(name: {_quoted(name)}, scope: {file}, file: {file}, "
            f"line: {line}, type: {self.type}, spFlags: DISPFlagDefinition, unit: !0)"
        )
        return self._add(f"function {file} {name}", text)

    def location(self, kernel: str, row: int, origin: Origin | None) -> str:
        """The place of a row: the user's line, inlined along the calls that led there."""
        at = self._place(kernel, row, "")
        for file, line, function in _calls(origin) if origin else ():
            scope = self.function(self._file(file), function or "<module>", line)
            at = self._place(scope, line, at)
        return at

    def _place(self, scope: str, line: int, outer: str) -> str:
        inlined = f", inlinedAt: {outer}" if outer else ""
        text = f"distinct !DILocation(line: {line}, column: 1, scope: {scope}{inlined})"
        return self._add(f"place {scope} {line} {outer}", text)


def _calls(origin: Origin) -> list[tuple[str, int, str]]:
    """File, line and function of each of the user's lines that ran, from the outermost."""
    frames = [(it.file, it.line, it.function) for it in origin.frames]
    return [*frames, (origin.file, origin.line, origin.function)]


def _quoted(text: str) -> str:
    """A string of LLVM IR: each byte that is not plain ASCII as two hexadecimal digits."""
    plain = (chr(it) if 32 <= it < 127 and it not in b'"\\' else f"\\{it:02X}"
             for it in text.encode("utf-8", "surrogateescape"))  # fmt: skip
    return f'"{"".join(plain)}"'
