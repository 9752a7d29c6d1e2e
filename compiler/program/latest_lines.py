"""latest_lines: for each scalar of a kernel the line of the user's that it is there for.

Nodes are interned, in bodies of kernels too: one constant, one address, one parameter stands in all
kernels that have it, and a product in all that begin with one. So what a scalar descends from may
be what other kernels compute. Here only what this kernel's own calls compute counts, and of its
lines those on which something is computed: a view or a constant is shared by the lines that write
it. What is left without a line, as a load of an input, has that of what uses it.

    a = (x @ w).maximum(0.0)     k1: the product and the maximum are of this line, though
    b = (a @ w).clip(0.0, 1.0)   k2 has the same parameters, product and 0.0
"""

from collections.abc import Callable, Collection, Iterable, Mapping

from compiler.core.node import Node, toposort
from compiler.core.origin import Origin
from compiler.graph.nodes import TensorNode
from compiler.graph.words import kind
from compiler.pipeline.kernels import CompiledKernel
from compiler.schedule.analysis.own_work import AT_REST, MOVEMENT
from compiler.schedule.kinds import Call
from compiler.schedule.outlined import Outlined

LinesOf = Callable[[TensorNode], Iterable[Origin]]


def latest_lines(
    kernel: CompiledKernel, outlined: Outlined, lines_of: LinesOf
) -> dict[Node, Origin]:
    """The latest line of each scalar that has one. Where the kernel's calls compute nothing that is
    known, any line of what a scalar descends from counts."""
    computed = _computed(kernel.name, outlined)
    decisive = _decisive(computed, lines_of)
    scalars = toposort(list(dict.fromkeys(kernel.linear.origins)))
    lines: dict[Node, Origin] = {}
    for scalar in scalars:
        nodes = {it for body in kernel.provenance.of(scalar) for it in outlined.origins.of(body)}
        counted = nodes & computed if computed else nodes
        origins = {it for node in counted for it in lines_of(node)}
        if decisive:
            origins &= decisive
        if origins:
            lines[scalar] = max(origins)
    return lines | _of_users(scalars, lines)


def _computed(name: str, outlined: Outlined) -> set[TensorNode]:
    """The nodes that the calls of a kernel compute; for calls in a loop, the loop."""
    calls = (it for it in toposort([outlined.root]) if isinstance(it, Call) and it.name == name)
    return {node for call in calls for node in outlined.origins.of(call)}


def _decisive(computed: Collection[TensorNode], lines_of: LinesOf) -> set[Origin]:
    """The lines on which something is computed."""
    working = (it for it in computed if kind(it) not in AT_REST and kind(it) != MOVEMENT)
    return {line for node in working for line in lines_of(node)}


def _of_users(scalars: Iterable[Node], known_lines: Mapping[Node, Origin]) -> dict[Node, Origin]:
    """The latest line of what uses a scalar, for those without one of their own."""
    lines: dict[Node, Origin] = {}
    for scalar in reversed(list(scalars)):
        line = known_lines.get(scalar) or lines.get(scalar)
        if line is None:
            continue
        for source in scalar.sources:
            if source not in known_lines:
                lines[source] = max(line, lines.get(source, line))
    return lines
