"""`simulate`: the predicted time of a program on a cluster.

    simulate(f, Cluster(workers=64, cores=16))                 one run
    simulate(f, Cluster(workers=1024), workers=(1, 2, …))      a sweep: f is written for each number
    simulate({"rows": f, "columns": g}, …)                     several partitions next to each other

The simulated items are those of the compiler's own schedule for a worker's machine, in the tasks
that a real cluster would get. Nothing runs, and placeholders suffice as inputs. Most of the time is
planning, which grows with the items: 1 … 1,024 workers took 141 s for a data-parallel step of
54,270 items, 83 s for a tensor-parallel product. A progress line is printed on terminals.

Over 18 runs on 1, 2 and 4 processes of two cores, the median error of predicted times is a factor
of 1.39: 1.14 with one process, 1.42 with two, 1.51 with four (`python -m benchmarks simulated`; an
otherwise idle EPYC, 2026-11-26). The model was developed on these programs.
"""

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, overload

from compiler.core import garbage
from compiler.core.errors import DataError
from compiler.core.keywords import program_call
from compiler.core.origin import no_origin
from compiler.core.text import counted, duration
from compiler.distributed.simulation.cluster import Cluster
from compiler.distributed.simulation.events import run
from compiler.distributed.simulation.jobs import Planned, jobs_of
from compiler.distributed.simulation.simulation import Simulation
from compiler.distributed.simulation.sweep import Sweep
from compiler.distributed.tasks import JOINED_NS
from compiler.graph.nodes import Sink
from compiler.loops.count import count
from compiler.pipeline import asked
from compiler.run import sharding
from compiler.run.building import Build
from compiler.settings.options import Options
from compiler.tune.progress import is_interactive

Writer: TypeAlias = Callable[[tuple[str, ...]], Any]
"""A function that returns the program for workers of these names: a tensor, or several."""
PROGRAM = "program"


@overload
def simulate(  # type: ignore[overload-overlap]
    program: Mapping[str, Writer], cluster: Cluster, *, workers: Iterable[int] | None = None,
    placed: bool = True, seconds: float | None = None, options: Options | None = None,
) -> Sweep: ...  # fmt: skip


@overload
def simulate(
    program: Writer, cluster: Cluster, *, workers: Iterable[int],
    placed: bool = True, seconds: float | None = None, options: Options | None = None,
) -> Sweep: ...  # fmt: skip


@overload
def simulate(
    program: object, cluster: Cluster, *, workers: None = None,
    placed: bool = True, seconds: float | None = None, options: Options | None = None,
) -> Simulation: ...  # fmt: skip


@program_call
def simulate(
    program: object, cluster: Cluster, *, workers: Iterable[int] | None = None,
    placed: bool = True, seconds: float | None = None, options: Options | None = None,
) -> Simulation | Sweep:  # fmt: skip
    """The predicted time of a program on a cluster, and its critical path.

    program   a tensor, several, or a compilation with its loops; or f(devices), which returns the
              program for workers of these names; or a dict of such functions, to compare several
              partitions
    workers   the numbers of workers of a sweep; for a dict the default is 1, 2, 4, … up to the
              cluster's
    placed    the inputs of workers are there at the start of the run
    seconds   a time limit: no further number of workers is started after it

    Raises `DataError` for anything else, and for a program that uses more workers than the cluster
    has.
    """
    if not isinstance(cluster, Cluster):
        raise DataError("simulate", "the machines are described by a Cluster",
                        got=type(cluster).__name__, expected="Cluster(workers=64)")  # fmt: skip
    how = cluster.options(options or Options(verify=False))
    if isinstance(program, Mapping):
        numbers = _doubled(cluster.workers) if workers is None else workers
        return _sweep(program, cluster, _numbers(numbers), placed, seconds, how)
    if workers is not None:
        if not callable(program):
            what = "a sweep needs a function that writes the program for each number of workers"
            raise DataError("simulate", what, got=type(program).__name__, expected="f(devices)")
        name = asked.called(program)
        name = PROGRAM if name == "the function" else name
        return _sweep({name: program}, cluster, _numbers(workers), placed, seconds, how)
    if not callable(program):
        return _simulated(_planned(program, how), cluster, placed, PROGRAM)
    alone = _of(program, cluster.of(1), placed, how, PROGRAM)
    if cluster.workers == 1:
        return alone
    return _of(program, cluster, placed, how, PROGRAM, alone.makespan)


def _of(
    write: Writer, cluster: Cluster, is_placed: bool, options: Options, name: str,
    alone: float = 0.0,
) -> Simulation:  # fmt: skip
    """The simulation of the program that `write` returns for the cluster's workers."""
    start = time.perf_counter()
    program = write(cluster.devices)
    planned = _planned(program, options)
    simulation = _simulated(planned, cluster, is_placed, name)
    took = time.perf_counter() - start
    return Simulation(
        cluster, simulation.jobs, simulation.ran, name, alone or simulation.makespan, took
    )


def _simulated(planned: Planned, cluster: Cluster, is_placed: bool, name: str) -> Simulation:
    """The simulation of a planned program."""
    start = time.perf_counter()
    with garbage.put_off():
        jobs = jobs_of(planned, cluster, is_placed, JOINED_NS)
        ran = tuple(run(jobs.jobs, cluster, len(jobs.lanes)))
    seconds = planned.seconds + time.perf_counter() - start
    return Simulation(cluster, jobs, ran, name, seconds=seconds)


def _planned(program: object, options: Options) -> Planned:
    """The planned program: its items, and the work of its kernels."""
    schedule, load = (getattr(program, name, None) for name in ("schedule", "load"))
    if schedule is not None and load is not None:
        works = {item.operation.body: work
                 for item, work in zip(schedule.items, schedule.works, strict=True)
                 if work is not None}  # fmt: skip
        return Planned(schedule.items, schedule.results, works, load(), 0.0)
    start = time.perf_counter()
    nodes, _ = asked.program_of("simulate", [program], None)
    with garbage.put_off():
        with no_origin():
            # Results stay on the workers that have them, as those of programs that are run do.
            root = Sink(tuple(sharding.flat(sharding.laid_out(nodes).sources)))
        build = Build(root, options)
        scheduled = build.scheduled
        works = {body: count(build.kernel(body).loops) for body in scheduled.outlined.bodies}
        programs = build.load()
    return Planned(scheduled.items, scheduled.results, works, programs, time.perf_counter() - start)


def _sweep(
    cuts: Mapping[str, Writer], cluster: Cluster, numbers: Sequence[int], is_placed: bool,
    seconds: float | None, options: Options,
) -> Sweep:  # fmt: skip
    """Each partition on each number of workers, the small numbers first, within the time limit."""
    start = time.perf_counter()
    runs: dict[str, list[Simulation]] = {name: [] for name in cuts}
    left: dict[str, list[int]] = {name: [] for name in cuts}
    alone = {name: _of(write, cluster.of(1), is_placed, options, name)
             for name, write in cuts.items()}  # fmt: skip
    for workers in numbers:
        for name, write in cuts.items():
            spent = time.perf_counter() - start
            if seconds is not None and spent > seconds:
                left[name].append(workers)
                continue
            _tell(f"{name}: planning for {counted(workers, 'worker')}, {duration(1e9 * spent)}")
            one = alone[name]
            simulation = one if workers == 1 else _of(
                write, cluster.of(workers), is_placed, options, name, one.makespan
            )  # fmt: skip
            runs[name].append(simulation)
    _tell("")
    took = time.perf_counter() - start
    return Sweep(cluster, {name: tuple(rows) for name, rows in runs.items()},
                 {name: tuple(rows) for name, rows in left.items()}, took)  # fmt: skip


def _tell(words: str) -> None:
    """Print a progress line over the one before, on terminals."""
    if is_interactive(sys.stderr):
        sys.stderr.write(f"\r\x1b[2K{words}" if sys.stderr.isatty() else f"\r{words:<70}")
        sys.stderr.flush()


def _doubled(most: int) -> list[int]:
    """1, 2, 4, … and the last."""
    powers = (1 << exponent for exponent in range(most.bit_length()))
    return sorted({*(n for n in powers if n <= most), most})


def _numbers(workers: Iterable[int]) -> list[int]:
    """Distinct numbers of workers in ascending order. Raises `DataError` for an invalid one."""
    numbers = list(workers)
    wrong = next(
        (n for n in numbers if isinstance(n, bool) or not isinstance(n, int) or n < 1), None
    )
    if wrong is not None or not numbers:
        raise DataError("simulate", "these are no numbers of workers",
                        got=f"workers={numbers!r}", expected="(1, 2, 4, 8)")  # fmt: skip
    return sorted(set(numbers))
