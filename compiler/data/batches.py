"""Examples in batches, prefetched on a thread."""

import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, TypeVar

import numpy as np

from compiler.core.errors import DataError
from compiler.tensor import Tensor
from compiler.tensors import trees

T = TypeVar("T")
_END = object()


class Batches:
    """Batches of examples: each iteration over it is one epoch."""

    def __init__(
        self, source: Any, size: int, shuffle: bool, seed: int, drop_last: bool, ahead: int
    ) -> None:
        if size < 1:
            raise DataError("batches", "no such size", got=str(size), expected="1 or more")
        self.size, self.shuffle, self.seed = size, shuffle, seed
        self.drop_last, self.ahead = drop_last, ahead
        self.passes = 0
        """The number of epochs begun: each has its own order."""
        self._source = source
        self._arrays = _arrays(source)
        if self._arrays is None and shuffle:
            raise DataError("batches", "only arrays can be shuffled", got=type(source).__name__,
                            expected="arrays of equal length")  # fmt: skip

    def __len__(self) -> int:
        if self._arrays is None and not isinstance(self._source, Sized):
            raise DataError("batches", "the length is not known", got=type(self._source).__name__,
                            expected="arrays, or a source with a length")  # fmt: skip
        count = len(self._source) if self._arrays is None else len(self._arrays[0])
        return count // self.size if self.drop_last else -(-count // self.size)

    def __iter__(self) -> Iterator[Any]:
        made = self._joined() if self._arrays is None else self._cut(self._arrays)
        self.passes += 1
        return prefetch(made, self.ahead) if self.ahead else made

    def _cut(self, arrays: list[Any]) -> Iterator[Any]:
        count = len(arrays[0])
        order = np.arange(count)
        if self.shuffle:
            order = np.random.default_rng((self.seed, self.passes)).permutation(count)
        for begin in range(0, count, self.size):
            places = order[begin : begin + self.size]
            if len(places) == self.size or not self.drop_last:
                rows = [array[places] if self.shuffle else array[begin : begin + self.size]
                        for array in arrays]  # fmt: skip
                yield trees.like(self._source, rows)

    def _joined(self) -> Iterator[Any]:
        """Examples stacked into batches, in the order in which they arrive."""
        held: list[Any] = []
        for example in self._source:
            held.append(example)
            if len(held) == self.size:
                yield _stacked(held)
                held = []
        if held and not self.drop_last:
            yield _stacked(held)


def _arrays(source: Any) -> list[Any] | None:
    """The arrays to slice by rows; None for an iterable of single examples. Raises `DataError` for
    different lengths."""
    is_tree = isinstance(source, np.ndarray | Tensor | Mapping | tuple)
    found = trees.flat(source) if is_tree else []
    if not found or not all(isinstance(each, np.ndarray | Tensor) for each in found):
        return None
    arrays = [each.numpy() if isinstance(each, Tensor) else each for each in found]
    lengths = [len(array) if array.ndim else -1 for array in arrays]
    if len(set(lengths)) > 1 or min(lengths) < 0:
        raise DataError("batches", "the arrays differ in length", got=str(lengths),
                        expected="as many examples in each")  # fmt: skip
    return arrays


def _stacked(examples: Sequence[Any]) -> Any:
    """Examples of equal structure stacked into one structure of arrays."""
    rows = [trees.flat(example) for example in examples]
    columns = zip(*rows, strict=True)
    return trees.like(examples[0], [np.stack([np.asarray(e) for e in each]) for each in columns])


def batches(
    source: Any, size: int, shuffle: bool = False, seed: int = 0, drop_last: bool = False,
    ahead: int = 2,
) -> Batches:  # fmt: skip
    """Batches of `size` examples from arrays of equal length, in a tuple or dict, or from any
    iterable of examples. A batch has NumPy arrays in the structure of the source.

    `shuffle` gives each epoch a new order, determined by `seed`. A thread prepares `ahead` batches
    in advance; with 0 there is no thread. The last batch may be smaller unless `drop_last`.
    """
    return Batches(source, size, shuffle, seed, drop_last, ahead)


def prefetch(source: Iterable[T], ahead: int = 2) -> Iterator[T]:
    """The items of `source`, prepared by a thread up to `ahead` items in advance.

    An error in the thread is raised here, in order; stopping early stops the thread.
    """
    if ahead < 1:
        raise DataError("prefetch", "no such number", got=str(ahead), expected="1 or more")
    return _ahead(iter(source), ahead)


def _ahead(source: Iterator[T], ahead: int) -> Iterator[T]:
    made: queue.Queue[Any] = queue.Queue(ahead)
    is_over = threading.Event()

    def put(value: Any) -> bool:
        while not is_over.is_set():
            try:
                made.put(value, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            for value in source:
                if not put((value, None)):
                    return
            put((_END, None))
        except BaseException as error:
            put((_END, error))

    thread = threading.Thread(target=work, name="svodviz-batches", daemon=True)
    thread.start()
    try:
        while True:
            value, error = made.get()
            if error is not None:
                raise error
            if value is _END:
                return
            yield value
    finally:
        is_over.set()
        thread.join()
