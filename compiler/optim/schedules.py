"""Learning rate schedules.

    schedule = Schedule(optimizer, warmup(100, cosine(10_000)))
    optimizer.step(); schedule.step()

A shape is a function of the step number, from 0, that returns a factor for the initial rate.
"""

import math
from collections.abc import Callable

from compiler.core.errors import DataError
from compiler.optim.optimizer import Optimizer

Shape = Callable[[int], float]


class Schedule:
    """Sets the rates of an optimiser: each group's initial rate times `shape(step)`."""

    def __init__(self, optimizer: Optimizer, shape: Shape) -> None:
        self.optimizer = optimizer
        self.shape = shape
        self.first = [group.rate for group in optimizer.groups]
        self.count = 0
        self._set()

    def step(self) -> None:
        """Advance by one step."""
        self.count += 1
        self._set()

    def _set(self) -> None:
        part = self.shape(self.count)
        for group, first in zip(self.optimizer.groups, self.first, strict=True):
            if group.rate != first * part:
                group.rate = first * part


def steps(every: int, factor: float = 0.1) -> Shape:
    """Multiplied by `factor` after each `every` steps."""
    return lambda step: factor ** (step // every)


def exponential(factor: float) -> Shape:
    """Multiplied by `factor` after each step."""
    return lambda step: factor**step


def cosine(count: int, last: float = 0.0) -> Shape:
    """From 1 to `last` in `count` steps, along half a cosine period; then constant."""
    def shape(step: int) -> float:
        return last + (1 - last) * (1 + math.cos(math.pi * min(step / count, 1))) / 2

    return shape


def warmup(count: int, rest: Shape | None = None) -> Shape:
    """Linearly up to 1 in `count` steps, then `rest`, with step numbers from there."""
    if count < 1:
        raise DataError("warmup", "no such number of steps", got=str(count), expected="1 or more")

    def shape(step: int) -> float:
        if step < count:
            return (step + 1) / count
        return 1.0 if rest is None else rest(step - count)

    return shape


def one_cycle(count: int, rising: float = 0.3, first: float = 25.0, last: float = 1e4) -> Shape:
    """The one-cycle schedule: from 1 / `first` up to 1 in the share `rising` of `count` steps, then
    down to 1 / (`first` `last`), both along half a cosine period (Smith and Topin, 2019)."""
    top = max(count * rising - 1, 1e-9)

    def between(a: float, b: float, part: float) -> float:
        return b + (a - b) * (1 + math.cos(math.pi * part)) / 2

    def shape(step: int) -> float:
        if step <= top:
            return between(1 / first, 1.0, step / top)
        return between(1.0, 1 / (first * last), min((step - top) / (count - 1 - top), 1))

    return shape
