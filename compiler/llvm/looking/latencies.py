"""latencies: what instructions in a kernel's loops cost, by LLVM's scheduling model of this host.

    Before:  vmulps  ymm0, ymm1, ymmword ptr [rdi]        After:  vmulps …    10 cycles
             vaddps  ymm2, ymm2, ymm0                             vaddps …     3 cycles
             jne     .LBB0_1                                      jne …        1 cycle

A latency is the number of cycles until another instruction can use the result. It bounds a chain of
dependent instructions; independent ones overlap. LLVM's scheduler prints it for every instruction
before registers are assigned (`-misched-print-dags`), in a separate process. A row of the assembly
is matched to these by its name, the width of its registers and whether it reads memory.
Instructions outside loops, and those that code generation adds later, have no latency.

Relies on: an LLVM that was built to print this; else the request fails with LLVM's message.
Ensures: an estimate, by the same LLVM and from the same program as the assembly.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from compiler.core.errors import InternalError
from compiler.core.printable import ShownAsText, printout
from compiler.core.text import aligned
from compiler.llvm import jit
from compiler.llvm.apart import ask
from compiler.llvm.level import Level
from compiler.llvm.looking.listing import Listing
from compiler.llvm.source import Source

OPTION = "-misched-print-dags"
_UNIT = re.compile(r"^(?:SU\(\d+\)|ExitSU):\s+(?P<text>.*)$")
_LATENCY = re.compile(r"^\s+Latency\s+: (?P<cycles>\d+)$")
_OPCODE = re.compile(r"(?:^|\s)(?P<name>[A-Z][A-Z0-9_]+)(?=[a-z_ ]|$)")
_WIDTH = re.compile(r"(?P<width>Z256|Z128|Z|Y)$")
_SIZE = re.compile(r"(?:64_32|64|32|16|8|_\d)$")
_PRODUCT = re.compile(r"(?:132|213|231)")
_CONDITION = re.compile(r"^(?P<kind>j|set|cmov)(?:n?[abceglopsz]|n?[abgl]e|n?[op])$")
_WIDTHS = {"Z": "zmm", "Z256": "ymm", "Y": "ymm", "Z128": "xmm"}
_NO_CODE = frozenset(("COPY", "PHI", "IMPLICIT_DEF", "KILL"))

Form = tuple[str, bool]
"""The name of an instruction, and whether it touches memory."""


@dataclass(frozen=True, slots=True)
class Latencies(ShownAsText):
    """The cycles of each row of a kernel's assembly; None where they are unknown.

    `processor` is the one whose model LLVM used, `rows` are those of the assembly. `print` shows
    the loops, and `…` for rows outside them.
    """

    kernel: str
    number: int
    cycles: tuple[int | None, ...]
    processor: str
    rows: tuple[str, ...] = field(default=(), repr=False)
    inside: frozenset[int] = field(default=frozenset(), repr=False)
    """The rows that are in loops."""

    def __str__(self) -> str:
        title = f"{self.kernel}: cycles in loops, by LLVM's scheduling model of {self.processor}"
        if not self.inside:
            return printout([title, "no instruction is in a loop"])
        shown, last = [], -1
        for place in sorted(self.inside):
            if place != last + 1:
                shown.append(("", "…"))
            last = place
            row, cycles = self.rows[place], self.cycles[place]
            is_label = row.rstrip().endswith(":")
            text = row.strip() if is_label else f"  {' '.join(row.split())}"
            shown.append(("" if is_label else _cycles_text(cycles), text))
        if last + 1 < len(self.rows):
            shown.append(("", "…"))
        return printout([title, *aligned(shown, (0,))])


def latencies(source: Source, level: Level, listing: Listing) -> Latencies:
    """The latencies of the instructions of a kernel's assembly.

    Raises `InternalError` if this LLVM does not print them.
    """
    text = "\n".join(row.text for row in source.rows)
    question = {"job": "passes", "text": text, "level": [level.number, level.passes]}
    printed = ask({**question, "options": [OPTION]}).printed
    forms = model(printed)
    if not forms:
        raise InternalError("llvm", "this LLVM does not print its scheduling model")
    inside = _in_loops(listing)
    cycles = tuple(
        cycles_of(row, forms) if place in inside else None for place, row in enumerate(listing.rows)
    )
    name, number = source.name, source.kernel
    return Latencies(name, number, cycles, jit.host_name(), listing.rows, inside)


def _cycles_text(cycles: int | None) -> str:
    return "–" if cycles is None else str(cycles)


def model(printed: str) -> dict[Form, dict[str, int]]:
    """The cycles of each form of instruction by the width of its registers."""
    by_form: dict[Form, dict[str, int]] = {}
    for text, cycles in _units(printed):
        opcode = _OPCODE.search(text)
        if opcode is None or opcode["name"] in _NO_CODE:
            continue
        width = _WIDTH.search(opcode["name"])
        stem = opcode["name"][: width.start()] if width else opcode["name"]
        form = _name(_SIZE.sub("", stem).lower()), " :: (" in text
        by_form.setdefault(form, {}).setdefault(_WIDTHS.get(width["width"], "") if width else "",
                                              cycles)  # fmt: skip
    return by_form


def _units(printed: str) -> Iterator[tuple[str, int]]:
    """Each instruction that the scheduler printed, with its latency."""
    text = ""
    for line in printed.splitlines():
        unit, latency = _UNIT.match(line), _LATENCY.match(line)
        if unit:
            text = unit["text"]
        elif latency and text:
            yield text, int(latency["cycles"])
            text = ""


def cycles_of(row: str, cycles: dict[Form, dict[str, int]]) -> int | None:
    """The cycles of one line of assembly; None for a label or an unknown instruction."""
    words = row.split(None, 1)
    if not words or words[0].endswith(":"):
        return None
    name = _name(words[0].lower())
    operands = words[1] if len(words) > 1 else ""
    by_width = cycles.get((name, "[" in operands and name != "lea"))
    if not by_width:
        return None
    width = next((it for it in ("zmm", "ymm", "xmm") if it in operands), "")
    return by_width.get(width, next(iter(by_width.values())))


def _name(name: str) -> str:
    """One name for the forms of a product, and for the conditions of a jump."""
    condition = _CONDITION.match(name)
    if condition and name != "jcc":
        return {"j": "jcc", "set": "setcc", "cmov": "cmov"}[condition["kind"]]
    return _PRODUCT.sub("", name) if name.startswith("vf") else name


def _in_loops(listing: Listing) -> frozenset[int]:
    """The rows of the blocks that are in loops."""
    blocks = (block for block in listing.flow.blocks if block.loops)
    return frozenset(place for block in blocks for place in range(block.first, block.end))
