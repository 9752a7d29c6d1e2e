"""The progress of a search as one line, in a terminal or a notebook.

    tuning k0 (1 of 2)  ██████░░░░░░  2.1 of 5.0 s  37 tried  41.2 µs, 1.34×
"""

import sys
from typing import TextIO

from compiler.core.text import duration
from compiler.tune.trials import Trial

WIDTH = 12
"""Characters of the bar. By eye."""


class Progress:
    """The progress line of one program's search; elsewhere nothing is written."""

    def __init__(self, seconds: float, count: int, stream: TextIO | None = None) -> None:
        self._seconds, self._count = seconds, count
        self._stream = stream or sys.stderr
        self._is_shown = is_interactive(self._stream)
        self._longest = 0

    def show(self, kernel: str, number: int, spent: float, trials: list[Trial]) -> None:
        """Write the line over the one before."""
        if not self._is_shown:
            return
        share = min(spent / self._seconds, 1.0) if self._seconds else 1.0
        done = round(share * WIDTH)
        usual, best = trials[0].seconds, min(t.time for t in trials)
        line = f"tuning {kernel} ({number} of {self._count})  {'█' * done}{'░' * (WIDTH - done)}"
        line += f"  {spent:.1f} of {self._seconds:.1f} s  {len(trials)} tried"
        line += f"  {duration(1e9 * best)}, {usual / best:.2f}×" if usual else ""
        self._write(line)

    def close(self) -> None:
        """Take the line away."""
        if self._is_shown and self._longest:
            self._write("")
            self._stream.write("\r")
            self._stream.flush()

    def _write(self, line: str) -> None:
        self._longest = max(self._longest, len(line))
        self._stream.write("\r" + line.ljust(self._longest))
        self._stream.flush()


def is_interactive(stream: TextIO) -> bool:
    """True if a stream is a terminal, or the output of a notebook's cell."""
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")
