"""deduplicate: bodies that differ only in the part that they read become one.

    Before:  …
             %1 = buffer x             f32[4,2]  CPU
             %2 = call k1(%0, %1)      f32[4,1]      (exp of column 1)
             …
             %5 = call k0(%4, %1)      f32[4,1]      (exp of column 0)
             …
    After:   …
             %1 = buffer x             f32[4,2]  CPU
             %2 = call k0(%0, %1; at0 = 1) f32[4,1]
             …
             %5 = call k0(%4, %1; at0 = 0) f32[4,1]
             …

A program that is written as a Python loop over heads, over time steps, or over halves of halves,
has a kernel for each iteration, all alike: one is compiled, and each call says where it reads.

Relies on: `outline` made equal bodies one object; a body begins parts of operands by `Shrink`.
Ensures: a call says the value of each variable of its body that no loop counts; the calls, their
order, and their arguments are as they were. A user's own kernels stay as they are.
"""

from collections.abc import Iterable, Mapping

from compiler.graph.nodes import Sink, TensorNode
from compiler.schedule.general_body import general_bodies
from compiler.schedule.outline import outline
from compiler.schedule.outlined import Iteration, Outlined


def deduplicate(
    outlined: Outlined,
    root: Sink,
    realized: Iterable[TensorNode],
    iterations: Mapping[Sink, Iteration] | None = None,
    originals: Mapping[TensorNode, TensorNode] | None = None,
) -> Outlined:
    """`outlined` with one body where several differ only in where they read.

    The rest is what `outline` made it of; where bodies are joined it is outlined again with them.
    """
    general = general_bodies(body for body in outlined.bodies if body not in outlined.given)
    return outline(root, realized, iterations, originals, general) if general else outlined
