"""sampling: the position of a thread in its machine code, sampled thousands of times a second.

Linux reads it for us, from the processor's counter of cycles where there is one, else from the
clock (`perf_event_open`). Containers and careful systems allow neither.
"""

import ctypes
import mmap
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from compiler.machines.system import sampling_call

HARDWARE, SOFTWARE = 0, 1
CYCLES = CLOCK = 0
SAMPLE = 9
"""The kind of a record that is a sample."""
ADDRESS = 1
"""The content of a sample: the address of the instruction."""
USERS_ONLY = 1 << 5 | 1 << 6
"""Neither the system's own code nor a hypervisor's."""
STOPPED, AS_OFTEN = 1, 1 << 10
PRECISE = 15
"""The place of the bits that say how near the address has to be."""
START, STOP = 0x2400, 0x2401
PAGES = 64
OFTEN = 20_000
"""Samples a second that are asked for, by either."""
STRETCH = 0.005
"""Seconds for which it is run before the samples are read. A choice: the ring holds ten times as
many."""
HEAD = 1024
"""The offset, in the memory shared with the system, of the end of what it has written."""


class CannotSample(OSError):
    """The system does not say where a thread is."""


@dataclass(frozen=True, slots=True)
class Samples:
    """The addresses, and what they were counted by."""

    addresses: tuple[int, ...]
    by: str


def sampled(run: Callable[[], None], seconds: float) -> Samples:
    """The positions of this thread while it ran something again and again for about so long.

    Raises `CannotSample` where the system allows no such thing.
    """
    with _opened() as (handle, by):
        size = mmap.PAGESIZE * (PAGES + 1)
        try:
            shared = mmap.mmap(handle, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        except OSError as error:
            raise CannotSample(str(error)) from error
        with shared:
            return Samples(tuple(_samples(run, seconds, handle, shared)), by)


def refuse_without_samples() -> None:
    """Raises `CannotSample` where `sampled` would, before anybody prepares a run."""
    with _opened():
        pass


def _samples(
    run: Callable[[], None], seconds: float, handle: int, shared: mmap.mmap
) -> Iterator[int]:
    import fcntl  # there is none on Windows

    end = time.perf_counter() + seconds
    tail = 0
    while True:
        fcntl.ioctl(handle, START, 0)
        stop = time.perf_counter() + STRETCH
        run()
        while time.perf_counter() < stop:
            run()
        fcntl.ioctl(handle, STOP, 0)
        (head,) = struct.unpack_from("<Q", shared, HEAD)
        yield from _read(shared, tail, head)
        tail = head
        struct.pack_into("<Q", shared, HEAD + 8, tail)  # so much was read
        if time.perf_counter() > end:
            return


def _read(shared: mmap.mmap, tail: int, head: int) -> Iterator[int]:
    """The addresses of the records between two places of the ring; all begin at multiples of 8."""
    size = mmap.PAGESIZE * PAGES

    def word(place: int) -> bytes:
        at = mmap.PAGESIZE + place % size
        return shared[at : at + 8]

    while tail < head:
        kind, _, length = struct.unpack("<IHH", word(tail))
        if kind == SAMPLE:
            yield int.from_bytes(word(tail + 8), "little")
        tail += length


@contextmanager
def _opened() -> Iterator[tuple[int, str]]:
    """A counter of this thread, and what it counts: the best that there is."""
    nanoseconds = 1_000_000_000 // OFTEN
    asked: list[tuple[int, int, int, int, str]] = [
        (HARDWARE, CYCLES, OFTEN, AS_OFTEN | precise << PRECISE, "the processor's cycles")
        for precise in (2, 1, 0)
    ]
    asked.append((SOFTWARE, CLOCK, nanoseconds, 0, "the clock"))
    handles = ((_open(*each), by) for *each, by in asked)
    handle, by = next((it for it in handles if it[0] >= 0), (-1, ""))
    if handle < 0:
        raise CannotSample("the system does not let programs be sampled")
    try:
        yield handle, by
    finally:
        os.close(handle)


def _open(kind: int, what: int, period: int, flags: int) -> int:
    """A counter, stopped; -1 where there is none of that kind."""
    number = sampling_call()
    if number is None:
        return -1
    flags |= STOPPED | USERS_ONLY
    asked = struct.pack("<IIQQQQQ", kind, 112, what, period, ADDRESS, 0, flags).ljust(112, b"\0")
    attributes = ctypes.create_string_buffer(asked, 112)
    return int(ctypes.CDLL(None).syscall(number, attributes, 0, -1, -1, 0))
