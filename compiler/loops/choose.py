"""choose: how the loops of a kernel are transformed by default, each choice with its reason.

    out[i0] = relu(in1[i0]*in2[i0])  for i0 in 16777216

    tile i0 64            16777216 turns: vectors of 16 float32, 4 at a time
    tile i0.1 16          …

There is a function for each kind of kernel, which looks at how far every load and store moves along
every axis (`accesses.py`), at extents, operations and the machine model. It returns choices, or
None where the kernel is of another kind; the first that knows the kernel decides. What no function
knows, and what is too small for vectors, stays plain: LLVM then looks for vectors itself.
"""

from collections.abc import Callable

from compiler.loops.accesses import Accesses, accesses
from compiler.loops.choices import PLAIN, Choices
from compiler.loops.choose_columns import columns
from compiler.loops.choose_elementwise import elementwise
from compiler.loops.choose_products import products
from compiler.loops.choose_rows import rows
from compiler.loops.choose_short_rows import short_rows
from compiler.loops.choose_transposes import transposes
from compiler.loops.choose_windows import windows
from compiler.loops.nodes import Body
from compiler.machine import MachineModel

Chooser = Callable[[Accesses, MachineModel], Choices | None]
KINDS: tuple[Chooser, ...] = (
    elementwise, transposes, products, windows, short_rows, rows, columns,
)  # fmt: skip
"""From the most particular to the most general."""


def choose(body: Body, model: MachineModel) -> Choices:
    """The choices for a kernel on a machine."""
    seen = accesses(body)
    if seen is None or not all(r.extent for r in seen.ranges):
        return PLAIN
    found = (kind(seen, model) for kind in KINDS)
    return next((choices for choices in found if choices is not None), PLAIN)
