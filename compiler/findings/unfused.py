"""unfused: fusions that were refused, and what they would bring.

Reported for a value that passes through memory from one kernel to the next, if one kernel would be
faster by the cost model (`schedule/analysis/opportunities.py`) and the program can change it: by
not storing the value explicitly, or by `.fuse()`. Not reported: kernels that only read the same
values, the two parts of a split reduction, a value with zero padding (each read would need a
predicate), and a value that each of its readers would recompute.
"""

from collections.abc import Iterator

from compiler.core.reason import numbers_of
from compiler.core.text import binary
from compiler.findings.finding import Finding
from compiler.findings.moved import COPIES
from compiler.findings.subject import Subject
from compiler.graph.printer import origins_of
from compiler.schedule.analysis.opportunities import FusionOpportunity


def unfused(subject: Subject) -> Iterator[Finding]:
    """Pairs of kernels that would be faster as one; those of a loop's iterations once."""
    reported: set[tuple[str, str, str]] = set()
    for number, found in enumerate(subject.schedule.opportunities):
        names = _names(subject, found)
        key = (*names, str(found.reason))
        is_reported = _is_passed_on(subject, found) and not subject.is_padding(names[0])
        if found.taken or key in reported or not is_reported or not _instead(subject, found):
            continue
        reported.add(key)
        again = [it for it in subject.schedule.opportunities
                 if (*_names(subject, it), str(it.reason)) == key and not it.taken]  # fmt: skip
        gain = -sum(it.change for it in again)
        if subject.is_worth(gain):
            yield _finding(subject, number, found, names, gain)


def _names(subject: Subject, found: FusionOpportunity) -> tuple[str, str]:
    first, second = (subject.schedule.items[it].operation for it in (found.first, found.second))
    return first.name, second.name


def _is_passed_on(subject: Subject, found: FusionOpportunity) -> bool:
    """True if the second reads what the first writes."""
    first, second = (subject.schedule.items[it].operation for it in (found.first, found.second))
    return not set(first.writes).isdisjoint(second.reads)


def _finding(
    subject: Subject, number: int, found: FusionOpportunity, names: tuple[str, str], gain: float
) -> Finding:
    first, second = (subject.parts[it].title.short for it in names)
    return Finding(
        "fusion",
        f"{first} and {second} could be one kernel: {binary(found.bytes_saved)} would not pass "
        f"through memory. Why they are two: {found.reason}.",
        _instead(subject, found), gain, f"schedule:fusion {number}", "schedule", "fusion",
        numbers_of(found.reason), *subject.line_of_item(found.first), subject.brings(gain),
    )  # fmt: skip


def _instead(subject: Subject, found: FusionOpportunity) -> str:
    """The code to write; "" where no code would help."""
    nodes = subject.nodes_of(found.first)
    origins = (it for node in nodes for it in origins_of(node, subject.program.provenance))
    if any(it.method in COPIES for it in origins):
        return "leave .contiguous() out: the value is then computed where it is read."
    if "is a result of the program" in found.reason:
        return "leave it out of the results where it is not needed: it can then stay in registers."
    if _is_for_good(found):
        return ""
    return "put .fuse() behind the value: it is then computed where it is read."


def _is_for_good(found: FusionOpportunity) -> bool:
    """True if one kernel would repeat part of the work, or need predicates.

    The model knows that too roughly to advise it: a product of 500² with its matrix fused into 30
    readers took 1.4 times as long as before, two blurs of 240×320 took 2.2 times as long.
    """
    refusals = "different iteration spaces", "zeros are put around it"
    is_again = any(
        it.limit is not None and it.against == "at most" and it.value > it.limit
        for it in numbers_of(found.reason)
    )
    return is_again or any(words in found.reason for words in refusals)
