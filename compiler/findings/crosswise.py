"""crosswise: reductions that read memory crosswise: each element is in another line of the cache.

Told of a kernel with one reduction, none of whose loops moves to a neighbour in memory, where these
reads take so long beyond what they would take one after the other that it is worth it. These are
the loops as chosen: where tiles or lanes beside each other share the lines, nothing is told, and a
reduction inside another is slow for another cause (`far_from_roof.py`).
"""

from collections.abc import Iterator, Sequence

from compiler.core.node import toposort
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


def crosswise(subject: Subject) -> Iterator[Finding]:
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
    """The arguments that the only reduction of a body reads crosswise."""
    has_scratch = any(isinstance(node, Local) for node in toposort([body]))
    found = None if has_scratch else accesses(body)
    if found is None or not _is_one(found.reductions):
        return frozenset()
    return frozenset(it.argument.slot for it in found.loads if _is_crosswise(it, found))


def _is_one(reductions: Sequence[nodes.Reduce]) -> bool:
    """True for one reduction. A sum of sums (`cascade.py`) is one; its innermost sums are over
    parts of one axis: the blocks, and the rest."""
    innermost = [it.ranges for it in reductions if not isinstance(it.sources[0], nodes.Reduce)]
    ranges = [each for it in innermost for each in it]
    axes = {frozenset(each.number for each in it) for it in innermost}
    return len(axes) == 1 and len(set(ranges)) == len(ranges)


def _is_crosswise(load: seen.Access, found: Accesses) -> bool:
    """Whether no loop of the reduction, nor what runs beside it, meets a neighbour of the last."""
    apart = {it: abs(step) * load.argument.element.itemsize for it, step in load.steps.items()}
    ranges = (each for it in found.reductions for each in it.ranges)
    folded = [apart[it] for it in ranges if apart.get(it)]
    beside = [it for axis, it in apart.items() if not is_loop(axis)]
    is_apart = bool(folded) and all(it >= LINE for it in folded)
    return load.is_affine and is_apart and all(it >= LINE for it in beside)


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
        "crosswise",
        f"{subject.takes(part)}. Its {kind} reads {name} crosswise: from one element to the next "
        f"are {apart:,} bytes, so each comes from a line of the cache of its own.",
        subject.or_plain(
            part.name, f"keep {name} transposed, made so once before the program "
            "(.T.contiguous()): the elements of one result are then neighbours in memory.",
        ),
        lost, part.first, "schedule", "timeline",
        (Number("bytes from one read to the next", apart, "bytes", "a line of the cache", LINE),
         Number("lost by it (estimated)", lost, "ns", f"the kernel ({subject.how})", part.ns)),
        *subject.line_of(folded or subject.nodes_of(part.items[0])), subject.brings(lost),
    )  # fmt: skip
