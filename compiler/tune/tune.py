"""tune: for each kernel of a program, the loop choices that measure best, within `Options.tune`.

    for each kernel that is not remembered, the longest first:
      search from the default for three quarters of its share of the time   (search.py)
      the five fastest against the default, alternately                    (duel.py)
      the best of those that won, else the default

A kernel's share of the time that is left is its share of the time that the kernels left are
estimated to take. Compiling counts. A kernel is searched again only where more seconds are asked
for than there were when its entry was made, unless nothing was left to try.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from compiler.core.errors import CompileError
from compiler.graph.nodes import Sink
from compiler.loops.choices import PLAIN, Choices, show
from compiler.loops.nodes import Body
from compiler.schedule.items import Kernel, ScheduleItem
from compiler.settings.options import Options
from compiler.tune.duel import LEAST_ROUNDS, Duel, duel
from compiler.tune.neighbours import neighbours, space
from compiler.tune.progress import Progress
from compiler.tune.remembered import key_of, remember, remembered
from compiler.tune.search import Move, search
from compiler.tune.trials import Refused, Trial, fastest
from compiler.tune.tuning import Found, Tuning
from compiler.tune.workbench import Workbench, obstacle

SEARCHED = 0.75
"""The share of a kernel's time after which nothing new is tried. Chosen, not measured."""
FINALISTS = 5
"""Of the fastest in the search so many meet the default. In searches of 12 s the best of the duels
was fifth, fifth, second and third of them for a product of 128 × 128, a softmax, a convolution and
a transposition (EPYC, AVX2, two busy cores, 2026-11-23)."""
NEAR = 1.1
"""Choices that took up to so many times as long as the default may be faster after all. Chosen, not
measured."""
ROUNDS = 101
"""In 40 duels of a kernel with itself, four kernels, the medians of so many rounds were apart by
0.2 to 0.7 %, and 3.0 % at most; of 51 rounds 0.4 to 1.0 and 9.6, of 11 rounds 0.6 to 1.8 and 7.4
(EPYC, AVX2, two busy cores, 2026-11-23)."""
FOUND_BY_MEASURING = "measured: faster than what it would be by default"
NOTHING = Duel(0.0, 0.0, 0.0, 0.0, 0)
Clock = Callable[[], float]


@dataclass(slots=True)
class _Job:
    """One kernel that is to be searched."""

    number: int
    name: str
    bench: Workbench
    key: bytes
    weight: float
    before: Choices | None = None
    """The best of an earlier search, which had less time."""


def tune(
    bodies: Mapping[Sink, str],
    items: Sequence[ScheduleItem],
    options: Options,
    clock: Clock = time.perf_counter,
) -> tuple[Tuning, ...]:
    """The search for the fastest choices of each of the `bodies`, in order."""
    end = clock() + options.tune
    made: dict[int, Tuning] = {}
    jobs: dict[bytes, list[_Job]] = {}
    calls = Counter(i.operation.body for i in items if isinstance(i.operation, Kernel))
    for number, (body, name) in enumerate(bodies.items()):
        bench = Workbench(name, body, options)
        why_not = obstacle(bench, body, items, options)
        if not why_not and bench.estimated > options.tune:
            why_not = "one run is estimated to take longer than there is time"
        if why_not:
            made[number] = _tuning(number, name, bench.default.choices, _default(bench), why_not)
            continue
        key = key_of(_whole(bench), bench.default.choices, options)
        found = _usable(remembered(key, options.cache), bench)
        if found is not None and (found.is_complete or found.asked >= options.tune):
            made[number] = _tuning(number, name, bench.default.choices, found)
            continue
        before = found.trials[found.best].choices if found else None
        weight = bench.estimated * calls[body]
        jobs.setdefault(key, []).append(_Job(number, name, bench, key, weight, before))
    made |= _searched(list(jobs.values()), end, options, clock)
    return tuple(made[number] for number in sorted(made))


def _searched(
    groups: list[list[_Job]], end: float, options: Options, clock: Clock
) -> dict[int, Tuning]:
    """The searches: one for kernels of one structure."""
    groups.sort(key=lambda group: -sum(job.weight for job in group))
    begin, progress = end - options.tune, Progress(options.tune, len(groups))
    made: dict[int, Tuning] = {}
    for place, group in enumerate(groups):
        left = sum(job.weight for later in groups[place:] for job in later)
        share = sum(job.weight for job in group) / left if left else 1.0
        trials: list[Trial] = []

        def seen(trial: Trial, group: list[_Job] = group, number: int = place + 1) -> None:
            trials.append(trial)  # noqa: B023
            progress.show(group[0].name, number, clock() - begin, trials)  # noqa: B023

        found = _search(group[0], max(end - clock(), 0.0) * share, options, clock, seen)
        if len(found.trials) > 1:
            remember(group[0].key, found, options.cache)
        for job in group:
            made[job.number] = _tuning(job.number, job.name, job.bench.default.choices, found)
    progress.close()
    return made


def _search(
    job: _Job, seconds: float, options: Options, clock: Clock, seen: Callable[[Trial], None]
) -> Found:
    """Search the choices of one kernel for so long."""
    begin, bench = clock(), job.bench
    if bench.estimated > seconds:
        return _default(bench)
    known = space(_whole(bench), bench.model)
    starts = [Move("the default", bench.default.choices), Move("plain", PLAIN)]
    starts.append(Move("as chosen", bench.chosen("auto")))
    starts += [Move("as found before", job.before)] if job.before is not None else []
    late = begin + SEARCHED * seconds
    made = search(
        starts, lambda c: neighbours(c, known), bench, lambda: clock() >= late, seen
    )
    best, won = _final(made.trials, bench, begin + seconds, clock)
    spent = clock() - begin
    return Found(made.trials, best, won, options.tune, spent, made.is_complete)


def _final(trials: Sequence[Trial], bench: Workbench, end: float, clock: Clock) -> tuple[int, Duel]:
    """The best of the fastest that won against the default, and how it did."""
    best, won, usual = 0, NOTHING, trials[0]
    near = (t for t in fastest(trials, FINALISTS + 1) if t.time < NEAR * usual.time)
    several = [t for t in near if t.number][:FINALISTS]
    for place, trial in enumerate(several):
        left = end - clock()
        if place and left < LEAST_ROUNDS * (usual.time + trial.time):
            break
        share = left / (len(several) - place)
        try:
            pairs = bench.compare(usual.choices, trial.choices, ROUNDS, share)
        except Refused:
            continue
        result = duel(pairs)
        if result.is_won and result.difference / result.first > _gain(won):
            best, won = trial.number, result
    return best, won


def _gain(won: Duel) -> float:
    """The share of the default's time that was saved."""
    return won.difference / won.first if won.first else 0.0


def _whole(bench: Workbench) -> Body:
    """The loops of a kernel before its choices."""
    records = [r for r in bench.default.records if r.name == "collapse"]
    whole = records[-1].after
    assert isinstance(whole, Body)
    return whole


def _default(bench: Workbench) -> Found:
    """Nothing but the default, which was not measured."""
    return Found((Trial(0, None, "the default", bench.default.choices),), 0, NOTHING)


def _usable(found: Found | None, bench: Workbench) -> Found | None:
    """The remembered search, if its best choices are still legal."""
    if found is None:
        return None
    try:
        bench.chosen({bench.default.name: found.trials[found.best].choices})
    except CompileError:
        return None
    return found


def _tuning(number: int, name: str, default: Choices, found: Found, why_not: str = "") -> Tuning:
    """The tuning of a kernel; what is as by default has the reasons of the default."""
    known = {show(row): row for row in default}
    trials = tuple(replace(t, choices=_explained(t.choices, known)) for t in found.trials)
    return Tuning(
        title=f"tuning {name}", name=name, seconds=found.spent, kernel=number,
        found=replace(found, trials=trials), why_not=why_not,
    )  # fmt: skip


def _explained(choices: Choices, known: Mapping[str, object]) -> Choices:
    rows = []
    for row in choices:
        usual = known.get(show(row))
        rows.append(replace(row, because=FOUND_BY_MEASURING) if usual is None else usual)
    return Choices(tuple(rows))  # type: ignore[arg-type]
