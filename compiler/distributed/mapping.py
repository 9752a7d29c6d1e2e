"""mapping: a function over many rows on the workers of a cluster; results arrive in order.

    for result in map_on(client, addresses, function, rows):
        …

The function and its captured data are sent once to each worker. A row is sent when a worker is free
for it, so few are in flight. An iterator that is closed or deleted cancels the remaining rows.
"""

import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from functools import partial
from typing import Any

from distributed import KilledWorker

from compiler.core.errors import DataError

IN_FLIGHT = 2
"""Rows in flight per worker: one that runs, and the next. Chosen, not measured."""
MOST_LOST = 3
"""Resends of the function after all workers that had it died, without a finished row in between: as
many as Dask's retries of a task whose worker died."""
HINT = "see the workers' logs: was it the memory? a worker is ended at 95 % of its limit"
PATIENCE = 60
"""Seconds to wait for a new worker after all died. Chosen, not measured."""


def map_on(
    client: Any,
    addresses: Sequence[str],
    function: Callable[[Any], Any],
    rows: Sequence[Any],
    per_host: int = 0,
) -> "Mapped":
    """`function` of each of the `rows`, on the workers at `addresses`; starts at once.

    A row goes to the next free worker; if a worker dies, another one gets its row. `per_host` is
    the most rows that run at once on one host, each on its own worker: for measurements. An
    exception of a row is raised when its result is requested.
    """
    live = list(client.nthreads())
    able = [address for address in addresses if address in live] or live
    return Mapped(_Flow(client, places(able, per_host), function, rows))


def places(addresses: Sequence[str], per_host: int = 0) -> list[str]:
    """The address of a worker for each row that may be in flight at once."""
    if not per_host:
        return list(addresses) * IN_FLIGHT
    hosts: dict[str, list[str]] = {}
    for address in addresses:
        hosts.setdefault(address.rpartition(":")[0], []).append(address)
    return [address for of_host in hosts.values() for address in of_host[:per_host]]


class Mapped(Iterator[Any]):
    """The results, in the order of the rows; closing or deleting it cancels the remaining rows."""

    def __init__(self, flow: "_Flow") -> None:
        self._flow, self._next = flow, 0
        flow.submit()

    def __next__(self) -> Any:
        if self._next == len(self._flow.rows):
            raise StopIteration
        try:
            result = self._flow.result(self._next)
        except BaseException:
            self.close()
            raise
        self._next += 1
        return result

    def close(self) -> None:
        """Cancel the remaining rows."""
        self._flow.stop()
        self._next = len(self._flow.rows)

    def __del__(self) -> None:
        self._flow.drop()


class _Flow:
    """Rows in flight: when one ends, the next is submitted."""

    def __init__(
        self, client: Any, free: Sequence[str], function: Callable[[Any], Any], rows: Sequence[Any]
    ) -> None:
        self.rows = rows
        self._client, self._function = client, function
        self._free, self._left = deque(free), deque(range(len(rows)))
        self._workers = list(dict.fromkeys(free))
        name = getattr(function, "__name__", type(function).__name__).strip("<>")
        self._key = f"{name}-{uuid.uuid4().hex}"
        self._common: Any = None
        self._sent = self._lost = 0
        self._futures: dict[int, tuple[Any, int]] = {}
        """For each row in flight: its future, and the number of times the function had been
        sent."""
        self._ended: set[int] = set()
        self._changed = threading.Condition()
        self._failed: BaseException | None = None
        self._is_over = not rows

    def submit(self) -> None:
        """Submit a row for each free place. Called from the caller's thread and from Dask's."""
        with self._changed:
            if self._is_over:
                return
            if self._common is None:
                self._send()
            while self._left and self._free:
                self._one(self._left.popleft(), self._free.popleft())

    def _send(self) -> None:
        """Send the function to each worker; again if all workers that had it are gone."""
        self._sent += 1
        for _ in range(1 + MOST_LOST):
            try:
                if self._sent > 1:
                    self._client.wait_for_workers(1, timeout=PATIENCE)
                    self._workers = list(self._client.nthreads())
                self._common = self._client.scatter(
                    self._function, workers=self._workers, broadcast=True, hash=False
                )
            except (KeyError, OSError) as error:  # one is gone, or was just now
                lost = error
                self._workers = list(self._client.nthreads())
            else:
                return
        raise lost

    def _one(self, row: int, address: str) -> None:
        # a worker that died does not come back under its address: others take its rows
        future = self._client.submit(
            _applied, self._common, self.rows[row], key=f"{self._key}-{row}-{self._sent}",
            workers=[address], allow_other_workers=True, pure=False,
        )  # fmt: skip
        self._futures[row] = future, self._sent
        future.add_done_callback(partial(self._end, row, address, self._sent))

    def _end(self, row: int, address: str, sent: int, future: Any) -> None:
        with self._changed:
            self._free.append(address)
            if not future.cancelled():
                self._ended.add(row)
            elif not self._is_over:
                self._lose(row, sent)
            self._changed.notify_all()
        try:
            self.submit()
        except BaseException as error:  # of a client that is closed: waiters get the error
            self._fail(error)

    def _lose(self, row: int, sent: int) -> None:
        """Put a row back: Dask lost its operands and cannot recompute them."""
        self._ended.discard(row)
        self._left.appendleft(row)
        if sent < self._sent or self._common is None:
            return  # it was sent again since
        self._common = None
        self._lost += 1
        if self._lost > MOST_LOST:
            what = "all workers died, again and again, before one row was done"
            self._failed = DataError("cluster", what, got=f"{self._lost} times", hint=HINT)

    def _fail(self, error: BaseException) -> None:
        with self._changed:
            self._failed = error
            self._changed.notify_all()

    def result(self, row: int) -> Any:
        """The result of a row; waits for it."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: row in self._ended or self._failed is not None)
                if row not in self._ended and self._failed is not None:
                    raise self._failed
                future, sent = self._futures[row]
            try:
                result = future.result()
            except KilledWorker as error:
                raise killed(error) from error
            except CancelledError:
                with self._changed:
                    self._lose(row, sent)
                self.submit()
                continue
            with self._changed:
                self._lost = 0
                del self._futures[row]
            return result

    def stop(self) -> None:
        """Cancel the rows in flight, and submit no more."""
        with self._changed:
            if self._is_over:
                return
            self._is_over = True
            left = [future for future, _ in self._futures.values()]
            self._common = None
            self._futures.clear()
        if left and self._client.status == "running":
            self._client.cancel(left)

    def drop(self) -> None:
        """Release all futures, so that Dask cancels them. Safe from any thread: it takes no lock,
        since the holder of the lock may wait for Dask's thread."""
        self._is_over = True
        self._futures.clear()
        self._common = None


def killed(error: KilledWorker) -> DataError:
    """The error for a task whose workers all died."""
    what = f"workers died while they ran task {error.task}"
    return DataError("cluster", what, got=str(error), hint=HINT)


def _applied(function: Callable[[Any], Any], row: Any) -> Any:
    return function(row)
