"""Reports steps that take longer than a second, on standard error if it is a terminal."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

PATIENCE = 1.0
"""Seconds until the first report, and between two reports. A choice."""
_ERASE = "\r\x1b[K"


@contextmanager
def reported(words: str, *, is_alone: bool = True, stream: TextIO | None = None) -> Iterator[None]:
    """Reports `words` while the block runs, with the seconds that it took so far.

    They are one line that changes and is gone in the end; where others write too (`is_alone`
    False) they are reported once, as a separate line. Files and pipes get nothing.
    """
    stream = stream or sys.stderr
    if not stream.isatty():
        yield
        return
    ended = threading.Event()
    reporter = threading.Thread(target=_report, args=(words, is_alone, stream, ended), daemon=True)
    reporter.start()
    try:
        yield
    finally:
        ended.set()
        reporter.join()


def _report(words: str, is_alone: bool, stream: TextIO, ended: threading.Event) -> None:
    begun = time.monotonic()
    is_reported = False
    while not ended.wait(PATIENCE):
        if not is_alone:
            stream.write(f"{words} …\n")
            stream.flush()
            return
        stream.write(f"{_ERASE}{words} … {time.monotonic() - begun:.0f} s")
        stream.flush()
        is_reported = True
    if is_reported:
        stream.write(_ERASE)
        stream.flush()
