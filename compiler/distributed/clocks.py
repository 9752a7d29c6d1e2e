"""clocks: the offset of each worker's clock from the client's, with its error bound.

    request at 10.0 ms      the worker's answer: "510.7 ms"      received at 11.0 ms
    the answer was made between 10.0 and 11.0 ms: offset −500.2 ms, error at most 0.5 ms

The shortest of several round trips counts. Workers on this machine share the client's clock: offset
and error are 0 after one request.
"""

import asyncio
import functools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed.protocol import pickle

SAMPLES = 8
"""Round trips to a worker."""
SECONDS = 2.0
"""Seconds after which no worker is asked again; each is asked at least once."""
PATIENCE = 1.0
"""Seconds to wait for an answer. All three are choices."""
BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Clock:
    """Nanoseconds: the client's time is a worker's time + `offset`, ± `error`."""

    offset: int = 0
    error: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """A round trip: the client's times of request and answer, and the worker's time between;
    nanoseconds."""

    asked: int
    there: int
    heard: int


@functools.cache
def machine_here() -> str:
    """An identifier of this machine and boot, equal in all its processes; "" if unknown."""
    try:
        return BOOT.read_text().strip()
    except OSError:
        return ""


def now_here() -> tuple[int, str]:
    """The time of this process in nanoseconds, and its machine; runs on a worker."""
    return time.time_ns(), machine_here()


def clock_of(samples: Iterable[Sample]) -> Clock:
    """The clock by the shortest round trip; its error is half of the trip's time."""
    best = min(samples, key=lambda it: it.heard - it.asked)
    middle = (best.asked + best.heard) // 2
    return Clock(middle - best.there, -(-(best.heard - best.asked) // 2))


def clocks(client: Any, addresses: Sequence[str]) -> dict[str, Clock]:
    """The clock of each worker that answers, of those at `addresses`."""
    clock_of_worker: dict[str, Clock] = client.sync(_clocks, client, addresses)
    return clock_of_worker


async def _clocks(client: Any, addresses: Sequence[str]) -> dict[str, Clock]:
    """One round trip to each worker, one after the other: concurrent requests delay answers."""
    samples: dict[str, list[Sample]] = {}
    same: set[str] = set()
    begin = time.monotonic()
    for turn in range(SAMPLES):
        for address in addresses:
            is_over = turn and time.monotonic() - begin > SECONDS
            if address in same or is_over or (turn and address not in samples):
                continue
            answer = await _asked(client, address)
            if answer is None:
                continue
            sample, machine = answer
            samples.setdefault(address, []).append(sample)
            if machine and machine == machine_here():
                same.add(address)
    return {at: Clock() if at in same else clock_of(rows) for at, rows in samples.items()}


async def _asked(client: Any, address: str) -> tuple[Sample, str] | None:
    """One round trip: directly, or by the scheduler if the worker cannot be reached."""
    for ask in (_directly, _by_the_scheduler):
        asked = time.time_ns()
        try:
            there, machine = await asyncio.wait_for(ask(client, address), PATIENCE)
        except (OSError, TimeoutError, KeyError):
            continue
        return Sample(asked, there, time.time_ns()), machine
    return None


async def _directly(client: Any, address: str) -> tuple[int, str]:
    content = {"function": pickle.dumps(now_here), "args": pickle.dumps(()),
               "kwargs": pickle.dumps({}), "wait": True}  # fmt: skip
    answer = await client.rpc(address).run(**content)
    time_and_machine: tuple[int, str] = answer["result"]
    return time_and_machine


async def _by_the_scheduler(client: Any, address: str) -> tuple[int, str]:
    answers = await client._run(now_here, workers=[address], on_error="ignore")
    time_and_machine: tuple[int, str] = answers[address]
    return time_and_machine
