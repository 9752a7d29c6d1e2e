"""prefetch: software prefetching of what the next iteration of an outer loop reads.

    Choice:  prefetch 1 r1 i0
    Before:  r1.1 in 16   reduction   lanes
             for i0 in 3
               acc %0 = 0.0
               for r1.0 in 4   reduction
                 %1 = in1[i0*64 + r1.0*16 + r1.1]
                 %0 = sum(%0, %1)
               out[i0] = %0
    After:   r1.1 in 16   reduction   lanes
             for i0 in 3
               acc %0 = 0.0
               for r1.0 in 4   reduction
                 %1 = in1[i0*64 + r1.0*16 + r1.1] fetch +64
                 %0 = sum(%0, %1)
               out[i0] = %0

If a kernel first reads a row from memory, then computes with it in the cache, memory idles while
the core computes, and the core idles while the next row arrives. So the computing loop prefetches
the next row.

Relies on: `vectorize` and `parallelize` have run: only vectors are prefetched, and the step of
`next` is known.
Ensures: the same values; no memory is read that does not exist.
"""

from typing import Any

from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.loops.choices import Choices, Prefetch
from compiler.loops.nodes import Argument, Body, Load, Range, ScalarNode
from compiler.loops.symbolic import as_sum
from compiler.loops.transforms.axes import axes, find, record, refuse, swapped_body


def prefetch(
    body: Body, choices: Choices, provenance: Provenance[Any], matches: list[Match] | None = None
) -> Body:
    """`body` with the prefetches that each Prefetch names."""
    for choice in choices.of(Prefetch):
        outer = find(axes(body), choice.next, choice, choices)
        if outer is None:
            continue
        order: list[ScalarNode] = toposort([body])
        loads: dict[ScalarNode, ScalarNode] = {
            n: Load(n.sources, ahead)
            for n in order
            if isinstance(n, Load) and _is_of(n, choice) and (ahead := _step(n, outer))
        }
        if not loads:
            why = f"no load of argument {choice.slot} along {choice.axis} depends on {choice.next}"
            refuse(choice, why, "an axis that rows are read along, and one over rows")
        changed = swapped_body(body, loads, provenance)
        record(matches, choice, body, changed)
        body = changed
    return body


def _is_of(load: Load, choice: Prefetch) -> bool:
    """True if a load reads the argument and its index depends on the axis or a part of it."""
    read = load.sources[0]
    if not isinstance(read, Argument) or read.slot != choice.slot:
        return False
    terms = as_sum(load.sources[1]).terms
    return any(isinstance(r, Range) and r.name.is_in(choice.axis) for r in terms)


def _step(load: Load, outer: Range) -> int:
    """The stride of a load along `outer`, in elements; 0 where it is not known."""
    return as_sum(load.sources[1]).terms.get(outer, 0)
