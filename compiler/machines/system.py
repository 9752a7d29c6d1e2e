"""All differences between operating systems, Linux and macOS.

                Linux                                    macOS
    caches      the files of /sys/devices/system/cpu     sysctl hw.perflevel0.…, else hw.…
    cores       those that this process may run on,      sysctl hw.perflevel0.physicalcpu
                two hyper-threads counted once
    memory      sysconf                                  sysctl hw.memsize
    in use      the files of /proc/self                  the most that was in use, by getrusage
    samples     perf_event_open                          none: blocks are counted instead
    threads     by default                               of a class that gets performance cores
    assembly    .LBB0_1, kernel, comments of // or #     LBB0_1, _kernel, comments of ; or ##

On macOS figures are those of the performance cores. A figure that the system does not report is
None, never a guess. The user's cache folders are in `core/user_cache.py`. Pages are 16 KiB on an
Apple processor (`mmap.PAGESIZE`). Object files are loaded by LLVM (MCJIT), whose memory is first
writable and later executable, never both.
"""

import ctypes
import functools
import os
import platform
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CPUS = Path("/sys/devices/system/cpu")
PROCESS = Path("/proc/self")
IS_MAC = sys.platform == "darwin"
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
"""The number of that system call of Linux, by machine."""
USER_INITIATED = 0x19
"""QOS_CLASS_USER_INITIATED of macOS: a user waits for the result. Threads of lower classes may be
moved to efficiency cores."""
MOST_BYTES = 128
"""Bytes reserved for a mutex, a condition variable or the attributes of a thread: 64, 48 and 64
bytes on macOS; 48, 48 and 64 on Linux, AArch64, and 40, 48 and 56 on x86-64."""


@dataclass(frozen=True, slots=True)
class Cache:
    """A data cache: `ways` is 0 if the system does not report them."""

    nbytes: int
    ways: int


def caches() -> tuple[Cache | None, Cache | None, Cache | None]:
    """The caches of one core, the nearest first."""
    first, second, third = (_cache_of(level) for level in (1, 2, 3))
    return first, second, third


_MOST_CORES: list[int] = []


def limit_cores(count: int) -> None:
    """Limit the number of cores that this process uses, because others share this machine."""
    _MOST_CORES[:] = [max(count, 1)]


_OWN = threading.local()


@contextmanager
def using_cores(count: int) -> Iterator[None]:
    """Let this thread use this many cores inside, whatever its process is limited to."""
    before, _OWN.count = getattr(_OWN, "count", 0), count
    try:
        yield
    finally:
        _OWN.count = before


def core_count() -> int:
    """The number of cores that this process may use: hyper-threads of one core count once."""
    return getattr(_OWN, "count", 0) or min([all_cores(), *_MOST_CORES])


def all_cores() -> int:
    """The number of cores that the system gives to this process, ignoring `limit_cores`."""
    if IS_MAC:
        return control("hw.perflevel0.physicalcpu") or control("hw.physicalcpu") or _logical()
    if not hasattr(os, "sched_getaffinity"):
        return _logical()
    return _distinct(frozenset(os.sched_getaffinity(0)), CPUS)


def memory_bytes() -> int:
    """The main memory of this machine."""
    if IS_MAC and (size := control("hw.memsize")):
        return size
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def resident_bytes() -> int:
    """The resident memory of this process in bytes; on macOS its peak."""
    try:
        pages = int(_text(PROCESS / "statm").split()[1])
    except IndexError:
        return most_resident_bytes()
    return pages * os.sysconf("SC_PAGE_SIZE")


def most_resident_bytes() -> int:
    """The peak resident memory of this process in bytes."""
    import resource  # there is none on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if IS_MAC else 1024)


def sampling_call() -> int | None:
    """The number of the system call that opens a sampling counter; None if this system has
    none."""
    return PERF_EVENT_OPEN.get(platform.machine()) if platform.system() == "Linux" else None


def comment_of(is_x86: bool) -> str:
    """The beginning of a comment in assembly of this system; # begins a number on ARM."""
    return "#" if is_x86 else ";" if IS_MAC else "//"


def prepare_thread(process: Any, attributes: Any, stack_bytes: int) -> None:
    """Set the attributes of a computing thread, by functions of the C library: on macOS a class
    that gets performance cores; other systems need nothing."""
    process.pthread_attr_init(attributes)
    process.pthread_attr_setstacksize(attributes, ctypes.c_size_t(stack_bytes))
    if IS_MAC:
        quality = ctypes.c_uint(USER_INITIATED), ctypes.c_int(0)
        process.pthread_attr_set_qos_class_np(attributes, *quality)


def origin() -> str:
    """The origin of this system's figures, in words."""
    return "macOS, sysctl" if IS_MAC else "Linux, /sys/devices/system/cpu"


def _logical() -> int:
    return os.cpu_count() or 1


@functools.cache
def _distinct(cpus: frozenset[int], folder: Path) -> int:
    """Cores among logical processors: those with the same siblings are one."""
    return len({_text(folder / f"cpu{n}/topology/thread_siblings_list") or str(n) for n in cpus})


def _cache_of(level: int) -> Cache | None:
    return _by_control(level) if IS_MAC else _by_files(level, CPUS / "cpu0/cache")


def _by_control(level: int) -> Cache | None:
    """A cache as reported by sysctl, which has no ways."""
    kind = "dcache" if level == 1 else "cache"
    for place in (f"hw.perflevel0.l{level}{kind}size", f"hw.l{level}{kind}size"):
        if size := control(place):
            return Cache(size, 0)
    return None


def _by_files(level: int, folder: Path) -> Cache | None:
    """A cache as reported by Linux in files; without files by sysconf, which has no ways.

    In virtual machines sysconf often reports nothing.
    """
    for index in sorted(folder.glob("index*")):
        kind, size = _text(index / "type"), _text(index / "size").removesuffix("K")
        if _text(index / "level") == str(level) and kind != "Instruction" and size.isdecimal():
            ways = _text(index / "ways_of_associativity")
            return Cache(int(size) * 1024, int(ways) if ways.isdecimal() else 0)
    name = "SC_LEVEL1_DCACHE_SIZE" if level == 1 else f"SC_LEVEL{level}_CACHE_SIZE"
    names = getattr(os, "sysconf_names", {})
    value = os.sysconf(name) if name in names else 0
    return Cache(value, 0) if value > 0 else None


def _text(path: Path) -> str:
    """A small file of the system; empty where it cannot be read."""
    try:
        return path.read_text().strip()
    except (OSError, ValueError):
        return ""


def control(name: str) -> int:
    """A number from macOS's `sysctlbyname`; 0 if it has none."""
    try:
        ask = ctypes.CDLL(None).sysctlbyname
    except (OSError, AttributeError):
        return 0
    value, size = ctypes.c_uint64(), ctypes.c_size_t(8)
    failed = ask(name.encode(), ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0))
    return 0 if failed else int(value.value)
