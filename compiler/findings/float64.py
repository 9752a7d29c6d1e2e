"""float64: float64 by accident, and where it came in.

Reported if the operations after an implicit conversion (`widening.py`) take enough time, or if it
makes a result of the program float64. In float32 the same loops have twice the lanes and half the
bytes, so the gain is half of their time without launches.
"""

from collections.abc import Iterator

from compiler.core.dtypes import float64
from compiler.core.node import toposort
from compiler.core.origin import Origin
from compiler.core.reason import Number
from compiler.core.text import duration
from compiler.findings.finding import Finding
from compiler.findings.subject import Subject
from compiler.findings.widening import AT_MOST, Widening, named, widenings
from compiler.graph.nodes import Buffer, Cast, Const, TensorNode

HALF = 0.5
"""Of the time in float64 is left in float32: twice the lanes, half the bytes."""


def float64_by_accident(subject: Subject) -> Iterator[Finding]:
    """The first places at which a float32 program becomes float64."""
    for widening in widenings(subject.program.written)[:AT_MOST]:
        inside = _time_behind(subject, widening)
        gain = HALF * inside
        if subject.is_worth(gain) or _is_result(subject, widening):
            yield _finding(subject, widening, inside, gain)


def _time_behind(subject: Subject, widening: Widening) -> float:
    """Nanoseconds of the nodes that are float64 because of it, launches aside."""
    behind = _behind(subject, widening)
    found = 0.0
    for time, shares in zip(subject.times, subject.schedule.shares, strict=True):
        whole = sum(own.time for _, own in shares)
        wide = sum(own.time for entity, own in shares if entity in behind)
        found += max(time - subject.model.launch_ns, 0.0) * wide / max(whole, 1)
    return found


def _behind(subject: Subject, widening: Widening) -> set[str]:
    """The entities of the float64 nodes that follow the conversion; all, where it was rewritten."""
    entity = subject.program.entity
    nodes: list[TensorNode] = toposort([subject.program.simplest])
    wide = [node for node in nodes if node.dtype is float64]
    start = entity(widening.cast)
    found = {entity(node) for node in wide if entity(node) == start}
    for node in wide:
        if found and any(entity(source) in found for source in node.sources):
            found.add(entity(node))
    return found or {entity(node) for node in wide}


def _is_result(subject: Subject, widening: Widening) -> bool:
    """True if a result of the program is float64 because of the conversion."""
    known: set[TensorNode] = {widening.cast}
    for node in toposort([subject.program.written]):
        if known.intersection(node.sources):
            known.add(node)
    results = subject.program.written.sources
    return any(it in known and it.dtype is float64 for it in results)


def _finding(subject: Subject, widening: Widening, inside: float, gain: float) -> Finding:
    origin, other = widening.origin, widening.other
    met = f", because it meets {_met(other, origin)}" if other else ""
    follows = f"{duration(inside)} ({subject.how}), {subject.part_of(inside)}, in float64"
    return Finding(
        "float64",
        f"float32 becomes float64 in {origin.method}{met}. What follows takes {follows}; float32 "
        "has twice the lanes and half the bytes.",
        _instead(widening), gain, subject.program.entity(widening.cast), "graph", "graph",
        (Number("time in float64", inside, "ns", "the whole program", subject.total),),
        *subject.line_at(origin), subject.brings(gain),
    )  # fmt: skip


def _met(other: TensorNode, here: Origin) -> str:
    if isinstance(other, Const):
        return f"a {other.dtype} constant (zeros, ones and NumPy's numbers are such)"
    return named(other, here)


def _instead(widening: Widening) -> str:
    """The line, written so that it stays float32."""
    other = widening.other
    if isinstance(other, Const):
        made = other.origin
        where = f" at {made.place}" if made and made.place != widening.origin.place else ""
        return (f'write a Python number or np.float32(…){where}, or zeros and ones with '
                'dtype="float32": these keep float32 what it is.')  # fmt: skip
    while isinstance(other, Cast):
        other = other.sources[0]
    if isinstance(other, Buffer) and other.name:
        return f'write {other.name}.cast("float32"), or make {other.name} float32 from the start.'
    return 'cast the other operand: .cast("float32"), or compiler.set_default_dtype("float32").'
