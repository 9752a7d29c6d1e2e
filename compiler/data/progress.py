"""A progress bar with the loss and examples per second; it uses tqdm if that is installed."""

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import Any, Generic, TypeVar

from compiler.tensors import trees

T = TypeVar("T")
EVERY = 0.25
"""Seconds between two reads of the loss: each read waits until it is computed."""


class Progress(Generic[T]):
    """The items of `source`, with a progress bar; `show(loss)` displays a loss."""

    def __init__(self, source: Iterable[T], title: str = "", file: Any = None) -> None:
        self.source = source
        self.file = sys.stderr if file is None else file
        self.examples = 0
        self.loss: float | None = None
        self._begin = self._seen = time.perf_counter()
        total = len(source) if isinstance(source, Sized) else None
        self._bar = _tqdm(total, title, self.file)
        self._title, self._total, self._count = title, total, 0

    def __iter__(self) -> Iterator[T]:
        self._begin = time.perf_counter()
        try:
            for value in self.source:
                leaves = trees.flat(value)
                shape: tuple[int, ...] = getattr(leaves[0], "shape", ()) if leaves else ()
                self.examples += shape[0] if shape else 1
                yield value
                self._count += 1
                self._advance()
        finally:
            self._end()

    def show(self, loss: Any) -> None:
        """Show a loss in the bar: a number, or a tensor of one element, which is only read every
        `EVERY` seconds."""
        now = time.perf_counter()
        if self.loss is None or now - self._seen >= EVERY:
            self._seen, self.loss = now, float(loss)
            if self._bar is not None:
                self._bar.set_postfix_str(self.text(), refresh=False)

    @property
    def rate(self) -> float:
        """Examples per second so far."""
        return self.examples / max(time.perf_counter() - self._begin, 1e-9)

    def text(self) -> str:
        """The text of the bar: `loss 0.3124, 51,200 examples/s`."""
        loss = "" if self.loss is None else f"loss {self.loss:.4g}, "
        return f"{loss}{self.rate:,.0f} examples/s"

    def _advance(self) -> None:
        if self._bar is not None:
            self._bar.update(1)

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(self.text(), refresh=False)
            self._bar.close()
            return
        title = f"{self._title}: " if self._title else ""
        total = "" if self._total is None else f" of {self._total}"
        print(f"{title}{self._count}{total} batches, {self.text()}", file=self.file)


def progress(source: Iterable[T], title: str = "", file: Any = None) -> Progress[T]:
    """The items of `source`, with a progress bar on standard error, or in `file`."""
    return Progress(source, title, file)


def _tqdm(total: int | None, title: str, file: Any) -> Any:
    """A tqdm bar; None if tqdm is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, desc=title or None, file=file, unit="batch")
