"""launch: one kernel, on as many threads as it has tasks and the process has cores."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from compiler.core.dtypes import Array
from compiler.machines.system import core_count
from compiler.threads.driver import MOST_TASKS
from compiler.threads.workers import WORKERS, native

Step: TypeAlias = tuple[int, int, int, int, int]
"""Thunk, offset of the arguments in bytes, tasks, number of the first task, most threads."""


def steps_of(thunk: int, offset: int, tasks: int, threads: int) -> list[Step]:
    """The steps that run all tasks of a kernel: one, unless it has very many tasks."""
    return [
        (thunk, offset, min(MOST_TASKS, tasks - first), first, min(threads, tasks))
        for first in range(0, tasks, MOST_TASKS)
    ]


def stride_of(scratch: int) -> int:
    """Bytes from the scratch memory of one thread to that of the next: whole cache lines."""
    return -(-scratch // 128) * 128


class Launch:
    """A kernel with its arguments: called, it runs all tasks once; one call of the driver.

    `tasks` may be 0: such a launch does nothing, which takes as long as any call does.
    """

    __slots__ = ("_call", "_kept")

    def __init__(
        self,
        thunk: int,
        words: Sequence[int],
        tasks: int,
        scratch: int = 0,
        allocate: Callable[[int], Array] | None = None,
    ) -> None:
        threads = min(core_count(), tasks)
        arguments = np.array(words, np.int64)
        steps = np.array(steps_of(thunk, 0, tasks, threads), np.int64)
        stride = stride_of(scratch)
        memory = allocate(stride * threads) if allocate and scratch else None
        place = 0 if memory is None else memory.ctypes.data
        self._kept = arguments, steps, memory
        self._call: Callable[[], None] = partial(
            native().run, WORKERS.pool(threads), steps.ctypes.data, len(steps),
            arguments.ctypes.data, place, stride,
        )  # fmt: skip

    def __call__(self) -> None:
        """Run it."""
        self._call()
