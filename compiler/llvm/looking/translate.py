"""translate: kernels as the assembly of another machine, to be read; nothing of it is run.

    Before:  %v7 = call <16 x i32> @llvm.x86.avx512.pternlog.d.512(…)      the text for this host
    After:   orr  v4.16b, v2.16b, v3.16b                                   on AArch64
             and  v2.16b, v2.16b, v3.16b  …

The text is written again from the instructions of the kernel, because that for this host may ask
for what only this host has. The lines of the assembly are linked to those of this host's text.

Relies on: LLVM IR of one kernel, with the instructions that it was written from.
Ensures: what LLVM cannot do ends another process, and is told in words.
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from compiler.core.errors import DataError, DeviceError
from compiler.llvm.apart import ask
from compiler.llvm.emit import emit
from compiler.llvm.level import Level
from compiler.llvm.looking import inherited
from compiler.llvm.looking.listing import Listing, linked_assembly, with_locations
from compiler.llvm.source import Source
from compiler.llvm.writer import SourceLine
from compiler.lowered.instructions import Instruction
from compiler.machines.named import MACHINES, Machine


@dataclass(frozen=True, slots=True)
class Translatable:
    """A kernel: its text for this host, what that was written from, and what LLVM does to it."""

    source: Source
    instructions: tuple[Instruction, ...]
    level: Level


def translate(kernels: Sequence[Translatable], machine: str) -> tuple[Listing, ...]:
    """The assembly of each kernel for the machine of that name.

    Raises `DataError` for a name that is not known, `DeviceError` where this LLVM lacks the
    machine, `InternalError` where LLVM gave up.
    """
    start = time.perf_counter()
    target = _machine(machine)
    sources = [_written_for(target, kernel) for kernel in kernels]
    answer = ask({
        "job": "assembly",
        "texts": [_adapted(with_locations(source), target) for source in sources],
        "levels": [[kernel.level.number, kernel.level.passes] for kernel in kernels],
        "triple": target.triple, "cpu": target.cpu, "features": target.features,
    }).content  # fmt: skip
    if "problem" in answer:
        problem = f"LLVM here cannot write assembly for {target.title}"
        raise DeviceError("assembly_for", problem, got=answer["problem"])
    seconds = (time.perf_counter() - start) / max(1, len(kernels))
    made = zip(kernels, sources, answer["texts"], strict=True)
    return tuple(_listing(kernel, own, text, target, seconds) for kernel, own, text in made)


def _machine(name: str) -> Machine:
    if name not in MACHINES:
        expected = ", ".join(MACHINES)
        raise DataError("assembly_for", "no such machine", got=repr(name), expected=expected)
    return MACHINES[name]


def _written_for(machine: Machine, kernel: Translatable) -> Source:
    """The kernel's text with nothing that only another machine has."""
    name = kernel.source.name
    rows = tuple(emit(
        name, kernel.instructions, machine.has_avx512, machine.model.takes_lanes
    ))
    return Source(title=kernel.source.title, name=name, rows=rows, kernel=kernel.source.kernel)


def _adapted(text: str, machine: Machine) -> str:
    """The text with what the machine's functions need."""
    if machine.attributes:
        first = "attributes #0 = {"
        text = text.replace(first, f"{first} {machine.attributes}", 1)
    if machine.convention:
        text = re.sub(r"^define void", f"define {machine.convention} void", text, count=1)
    return text


def _listing(
    kernel: Translatable, own: Source, text: str, machine: Machine, seconds: float
) -> Listing:
    rows, sources = linked_assembly(text, machine.comment)
    places = aligned(own.rows, kernel.source.rows)
    linked = [
        tuple(dict.fromkeys(place for line in lines for place in places[line - 1]))
        for lines in sources
    ]
    return Listing(
        title=f"{own.name} for {machine.title}", seconds=seconds, name=own.name, rows=tuple(rows),
        sources=tuple(inherited.of_assembly(rows, linked)), kernel=own.kernel, prefix=machine.id,
        level=kernel.level,
    )  # fmt: skip


def aligned(own: Sequence[SourceLine], host: Sequence[SourceLine]) -> list[tuple[int, ...]]:
    """For each line of one text the lines of the other (from 1) that do the same.

    Where the two differ these are all the lines there that were written for the same instruction.
    """
    result: list[tuple[int, ...]] = [()] * len(own)
    texts = [row.text for row in own], [row.text for row in host]
    for tag, i, i_end, j, j_end in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        for offset in range(i_end - i):
            same = own[i + offset].instruction
            result[i + offset] = (
                (j + offset + 1,)
                if tag == "equal"
                else tuple(n + 1 for n in range(j, j_end) if host[n].instruction == same)
            )
    return result
