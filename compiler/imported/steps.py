"""A step for each row of a sequence, with states that it hands on.

    64 rows  =  64 iterations of one step, each of which writes its row of the result

A few steps are written out; so are those of states with an axis whose extent is a variable.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from compiler.tensor import Tensor
from compiler.tensors.repeat import repeat

MOST_WRITTEN_OUT = 8
"""Steps up to which they are written out. A choice: they are compiled one by one, and of a loop one
step is."""

BLOCK, FEW = 32, 16
"""Rows of weights that are laid out together, and rows of states up to which they are. A step of 64
with weights of 1,024 by 256 takes 82 and 44, 41, 45 µs with blocks of 16, 32 and 64 for 8 rows, 19
and 18, 12, 12 for one (AVX-512), 150 and 49, 49, 47, 21 and 22, 23, 22 (AVX2); of 32 rows 312 and
409, 288, 290, and 211 and 189, 305, 250 (EPYC, Zen 4, one busy core, 2026-11-24)."""

State: TypeAlias = tuple[Tensor, ...]
Step: TypeAlias = Callable[[Tensor | int, State], tuple[State, Tensor]]
"""From the place of a step and the states to the next states, and its row: like the first state."""


def in_steps(
    count: int, step: Step, states: State, is_backwards: bool = False
) -> tuple[Tensor, State]:
    """The rows of `count` steps, each at its place of a new first axis, and the last states.

    What the step reads besides has fixed extents if the states have.
    """
    if count <= MOST_WRITTEN_OUT or any(state.node.extents for state in states):
        return _written_out(count, step, states, is_backwards)

    def iteration(trip: Tensor, *given: Tensor) -> State:
        place = trip.neg().add(count - 1) if is_backwards else trip
        new, row = step(place, given[:-1])
        return *new, with_row(given[-1], place, row)

    first = states[0]
    made = repeat(count, iteration, *states, Tensor.zeros(count, *first.shape, dtype=first.dtype))
    assert isinstance(made, tuple)
    return made[-1], made[:-1]


def laid_out(weights: Tensor, count: int, rows: object) -> Tensor:
    """Weights [n, k] that `count` steps multiply `rows` rows by, in memory so that these read them
    in order: block by block, and in a block one column after the other. Written once, before all
    steps; the same values, whatever the layout."""
    n, k = weights.shape
    is_few = isinstance(rows, int) and rows <= FEW and count > MOST_WRITTEN_OUT
    if not is_few or n % BLOCK or not n:
        return weights
    blocks = weights.reshape(n // BLOCK, BLOCK, k).permute(0, 2, 1).contiguous()
    return blocks.permute(0, 2, 1).reshape(n, k)


def with_row(x: Tensor, place: Tensor, row: Tensor) -> Tensor:
    """`x` with another slice of the first axis at a computed place."""
    is_there = Tensor.arange(x.shape[0]).eq(place).reshape(-1, *(1,) * row.ndim)
    return is_there.where(row.unsqueeze(0), x)


def stacked(rows: Sequence[Tensor]) -> Tensor:
    """At least one row, along a new first axis."""
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
