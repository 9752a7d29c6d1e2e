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
