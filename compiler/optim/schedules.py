"""Learning rate schedules.

    schedule = Schedule(optimizer, warmup(100, cosine(10_000)))
    optimizer.step(); schedule.step()

A shape is a function of the step number, from 0, that returns a factor for the initial rate.
"""

import math
from collections.abc import Callable

from compiler.core.errors import DataError
from compiler.core.keywords import program_call
from compiler.optim.optimizer import Optimizer

Shape = Callable[[int], float]


class Schedule:
    """Sets the rates of an optimiser: each group's initial rate times `shape(step)`."""

    def __init__(self, optimizer: Optimizer, shape: Shape) -> None:
        self.optimizer = optimizer
        self.shape = shape
        self.first = [group.lr for group in optimizer.groups]
        self.count = 0
        self._set()

    def step(self) -> None:
        """Advance by one step."""
        self.count += 1
        self._set()

    def _set(self) -> None:
        part = self.shape(self.count)
        for group, first in zip(self.optimizer.groups, self.first, strict=True):
            if group.lr != first * part:
                group.lr = first * part


@program_call
def steps(step_size: int, gamma: float = 0.1) -> Shape:
    """Multiplied by `gamma` after each `step_size` steps."""
    return lambda step: gamma ** (step // step_size)


@program_call
def exponential(gamma: float) -> Shape:
    """Multiplied by `gamma` after each step."""
    return lambda step: gamma**step


@program_call
def cosine(total_steps: int, final_factor: float = 0.0) -> Shape:
    """From 1 to `final_factor` in `total_steps`, along half a cosine period; then constant."""
    def shape(step: int) -> float:
        part = min(step / total_steps, 1)
        return final_factor + (1 - final_factor) * (1 + math.cos(math.pi * part)) / 2

    return shape


@program_call
def warmup(warmup_steps: int, after: Shape | None = None) -> Shape:
    """Linearly up to 1 in `warmup_steps`, then `after`, with step numbers from there."""
    if warmup_steps < 1:
        what, got = "no such number of steps", str(warmup_steps)
        raise DataError("warmup", what, got=got, expected="1 or more")

    def shape(step: int) -> float:
        if step < warmup_steps:
            return (step + 1) / warmup_steps
        return 1.0 if after is None else after(step - warmup_steps)

    return shape


@program_call
def one_cycle(
    total_steps: int, pct_start: float = 0.3, div_factor: float = 25.0,
    final_div_factor: float = 1e4,
) -> Shape:  # fmt: skip
    """The one-cycle schedule: from 1 / `div_factor` up to 1 in the share `pct_start` of
    `total_steps`, then down to 1 / (`div_factor` `final_div_factor`), both along half a cosine
    period (Smith and Topin, 2019)."""
    top = max(total_steps * pct_start - 1, 1e-9)

    def between(a: float, b: float, part: float) -> float:
        return b + (a - b) * (1 + math.cos(math.pi * part)) / 2

    def shape(step: int) -> float:
        if step <= top:
            return between(1 / div_factor, 1.0, step / top)
        part = min((step - top) / (total_steps - 1 - top), 1)
        return between(1.0, 1 / (div_factor * final_div_factor), part)

    return shape
