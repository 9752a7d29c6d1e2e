"""translate: kernels as the assembly of another machine, to be read; nothing of it is run.

    Before:  %6 = range %3 i0.1 …                          the loops that are chosen for it
    After:   fmla  v1.4s, v10.4s, v28.s[0]  …              on AArch64

The text is written from the instructions of the kernel as they are for that machine. The lines of
the assembly are linked to those of this host's text: where the loops are the same by the text,
where they differ by the instructions that do the same. What an iteration of its inner loop takes is
asked of LLVM's scheduling model in a process of its own: one that LLVM ends says no more than that.

Relies on: LLVM IR of one kernel, and instructions that come from the same body.
Ensures: an abort of LLVM ends another process, and is reported as an error.
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
"""Seconds for what LLVM says of its scheduling, which it prints for every instruction that could be
next: a choice, some fifty times what a product of matrices takes."""
UNSCHEDULED = frozenset(("wasm32", "nvptx64"))
"""The opcodes that are no machine's code yet."""
_NAMED = re.compile(r"<MCInst #\d+ (\w+)")


@dataclass(frozen=True, slots=True)
class Translatable:
    """A kernel: its text for this host, its instructions for the other machine, and what LLVM does
    to these.

    `choices` say how its loops are transformed there, in words; `places` are for each instruction
    those of the host that do the same, None where they are the host's own.
    """

    source: Source
    instructions: tuple[Instruction, ...]
    level: Level
    choices: str = ""
    places: tuple[tuple[int, ...], ...] | None = None


def target_of(machine: str) -> Machine:
    """The machine of that name. Raises `DataError` where there is none."""
    if machine not in MACHINES:
        expected = ", ".join(MACHINES)
        raise DataError("assembly_for", "no such machine", got=repr(machine), expected=expected)
    return MACHINES[machine]


def translate(kernels: Sequence[Translatable], machine: str) -> tuple[Listing, ...]:
    """The assembly of each kernel for the machine of that name.

    Raises `DataError` for a name that is not known, `DeviceError` where this LLVM lacks the
    machine, `InternalError` where LLVM gave up.
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
    made = zip(kernels, sources, answer["texts"], strict=True)
    listings = [_listing(kernel, own, text, target, seconds) for kernel, own, text in made]
    return tuple(_with_cycles(listings, question, target))


def _with_cycles(
    listings: Sequence[Listing], question: dict[str, Any], target: Machine
) -> list[Listing]:
    """The listings, with the cycles of their inner loops where LLVM has a model."""
    if not any(listing.inner for listing in listings):
        return list(listings)
    architecture = target.triple.partition("-")[0]
    if architecture in UNSCHEDULED:
        because = f"LLVM does not schedule {target.title}: who makes machine code of it does"
        return [_timed(listing, "", None, because, target) for listing in listings]
    known, texts = None, [""] * len(listings)
    because = f"LLVM has no scheduling model of {target.cpu}"
    try:
        found = ask({**question, "job": "scheduled", "options": OPTIONS}, PATIENCE)
        known, texts = model(found.printed), found.content["texts"]
    except InternalError as error:  # it is more than was asked for: the text is there without
        because = f"LLVM does not tell: {error.problem}"
    return [
        _timed(listing, text, known, because, target)
        for listing, text in zip(listings, texts, strict=True)
    ]


def _timed(
    listing: Listing, text: str, known: SchedulingModel | None, because: str, target: Machine
) -> Listing:
    """A listing with the cycles of its inner loop; `text` has LLVM's names of the instructions."""
    if listing.inner is None:
        return listing
    if known is None:
        return replace(listing, inner=replace(listing.inner, because=because))
    lines = [line for line in code_lines(text, target.comment) if line[1]]
    if [row for _, row, _ in lines] != list(listing.rows):
        because = "the text that has LLVM's names is another"
        return replace(listing, inner=replace(listing.inner, because=because))
    names = [found[1] if (found := _NAMED.search(line)) else "" for line, _, _ in lines]
    inner = timed(listing.inner, listing.rows, names, known, target.model)
    return replace(listing, inner=inner)


def _written_for(machine: Machine, kernel: Translatable) -> Source:
    """The kernel's text with nothing that only another machine has."""
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
    kernel: Translatable, own: Source, text: str, machine: Machine, seconds: float
) -> Listing:
    rows, sources = linked_assembly(text, machine.comment)
    places = _leading(own.rows, kernel.source.rows, kernel.places)
    linked = [
        tuple(dict.fromkeys(place for line in lines for place in places[line - 1]))
        for lines in sources
    ]
    made = Listing(
        title=f"{own.name} for {machine.title}", seconds=seconds, name=own.name, rows=tuple(rows),
        sources=tuple(inherited.of_assembly(rows, linked)), kernel=own.kernel, prefix=machine.id,
        level=kernel.level, comment=machine.comment, choices=kernel.choices,
    )  # fmt: skip
    return replace(made, inner=inner_loop(made.rows, made.flow, machine.model.vector_bytes))


def _leading(
    own: Sequence[SourceLine], host: Sequence[SourceLine],
    places: Sequence[tuple[int, ...]] | None,
) -> list[tuple[int, ...]]:  # fmt: skip
    """For each line of a text the lines of the host's (from 1) that do the same."""
    if places is None:
        return aligned(own, host)
    written: dict[int, list[int]] = {}
    for line, row in enumerate(host, start=1):
        for instruction in row.instructions:
            written.setdefault(instruction, []).append(line)
    same = (dict.fromkeys(it for n in row.instructions for it in places[n]) for row in own)
    return [tuple(dict.fromkeys(line for n in of for line in written.get(n, ()))) for of in same]


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
