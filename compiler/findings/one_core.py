"""one_core: parallel loops that were refused though the kernel's work is worth several threads.

Reported if no outer loop can be divided among the cores. A kernel with too little work for several
cores is not reported; nor is a program on a machine with one core.
"""

from collections.abc import Iterator

from compiler.core.reason import Number, numbers_of
from compiler.findings.finding import Finding
from compiler.findings.subject import Part, Subject
from compiler.loops.choices import Refused
from compiler.loops.choosing.lanes import WORTH_THREADS

KIND = "parallelize"


def on_one_core(subject: Subject) -> Iterator[Finding]:
    """Kernels that one core runs while others have nothing to do."""
    cores = subject.model.cores
    for name, choices in subject.program.choices.items():
        part = subject.parts.get(name)
        refused = next((it for it in choices.refused if it.kind == KIND), None)
        if part is None or refused is None or cores < 2:
            continue
        inside = part.ns - part.launches
        gain = inside * (1 - 1 / cores)
        is_enough = inside / len(part.items) >= WORTH_THREADS and not _is_little(refused)
        if is_enough and subject.is_worth(gain):
            yield _finding(subject, part, refused, inside, gain)


def _is_little(refused: Refused) -> bool:
    """True if it was refused because there is too little work."""
    found = (it for it in numbers_of(refused.because) if it.name == "work")
    return any(it.limit is not None and it.value < it.limit for it in found)


def _finding(
    subject: Subject, part: Part, refused: Refused, inside: float, gain: float
) -> Finding:
    cores = subject.model.cores
    return Finding(
        "one core",
        f"{subject.takes(part)}, on one of {cores} cores. It was not shared out: "
        f"{refused.because}.",
        subject.or_plain(
            part.name,
            "give it a longer outer axis, more rows or a larger batch, which cores can share.",
        ),
        gain, part.first, "schedule", "timeline",
        (*numbers_of(refused.because), Number(f"on one core ({subject.how})", inside, "ns",
                                              f"on {cores}", inside / cores)),
        *subject.line_of_item(part.items[0]), subject.brings(gain),
    )  # fmt: skip
