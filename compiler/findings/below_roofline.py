"""below_roofline: kernels far below their roofline bound, and why.

The roofline bound is the time of the same operations and bytes on as many cores, with all
operations in vectors and all accesses sequential. Accesses that depend on data, as those of a
gather, stay as they are. Reported are kernels that take `FAR` times the bound (measured, if there
is a measurement), if the gain is large enough and the model finds a cause. Strided reads of a
reduction have a rule of their own; updates and the steps of a scan are sequential by definition.
"""

from collections.abc import Iterator
from dataclasses import replace

from compiler.core.node import toposort
from compiler.core.reason import Number
from compiler.findings.finding import Finding
from compiler.findings.strided import crossed
from compiler.findings.subject import Part, Subject
from compiler.graph.nodes import Reduce as TensorReduce
from compiler.loops.nodes import Load, Reduce, Scan, Update
from compiler.loops.placement import dependencies
from compiler.loops.printer import Loops
from compiler.machines.model import NEVER_VECTOR
from compiler.schedule.analysis.roof import roof_ns
from compiler.schedule.analysis.work import Access, Stretch, Work

FAR = 4.0
"""The ratio of time to roofline bound from which a kernel is reported: more than the error of the
model. A choice."""

VECTORS = 0.9
"""The share of operations in vectors above which the rest is no cause. A choice."""


def below_roofline(subject: Subject) -> Iterator[Finding]:
    """Kernels that take much longer than their operations and bytes have to."""
    for name, part in subject.parts.items():
        work, loops = subject.works.get(name), subject.loops.get(name)
        if work is None or loops is None or not subject.is_worth(part.ns):
            continue
        took = (part.ns - part.launches) / len(part.items)
        roof = roof_ns(work, subject.model, subject.resident)
        gain = (took - roof) * len(part.items)
        is_far = took >= FAR * max(roof, 1.0) and subject.is_worth(gain)
        if not is_far or crossed(loops.body) or _is_in_order(loops):
            continue
        cause = _why(subject, part, work)
        if cause:
            yield _finding(subject, part, work, (took, roof), cause)


def _finding(
    subject: Subject, part: Part, work: Work, times: tuple[float, float], cause: tuple[str, str]
) -> Finding:
    (took, roof), (why, instead) = times, cause
    gain = (took - roof) * len(part.items)
    return Finding(
        "roofline",
        f"{subject.takes(part)}: {times_as_long(took, roof)} what its operations and bytes need at "
        f"this machine's best. The cause: {why}.",
        subject.or_plain(part.name, instead), gain, part.first, "schedule", "timeline",
        (Number(f"each run ({subject.how})", took, "ns", "at the roofline", roof),
         Number("of it in vectors", round(100 * work.occupancy), "%", "all", 100)),
        *subject.line_of_item(part.items[0]), subject.brings(gain),
    )  # fmt: skip


def times_as_long(took: float, roof: float) -> str:
    """`44 times`, `6.6 times`"""
    ratio = took / max(roof, 1.0)
    return f"{ratio:,.0f} times" if ratio >= 9.95 else f"{ratio:.1f} times"


def _is_in_order(loops: Loops) -> bool:
    """True if iterations are sequential by definition."""
    return any(isinstance(node, Update | Scan) for node in loops.nodes)


def _why(subject: Subject, part: Part, work: Work) -> tuple[str, str] | None:
    """The main cause and the code to write instead; None where the model finds no cause."""
    alone = sorted({o.name for s in work.stretches for o in s.operations} & NEVER_VECTOR)
    if alone:
        words = f"there are no vector instructions for {' and '.join(alone)}"
        return words, f"the line without {alone[0]}, or with it on fewer elements."
    if _is_nested(subject.loops[part.name]):
        inner, outer = _reductions(subject, part)
        return (f"{inner} is computed inside the loop of {outer}, so neither has tiles or lanes",
                f"put .contiguous() behind {inner}: each then has loops of its own.")
    if _asks_where(subject.loops[part.name]):
        return ("each read in its reduction asks whether it is inside what zeros were put around",
                "put .contiguous() behind what pads or shifts (pad, roll): the zeros are then in "
                "memory, and nothing is asked.")  # fmt: skip
    apart = [(_apart_ns(subject, s, a), a) for s in work.stretches for a in s.accesses]
    worst = max(apart, key=lambda row: row[0], default=None)
    if worst and worst[0] > 0:
        name = subject.buffer_name(part.name, worst[1].slot)
        verb = "writes" if worst[1].is_write else "reads"
        gap = (worst[1].stride or 0) * worst[1].itemsize
        return (f"from one element of {name} that it {verb} to the next are {gap:,} bytes",
                f"keep {name} in the order in which it is used: {name}.T.contiguous() once, before "
                "the program, and its .T here.")  # fmt: skip
    if work.occupancy > VECTORS:
        return None
    return (f"only {100 * work.occupancy:.0f} % of it runs in vectors",
            "give it a long last axis, the longest where the order is yours: loops over the last "
            "axis become vectors.")  # fmt: skip


def _reductions(subject: Subject, part: Part) -> tuple[str, str]:
    """The user's call for a reduction of a kernel, and the reduction in whose loop it is
    computed."""
    folds = [it for it in subject.nodes_of(part.items[0]) if isinstance(it, TensorReduce)]
    for outer in folds:
        below = set(toposort([outer])) - {outer}
        inner = next((it for it in folds if it in below), None)
        if inner is not None:
            return subject.call_of(inner, inner.op), subject.call_of(outer, outer.op)
    return "one reduction", "another"


def _is_nested(loops: Loops) -> bool:
    """True if a fold is evaluated inside the loops of another one."""
    needs = dependencies(loops.body)
    folds = [node for node in loops.nodes if isinstance(node, Reduce)]
    return any(needs[one] & set(other.ranges) for one in folds for other in folds)


def _asks_where(loops: Loops) -> bool:
    """True if a reduction has loads whose predicate depends on its loops."""
    needs = dependencies(loops.body)
    folded = {axis for it in loops.nodes if isinstance(it, Reduce) for axis in it.ranges}
    predicates = (it.predicate for it in loops.nodes if isinstance(it, Load))
    return any(needs[it] & folded for it in predicates if it is not None)


def _apart_ns(subject: Subject, stretch: Stretch, access: Access) -> float:
    """Nanoseconds that an access takes because it meets no neighbours; 0 where data decide."""
    if access.is_contiguous or access.stride is None:
        return 0.0
    alone = replace(stretch, operations=(), accesses=(access,))
    return alone.busy(subject.model)[2]
