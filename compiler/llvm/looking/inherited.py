"""Source lines for instructions whose location LLVM dropped when it moved or created them.

LLVM drops the location of an instruction that it hoists out of a loop. Such an instruction
inherits the source lines of the first instruction that uses its result, or, if no user is known,
those of its operands.
"""

import re
from collections.abc import Sequence
from typing import TypeAlias

Lines: TypeAlias = tuple[int, ...]

ROUNDS = 4
"""Passes over the optimised IR: a phi hands lines on against the order of the text. A choice: of
twelve test programs (2026-11-23, LLVM 22.1) four have lines without source, none after one pass."""
_NAME = re.compile(r"%(?:[\w.$-]+|\"[^\"]+\")")
_LABEL = re.compile(r"label %[\w.]+|, %[\w.]+ \]")
_LABEL_LINE = re.compile(r"^[\w.$-]+:")
_REGISTER = re.compile(
    r"\b(?:[xyz]mm(?P<vector>\d+)|(?P<mask>k[0-7])|r(?P<wide>\d+)[dwb]?"
    r"|[re]?(?P<word>[abcd]x|[sd]i|[sb]p)|(?P<byte>[abcd])[lh]|(?P<low>[sd]i|[sb]p)l"
    r"|[xw](?P<arm>\d+)|[vqdsbhz](?P<simd>\d+)(?:\.\w+)?|p(?P<predicate>\d+)"
    r"|(?P<riscv>f?[ast]\d+)|(?P<ptx>rd\d+))\b"
)


def of_optimized(rows: Sequence[str], sources: Sequence[Lines]) -> list[Lines]:
    """`sources` of the lines of LLVM IR, with inherited ones for lines that have none."""
    result = list(sources)
    readers, writers = _uses(rows)
    for _ in range(ROUNDS):
        missing = [i for i, row in enumerate(rows) if not result[i] and row.startswith("  ")]
        for position in reversed(missing):
            name = _defined(rows[position])
            using = readers.get(name, []) if name else []
            made_of = [writers[n] for n in _read(rows[position]) if n in writers]
            result[position] = next((result[i] for i in (*using, *made_of) if result[i]), ())
    head: Lines = ()
    for position, row in enumerate(rows):
        head = result[position] if row.startswith("define") else head
        result[position] = head if row == "}" else result[position]
    return _with_labels(rows, result)


def _with_labels(rows: Sequence[str], sources: list[Lines]) -> list[Lines]:
    """`sources`, where each label has those of its block's first linked instruction."""
    first: Lines = ()
    for position in reversed(range(len(rows))):
        if not _LABEL_LINE.match(rows[position]):
            first = sources[position] or first
        elif not sources[position]:
            sources[position] = first
    return sources


def _defined(row: str) -> str | None:
    name, is_there, _ = row.strip().partition(" = ")
    return name if is_there and name.startswith("%") else None


def _read(row: str) -> list[str]:
    """The values a line reads; names of blocks are none."""
    _, _, right = row.partition(" = ") if _defined(row) else ("", "", row)
    return _NAME.findall(_LABEL.sub("", right))


def _uses(rows: Sequence[str]) -> tuple[dict[str, list[int]], dict[str, int]]:
    """For each value, the lines that use it and the line that defines it."""
    readers: dict[str, list[int]] = {}
    writers: dict[str, int] = {}
    for position, row in enumerate(rows):
        name = _defined(row)
        if name:
            writers[name] = position
        for each in _read(row):
            readers.setdefault(each, []).append(position)
    return readers, writers


def of_assembly(rows: Sequence[str], sources: Sequence[Lines]) -> list[Lines]:
    """`sources` of the lines of assembly, with inherited ones for lines that have none.

    The first operand of an instruction is the register it writes (Intel and Arm syntax).
    """
    result = list(sources)
    following: dict[str, Lines] = {}
    for position in reversed(range(len(rows))):
        written = registers(rows[position])
        if not result[position] and written:
            result[position] = following.get(written[0], ())
        if result[position]:
            following.update(dict.fromkeys(written, result[position]))
    before: dict[str, Lines] = {}
    for position, row in enumerate(rows):
        written = registers(row)
        if not result[position]:
            result[position] = next((before[r] for r in written if r in before), ())
        if result[position] and written:
            before[written[0]] = result[position]
    return _with_jumps(rows, _with_labels(rows, result))


def _with_jumps(rows: Sequence[str], sources: list[Lines]) -> list[Lines]:
    """`sources`, where a jump without any has those of its target label."""
    labels = {row[:-1]: sources[i] for i, row in enumerate(rows) if row.endswith(":")}
    targets = (row.split()[-1] if row.strip() else "" for row in rows)
    return [lines or labels.get(name, ()) for lines, name in zip(sources, targets, strict=True)]


def registers(row: str) -> list[str]:
    """The registers an instruction names, each under one name whatever its width."""
    _, _, operands = row.strip().expandtabs(1).partition(" ")
    return [f"{m.lastgroup}{m[m.lastgroup or 0]}" for m in _REGISTER.finditer(operands)]
