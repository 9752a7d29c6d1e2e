"""engine: schedules run on the workers of a Dask cluster.

    items ─ tasks.py ─▶ tasks ─ graphs.py ─▶ Dask's graph ─▶ workers, work.py ─▶ results, held there

Each device DASK, DASK:1, … is one worker; its tasks are meant for it alone. Where a worker is gone,
another one does its work (`repair.py`), and Dask computes again what was lost with it. What Dask
cannot make again, because it was made of data that were sent from here, is given to it again.
"""

import itertools
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from distributed import Future, KilledWorker, wait
from distributed.client import FutureCancelledError

from compiler.core.errors import DataError
from compiler.core.kept import Kept
from compiler.core.origin import Origin
from compiler.device.dask import DescribedThere
from compiler.device.described import Described
from compiler.device.disk import file_part
from compiler.device.program import Program
from compiler.device.remote import Data, RemoteData
from compiler.distributed import tasks as planning
from compiler.distributed.graphs import graph_of, key_of, layers_of
from compiler.distributed.held import LOST, Layers, Parent, Result, Submitted, result_of
from compiler.distributed.tasks import FromHere, FromTask, Gather, Send, Source, Submit, TaskPlan
from compiler.distributed.work import (
    Code,
    Library,
    OtherRelease,
    StepFailed,
    packed,
    release_here,
    unpacked,
)
from compiler.graph.devices import DASK, is_remote
from compiler.graph.nodes import Buffer
from compiler.run import execution
from compiler.run.allocation import alone
from compiler.run.budget import AtBuffer
from compiler.run.execution import Programs
from compiler.schedule.host import Host
from compiler.schedule.items import ScheduleItem
from compiler.schedule.kinds import Region
from compiler.schedule.regions import copy

Array: TypeAlias = "np.ndarray[Any, Any]"
Held: TypeAlias = dict[Buffer, Array]
INLINE = 64 * 1024
"""Bytes up to which data travel inside of the graph. A choice: Dask warns at 10 MB of graph."""
ATTEMPTS = 6
"""How often a run is given to the cluster when data that were sent are lost. A choice."""
PATIENCE = 2.0
"""Seconds after which a run looks whether what it waits for is still known. A choice."""
DEEPEST = 16
"""Runs after which results are held by two workers, so that fewer have to be done again."""
MOST_SENT = 2**30
"""Bytes kept to be sent again, after which it is so as well. Both are choices."""
KEPT = 64
"""Plans of programs that are kept, and libraries of kernels that stay with the cluster."""


class WorkerError(AtBuffer):
    """An item failed on a worker; `buffer` is what it writes."""

    def __init__(
        self, operation: str, problem: str, got: str, buffer: Buffer, origin: Origin | None = None
    ) -> None:
        self.buffer = buffer
        super().__init__(operation, problem, got=got, origin=origin)

    def at(self, origin: Origin | None) -> "WorkerError":
        """The same with the user's line that makes the tensor."""
        return WorkerError(self.operation, self.problem, self.got, self.buffer, origin)


class Lost(Exception):
    """Data of a run are on no worker any more, and Dask cannot make them again."""


@dataclass(eq=False)
class DaskEngine:
    """A cluster in use; see the module docstring. `addresses` are the workers of its devices."""

    client: Any
    addresses: list[str]
    joined_ns: int = planning.JOINED_NS
    again: int = 0
    """How many tasks were computed once more, because a worker was gone."""
    gone: list[tuple[str, str]] = field(default_factory=list)
    """The workers that were lost, and who does their work."""
    runs: list[str] = field(default_factory=list)
    """The names of the latest runs."""
    _plans: Kept[Any, TaskPlan] = field(default_factory=lambda: Kept(KEPT))
    _libraries: Kept[Any, Any] = field(default_factory=lambda: Kept(KEPT))
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _token: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    _lock: Any = field(default_factory=threading.RLock)

    @property
    def workers(self) -> tuple[str, ...]:
        """The names of the devices."""
        return tuple(f"{DASK}:{n}" if n else DASK for n in range(len(self.addresses)))

    def address(self, name: str) -> str:
        """The worker that is a device. Raises `DataError` where there are fewer."""
        number = int(name.partition(":")[2] or 0)
        if number >= len(self.addresses):
            count = len(self.addresses)
            raise DataError("cluster", f"it has no worker {number}", got=name,
                            expected=", ".join(self.workers[:8]) + (", …" if count > 8 else ""),
                            hint=f"the cluster had {count} when it was begun")  # fmt: skip
        return self.addresses[number]

    def run(
        self, items: Sequence[ScheduleItem], results: Sequence[Buffer],
        inputs: Mapping[Buffer, Data], programs: Programs, values: Mapping[str, int],
    ) -> list[Data]:  # fmt: skip
        """Run items of a schedule; flat data per result, of those on workers remote.

        Raises `WorkerError` where an item fails.
        """
        plan = self._plan(items, results, tuple(inputs), programs)
        run = self._begun(plan, items, values)
        alive = [result_of(data) for data in inputs.values() if isinstance(data, RemoteData)]
        run.library = self._library(plan, programs)
        run.inputs += [self._input(b, data, run) for b, data in inputs.items()]
        held = {b: data for b, data in inputs.items() if isinstance(data, np.ndarray)}
        host = Host()
        for action in plan.actions:
            self._act(action, run, held, programs, host)
        self._wait(run, list(run.futures.values()))
        made = [
            held[b] if end is None else self._result(run, end, b, inputs)
            for b, end in zip(results, plan.results, strict=True)
        ]
        for buffer, end in plan.written.items():
            old, new = inputs[buffer], self._result(run, end, buffer, inputs)
            if isinstance(old, RemoteData) and isinstance(new, RemoteData):
                old.replace(new)
        self._finish(run)
        del alive
        return made

    def gathered(self, run: Submitted, futures: Sequence[Any]) -> list[Array]:
        """The arrays of these futures, brought here; made again where they were lost."""
        keys = [future.key for future in futures]

        def act() -> list[Array]:
            now = [run.futures.get(key) or self._held(run, key) for key in keys]
            self._look(now)
            return list(self.client.gather(now))

        found: list[Array] = self._trying(run, act)
        return found

    def _begun(
        self, plan: TaskPlan, items: Sequence[ScheduleItem], values: Mapping[str, int]
    ) -> Submitted:
        name = f"{self._token}{next(self._numbers):x}"
        self.runs = [*self.runs[-99:], name]
        return Submitted(name, plan, {item.item_id: item for item in items}, dict(values), [])

    def _plan(
        self, items: Sequence[ScheduleItem], results: Sequence[Buffer], inputs: tuple[Buffer, ...],
        programs: Programs,
    ) -> TaskPlan:  # fmt: skip
        key = id(programs), tuple(results), inputs, len(items)
        found = self._plans.held(key)
        if found is None:
            made = planning.plan(items, results, inputs, programs, self.joined_ns)
            found = self._plans.keep(key, replace(made, of=programs))
        return found

    def _library(self, plan: TaskPlan, programs: Programs) -> Any:
        """The future of the kernels of a program, which are sent once."""
        if not plan.codes:
            return None
        found = self._libraries.held(plan.codes)
        if found is not None and found.status not in (*LOST, "error"):
            return found
        made = Library.of([_code(programs[key]) for key in plan.codes])
        key = f"library-{self._token}-{next(self._numbers)}"
        return self._libraries.keep(
            plan.codes, self.client.submit(unpacked, packed(made), key=key, pure=False)
        )

    def _input(self, buffer: Buffer, data: Data, run: Submitted) -> Any:
        """An input as tasks read it: what a worker holds, a part of a file, what is sent."""
        if isinstance(data, RemoteData):
            return Parent.of(result_of(data))
        part = file_part(data)
        if part is not None or not is_remote(buffer.device) or data.nbytes <= INLINE:
            return data if part is None else part
        key = f"data-{run.name}-i{len(run.inputs)}"
        run.sent[key] = data.copy(), buffer.device
        self._scatter(run, [key])
        return Parent(key, None, None)

    def _act(
        self, action: planning.Action, run: Submitted, held: Held, programs: Programs, host: Host
    ) -> None:
        if isinstance(action, Send):
            self._send(action, run, held)
        elif isinstance(action, Submit):
            run.graphs.append(layers_of(action, run))
            self._give(run, *run.graphs[-1])
        elif isinstance(action, Gather):
            self._gather(action, run, held)
        else:
            for buffer in action.item.operation.arguments:
                _memory(buffer, held)
            execution.step(action.item, held, programs, run.values, host)

    def _send(self, send: Send, run: Submitted, held: Held) -> None:
        """Pack what a worker needs; large data are sent now, others with the tasks."""
        source = _memory(send.buffer, held)
        region = send.region or Region((send.buffer.size,))
        made = np.empty(region.size, source.dtype)
        copy(Region(region.dims, region.source_strides, None, region.source_offset), made, source)
        if made.nbytes <= INLINE:
            run.inline[send.number] = made
            return
        key = f"data-{run.name}-{send.number}"
        run.inline[send.number] = key
        run.sent[key] = made, send.device
        self._scatter(run, [key])

    def _scatter(self, run: Submitted, keys: Iterable[str]) -> None:
        """Send data to the workers that they are for."""
        for key in keys:
            array, name = run.sent[key]
            self._forget_loss([key])
            made = self.client.scatter({key: array}, workers=[self.address(name)], hash=False)
            run.futures[key] = made[key]

    def _give(self, run: Submitted, layers: Layers, wanted: list[str]) -> None:
        """Give tasks to Dask."""
        self._forget_loss(wanted)
        futures = self.client.get(graph_of(run, layers, self.address), wanted, sync=False)
        run.futures.update(zip(wanted, futures, strict=True))

    def _forget_loss(self, keys: Iterable[str]) -> None:
        """Have futures that were lost be waited for again: Dask keeps one state for each key."""
        for key in keys:
            state = self.client.futures.get(key)
            if state is not None and state.status in LOST:
                state.reset()

    def _gather(self, gather: Gather, run: Submitted, held: Held) -> None:
        """Bring data here."""
        source = gather.source
        if isinstance(source, FromTask):
            future = run.futures[key_of(run, source)]
            self._wait(run, [future])
        else:
            assert not isinstance(source, FromHere)
            parent = run.inputs[source.number]
            assert isinstance(parent, Parent)
            future = self._held(run, parent.key)
        (array,) = self.gathered(run, [future])
        region = gather.region or Region((gather.buffer.size,))
        copy(region, _memory(gather.buffer, held), array.reshape(-1))

    def _held(self, run: Submitted, key: str) -> Any:
        """The future of a key: of a run, of what is held of it, or of its inputs."""
        found = run.futures.get(key)
        if found is None:
            found = next((each.future for each in run.results if each.key == key), None)
        if found is None:
            found = Future(key, self.client)
        return found

    def _result(
        self, run: Submitted, source: Source, buffer: Buffer, inputs: Mapping[Buffer, Data]
    ) -> Data:
        """The data of a result that stays on its worker."""
        if isinstance(source, FromTask):
            key = key_of(run, source)
        elif isinstance(source, FromHere):
            sent = run.inline[source.number]
            if not isinstance(sent, str):
                return sent
            key = sent
        else:
            return list(inputs.values())[source.number]
        return RemoteData.of(Result(self, run, key, run.futures[key]), buffer)

    def _wait(self, run: Submitted, futures: Sequence[Any]) -> None:
        """Wait until tasks are done. Raises `WorkerError` where one of them failed."""
        keys = [future.key for future in futures]
        self._trying(run, lambda: self._done(run, keys))

    def _done(self, run: Submitted, keys: Sequence[str]) -> None:
        """Wait; `Lost` where nobody knows one of the keys any more."""
        futures = [run.futures[key] for key in keys]
        while True:
            try:
                with self.client.as_current():
                    wait(futures, timeout=PATIENCE)
                break
            except TimeoutError:
                waiting = [future.key for future in futures if future.status != "finished"]
                if unknown := self.client.run_on_scheduler(_unknown, waiting):
                    raise Lost(unknown[0]) from None
        self._look(futures)

    def _look(self, futures: Sequence[Any]) -> None:
        """Raise what went wrong with futures that are done."""
        for future in futures:
            if future.status in LOST:
                raise Lost(future.key)
            if future.status == "error":
                raise future.exception()

    def _trying(self, run: Submitted, act: Callable[[], Any]) -> Any:
        """What `act` gives; where data are lost, they are made again first."""
        for _ in range(ATTEMPTS):
            try:
                return act()
            except (Lost, FutureCancelledError) as error:
                lost = error
                self._again(run)
            except StepFailed as error:
                raise _failed(run, error) from error
            except OtherRelease as error:
                raise other_release(str(error)) from error
            except KilledWorker as error:
                raise _killed(error) from error
        what = f"data were lost {ATTEMPTS} times, with the workers that held them"
        raise DataError("cluster", what, got=str(lost), hint="see the workers' logs")

    def _again(self, run: Submitted) -> None:
        """Give a run to the cluster again: what is still there stays."""
        with self._lock:
            self.refresh()
            meanwhile = []
            for parent in run.parents:
                is_there = bool(self.client.run_on_scheduler(_there, [parent.key]))
                if parent.run is not None and not is_there:
                    self._again(parent.run)
                    meanwhile.append(parent.run)
            there = set(self.client.run_on_scheduler(_there, list(run.sent)))
            self._scatter(run, [key for key in run.sent if key not in there])
            for layers, wanted in run.graphs:
                self._give(run, layers, wanted)
            for result in list(run.results):
                result.future = run.futures.get(result.key, result.future)
            for other in meanwhile:
                self._wait(run, list(run.futures.values()))
                other.futures.clear()

    def refresh(self) -> None:
        """Learn which workers do the work of those that are gone."""
        instead = self.client.run_on_scheduler(_instead, self.addresses)
        self.addresses = [instead.get(at, at) for at in self.addresses]

    def _finish(self, run: Submitted) -> None:
        """A run is done. One that took many to make is held by two workers from now on."""
        run.finish()
        if (run.depth < DEEPEST and run.sent_bytes <= MOST_SENT) or len(self.addresses) < 2:
            return
        held = [result.future for result in run.results]
        if held:
            self.client.replicate(held, n=2)
        run.take_root()

    def on_event(self, event: Any) -> None:
        """Something that the scheduler reports (`repair.py`)."""
        message = event[1]
        if "again" in message:
            self.again += 1
        if "gone" in message:
            self.gone.append((message["gone"], message["instead"]))


def _memory(buffer: Buffer, held: Held) -> Array:
    """Memory here for a buffer."""
    if buffer not in held:
        is_there = is_remote(buffer.device)
        held[buffer] = np.empty(buffer.size, buffer.dtype.numpy) if is_there else alone(buffer)
    return held[buffer]


def _code(program: Program) -> Code:
    """A program as it travels."""
    assert isinstance(program, DescribedThere)
    spec, done = program.compiled.spec, program.compiled.done
    assert done is not None
    what = Described(
        spec.name, spec.metadata.vars, spec.globals, spec.outs, spec.ins, spec.interface,
        program.compiled.level, replace(done, because=str(done.because)),
    )  # fmt: skip
    return Code(what, spec.text)


def _failed(run: Submitted, error: StepFailed) -> WorkerError:
    operation = run.items[error.item].operation
    where = f"it failed on {', '.join(operation.devices)}"
    return WorkerError(operation.name, where, error.words, operation.writes[0])


def _killed(error: Any) -> DataError:
    what, hint = f"workers died while they ran task {error.task}", "see the workers' logs: was it "
    hint += "the memory? a worker is ended at 95 % of its limit"
    return DataError("cluster", what, got=str(error), hint=hint)


def other_release(got: str) -> DataError:
    """The error for a worker that has another release of this package."""
    return DataError(
        "cluster", "a worker has another release of svodviz", got=got, expected=release_here(),
        hint="install the same svodviz, and the same Python, on all machines",
    )  # fmt: skip


def _instead(addresses: Sequence[str], dask_scheduler: Any) -> dict[str, str]:
    """Who does the work of workers that are gone; runs on the scheduler."""
    plugin = dask_scheduler.plugins["svodviz-repair"]
    gone = [at for at in addresses if at not in dask_scheduler.workers]
    return {at: plugin.substitute(at) or at for at in gone}


def _unknown(keys: Sequence[str], dask_scheduler: Any) -> list[str]:
    """The keys that a scheduler does not know; runs there."""
    return [key for key in keys if key not in dask_scheduler.tasks]


def _there(keys: Sequence[str], dask_scheduler: Any) -> list[str]:
    """The keys of which a worker has the data; runs on the scheduler."""
    known = dask_scheduler.tasks
    return [key for key in keys if key in known and known[key].who_has]
