"""A cache that is set-associative and forgets what was used least recently, as machine code.

Each set is a row of `ways` line numbers, the last used first. A line that is met moves to the front
of its set; where it was not there, what was last falls out.

    set of 4 ways    7 3 5 1    — 5 →    5 7 3 1    — 9 →    9 5 7 3
                                hit                 miss
"""

import functools
from typing import Any

import numpy as np

from compiler.core.dtypes import Array
from compiler.llvm import jit

EMPTY = -1

_TEXT = """
define void @lru(ptr %lines, i64 %count, ptr %rows, i64 %sets, i64 %ways, ptr %hits) {
entry:
  %last = sub i64 %ways, 1
  br label %each
each:
  %n = phi i64 [ 0, %entry ], [ %following, %next ]
  %more = icmp ult i64 %n, %count
  br i1 %more, label %touch, label %exit
touch:
  %at = getelementptr i64, ptr %lines, i64 %n
  %line = load i64, ptr %at
  %set = urem i64 %line, %sets
  %first = mul i64 %set, %ways
  %row = getelementptr i64, ptr %rows, i64 %first
  br label %look
look:
  %way = phi i64 [ 0, %touch ], [ %further, %shift ]
  %carried = phi i64 [ %line, %touch ], [ %held, %shift ]
  %place = getelementptr i64, ptr %row, i64 %way
  %held = load i64, ptr %place
  store i64 %carried, ptr %place
  %found = icmp eq i64 %held, %line
  br i1 %found, label %next, label %missed
missed:
  %ended = icmp eq i64 %way, %last
  br i1 %ended, label %next, label %shift
shift:
  %further = add i64 %way, 1
  br label %look
next:
  %hit = phi i8 [ 1, %look ], [ 0, %missed ]
  %mark = getelementptr i8, ptr %hits, i64 %n
  store i8 %hit, ptr %mark
  %following = add i64 %n, 1
  br label %each
exit:
  ret void
}
"""


@functools.cache
def _loaded() -> Any:
    """The machine code, compiled once per process."""
    return jit.load(_TEXT, "lru", 6)


class Lru:
    """One cache; `touch` goes on where the last call ended."""

    def __init__(self, sets: int, ways: int) -> None:
        self._sets, self._ways = sets, ways
        self._rows = np.full(sets * ways, EMPTY, np.int64)

    def touch(self, lines: Array) -> Array:
        """Access lines in order; which of them were held."""
        wanted = np.ascontiguousarray(lines, np.int64)
        hits = np.empty(len(wanted), np.bool_)
        places = (wanted.ctypes.data, self._rows.ctypes.data, hits.ctypes.data)
        _loaded().entry(places[0], len(wanted), places[1], self._sets, self._ways, places[2])
        return hits

    @property
    def held(self) -> Array:
        """The lines that it holds now, sorted."""
        return np.sort(self._rows[self._rows != EMPTY])
