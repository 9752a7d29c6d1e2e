"""Jobs on lanes and links: runs that can be worked out by hand; times are nanoseconds."""

import itertools
import random
from dataclasses import replace

import pytest

from compiler import Cluster
from compiler.distributed.simulation.events import Ran, run
from compiler.distributed.simulation.jobs import Job
from compiler.distributed.simulation.path import path

# A byte takes 1 ns, a message 5 ns more, an item 2 ns of the scheduler and 3 ns more.
CLUSTER = Cluster(workers=2, link=1e9, latency=5e-9, task=3e-9, scheduler=2e-9)
FREE = replace(CLUSTER, task=0, scheduler=0, latency=0)


def kernel(ns: float, *after: int, lane: int = 0) -> Job:
    return Job("compute", "kernel", lane, after, ns=ns)


def sent(nbytes: int, *after: int, lane: int = 1, sender: int = 0) -> Job:
    return Job("transfer", "copy", lane, after, nbytes=nbytes, sender=sender)


def told(rows: list[Job]) -> tuple[list[Job], list[int]]:
    """The rows as jobs, each computation announced first; and which job each row is."""
    jobs: list[Job] = []
    places: list[int] = []
    for place, row in enumerate(rows):
        after = tuple(places[number] for number in row.depends_on)
        if row.kind == "compute":
            jobs.append(Job("announced", row.name, row.lane, after, place=place))
            after = (len(jobs) - 1,)
        places.append(len(jobs))
        jobs.append(replace(row, depends_on=after, place=place))
    return jobs, places


def ran(rows: list[Job], cluster: Cluster = CLUSTER, lanes: int = 4) -> list[Ran]:
    """When each row ran."""
    jobs, places = told(rows)
    found = run(jobs, cluster, lanes)
    check(jobs, found)
    return [found[place] for place in places]


def makespan(rows: list[Job], cluster: Cluster = CLUSTER) -> float:
    return max((it.finish for it in ran(rows, cluster)), default=0.0)


def reasons(rows: list[Job]) -> list[tuple[str, float]]:
    jobs, _ = told(rows)
    return [(it.reason, round(it.ns, 6)) for it in path(jobs, run(jobs, CLUSTER, 4))]


def check(jobs: list[Job], found: list[Ran]) -> None:
    """Order is kept, nothing is occupied twice, and the path has all of the time."""
    for job, it in zip(jobs, found, strict=True):
        assert all(found[needed].finish <= it.ready for needed in job.depends_on)
        assert it.ready <= it.scheduled <= it.arrived <= it.start <= it.end <= it.finish
    rows = list(zip(jobs, found, strict=True))
    for lane in range(4):
        for chosen in (
            [r for j, r in rows if j.kind == "compute" and j.lane == lane],
            [r for j, r in rows if j.kind == "transfer" and j.lane == lane],
            [r for j, r in rows if j.sender == lane],
        ):
            spans = sorted((r.start, r.end) for r in chosen)
            assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    steps = path(jobs, found)
    end = max((it.finish for it in found), default=0.0)
    assert sum(step.ns for step in steps) == pytest.approx(end)
    assert all(a.end == pytest.approx(b.start) for a, b in itertools.pairwise(steps))
    if steps:
        assert steps[0].start == 0.0 and steps[-1].end == end


def test_nothing_takes_no_time() -> None:
    assert makespan([]) == 0.0 and path([], []) == ()
    assert makespan([Job("there", "x", 0, nbytes=100)]) == 0.0


def test_one_item_is_scheduled_told_and_done() -> None:
    assert makespan([kernel(10)]) == pytest.approx(2 + 3 + 10)


def test_a_chain_pays_for_every_item_what_is_independent_once() -> None:
    chain = [kernel(10), kernel(10, 0), kernel(10, 1)]
    assert makespan(chain) == pytest.approx(3 * (2 + 3 + 10))
    apart = [kernel(10), kernel(10), kernel(10)]
    assert makespan(apart) == pytest.approx(2 + 3 + 30)


def test_small_items_wait_for_the_one_scheduler() -> None:
    jobs = [kernel(1, lane=lane % 4) for lane in range(8)]
    assert makespan(jobs) == pytest.approx(8 * 2 + 3 + 1)
    assert reasons(jobs) == [("overhead", 2)] * 7 + [("overhead", 5), ("compute", 1)]


def test_a_transfer_takes_its_bytes_and_the_latency() -> None:
    jobs = [kernel(10), sent(100, 0), kernel(10, 1, lane=1)]
    assert makespan(jobs) == pytest.approx(15 + 100 + 5 + 15)
    assert reasons(jobs) == [("overhead", 5), ("compute", 10), ("transfer", 100),
                             ("latency", 5), ("overhead", 5), ("compute", 10)]  # fmt: skip


def test_links_are_full_duplex_and_queued() -> None:
    swapped = [sent(100, lane=1, sender=0), sent(100, lane=0, sender=1)]
    assert makespan(swapped, FREE) == pytest.approx(100)
    gathered = [sent(100, lane=0, sender=1), sent(100, lane=0, sender=2), sent(100, lane=3)]
    assert makespan(gathered, FREE) == pytest.approx(200)
    latencies = replace(FREE, latency=5e-9)
    assert makespan(gathered, latencies) == pytest.approx(205)


def test_a_transfer_that_can_go_on_is_not_held_up_by_one_that_cannot() -> None:
    jobs = [sent(100, lane=2, sender=1), sent(50, lane=2, sender=0), sent(70, lane=3, sender=0)]
    assert makespan(jobs, FREE) == pytest.approx(150)
    assert [it.start for it in ran(jobs, FREE)] == [0, 100, 0]


def test_computing_and_sending_go_on_together() -> None:
    jobs = [kernel(10), sent(100, 0), kernel(100, 0), kernel(10, 1, 2, lane=1)]
    assert makespan(jobs, FREE) == pytest.approx(10 + 100 + 10)


def test_a_free_lane_takes_what_stands_first() -> None:
    jobs = [kernel(10), kernel(20, lane=1), kernel(5, 0), kernel(1)]
    assert [it.start for it in ran(jobs, FREE)] == [0, 0, 10, 15]  # 3 was there before 2
    jobs = [kernel(10), kernel(3), kernel(2), kernel(1)]
    assert [it.start for it in ran(jobs, FREE)] == [0, 10, 13, 15]


def test_what_takes_no_time_keeps_its_order() -> None:
    jobs = [kernel(0), kernel(0, 0), sent(0, 1), kernel(0, 2, lane=1), kernel(4, 3)]
    assert makespan(jobs, FREE) == 4.0


def programs(seed: int, count: int) -> list[Job]:
    chosen = random.Random(seed)
    jobs: list[Job] = []
    for number in range(count):
        after = tuple(chosen.sample(range(number), min(number, chosen.randrange(4))))
        lane, sender = chosen.randrange(4), chosen.randrange(4)
        if chosen.random() < 0.4 and lane != sender:
            jobs.append(sent(chosen.randrange(200), *after, lane=lane, sender=sender))
        else:
            jobs.append(kernel(chosen.randrange(50), *after, lane=lane))
    return jobs


@pytest.mark.parametrize("seed", range(30))
def test_programs_at_random(seed: int) -> None:
    jobs = programs(seed, 60)
    found = makespan(jobs)
    assert found == makespan(jobs)
    work = sum(job.ns for job in jobs)
    links = sum(job.nbytes + 5 for job in jobs if job.kind == "transfer")
    assert work / 4 <= found <= work + links + 5 * len(jobs) + 1e-6


def test_a_faster_link_is_never_slower_for_a_chain_of_transfers() -> None:
    jobs = [kernel(10)]
    for number in range(10):
        jobs += [sent(100, 2 * number, lane=1 - number % 2, sender=number % 2),
                 kernel(10, 2 * number + 1, lane=1 - number % 2)]  # fmt: skip
    times = [makespan(jobs, replace(CLUSTER, link=rate)) for rate in (1e8, 1e9, 1e10, 1e11)]
    assert times == sorted(times, reverse=True)
