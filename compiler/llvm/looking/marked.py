"""marked: instrumented machine code of a kernel: labels give the address of each instruction,
counters the number of executions of each block.

    Before:  .LBB0_1:                          After:  .LBB0_1:
               vaddps ymm0, ymm0, [rdi]                  (one added to the block's counter)
               jne    .LBB0_1                          row3:
                                                         vaddps ymm0, ymm0, [rdi]
                                                       row4:
                                                         jne    .LBB0_1

LLVM assembles its printed assembly again, in a separate process. Labels do not change the code.
Counters are code, for x86-64 only: they preserve all registers, the flags, and the red zone below
the stack pointer, which leaf functions may use.

Relies on: the assembly has the rows of the kernel's listing.
Ensures: the marked code does what the kernel does.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compiler.core.errors import InternalError
from compiler.llvm import jit
from compiler.llvm.apart import ask
from compiler.llvm.level import Level
from compiler.llvm.looking.listing import Listing, code_lines, printed
from compiler.llvm.source import Source
from compiler.machines.processors import is_x86

RED_ZONE = 128
"""Bytes below the stack pointer that are the function's own: System V ABI, AMD64."""
_FOR_DEBUGGERS = re.compile(r"\s*\.(loc|file|cfi_\w+)\b")
_TABLE = re.compile(r"\s*movabs\s+(?P<to>\w+), offset (?P<what>_GLOBAL_OFFSET_TABLE_-\S+)$")


@dataclass(frozen=True, slots=True)
class Marked:
    """Object code, and the name of the mark at each row of the listing and behind the last."""

    code: bytes
    marks: tuple[str, ...]


def is_counted() -> bool:
    """True if blocks can count how often they are run on this host."""
    return is_x86()


def marked(source: Source, level: Level, listing: Listing) -> Marked:
    """The kernel with a mark at each row of its listing. Raises `InternalError` if LLVM cannot
    assemble what it printed."""
    marks = tuple(f"row{place}" for place in range(len(listing.rows) + 1))
    labels = [[f"\t.globl {it}", f"{it}:"] for it in marks]
    return Marked(_assembled(source, level, listing, labels), marks)


def counted(source: Source, level: Level, listing: Listing, address: int) -> bytes:
    """The kernel as object code that counts the runs of its blocks, in 64-bit integers that begin
    at an address. Raises as `marked` does."""
    before: list[list[str]] = [[] for _ in range(len(listing.rows) + 1)]
    for place, block in enumerate(listing.flow.blocks):
        is_label = listing.rows[block.first].endswith(":")
        before[block.first + is_label] += _count(address + 8 * place)
    return _assembled(source, level, listing, before)


def _count(address: int) -> list[str]:
    """Adds one to the number at an address; `lea` leaves the flags alone, as `inc` would not."""
    return [
        f"\tlea rsp, [rsp - {RED_ZONE}]", "\tpush rax", "\tpush rcx", f"\tmovabs rcx, {address}",
        "\tmov rax, qword ptr [rcx]", "\tlea rax, [rax + 1]", "\tmov qword ptr [rcx], rax",
        "\tpop rcx", "\tpop rax", f"\tlea rsp, [rsp + {RED_ZONE}]",
    ]  # fmt: skip


def _assembled(
    source: Source, level: Level, listing: Listing, before: Sequence[Sequence[str]]
) -> bytes:
    """The object code of the kernel with lines in front of each row, the last behind all."""
    comment = "#" if is_x86() else "//"
    rows = list(code_lines(printed(source, level), comment))
    if tuple(row for _, row, _ in rows if row) != listing.rows:
        raise InternalError("llvm", "LLVM printed another text than before")
    lines = _with(rows, before)
    text = re.sub(rf"(?<![\w.]){re.escape(source.symbol)}(?![\w.])", jit.ENTRY, "\n".join(lines))
    question = {"job": "assembled", "text": text, "level": [level.number, level.passes]}
    return base64.b64decode(ask(question).content["code"])


def _with(
    rows: Sequence[tuple[str, str, tuple[int, ...]]], before: Sequence[Sequence[str]]
) -> Iterator[str]:
    place = 0
    for line, row, _ in rows:
        if _FOR_DEBUGGERS.match(line):
            continue
        if row:
            yield from before[place]
            place += 1
        yield from _readable(line)
        if place == len(before) - 1 and row:
            yield from before[place]


def _readable(line: str) -> list[str]:
    """A line that LLVM can read: the one construct that it prints but cannot parse is
    rewritten."""
    match = _TABLE.match(line)
    if not match:
        return [line]
    return ["\t.att_syntax", f"\tmovabsq ${match['what']}, %{match['to']}",
            "\t.intel_syntax noprefix"]  # fmt: skip
