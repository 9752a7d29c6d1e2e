"""Thunks written by hand: what a task does can be seen in memory afterwards."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from compiler.llvm import jit
from compiler.threads.workers import WORKERS, native

Array = np.ndarray[Any, Any]
COUNT = """
; args: the address of counters, one per task; how long a task takes
define void @count.task(ptr %args, i64 %core, ptr %scratch) nounwind {
entry:
  %counters = load ptr, ptr %args
  %p.time = getelementptr i64, ptr %args, i64 1
  %time = load i64, ptr %p.time
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %next, %again ]
  %slow = load volatile i64, ptr %p.time
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %time
  br i1 %more, label %again, label %end
end:
  %p = getelementptr i64, ptr %counters, i64 %core
  %old = load i64, ptr %p
  %new = add i64 %old, 1
  store i64 %new, ptr %p
  ret void
}
"""
SUM = """
; args: the address of sums, how many; a task of step s adds all sums of the step before
define void @sum.task(ptr %args, i64 %core, ptr %scratch) nounwind {
entry:
  %from = load ptr, ptr %args
  %p.to = getelementptr ptr, ptr %args, i64 1
  %to = load ptr, ptr %p.to
  %p.count = getelementptr i64, ptr %args, i64 2
  %count = load i64, ptr %p.count
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %next, %again ]
  %sum = phi i64 [ %core, %entry ], [ %more.sum, %again ]
  %p = getelementptr i64, ptr %from, i64 %i
  %value = load i64, ptr %p
  %more.sum = add i64 %sum, %value
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %again, label %end
end:
  %q = getelementptr i64, ptr %to, i64 %core
  store i64 %more.sum, ptr %q
  ret void
}
"""
SCRATCH = """
; args: the address of counters. A task writes its number to all words of its scratch memory, and
; counts those that another task has written meanwhile
define void @own.task(ptr %args, i64 %core, ptr %scratch) nounwind {
entry:
  %counters = load ptr, ptr %args
  br label %fill
fill:
  %i = phi i64 [ 0, %entry ], [ %next, %fill ]
  %p = getelementptr i64, ptr %scratch, i64 %i
  store volatile i64 %core, ptr %p
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, 64
  br i1 %more, label %fill, label %read
read:
  %j = phi i64 [ 0, %fill ], [ %after, %read ]
  %sum = phi i64 [ 1, %fill ], [ %sum.next, %read ]
  %k = and i64 %j, 63
  %q = getelementptr i64, ptr %scratch, i64 %k
  %v = load volatile i64, ptr %q
  %is.other = icmp ne i64 %v, %core
  %one = zext i1 %is.other to i64
  %sum.next = add i64 %sum, %one
  %after = add i64 %j, 1
  %again = icmp slt i64 %after, 20000
  br i1 %again, label %read, label %end
end:
  %r = getelementptr i64, ptr %counters, i64 %core
  store i64 %sum.next, ptr %r
  ret void
}
"""


@functools.cache
def _loaded(name: str, text: str) -> Any:
    return jit.load(text, f"{name}.task", 3, 1)


def count() -> int:
    """The address of `COUNT`."""
    return int(_loaded("count", COUNT).address)


def add() -> int:
    """The address of `SUM`."""
    return int(_loaded("sum", SUM).address)


def own() -> int:
    """The address of `SCRATCH`."""
    return int(_loaded("own", SCRATCH).address)


def run(
    steps: Sequence[tuple[int, ...]], words: Array, threads: int, memory: Array | None = None,
    stride: int = 0,
) -> None:
    """Run steps on a pool of `threads` threads."""
    table = np.array(steps, np.int64).reshape(-1, 5)
    place = 0 if memory is None else memory.ctypes.data
    pool = WORKERS.pool(threads)
    native().run(pool, table.ctypes.data, len(table), words.ctypes.data, place, stride)
