"""translate: kernels as the assembly of another machine, for reading; it is not executed.

    Before:  %6 = range %3 i0.1 …                          the loops that are chosen for it
    After:   fmla  v1.4s, v10.4s, v28.s[0]  …              on AArch64

The text is generated from the kernel as it is lowered for that machine. The lines of the assembly
are linked to those of this host's text: by the text if the loops are the same, else by
corresponding instructions. The cost of an iteration of the inner loop comes from LLVM's scheduling
model, in a separate process, which LLVM may abort.

Relies on: LLVM IR of one kernel, and instructions that come from the same body.
Ensures: if LLVM aborts, this process survives, and the reason is stated.
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

from compiler.core.errors import DataError, DeviceError, InternalError
from compiler.llvm.apart import ask
from compiler.llvm.emit import emit
from compiler.llvm.level import Level
from compiler.llvm.looking import inherited
from compiler.llvm.looking.inner_loop import inner_loop, timed
from compiler.llvm.looking.listing import Listing, code_lines, linked_assembly, with_locations
from compiler.llvm.looking.scheduling_model import OPTIONS, SchedulingModel, model
from compiler.llvm.source import Source
from compiler.llvm.writer import SourceLine
from compiler.lowered.instructions import Instruction
from compiler.machines.named import MACHINES, Machine

PATIENCE = 20.0
"""The time limit in seconds for LLVM's scheduling output, which it prints for every candidate
instruction: a choice, some fifty times what a matrix product takes."""
UNSCHEDULED = frozenset(("wasm32", "nvptx64"))
"""Targets whose text is not machine code yet."""
_NAMED = re.compile(r"<MCInst #\d+ (\w+)")


@dataclass(frozen=True, slots=True)
class Translatable:
    """A kernel: its text for this host, its instructions for the other machine, and their level.

    `choices` describe how its loops are transformed there; `places` are, for each instruction, the
    corresponding ones of the host, None if both have the same instructions.
    """

    source: Source
    instructions: tuple[Instruction, ...]
    level: Level
    choices: str = ""
    places: tuple[tuple[int, ...], ...] | None = None


def target_of(machine: str) -> Machine:
    """The machine of that name. Raises `DataError` if there is none."""
    if machine not in MACHINES:
        expected = ", ".join(MACHINES)
        raise DataError("assembly_for", "no such machine", got=repr(machine), expected=expected)
    return MACHINES[machine]


def translate(kernels: Sequence[Translatable], machine: str) -> tuple[Listing, ...]:
    """The assembly of each kernel for the machine of that name.

    Raises `DataError` for an unknown name, `DeviceError` if this LLVM lacks the machine,
    `InternalError` if LLVM aborted.
    """
    target = target_of(machine)
    start = time.perf_counter()
    sources = [_written_for(target, kernel) for kernel in kernels]
    question = {
        "job": "assembly",
        "texts": [_adapted(with_locations(source), target) for source in sources],
        "levels": [[kernel.level.number, kernel.level.passes] for kernel in kernels],
        "triple": target.triple, "cpu": target.cpu, "features": target.features,
    }  # fmt: skip
    answer = ask(question).content
    if "problem" in answer:
        problem = f"LLVM here cannot write assembly for {target.title}"
        raise DeviceError("assembly_for", problem, got=answer["problem"])
    seconds = (time.perf_counter() - start) / max(1, len(kernels))
    rows = zip(kernels, sources, answer["texts"], strict=True)
    listings = [_listing(kernel, lines, text, target, seconds) for kernel, lines, text in rows]
    return tuple(_with_cycles(listings, question, target))


def _with_cycles(
    listings: Sequence[Listing], question: dict[str, Any], target: Machine
) -> list[Listing]:
    """The listings, with the cycles of their inner loops where LLVM has a model."""
    if not any(listing.inner for listing in listings):
        return list(listings)
    architecture = target.triple.partition("-")[0]
    if architecture in UNSCHEDULED:
        because = f"LLVM does not schedule {target.title}: its driver compiles it to machine code"
        return [_timed(listing, "", None, because, target) for listing in listings]
    costs, texts = None, [""] * len(listings)
    because = f"LLVM has no scheduling model of {target.cpu}"
    try:
        reply = ask({**question, "job": "scheduled", "options": OPTIONS}, PATIENCE)
        costs, texts = model(reply.printed), reply.content["texts"]
    except InternalError as error:  # optional: the text exists without it
        because = f"LLVM failed: {error.problem}"
    return [
        _timed(listing, text, costs, because, target)
        for listing, text in zip(listings, texts, strict=True)
    ]


def _timed(
    listing: Listing, text: str, costs: SchedulingModel | None, because: str, target: Machine
) -> Listing:
    """A listing with the cycles of its inner loop; `text` has LLVM's names of the instructions."""
    if listing.inner is None:
        return listing
    if costs is None:
        return replace(listing, inner=replace(listing.inner, because=because))
    lines = [line for line in code_lines(text, target.comment) if line[1]]
    if [row for _, row, _ in lines] != list(listing.rows):
        because = "the text with LLVM's instruction names differs"
        return replace(listing, inner=replace(listing.inner, because=because))
    names = [match[1] if (match := _NAMED.search(line)) else "" for line, _, _ in lines]
    inner = timed(listing.inner, listing.rows, names, costs, target.model)
    return replace(listing, inner=inner)


def _written_for(machine: Machine, kernel: Translatable) -> Source:
    """The kernel's text without what is specific to the host."""
    name = kernel.source.name
    rows = tuple(emit(
        name, kernel.instructions, machine.has_avx512, machine.model.takes_lanes, machine.model.dots
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
    kernel: Translatable, code: Source, text: str, machine: Machine, seconds: float
) -> Listing:
    rows, sources = linked_assembly(text, machine.comment)
    places = _leading(code.rows, kernel.source.rows, kernel.places)
    linked = [
        tuple(dict.fromkeys(place for line in lines for place in places[line - 1]))
        for lines in sources
    ]
    row = Listing(
        title=f"{code.name} for {machine.title}", seconds=seconds, name=code.name, rows=tuple(rows),
        sources=tuple(inherited.of_assembly(rows, linked)), kernel=code.kernel, prefix=machine.id,
        level=kernel.level, comment=machine.comment, choices=kernel.choices,
    )  # fmt: skip
    return replace(row, inner=inner_loop(row.rows, row.flow, machine.model.vector_bytes))


def _leading(
    lines: Sequence[SourceLine], host: Sequence[SourceLine],
    places: Sequence[tuple[int, ...]] | None,
) -> list[tuple[int, ...]]:  # fmt: skip
    """For each line of a text the lines of the host's (from 1) that do the same."""
    if places is None:
        return aligned(lines, host)
    written: dict[int, list[int]] = {}
    for line, row in enumerate(host, start=1):
        for instruction in row.instructions:
            written.setdefault(instruction, []).append(line)
    same = (dict.fromkeys(it for n in row.instructions for it in places[n]) for row in lines)
    return [tuple(dict.fromkeys(line for n in of for line in written.get(n, ()))) for of in same]


def aligned(lines: Sequence[SourceLine], host: Sequence[SourceLine]) -> list[tuple[int, ...]]:
    """For each line of one text the lines of the other (from 1) that do the same.

    Where the two differ these are all the lines there that were written for the same instruction.
    """
    result: list[tuple[int, ...]] = [()] * len(lines)
    texts = [row.text for row in lines], [row.text for row in host]
    for tag, i, i_end, j, j_end in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        for offset in range(i_end - i):
            same = lines[i + offset].instruction
            result[i + offset] = (
                (j + offset + 1,)
                if tag == "equal"
                else tuple(n + 1 for n in range(j, j_end) if host[n].instruction == same)
            )
    return result
