"""A step for each row of a sequence, with states carried from step to step.

    64 rows  =  64 iterations of one step, each of which writes its row of the result

A few steps are unrolled; so are those of states with an axis of variable extent.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from compiler.imported.axes import along
from compiler.tensor import Tensor
from compiler.tensors.repeat import repeat

MOST_WRITTEN_OUT = 8
"""The number of steps up to which they are unrolled. A choice: unrolled steps are compiled one by
one, a loop compiles one step."""

BLOCK, FEW = 32, 16
"""Rows of weights that are laid out together, and rows of states up to which they are. A step of 64
with weights of 1,024 by 256 takes 82 and 44, 41, 45 µs with blocks of 16, 32 and 64 for 8 rows, 19
and 18, 12, 12 for one (AVX-512), 150 and 49, 49, 47, 21 and 22, 23, 22 (AVX2); of 32 rows 312 and
409, 288, 290, and 211 and 189, 305, 250 (EPYC, Zen 4, one busy core, 2026-11-24)."""

State: TypeAlias = tuple[Tensor, ...]
Step: TypeAlias = Callable[[Tensor | int, State], tuple[State, Tensor]]
"""From the index of a step and the states to the next states, and its row, which is like the first
state."""


def in_steps(
    count: int, step: Step, states: State, is_backwards: bool = False
) -> tuple[Tensor, State]:
    """The rows of `count` steps, stacked along a new axis 0, and the last states.

    Other tensors that the step reads have fixed extents if the states have.
    """
    if count <= MOST_WRITTEN_OUT or any(state.node.extents for state in states):
        return _written_out(count, step, states, is_backwards)

    def iteration(trip: Tensor, *before: Tensor) -> State:
        place = trip.neg().add(count - 1) if is_backwards else trip
        new, row = step(place, before[:-1])
        return *new, with_row(before[-1], place, row)

    first = states[0]
    last = repeat(count, iteration, *states, Tensor.zeros(count, *first.shape, dtype=first.dtype))
    assert isinstance(last, tuple)
    return last[-1], last[:-1]


def laid_out(weights: Tensor, count: int, rows: object) -> Tensor:
    """Weights [n, k], which `count` steps multiply by `rows` rows, laid out so that steps read them
    sequentially: block by block, and within a block column by column. They are written once, before
    all steps; the values do not depend on the layout."""
    n, k = weights.shape
    is_few = isinstance(rows, int) and rows <= FEW and count > MOST_WRITTEN_OUT
    if not is_few or n % BLOCK or not n:
        return weights
    blocks = weights.reshape(n // BLOCK, BLOCK, k).permute(0, 2, 1).contiguous()
    return blocks.permute(0, 2, 1).reshape(n, k)


def with_row(x: Tensor, place: Tensor, row: Tensor) -> Tensor:
    """`x` with another slice at a computed index of axis 0."""
    is_there = along(Tensor.arange(x.shape[0]).eq(place), 0, x.ndim)
    return is_there.where(row.unsqueeze(0), x)


def stacked(rows: Sequence[Tensor]) -> Tensor:
    """The rows, at least one, stacked along a new axis 0."""
    first, *others = rows
    return first.stack(*others, dim=0) if others else first.unsqueeze(0)


def _written_out(
    count: int, step: Step, states: State, is_backwards: bool
) -> tuple[Tensor, State]:
    rows = []
    for place in reversed(range(count)) if is_backwards else range(count):
        states, row = step(place, states)
        rows.append(row)
    return stacked(rows[::-1] if is_backwards else rows), states
