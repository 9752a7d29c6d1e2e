"""connection: submits tasks and data to a Dask cluster, waits for them, and repeats what was lost.

If a worker is lost, Dask recomputes its results on the worker that took over (`repair.py`). Results
that depend on data sent by the client cannot be recomputed by Dask: the client submits their run
again, after the runs that it reads from, back to data that still exist.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from distributed import Future, KilledWorker, wait
from distributed.client import FutureCancelledError, FuturesCancelledError

from compiler.core.dtypes import Array
from compiler.core.errors import DataError
from compiler.core.origin import Origin
from compiler.distributed.graphs import graph_of
from compiler.distributed.held import LOST, Layers, Submitted
from compiler.distributed.mapping import killed
from compiler.distributed.repair import Repair
from compiler.distributed.work import OtherRelease, StepFailed, release_here
from compiler.graph.devices import DASK
from compiler.graph.nodes import Buffer
from compiler.run.budget import AtBuffer

ATTEMPTS = 8
"""Submissions of one run, at most, when sent data are lost. A choice."""
PATIENCE = 1.0
"""Seconds between checks that the scheduler still knows the awaited keys. A choice."""
JOINING = 60.0
"""Seconds to wait for a new worker when none is left. A choice."""
DEEPEST = 16
"""Runs to repeat, at most, to recompute a result; beyond that, results are held twice."""
MOST_SENT = 2**30
"""Bytes kept for sending again, at most; beyond that likewise. Both are choices."""
KEPT_HERE = 2**26
"""Bytes of results that the client keeps a copy of; larger ones are copied to a second worker. A
choice."""


class WorkerError(AtBuffer):
    """An item failed on a worker; `buffer` is the buffer that it writes."""

    def __init__(
        self, operation: str, problem: str, got: str, buffer: Buffer, origin: Origin | None = None
    ) -> None:
        self.buffer = buffer
        super().__init__(operation, problem, got=got, origin=origin)

    def at(self, origin: Origin | None) -> "WorkerError":
        """The same error with the user's line that created the tensor."""
        return WorkerError(self.operation, self.problem, self.got, self.buffer, origin)


class Lost(Exception):
    """Data of a run are lost, and Dask cannot recompute them."""


@dataclass(eq=False)
class Connection:
    """A connection to a cluster. `addresses` are the workers of its devices."""

    client: Any
    addresses: list[str]
    is_direct: bool = False
    """True if data go directly between client and workers, not by the scheduler: sending 50 MB took
    21 instead of 85 ms, fetching 35 instead of 70 to 250 (2 processes of one EPYC, 2026-11-25)."""
    again: int = 0
    """The number of tasks that were recomputed because a worker was lost."""
    gone: list[str] = field(default_factory=list)
    """The workers that were lost so far."""
    _lock: Any = field(default_factory=RLock)

    @property
    def workers(self) -> tuple[str, ...]:
        """The names of the devices."""
        return tuple(f"{DASK}:{n}" if n else DASK for n in range(len(self.addresses)))

    def address(self, name: str) -> str:
        """The address of a device's worker. Raises `DataError` if there are fewer workers."""
        number = int(name.partition(":")[2] or 0)
        if number >= len(self.addresses):
            count = len(self.addresses)
            raise DataError("cluster", f"it has no worker {number}", got=name,
                            expected=", ".join(self.workers[:8]) + (", …" if count > 8 else ""),
                            hint=f"the cluster had {count} when it was begun")  # fmt: skip
        return self.addresses[number]

    def send(self, run: Submitted, keys: Iterable[str]) -> None:
        """Send data of a run to their workers."""
        for key in keys:
            array, name = run.sent[key]
            self._forget_loss([key])
            run.futures[key] = self._sent(key, array, name)

    def _sent(self, key: str, array: Array, name: str) -> Any:
        """The future of an array, sent to a device's worker or to its substitute."""
        for _ in range(ATTEMPTS):
            try:
                there = [self.address(name)]
                future = self.client.scatter(
                    {key: array}, workers=there, hash=False, direct=self.is_direct
                )
                return future[key]
            except (KeyError, OSError, TimeoutError) as error:  # it is gone, or was just now
                lost = error
                self.refresh()
        raise _given_up(lost) from lost

    def give(self, run: Submitted, layers: Layers, wanted: list[str]) -> None:
        """Submit tasks to Dask."""
        self._forget_loss(wanted)
        futures = self.client.get(graph_of(run, layers, self.address), wanted, sync=False)
        run.futures.update(zip(wanted, futures, strict=True))

    def _forget_loss(self, keys: Iterable[str]) -> None:
        """Reset lost futures so that they can be awaited again: Dask has one state per key."""
        for key in keys:
            state = self.client.futures.get(key)
            if state is not None and state.status in LOST:
                state.reset()

    def wait(self, run: Submitted, keys: Sequence[str]) -> None:
        """Wait until tasks are done. Raises `WorkerError` if one of them failed."""
        self._trying(run, lambda: self._done([self._future(run, key) for key in keys]))

    def gathered(self, run: Submitted, keys: Sequence[str]) -> list[Array]:
        """The arrays of these keys, fetched; recomputed if they were lost."""

        def act() -> list[Array]:
            futures = [self._future(run, key) for key in keys]
            self._done(futures)
            return list(self.client.gather(futures, direct=self.is_direct))

        arrays: list[Array] = self._trying(run, act)
        return arrays

    def _future(self, run: Submitted, key: str) -> Any:
        """The future of a key: of a task of the run, of a held result, or of an input."""
        future = run.futures.get(key)
        if future is None:
            future = next((each.future for each in run.results if each.key == key), None)
        return Future(key, self.client) if future is None else future

    def _done(self, futures: Sequence[Any]) -> None:
        """Wait for futures. Raises a task's error, and `Lost` if the scheduler no longer knows a
        key."""
        while True:
            try:
                with self.client.as_current():
                    wait(futures, timeout=PATIENCE)
                break
            except TimeoutError:
                waiting = [future.key for future in futures if future.status != "finished"]
                if unknown := self.client.run_on_scheduler(_unknown, waiting):
                    raise Lost(unknown[0]) from None
        for future in futures:
            if future.status in LOST:
                raise Lost(future.key)
            if future.status == "error":
                raise future.exception()

    def _trying(self, run: Submitted, act: Callable[[], Any]) -> Any:
        """The result of `act`; if data are lost they are recomputed, and `act` runs again."""
        if self.client.status in ("closed", "closing"):
            raise DataError("cluster", "the cluster that has these data is closed", got=run.name,
                            hint="bring them here before: t.numpy(); or keep it open")  # fmt: skip
        for _ in range(ATTEMPTS):
            try:
                return act()
            except (Lost, FutureCancelledError, FuturesCancelledError) as error:
                lost = error
                with self._lock:
                    self.refresh()
                    self._again(run, set())
            except StepFailed as error:
                raise _failed(run, error) from error
            except OtherRelease as error:
                raise other_release(str(error)) from error
            except KilledWorker as error:
                raise killed(error) from error
        raise _given_up(lost) from lost

    def _again(self, run: Submitted, done: set[str]) -> None:
        """Submit a run again, after the runs that made its lost inputs."""
        if run.name in done:
            return
        done.add(run.name)
        there = set(self.client.run_on_scheduler(_there, [p.key for p in run.parents]))
        missing = {p.run.name: p.run for p in run.parents if p.run and p.key not in there}
        for parent in missing.values():
            self._again(parent, done)
        if run.library is not None:
            self._forget_loss([run.library.key])
        self.send(run, self.client.run_on_scheduler(_unknown, list(run.sent)))
        # what others gave to Dask, it makes again without us
        self._forget_loss([result.key for result in run.results])
        for layers, wanted in run.graphs:
            self.give(run, layers, wanted)
        for result in list(run.results):
            result.future = run.futures.get(result.key, result.future)
        # what it read is needed until it is done: until then somebody here has to want it
        for parent in missing.values():
            run.borrowed += [*parent.futures.values(), *parent.borrowed]
            parent.futures.clear()
            parent.borrowed.clear()

    def refresh(self) -> None:
        """Read from the scheduler which workers took over; wait for one if none is left."""
        begin = time.monotonic()
        while not (addresses := self.client.run_on_scheduler(_instead, self.addresses)):
            if time.monotonic() - begin > JOINING:
                raise DataError("cluster", f"no worker is left, and none joined in {JOINING:.0f} s",
                                got="0 workers", hint="see the workers' logs")  # fmt: skip
            time.sleep(0.1)
        self.addresses = addresses

    def finish(self, run: Submitted) -> None:
        """A run is done. If repeating it would take many runs, its results are held twice."""
        run.finish()
        if run.depth < DEEPEST and run.sent_bytes <= MOST_SENT:
            return
        held = list(run.results)
        if sum(result.nbytes for result in held) <= KEPT_HERE:
            arrays = self.gathered(run, [result.key for result in held])
            run.take_root({
                r.key: (array, r.device) for r, array in zip(held, arrays, strict=True)
            })  # fmt: skip
            return
        count = len(self.client.scheduler_info(n_workers=-1)["workers"])
        if count > 1:
            self.client.replicate([result.future for result in held], n=2)
            run.take_root({})

    def on_event(self, event: Any) -> None:
        """Dask calls this for each event of the scheduler's plugin (`repair.py`)."""
        message = event[1]
        if "again" in message:
            self.again += 1
        if "gone" in message:
            self.gone.append(message["gone"])


def _failed(run: Submitted, error: StepFailed) -> WorkerError:
    operation = run.items[error.item].operation
    where = f"it failed on {', '.join(operation.devices)}"
    return WorkerError(operation.name, where, error.words, operation.writes[0])


def _given_up(error: Exception) -> DataError:
    what = f"data were lost {ATTEMPTS} times, with the workers that held them"
    return DataError("cluster", what, got=str(error), hint="see the workers' logs")


def other_release(got: str) -> DataError:
    """The error for a worker that has another release of this package."""
    return DataError(
        "cluster", "a worker has another release of svodviz", got=got, expected=release_here(),
        hint="install the same svodviz, and the same Python, on all machines",
    )  # fmt: skip


def _instead(addresses: Sequence[str], dask_scheduler: Any) -> list[str]:
    """The workers, each lost one replaced by the one that took over; [] if none is left. Runs on
    the scheduler."""
    plugin, workers = dask_scheduler.plugins[Repair.name], dask_scheduler.workers
    instead = [at if at in workers else plugin.substitute(at) for at in addresses]
    return [at for at in instead if at is not None] if None not in instead else []


def _unknown(keys: Sequence[str], dask_scheduler: Any) -> list[str]:
    """The keys that a scheduler does not know; runs there."""
    return [key for key in keys if key not in dask_scheduler.tasks]


def _there(keys: Sequence[str], dask_scheduler: Any) -> list[str]:
    """The keys whose data are on a worker; runs on the scheduler."""
    tasks = dask_scheduler.tasks
    return [key for key in keys if key in tasks and tasks[key].who_has]
