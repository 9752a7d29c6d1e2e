"""strided: reductions whose reads are strided: each element is in another cache line.

Reported for a kernel with one reduction, none of whose loops moves to a neighbour in memory, if
sequential reads would be faster by enough. The loops are those chosen: where neighbouring tiles or
lanes share the cache lines, nothing is reported. A reduction inside another is slow for another
reason (`below_roofline.py`).
"""

from collections.abc import Iterator, Sequence

from compiler.core.node import substitute, toposort
from compiler.core.reason import Number
from compiler.findings.finding import Finding
from compiler.findings.subject import Part, Subject
from compiler.graph.nodes import Reduce
from compiler.loops import nodes
from compiler.loops.choosing import accesses as seen
from compiler.loops.choosing.accesses import Accesses, accesses
from compiler.loops.nodes import Body, Local
from compiler.loops.placement import is_loop
from compiler.schedule.analysis.traffic import LINE
from compiler.schedule.analysis.work import Access, Stretch


def strided(subject: Subject) -> Iterator[Finding]:
    """Kernels that fold along an axis whose neighbours are far apart in memory."""
    for loops in subject.program.loops:
        part, work = subject.parts.get(loops.name), subject.works.get(loops.name)
        if part is None or work is None or not subject.is_worth(part.ns):
            continue
        slots = crossed(loops.body)
        rows = [
            (_lost(subject, stretch, access), access)
            for stretch in work.stretches
            for access in stretch.accesses
            if access.slot in slots and access.stride and not access.is_write
        ]
        lost = min(sum(each for each, _ in rows) * len(part.items), part.ns - part.launches)
        if rows and subject.is_worth(lost):
            worst = max(rows, key=lambda row: row[0])[1]
            yield _finding(subject, part, worst, lost)


def crossed(body: Body) -> frozenset[int]:
    """The slots of the arguments that the only reduction of a body reads with a stride."""
    has_scratch = any(isinstance(node, Local) for node in toposort([body]))
    found = None if has_scratch else accesses(body)
    if found is None or not _is_one(found.reductions):
        return frozenset()
    return frozenset(it.argument.slot for it in found.loads if _is_strided(it, found))


def _is_one(reductions: Sequence[nodes.Reduce]) -> bool:
    """True for one reduction. A sum of sums (`cascade.py`) is one; its innermost sums are over
    parts of one axis: the blocks, and the rest. These may share loops: they fold one expression."""
    innermost = [it for it in reductions if not isinstance(it.sources[0], nodes.Reduce)]
    folded = {(each, it.op, _form(it)) for it in innermost for each in it.ranges}
    axes = {frozenset(each.number for each in it.ranges) for it in innermost}
    return len(axes) == 1 and len({each for each, *_ in folded}) == len(folded)


def _form(fold: nodes.Reduce) -> nodes.ScalarNode:
    """The folded value with all loads at index 0: the same for all parts of one reduction."""
    value = fold.sources[0]
    loads = (it for it in toposort([value]) if isinstance(it, nodes.Load))
    return substitute(value, {
        it: it.with_sources((it.sources[0], nodes.index(0))) for it in loads
    })  # fmt: skip


def _is_strided(load: seen.Access, found: Accesses) -> bool:
    """True if neither a loop of the reduction nor a loop with it reads a neighbour of the last."""
    apart = {it: abs(step) * load.argument.element.itemsize for it, step in load.steps.items()}
    ranges = (each for it in found.reductions for each in it.ranges)
    folded = [apart[it] for it in ranges if apart.get(it)]
    other = [it for axis, it in apart.items() if not is_loop(axis)]
    is_apart = bool(folded) and all(it >= LINE for it in folded)
    return load.is_affine and is_apart and all(it >= LINE for it in other)


def _lost(subject: Subject, stretch: Stretch, access: Access) -> float:
    """Nanoseconds that the reads take beyond those of neighbours, on the busiest thread."""
    model = subject.model
    level = model.level(access.reused)
    near = access.itemsize / model.read[level]
    return stretch.trips * (model.strided[level] - near) * stretch.share(model.cores)


def _finding(subject: Subject, part: Part, worst: Access, lost: float) -> Finding:
    name = subject.buffer_name(part.name, worst.slot)
    apart = abs(worst.stride or 0) * worst.itemsize
    folded = [it for it in subject.nodes_of(part.items[0]) if isinstance(it, Reduce)]
    kind = subject.call_of(folded[0], folded[0].op) if folded else "reduction"
    return Finding(
        "strided",
        f"{subject.takes(part)}. Its {kind} reads {name} with a stride of {apart:,} bytes, so "
        f"each element comes from another cache line.",
        subject.or_plain(
            part.name, f"store {name} transposed, once, before the program "
            "(.T.contiguous()): the elements of one result are then neighbours in memory.",
        ),
        lost, part.first, "schedule", "timeline",
        (Number("stride of the reads", apart, "bytes", "a cache line", LINE),
         Number("lost by it (estimated)", lost, "ns", f"the kernel ({subject.how})", part.ns)),
        *subject.line_of(folded or subject.nodes_of(part.items[0])), subject.brings(lost),
    )  # fmt: skip
