"""Effects of a run on memory that existed before it: all of them, or none.

    not complete    nothing was written, or what was is undone
    complete        everything was written; what remains to be recorded can be recorded

An exception can end Python code at any call. Machine code sets a flag behind its last write, so
whether a run is complete is known whatever became of the code that started it.
"""

from collections.abc import Sequence
from typing import Any


class Effects:
    """The effects of one run, as far as they are known. Initial values are attributes of the class,
    so that a run without effects sets none."""

    values: Any = None
    """The memory of the results; None before it is allocated."""
    is_done = False
    """Set behind the last write by a run that Python code completes."""
    flag: Any = None
    """Words of machine code; the one at `place` is not 0 once the last write is done."""
    place = 0
    saved: Sequence[tuple[Any, Any]] = ()
    """Arrays that are written before the run is complete, each with a copy from before."""
    later: Sequence[tuple[Any, Any]] = ()
    """Memory of workers that is written in place, each with the data that replace it."""

    @property
    def is_complete(self) -> bool:
        """True if everything was written."""
        return self.is_done or (self.flag is not None and self.flag[self.place] != 0)

    def save(self, arrays: list[Any]) -> None:
        """Copy arrays that are about to be written. Nothing is written before all are copied."""
        self.saved = [(array, array.copy()) for array in arrays]

    def expect(self, words: Any, place: int) -> None:
        """Machine code that is called next completes the run; it sets the word at `place`."""
        words[place] = 0
        self.place = place
        self.flag = words

    def apply(self) -> None:
        """Give workers' memory the data that replace it; may be repeated."""
        for old, new in self.later:
            old.replace(new)

    def undo(self) -> None:
        """Restore what a run that is not complete has written; may be repeated."""
        for array, before in self.saved:
            array[...] = before
