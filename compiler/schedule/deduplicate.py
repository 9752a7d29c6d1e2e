"""deduplicate: kernel bodies that differ only in the offsets of their reads become one.

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

A program written as a Python loop over heads, time steps, or recursive halves has a similar kernel
for each iteration. One of them is compiled, with the offset as a variable, and each call passes its
offset.

Relies on: `outline` made equal bodies one object; a body slices operands by `Shrink`.
Ensures: a call fixes the value of each variable of its body that is no loop counter; the calls,
their order and their arguments do not change. Kernels written by the user do not change.
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
    """`outlined`, with bodies that differ only in the offsets of their reads merged.

    The other arguments are those of `outline`, which runs again if bodies were merged.
    """
    general = general_bodies(body for body in outlined.bodies if body not in outlined.given)
    return outline(root, realized, iterations, originals, general) if general else outlined
