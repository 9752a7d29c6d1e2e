"""The processes of a search: each tries its share of the cases until the time is up.

What ends a process, an access to a guard page or LLVM, is a failure of the case that it was at, and
so is a case that does not end; another process goes on behind it.
"""

import gc
import multiprocessing
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from tests.search.cases import Case, Failure, Outcome, cases, tried

LONGEST = 180.0
"""Seconds that a case may take."""
REPORTED = 1.0
"""Seconds between what a process tells."""
Trial = Callable[[Case, set[bytes]], Outcome]
_context = multiprocessing.get_context("spawn")


@dataclass
class _Worker:
    """A process, and the number of the case that it is at."""

    process: Any
    told: Connection
    at: Any
    since: float
    place: int
    was: int = -1


def searched(
    seed: int,
    seconds: float,
    jobs: int,
    run_share: float,
    progress: Callable[[Outcome], bool],
    try_one: Trial = tried,
) -> Outcome:
    """The outcome of all cases that were tried in that time.

    `progress` is called now and then with the outcome so far; returning True ends the search.
    """
    whole, end = Outcome(), time.monotonic() + seconds
    workers = [_started(seed, place, place, jobs, end, run_share, try_one) for place in range(jobs)]
    while workers:
        wait([worker.told for worker in workers], timeout=REPORTED)
        for worker in list(workers):
            is_over = _take(worker, whole)
            error = _wrong(worker, is_over)
            if not (is_over or error):
                continue
            workers.remove(worker)
            worker.process.join()
            if error:
                whole.failures.append(_failure(seed, worker.at.value, error))
            if error and time.monotonic() < end:
                behind = worker.at.value + jobs
                workers.append(_started(seed, behind, worker.place, jobs, end, run_share, try_one))
        if progress(whole):
            for worker in workers:
                worker.process.kill()
            return whole
    return whole


def _started(
    seed: int, first: int, place: int, jobs: int, end: float, run_share: float, try_one: Trial
) -> _Worker:
    told, tell = _context.Pipe(duplex=False)
    at = _context.Value("q", first, lock=False)
    left = end - time.monotonic()
    given = (tell, at, seed, first, jobs, left, run_share, try_one)
    process = _context.Process(target=_work, args=given, daemon=True)
    process.start()
    tell.close()
    return _Worker(process, told, at, time.monotonic(), place)


def _take(worker: _Worker, whole: Outcome) -> bool:
    """Add the report of a process; True if it was the last one."""
    try:
        while worker.told.poll():
            found = worker.told.recv()
            if found is None:
                return True
            whole.add(found)
    except EOFError:
        worker.process.join()
    return False


def _wrong(worker: _Worker, is_over: bool) -> str:
    """Why a process is no longer at work, or has to end; empty where all is well."""
    if is_over:
        return ""
    now = time.monotonic()
    if worker.at.value != worker.was:
        worker.was, worker.since = worker.at.value, now
    if now - worker.since > LONGEST:
        worker.process.kill()
        return f"it takes longer than {LONGEST:.0f} s"
    code = worker.process.exitcode
    return "" if code is None else f"its process ended with code {code}"


def _failure(seed: int, number: int, error: str) -> Failure:
    """The failure of a case whose own process could not tell any more."""
    case = Case(seed, number)
    try:
        text = case.program.text
    except Exception as raised:
        text = f"no program: {raised}"
    return Failure(case.name, text, "a process", error)


def _work(
    tell: Connection,
    at: Any,
    seed: int,
    first: int,
    step: int,
    seconds: float,
    run_share: float,
    try_one: Trial,
) -> None:
    """Try cases for so many seconds, and tell what came out."""
    gc.set_threshold(100_000, 20, 20)  # nodes form no cycles
    end, known = time.monotonic() + seconds, set[bytes]()
    for outcomes in _by_time(cases(seed, first, step, run_share), at, known, end, try_one):
        tell.send(outcomes)
    tell.send(None)


def _by_time(
    those: Iterator[Case], at: Any, known: set[bytes], end: float, try_one: Trial
) -> Iterator[Outcome]:
    """The outcome of the cases of about a second each."""
    while time.monotonic() < end:
        made, until = Outcome(), min(time.monotonic() + REPORTED, end)
        while time.monotonic() < until:
            case = next(those)
            at.value = case.number
            made.add(try_one(case, known))
        yield made
