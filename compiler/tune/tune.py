"""tune: for each kernel of a program, the loop choices that measure best, within `Options.tune`.

    for each kernel that is not remembered, the longest first:
      a search for its share of the time                              (search_kernel.py)
      on a worker, where a cluster is in use, several at once         (search_elsewhere.py)

The remaining time is divided among the remaining kernels in proportion to their estimated run
times; on workers the shares are fixed at the beginning, so each search takes as long as it does
here. A kernel is searched again only if more seconds are requested than its cached search had,
unless nothing was left to try.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from compiler.core.errors import CompileError
from compiler.core.lazy import loading
from compiler.device import dask
from compiler.graph.nodes import Sink
from compiler.loops.choices import Choices, show
from compiler.schedule.items import Kernel, ScheduleItem
from compiler.settings.options import Options
from compiler.tune.progress import Progress
from compiler.tune.remembered import key_of, remember, remembered
from compiler.tune.search_kernel import Clock, Job, default, search_kernel
from compiler.tune.trials import Trial
from compiler.tune.tuning import Found, Tuning
from compiler.tune.workbench import Workbench, obstacle

FOUND_BY_MEASURING = "measured: faster than what it would be by default"


def tune(
    bodies: Mapping[Sink, str],
    items: Sequence[ScheduleItem],
    options: Options,
    clock: Clock = time.perf_counter,
) -> tuple[Tuning, ...]:
    """The search for the fastest choices of each of the `bodies`, in order."""
    end = clock() + options.tune
    tunings: dict[int, Tuning] = {}
    jobs: dict[bytes, list[Job]] = {}
    calls = Counter(i.operation.body for i in items if isinstance(i.operation, Kernel))
    for number, (body, name) in enumerate(bodies.items()):
        bench = Workbench(name, body, options)
        why_not = obstacle(bench, body, items, options)
        if not why_not and bench.estimated > options.tune:
            why_not = "one run is estimated to take longer than there is time"
        if why_not:
            tunings[number] = _tuning(number, name, bench.default.choices, default(bench), why_not)
            continue
        key = key_of(bench.default.whole, bench.default.choices, options)
        result = _usable(remembered(key, options.cache), bench)
        if result is not None and (result.is_complete or result.asked >= options.tune):
            tunings[number] = _tuning(number, name, bench.default.choices, result)
            continue
        before = result.trials[result.best].choices if result else None
        weight = bench.estimated * calls[body]
        jobs.setdefault(key, []).append(Job(number, name, bench, key, weight, before))
    groups = sorted(jobs.values(), key=lambda group: -sum(job.weight for job in group))
    progress = Progress(options.tune, len(groups))

    def show(number: int, trials: list[Trial]) -> None:
        spent = clock() - end + options.tune
        progress.show(groups[number][0].name, number + 1, spent, trials)

    arguments = groups, end, options, clock, show
    for group, result in zip(groups, _elsewhere(*arguments) or _here(*arguments), strict=True):
        if len(result.trials) > 1:
            remember(group[0].key, result, options.cache)
        for job in group:
            tunings[job.number] = _tuning(job.number, job.name, job.bench.default.choices, result)
    progress.close()
    return tuple(tunings[number] for number in sorted(tunings))


Show: TypeAlias = Callable[[int, list[Trial]], None]
"""Called with the place of a search, and with its trials so far."""


def _here(
    groups: Sequence[list[Job]], end: float, options: Options, clock: Clock, show: Show
) -> Iterator[Found]:
    """The searches, one after the other: one for kernels of one structure."""
    weights = [sum(job.weight for job in group) for group in groups]
    for place, group in enumerate(groups):
        left = sum(weights[place:])
        share = weights[place] / left if left else 1.0
        trials: list[Trial] = []

        def seen(trial: Trial, trials: list[Trial] = trials, place: int = place) -> None:
            trials.append(trial)
            show(place, trials)

        yield search_kernel(group[0], max(end - clock(), 0.0) * share, options, clock, seen)


def _elsewhere(
    groups: Sequence[list[Job]], end: float, options: Options, clock: Clock, show: Show
) -> Iterator[Found] | None:
    """The searches, on the workers of a cluster; None where there is none, or where a kernel
    cannot travel."""
    engine = dask.used()
    if engine is None or not groups:
        return None
    with loading():
        from compiler.tune.search_elsewhere import search_elsewhere

    weights = [sum(job.weight for job in group) for group in groups]
    left, total = max(end - clock(), 0.0), sum(weights)
    shares = [left * (each / total if total else 1 / len(groups)) for each in weights]
    outcomes = search_elsewhere(engine, [group[0] for group in groups], shares, options)
    return outcomes and _shown(outcomes, show)


def _shown(searches: Iterator[Found], show: Show) -> Iterator[Found]:
    for place, result in enumerate(searches):
        show(place, list(result.trials))
        yield result


def _usable(result: Found | None, bench: Workbench) -> Found | None:
    """The remembered search, if its best choices are still legal."""
    if result is None:
        return None
    try:
        bench.chosen({bench.default.name: result.trials[result.best].choices})
    except CompileError:
        return None
    return result


def _tuning(number: int, name: str, default: Choices, result: Found, why_not: str = "") -> Tuning:
    """The tuning of a kernel; what is as by default has the reasons of the default."""
    default_rows = {show(row): row for row in default}
    trials = tuple(replace(t, choices=_explained(t.choices, default_rows)) for t in result.trials)
    return Tuning(
        title=f"tuning {name}", name=name, seconds=result.spent, kernel=number,
        found=replace(result, trials=trials), why_not=why_not,
    )  # fmt: skip


def _explained(choices: Choices, default_rows: Mapping[str, object]) -> Choices:
    rows = []
    for row in choices:
        usual = default_rows.get(show(row))
        rows.append(replace(row, because=FOUND_BY_MEASURING) if usual is None else usual)
    return Choices(tuple(rows))  # type: ignore[arg-type]
