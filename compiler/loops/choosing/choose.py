"""choose: the default choices for the loops of a kernel, each with its reason.

    Before:  k0(out f32[50000], in1 f32[50000])
             for i0 in 50000
               %2 = in1[i0]              f32
               %3 = exp(%2)              f32
               out[i0] = %3
    After:   tile i0 64 peel             # …: 50000 iterations in vectors of 16, 4 at a time
             tile i0.1 16 peel           # …
             unroll i0.1.0               # 4 vectors at a time hide the latency of each
             vectorize i0.1.1            # …
             …

Each kind of kernel has a function, which considers the strides of every load and store
(`accesses.py`), extents, operations and the machine model. It returns choices, or the reason why
the kernel is of another kind; the first function that returns choices decides. A kernel that none
recognises, or that is too small for vectors, stays plain: LLVM vectorises it, and cores share the
outermost loop if the work is worth it. A kernel with a loop that the user asked to unroll stays
plain as well, on one core. Rejected choices are reported with the choices.

Relies on: invariants of `loops/verify.py`; loops as `coalesce` leaves them, whole and simple.
Ensures: each choice has its reason. The passes may refuse a choice, which is then left out
(`dropped.py`).
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from compiler.core.reason import Number, Reason
from compiler.loops.choices import Choices, Refused, Row, chosen, word
from compiler.loops.choosing.accesses import Accesses, accesses
from compiler.loops.choosing.choose_columns import columns
from compiler.loops.choosing.choose_dots import dots
from compiler.loops.choosing.choose_elementwise import borders, elementwise
from compiler.loops.choosing.choose_groups import groups
from compiler.loops.choosing.choose_outer_products import outer_products
from compiler.loops.choosing.choose_products import products
from compiler.loops.choosing.choose_rows import rows
from compiler.loops.choosing.choose_scans import scans
from compiler.loops.choosing.choose_short_rows import short_rows
from compiler.loops.choosing.choose_taps import taps
from compiler.loops.choosing.choose_transposes import transposes
from compiler.loops.choosing.choose_windows import windows
from compiler.loops.choosing.choose_words import words
from compiler.loops.choosing.lanes import is_worth_threads, shared_out
from compiler.loops.nodes import Body
from compiler.loops.transforms.axes import axes
from compiler.machines.model import MachineModel

Chooser = Callable[[Accesses, MachineModel], Choices | Reason]
KINDS: tuple[Chooser, ...] = (
    scans, elementwise, borders, transposes, words, dots, outer_products, products, windows,
    groups, short_rows, rows, columns, taps,
)  # fmt: skip
"""From the most specific to the most general."""


def choose(body: Body, model: MachineModel, kinds: Collection[str] | None = None) -> Choices:
    """The choices for a kernel on a machine; with `kinds`, only those for which there is a pass."""
    choices = _choose(body, model)
    if kinds is None:
        return choices
    return replace(choices, rows=tuple(choice for choice in choices if word(choice) in kinds))


def _choose(body: Body, model: MachineModel) -> Choices:
    """The choices, whether or not their passes are enabled."""
    seen = accesses(body)
    if seen is None:
        return _left(Reason("it does not write one value alone"))
    if not all(r.extent for r in seen.ranges):
        return _left(Reason("it writes nothing", Number("elements written", 0)))
    unrolled = next((axis.name for axis in axes(body).values() if axis.unroll), "")
    if unrolled:
        return _left(Reason(f"the program asks to unroll {unrolled}"))
    against: dict[str, Reason] = {}
    for kind in KINDS:
        choices = kind(seen, model)
        if isinstance(choices, Choices):
            return choices
        if choices:
            against[kind.__name__.replace("_", " ")] = choices
    if not seen.ranges or not is_worth_threads(seen, model):
        return _left(_together(against))
    outer = seen.ranges[0]
    return _left(_together(against), *shared_out(seen, outer.name, outer.extent, model))


def _left(why: Reason, *shared: Row) -> Choices:
    """Plain loops, at most parallelised by `shared`: LLVM vectorises."""
    left = Refused("vectorize", Reason(f"left to LLVM: {why}", *why.numbers))
    return chosen((left, *shared))


def _together(against: Mapping[str, Reason]) -> Reason:
    """The reasons why the kernel is of no kind: those with numbers if any, else all."""
    counted = {kind: why for kind, why in against.items() if why.numbers}
    reasons = "; ".join(f"as {kind}: {why}" for kind, why in (counted or against).items())
    numbers = dict.fromkeys(number for why in counted.values() for number in why.numbers)
    return Reason(reasons, *numbers)
