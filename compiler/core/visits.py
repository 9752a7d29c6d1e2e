"""Visits: which threads are inside a region of code, however they leave it.

    number = next(visits.numbers)
    try:
        visits.enter(number)
        …
    finally:
        visits.inside.pop(number, None)        one call of C code: nothing comes in between

An exception (Ctrl-C, an alarm) can end Python code at any call, also in the middle of what notes
that a region is left. So there is no count that would be wrong from then on: a visit that was not
ended is over with its thread.
"""

import itertools
import sys
import threading


class Visits:
    """The visits of a region that are under way."""

    __slots__ = ("inside", "numbers")

    def __init__(self) -> None:
        self.numbers = itertools.count()
        self.inside: dict[int, int] = {}
        """For the number of each visit the thread that it is of."""

    def enter(self, number: int) -> None:
        """A visit of this thread begins."""
        self.inside[number] = threading.get_ident()

    def are_others(self) -> bool:
        """True if another live thread is inside."""
        current, alive = threading.get_ident(), sys._current_frames()
        return any(thread != current and thread in alive for thread in list(self.inside.values()))

    def forget_others(self) -> None:
        """End the visits of all other threads: in a child of `fork` there are none."""
        current = threading.get_ident()
        for number, thread in list(self.inside.items()):
            if thread != current:
                del self.inside[number]
