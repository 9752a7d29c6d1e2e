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
    return Job("kernel", lane, lane, ns, 0, after)


def sent(nbytes: int, *after: int, lane: int = 1, sender: int = 0) -> Job:
    return Job("copy", lane, sender, 0.0, nbytes, after)


def makespan(jobs: list[Job], cluster: Cluster = CLUSTER, lanes: int = 4) -> float:
    found = run(jobs, cluster, lanes)
    check(jobs, found)
    return max((it.finish for it in found), default=0.0)


def check(jobs: list[Job], found: list[Ran]) -> None:
    """Order is kept, nothing is occupied twice, and the path has all of the time."""
    for job, ran in zip(jobs, found, strict=True):
        assert all(found[needed].finish <= ran.ready for needed in job.depends_on)
        assert ran.ready <= ran.scheduled <= ran.arrived <= ran.start <= ran.end <= ran.finish
    rows = list(zip(jobs, found, strict=True))
    for lane in range(4):
        for chosen in (
            [r for j, r in rows if not j.is_transfer and j.lane == lane],
            [r for j, r in rows if j.is_transfer and j.lane == lane],
            [r for j, r in rows if j.is_transfer and j.sender == lane],
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
    assert makespan([Job("fence", 0, 0, 0.0, 0, (), True)]) == 0.0


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
    found = run(jobs, CLUSTER, 4)
    assert {step.reason for step in path(jobs, found)} == {"overhead", "compute"}


def test_a_transfer_takes_its_bytes_and_the_latency() -> None:
    jobs = [kernel(10), sent(100, 0), kernel(10, 1, lane=1)]
    assert makespan(jobs) == pytest.approx(15 + 100 + 5 + 15)
    parts = path(jobs, run(jobs, CLUSTER, 4))
    told = [(step.job, step.reason, round(step.ns, 6)) for step in parts]
    assert told == [(0, "overhead", 5), (0, "compute", 10), (1, "transfer", 100),
                    (1, "latency", 5), (2, "overhead", 5), (2, "compute", 10)]  # fmt: skip


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
    assert [it.start for it in run(jobs, FREE, 4)] == [0, 100, 0]


def test_computing_and_sending_go_on_together() -> None:
    jobs = [kernel(10), sent(100, 0), kernel(100, 0), kernel(10, 1, 2, lane=1)]
    assert makespan(jobs, FREE) == pytest.approx(10 + 100 + 10)


def test_a_free_lane_takes_what_stands_first() -> None:
    jobs = [kernel(10), kernel(20, lane=1), kernel(5, 0), kernel(1)]
    found = run(jobs, FREE, 2)
    assert [it.start for it in found] == [0, 0, 10, 15]  # 3 was there before 2
    jobs = [kernel(10), kernel(3), kernel(2), kernel(1)]
    assert [it.start for it in run(jobs, FREE, 1)] == [0, 10, 13, 15]


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
    links = sum(job.nbytes + 5 for job in jobs if job.is_transfer)
    assert work / 4 <= found <= work + links + 5 * len(jobs) + 1e-6


def test_a_faster_link_is_never_slower_for_a_chain_of_transfers() -> None:
    jobs = [kernel(10)]
    for number in range(10):
        jobs += [sent(100, 2 * number, lane=1 - number % 2, sender=number % 2),
                 kernel(10, 2 * number + 1, lane=1 - number % 2)]  # fmt: skip
    times = [makespan(jobs, replace(CLUSTER, link=rate)) for rate in (1e8, 1e9, 1e10, 1e11)]
    assert times == sorted(times, reverse=True)
