"""far_from_roof: kernels far below their roofline, and why.

The roof is what the same operations and the same bytes would take on as many cores, all of it in
vectors and every access one after the other; what data decide, as where a gather reads, stays as
it is. Told of kernels that take `FAR` times as long, where that is worth it. Reads that cross
memory in a reduction have a rule of their own, and updates come one after the other by what they
mean.
"""

from collections.abc import Iterator
from dataclasses import replace

from compiler.core.reason import Number
from compiler.findings.crosswise import crossed
from compiler.findings.finding import Finding
from compiler.findings.subject import Part, Subject
from compiler.loops.nodes import Load, Reduce, Update
from compiler.loops.placement import dependencies
from compiler.loops.printer import Loops
from compiler.schedule.analysis.work import Access, Stretch, Work, estimate
from compiler.settings.machine import NEVER_VECTOR

FAR = 4.0
"""How many times as long as its roof a kernel takes that is told: a quarter of what is there is
more than the model is off. A choice."""


def far_from_roof(subject: Subject) -> Iterator[Finding]:
    """Kernels that take much longer than their operations and bytes have to."""
    for name, part in subject.parts.items():
        work, loops = subject.works.get(name), subject.loops.get(name)
        if work is None or loops is None or not subject.is_worth(part.ns):
            continue
        launch = subject.model.launch_ns
        took = estimate(work, subject.model, subject.resident) - launch
        roof = estimate(at_best(work), subject.model, subject.resident) - launch
        gain = (took - roof) * len(part.items)
        is_far = took >= FAR * max(roof, 1.0) and subject.is_worth(gain)
        if is_far and not crossed(loops.body) and not _updates(loops):
            yield _finding(subject, part, work, (took, roof), gain)


def at_best(work: Work) -> Work:
    """The same work in vectors, one element after the other."""
    return replace(work, stretches=tuple(map(_stretch, work.stretches)))


def _stretch(stretch: Stretch) -> Stretch:
    accesses = tuple(replace(it, stride=it.stride and 1) for it in stretch.accesses)
    return replace(stretch, is_vector=True, begun=0, accesses=accesses)


def _finding(
    subject: Subject, part: Part, work: Work, times: tuple[float, float], gain: float
) -> Finding:
    took, roof = times
    why, instead = _why(subject, part, work)
    return Finding(
        "roofline",
        f"Kernel {part.times} takes {took / max(roof, 1.0):.1f} times as long as its roof: {why}.",
        subject.or_plain(part.name, instead), gain, part.first, "schedule", "timeline",
        (Number("estimated", took, "ns", "at its roof", roof),
         Number("of it in vectors", round(100 * work.occupancy), "%", "all", 100)),
        *subject.line_of_item(part.items[0]),
    )  # fmt: skip


def _updates(loops: Loops) -> bool:
    return any(isinstance(node, Update) for node in loops.nodes)


def _why(subject: Subject, part: Part, work: Work) -> tuple[str, str]:
    """What most of the time goes to, and what to write instead."""
    alone = sorted({o.name for s in work.stretches for o in s.operations} & NEVER_VECTOR)
    if alone:
        words = f"{', '.join(alone)} keeps its loop from becoming vectors"
        return words, f"the program without {alone[0]}, or with it on fewer elements"
    if _is_nested(subject.loops[part.name]):
        return ("one of its reductions is inside another, so neither has tiles or lanes",
                ".contiguous() behind the inner one: each then has loops of its own")  # fmt: skip
    if _asks_where(subject.loops[part.name]):
        return ("each read in its reduction asks whether it is inside what zeros were put around",
                ".contiguous() behind what is padded or shifted: zeros are then in memory")
    apart = [(_apart_ns(subject, s, a), a) for s in work.stretches for a in s.accesses]
    worst = max(apart, key=lambda row: row[0], default=None)
    if worst and worst[0] > 0:
        name = subject.buffer_name(part.name, worst[1].slot)
        return (f"it reads or writes {name} at places that are no neighbours",
                f"{name} laid out, once, in the order in which it is read")  # fmt: skip
    return (f"{100 * work.occupancy:.0f} % of it runs in vectors",
            "a long last axis: loops over the last axis become vectors")  # fmt: skip


def _is_nested(loops: Loops) -> bool:
    """Whether a fold is evaluated inside the loops of another one."""
    needs = dependencies(loops.body)
    folds = [node for node in loops.nodes if isinstance(node, Reduce)]
    return any(needs[one] & set(other.ranges) for one in folds for other in folds)


def _asks_where(loops: Loops) -> bool:
    """Whether reads of a fold are made under a condition on its loops."""
    needs = dependencies(loops.body)
    folded = {axis for it in loops.nodes if isinstance(it, Reduce) for axis in it.ranges}
    gates = (it.gate for it in loops.nodes if isinstance(it, Load) and it.gate is not None)
    return any(needs[gate] & folded for gate in gates)


def _apart_ns(subject: Subject, stretch: Stretch, access: Access) -> float:
    """Nanoseconds that an access takes because it meets no neighbours; 0 where data decide."""
    if access.is_contiguous or access.stride is None:
        return 0.0
    alone = replace(stretch, operations=(), accesses=(access,))
    return alone.busy(subject.model)[2]
