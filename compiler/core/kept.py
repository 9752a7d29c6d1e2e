"""Tables of bounded size for what was made before: what was used least recently is forgotten."""

import itertools
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from compiler.core import forking
from compiler.core.visits import Visits

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(slots=True, eq=False)
class _Entry(Generic[Value]):
    value: Value
    used: int


class Kept(Generic[Key, Value]):
    """At most `bound` values by key. Any thread may use it at any time; no value is None.

    Whoever does several things in one step takes `lock`, which its thread may hold already.
    """

    # To hash a key may take a microsecond. So a hit does it once, and notes a number in what it
    # found instead of moving the key. Who goes first is looked up in a list made by these numbers
    # some time ago: who was used since then comes after all that are left of it.

    def __init__(self, bound: int) -> None:
        self.bound = bound
        self.lock = forking.lock()
        self.hits = 0
        self.misses = 0
        """Counted by whoever makes what is missing."""
        self._table: dict[Key, _Entry[Value]] = {}
        self._keeping = Visits()
        """Calls inside `all_kept`: nothing is removed meanwhile."""
        self._uses = itertools.count()
        self._oldest: deque[tuple[Key, int]] = deque()
        """Keys in order of their last use, with its number, when this was made."""

    def __len__(self) -> int:
        return len(self._table)

    def held(self, key: Key) -> Value | None:
        """The value of `key` if it is kept; it counts as used."""
        with self.lock:
            row = self._table.get(key)
            if row is None:
                return None
            self.hits += 1
            row.used = next(self._uses)
            return row.value

    def keep(self, key: Key, value: Value) -> Value:
        """`value`, kept from now on; where there are too many, the one used longest ago goes."""
        with self.lock:
            self._table[key] = _Entry(value, next(self._uses))
            if len(self._table) > self.bound and not self._keeping.inside:
                self._forget_one()
        return value

    def _forget_one(self) -> None:
        """Forget what was used longest ago."""
        while True:
            if not self._oldest:
                rows = sorted(self._table.items(), key=lambda row: row[1].used)
                self._oldest.extend((key, found.used) for key, found in rows)
            key, used = self._oldest.popleft()
            entry = self._table.get(key)
            if entry is not None and entry.used == used:
                del self._table[key]
                return

    @contextmanager
    def all_kept(self) -> Iterator[None]:
        """Meanwhile nothing is forgotten; then what was used longest ago goes, down to the bound.

        Who makes many values and then takes each in the same order would find none of them where
        there is one too many: each entry that is computed again would evict the next.
        """
        number = next(self._keeping.numbers)
        try:
            self._keeping.enter(number)
            yield
        finally:
            self._keeping.inside.pop(number, None)
            self._forget_all_over()

    def _forget_all_over(self) -> None:
        """Down to the bound, unless somebody needs all."""
        with self.lock:
            over = 0 if self._keeping.inside else len(self._table) - self.bound
            for key, _ in self.items()[: max(over, 0)]:
                del self._table[key]

    def items(self) -> list[tuple[Key, Value]]:
        """All that is kept, what was used least recently first."""
        with self.lock:
            rows = sorted(self._table.items(), key=lambda row: row[1].used)
        return [(key, entry.value) for key, entry in rows]

    def clear(self) -> None:
        """Forget everything, and set the counts to 0."""
        with self.lock:
            self._table.clear()
            self._oldest.clear()
            self.hits = self.misses = 0
