"""engine: runs schedules on the workers of a Dask cluster.

    items ─ tasks.py ─▶ tasks ─ graphs.py ─▶ Dask's graph ─▶ workers, work.py ─▶ results, held there

Each device DASK, DASK:1, … is one worker, and its tasks run there only. If a worker is lost,
another one takes over, and lost results are recomputed (`connection.py`).
"""

import itertools
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.effects import Effects
from compiler.core.kept import Kept
from compiler.device.dask import DescribedThere
from compiler.device.described import Described
from compiler.device.disk import file_part
from compiler.device.program import Program
from compiler.device.remote import Data, RemoteData
from compiler.distributed import tasks as planning
from compiler.distributed.connection import Connection
from compiler.distributed.graphs import key_of, layers_of
from compiler.distributed.held import LOST, Parent, Result, Submitted, result_of
from compiler.distributed.mapping import map_on
from compiler.distributed.noted import KEPT as NOTED
from compiler.distributed.noted import Noted
from compiler.distributed.repair import LIBRARY
from compiler.distributed.tasks import FromHere, FromTask, Gather, Send, Source, Submit, TaskPlan
from compiler.distributed.timeline import Timeline, timeline, timelines
from compiler.distributed.work import Code, Library, packed, unpacked
from compiler.graph.devices import is_remote
from compiler.graph.nodes import Buffer
from compiler.run import execution
from compiler.run.allocation import alone
from compiler.run.budget import refuse_on_workers
from compiler.run.execution import Programs
from compiler.schedule import regions
from compiler.schedule.host import Host
from compiler.schedule.items import ScheduleItem
from compiler.schedule.kinds import Region

Held: TypeAlias = dict[Buffer, Array]
INLINE = 64 * 1024
"""Bytes up to which data are part of the graph. A choice: Dask warns at a graph of 10 MB."""
KEPT = 64
"""Cached plans of programs, and libraries of kernels that stay on the cluster."""


@dataclass(eq=False)
class DaskEngine:
    """A cluster in use."""

    at: Connection
    limits: tuple[int, ...]
    """Bytes of memory for tensors, by worker."""
    joined_ns: int = planning.JOINED_NS
    close: Callable[[], None] = lambda: None
    """Closes the cluster; processes that were started for it end."""
    noted: list[Noted] = field(default_factory=list)
    """The records of the latest runs, for `timeline`."""
    _plans: Kept[Any, TaskPlan] = field(default_factory=lambda: Kept(KEPT))
    _libraries: Kept[Any, Any] = field(default_factory=lambda: Kept(KEPT))
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _token: str = field(default_factory=lambda: uuid.uuid4().hex[:8])

    @property
    def client(self) -> Any:
        """Dask's client."""
        return self.at.client

    @property
    def addresses(self) -> list[str]:
        """The workers of the devices."""
        return self.at.addresses

    @property
    def workers(self) -> tuple[str, ...]:
        """The names of the devices."""
        return self.at.workers

    @property
    def dashboard(self) -> str:
        """The address of Dask's dashboard."""
        return str(self.client.dashboard_link)

    def __repr__(self) -> str:
        lost = f", {len(self.at.gone)} lost, {self.at.again} tasks again" if self.at.gone else ""
        return f"cluster({', '.join(self.workers)}{lost}; {self.dashboard})"

    def run(
        self, items: Sequence[ScheduleItem], results: Sequence[Buffer],
        inputs: Mapping[Buffer, Data], programs: Programs, values: Mapping[str, int],
        effects: Effects | None = None,
    ) -> list[Data]:  # fmt: skip
        """Run items of a schedule; returns the flat data of each result, remote for those on
        workers. `effects` receives the new contents of written inputs on workers; without it they
        are replaced at once.

        Raises `WorkerError` if an item fails, `RefusedError` if a worker has too little memory.
        """
        plan = self._plan(items, results, tuple(inputs), programs)
        self.refuse(items, results)
        run = self._begun(plan, items, values)
        noted = self._noted(run)
        alive = [result_of(data) for data in inputs.values() if isinstance(data, RemoteData)]
        run.library = self._library(plan, programs)
        for buffer, data in inputs.items():
            begin = time.time_ns()
            run.inputs.append(self._input(buffer, data, run))
            noted.sent_input(run.inputs[-1], begin, time.time_ns(), buffer.nbytes)
        noted.library = run.library.key if run.library else ""
        held = {b: data for b, data in inputs.items() if isinstance(data, np.ndarray)}
        host = Host()
        effects_of_run = effects or Effects()
        effects_of_run.save([held[b] for b in _written_here(plan) if b in held])
        for action in plan.actions:
            begin = time.time_ns()
            self._act(action, run, held, programs, host)
            noted.acted(action, begin, time.time_ns())
        self.at.wait(run, list(run.futures))
        data_of_results = [
            held[b] if end is None else self._result(run, end, b, inputs)
            for b, end in zip(results, plan.results, strict=True)
        ]
        for buffer, end in plan.written.items():
            old, new = inputs[buffer], self._result(run, end, buffer, inputs)
            if isinstance(old, RemoteData) and isinstance(new, RemoteData):
                effects_of_run.later = (*effects_of_run.later, (old, new))
        if effects is None:
            effects_of_run.apply()
        self.at.finish(run)
        noted.end, noted.gone = time.time_ns(), self.at.gone[noted.lost_before :]
        del alive
        return data_of_results

    def refuse(self, items: Sequence[ScheduleItem], results: Sequence[Buffer]) -> None:
        """Raise `RefusedError` for a program that needs more memory than a worker has."""
        refuse_on_workers(items, results, dict(zip(self.workers, self.limits, strict=True)))

    def map(
        self, function: Callable[[Any], Any], rows: Sequence[Any], per_host: int = 0
    ) -> Iterator[Any]:
        """`function` of each row, on the workers; starts at once: see `device/dask.py`."""
        return map_on(self.client, self.addresses, function, rows, per_host)

    def timeline(self, run: str | None = None) -> Timeline:
        """The activity of the workers in the latest run, or in the run of this name, on the
        client's clock.

        Raises `DataError` if there is no such run, or its record was dropped.
        """
        return timeline(self, run)

    def timelines(self, runs: int) -> list[Timeline]:
        """The timelines of the latest `runs`, the oldest first; fewer if records were dropped."""
        return timelines(self, self.noted[-runs:])

    def gathered(self, run: Submitted, keys: Sequence[str]) -> list[Array]:
        """The arrays of these keys of a run, fetched; recomputed if they were lost."""
        return self.at.gathered(run, keys)

    def _begun(
        self, plan: TaskPlan, items: Sequence[ScheduleItem], values: Mapping[str, int]
    ) -> Submitted:
        name = f"{self._token}{next(self._numbers):x}"
        return Submitted(name, plan, {item.item_id: item for item in items}, dict(values), [])

    def _noted(self, run: Submitted) -> Noted:
        """The record of a run that begins."""
        lost = len(self.at.gone)
        record = Noted(run.name, run.plan, run.items, begin=time.time_ns(), lost_before=lost)
        self.noted = [*self.noted[1 - NOTED :], record]
        return record

    def _plan(
        self, items: Sequence[ScheduleItem], results: Sequence[Buffer], inputs: tuple[Buffer, ...],
        programs: Programs,
    ) -> TaskPlan:  # fmt: skip
        key = id(programs), tuple(results), inputs, len(items)
        plan = self._plans.held(key)
        if plan is None:
            plan_of_items = planning.plan(items, results, inputs, programs, self.joined_ns)
            plan = self._plans.keep(key, replace(plan_of_items, of=programs))
        return plan

    def _library(self, plan: TaskPlan, programs: Programs) -> Any:
        """The future of the kernels of a program; they are sent once."""
        if not plan.codes:
            return None
        library = self._libraries.held(plan.codes)
        if library is not None and library.status not in (*LOST, "error"):
            return library
        key = f"{LIBRARY}{self._token}-{next(self._numbers)}"
        content = library_of(plan, programs)
        return self._libraries.keep(
            plan.codes, self.client.submit(unpacked, content, key=key, pure=False)
        )

    def _input(self, buffer: Buffer, data: Data, run: Submitted) -> Any:
        """An input as an operand of tasks: a worker's result, a part of a file, or sent data."""
        if isinstance(data, RemoteData) and result_of(data).client is self.client:
            return Parent.of(result_of(data))
        if isinstance(data, RemoteData):
            data = data.fetch().reshape(-1)  # another cluster has it
        part = file_part(data)
        if part is not None or not is_remote(buffer.device) or data.nbytes <= INLINE:
            return data if part is None else part
        key = f"data-{run.name}-i{len(run.inputs)}"
        run.sent[key] = data.copy(), buffer.device
        self.at.send(run, [key])
        return Parent(key, None, None)

    def _act(
        self, action: planning.Action, run: Submitted, held: Held, programs: Programs, host: Host
    ) -> None:
        if isinstance(action, Send):
            self._send(action, run, held)
        elif isinstance(action, Submit):
            run.graphs.append(layers_of(action, run))
            self.at.give(run, *run.graphs[-1])
        elif isinstance(action, Gather):
            self._gather(action, run, held)
        else:
            for buffer in action.item.operation.arguments:
                _memory(buffer, held)
            execution.step(action.item, held, programs, run.values, host)

    def _send(self, send: Send, run: Submitted, held: Held) -> None:
        """Pack a region for a worker; large data are sent now, small ones with the tasks."""
        source = _memory(send.buffer, held)
        region = regions.packed(send.region or Region((send.buffer.size,)), source)
        if region.nbytes <= INLINE:
            run.inline[send.number] = region
            return
        key = f"data-{run.name}-{send.number}"
        run.inline[send.number] = key
        run.sent[key] = region, send.device
        self.at.send(run, [key])

    def _gather(self, gather: Gather, run: Submitted, held: Held) -> None:
        """Fetch data to the client."""
        source = gather.source
        if isinstance(source, FromTask):
            key = key_of(run, source)
        else:
            assert not isinstance(source, FromHere)
            parent = run.inputs[source.number]
            assert isinstance(parent, Parent)
            key = parent.key
        (array,) = self.at.gathered(run, [key])
        region = gather.region or Region((gather.buffer.size,))
        regions.copy(region, _memory(gather.buffer, held), array.reshape(-1))

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
        return RemoteData.of(Result(self, run, key, run.futures[key], buffer), buffer)


def _written_here(plan: TaskPlan) -> tuple[Buffer, ...]:
    """The buffers that the client writes while the program runs, each once."""
    written: dict[Buffer, None] = {}
    for action in plan.actions:
        if isinstance(action, Gather):
            written[action.buffer] = None
        elif not isinstance(action, Send | Submit):
            written |= dict.fromkeys(action.item.operation.writes)
    return tuple(written)


def _memory(buffer: Buffer, held: Held) -> Array:
    """The client's memory for a buffer."""
    if buffer not in held:
        is_there = is_remote(buffer.device)
        held[buffer] = np.empty(buffer.size, buffer.dtype.numpy) if is_there else alone(buffer)
    return held[buffer]


def library_of(plan: TaskPlan, programs: Programs) -> bytes:
    """The serialised kernels of a program."""
    return packed(Library.of([code_of(programs[key]) for key in plan.codes]))


def code_of(program: Program) -> Code:
    """A compiled kernel as `Code`, to be serialised."""
    assert isinstance(program, DescribedThere)
    spec, done = program.compiled.spec, program.compiled.done
    assert done is not None
    what = Described(
        spec.name, spec.metadata.vars, spec.globals, spec.outs, spec.ins, spec.interface,
        program.compiled.level, replace(done, because=str(done.because)),
    )  # fmt: skip
    return Code(what, spec.text)
