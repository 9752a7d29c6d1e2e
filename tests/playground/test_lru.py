"""The cache in machine code does what a few lines of Python do."""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from compiler.playground.lru import Lru


def expected(lines: Sequence[int], sets: int, ways: int) -> list[bool]:
    """Hits, by a dictionary for each set that forgets what was used least recently."""
    held: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(sets)]
    hits = []
    for line in lines:
        row = held[line % sets]
        hits.append(line in row)
        row[line] = None
        row.move_to_end(line)
        if len(row) > ways:
            row.popitem(last=False)
    return hits


@given(
    st.lists(st.integers(0, 60), max_size=300), st.integers(1, 7), st.integers(1, 5),
    st.integers(0, 300),
)  # fmt: skip
def test_hits_as_in_python(lines: list[int], sets: int, ways: int, cut: int) -> None:
    cache = Lru(sets, ways)
    parts = [cache.touch(np.array(part, np.int64)) for part in (lines[:cut], lines[cut:])]
    assert np.concatenate(parts).tolist() == expected(lines, sets, ways)
    assert len(cache.held) == len(set(cache.held.tolist())) <= sets * ways


def test_the_line_used_least_recently_falls_out() -> None:
    cache = Lru(1, 2)
    assert cache.touch(np.array([7, 3, 7, 5, 7, 3])).tolist() == [0, 0, 1, 0, 1, 0]
    assert cache.held.tolist() == [3, 7]
