"""search_elsewhere: searches for kernels on the workers of a cluster, several at once.

A kernel is sent as its graph, and a search is returned as its cache entry. Measurements on one
machine are not valid for another, so a worker on a different machine is refused. The number of
concurrent searches on a host is limited by its cores, so that none disturbs another.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from compiler.core.errors import DataError
from compiler.core.origin import no_origin
from compiler.core.written import Reader, Unwritable, Writer, load_kinds
from compiler.device.dask import Engine
from compiler.graph.nodes import Sink
from compiler.graph.writable import writable
from compiler.loops.choices import parse, text
from compiler.machines.system import all_cores, core_count, using_cores
from compiler.settings.options import Options
from compiler.tune.remembered import key_of, machine, read, written
from compiler.tune.search_kernel import Job, search_kernel
from compiler.tune.tuning import Found
from compiler.tune.workbench import Workbench

LOOPS = "the loops of kernel "
"""The properties of a machine that affect the choice of loops."""


@dataclass(frozen=True, slots=True)
class KernelToSearch:
    """A kernel on its way to a worker, and the seconds that its search has."""

    name: str
    body: str
    """The graph in JSON, as `core/written.py` writes it."""
    key: bytes
    seconds: float
    before: str | None


@dataclass(frozen=True, slots=True)
class OtherMachine:
    """Why a worker does not search: what it has that is another than what is tuned for."""

    what: str
    got: str


Outcome: TypeAlias = str | OtherMachine
"""A search in JSON, as `remembered.py` writes it."""


@dataclass(frozen=True)
class Tune:
    """Called with a kernel it searches its choices, wherever it arrived."""

    options: Options
    threads: int
    """The threads of a kernel; a worker has fewer where others work on its machine as well, but
    not while it searches."""
    machine: Mapping[str, str]

    def __call__(self, row: KernelToSearch) -> Outcome:
        if all_cores() < self.threads:
            return OtherMachine("cores", str(all_cores()))
        with using_cores(self.threads), no_origin():
            return self._outcome(row)

    def _outcome(self, row: KernelToSearch) -> Outcome:
        for what, got in machine(self.options).items():
            if self.machine.get(what) != got:
                return OtherMachine(what, got)
        entry = json.loads(row.body)
        load_kinds(entry["modules"])
        root = Reader(writable(), entry["rows"]).value(["n", entry["root"]])
        assert isinstance(root, Sink)
        bench = Workbench(row.name, root, self.options)
        choices = bench.default.choices
        if key_of(bench.default.whole, choices, self.options) != row.key:
            return OtherMachine(LOOPS + row.name, text(choices) or "plain")
        before = None if row.before is None else parse(row.before)
        job = Job(0, row.name, bench, row.key, 1.0, before)
        result = search_kernel(job, row.seconds, self.options, time.perf_counter, lambda _: None)
        return json.dumps(written(result))


def search_elsewhere(
    engine: Engine, jobs: Sequence[Job], seconds: Sequence[float], options: Options
) -> Iterator[Found] | None:
    """The search of each of the `jobs`, each for so many seconds, in order.

    They are begun at once. None for kernels that this process alone knows, and for passes of the
    user's. Raises `DataError`, when its search is asked for, where a worker is another machine.
    """
    if options.passes is not None:
        return None
    try:
        rows = [_row(*each) for each in zip(jobs, seconds, strict=True)]
    except Unwritable:
        return None
    threads = options.threads or core_count()
    # a machine that is named, or asked for in the environment, is known here
    function = Tune(replace(options, machine=options.model), threads, machine(options))
    outcomes = engine.map(function, rows, max(1, core_count() // threads))
    return _found(outcomes, {**function.machine, "cores": f"{threads} or more"}, jobs)


def _row(job: Job, seconds: float) -> KernelToSearch:
    writer = Writer(writable())
    place = writer.node(job.bench.body)
    body = json.dumps({"root": place, "modules": writer.modules, "rows": writer.rows})
    before = None if job.before is None else text(job.before)
    return KernelToSearch(job.name, body, job.key, seconds, before)


def _found(
    outcomes: Iterator[Outcome], ours: Mapping[str, str], jobs: Sequence[Job]
) -> Iterator[Found]:
    for job, outcome in zip(jobs, outcomes, strict=True):
        if isinstance(outcome, OtherMachine):
            default = ours.get(outcome.what) or text(job.bench.default.choices) or "plain"
            what = "a worker of the cluster is another machine than the one that is tuned for"
            hint = "tune where no cluster is in use, or on workers of one kind with this machine"
            raise DataError("tune", what, got=f"{outcome.what}: {outcome.got}",
                            expected=default, hint=hint)  # fmt: skip
        yield replace(read(json.loads(outcome)), is_remembered=False)

