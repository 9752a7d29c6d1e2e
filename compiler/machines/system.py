"""What the operating system tells of the machine, on Linux and macOS: all that differs is here.

    caches      the files of /sys/devices/system/cpu     sysctl hw.perflevel0.…, else hw.…
    cores       those that this process may run on, two hyper-threads counted once
                                                         sysctl hw.perflevel0.physicalcpu
    memory      sysconf                                  sysctl hw.memsize

On macOS figures are those of the performance cores. What is not told is None, never a guess.
"""

import ctypes
import functools
import os
import sys
from dataclasses import dataclass
from pathlib import Path

CPUS = Path("/sys/devices/system/cpu")
IS_MAC = sys.platform == "darwin"


@dataclass(frozen=True, slots=True)
class Cache:
    """A cache of data: `ways` is 0 where the system does not tell."""

    nbytes: int
    ways: int


def caches() -> tuple[Cache | None, Cache | None, Cache | None]:
    """The caches of one core, the nearest first."""
    first, second, third = (_cache_of(level) for level in (1, 2, 3))
    return first, second, third


def core_count() -> int:
    """How many cores this process may use: hyper-threads of one core count once."""
    if IS_MAC:
        return control("hw.perflevel0.physicalcpu") or control("hw.physicalcpu") or _logical()
    if not hasattr(os, "sched_getaffinity"):
        return _logical()
    return _distinct(frozenset(os.sched_getaffinity(0)), CPUS)


def memory_bytes() -> int:
    """The main memory of this machine."""
    if IS_MAC and (told := control("hw.memsize")):
        return told
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def origin() -> str:
    """Where this system's figures come from, in words."""
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
    """A cache as sysctl tells it, which knows no ways."""
    kind = "dcache" if level == 1 else "cache"
    for place in (f"hw.perflevel0.l{level}{kind}size", f"hw.l{level}{kind}size"):
        if told := control(place):
            return Cache(told, 0)
    return None


def _by_files(level: int, folder: Path) -> Cache | None:
    """A cache as Linux tells it, in files; by sysconf, which knows no ways, where there are none.

    Virtual machines often tell sysconf nothing.
    """
    for index in sorted(folder.glob("index*")):
        kind, size = _text(index / "type"), _text(index / "size").removesuffix("K")
        if _text(index / "level") == str(level) and kind != "Instruction" and size.isdecimal():
            ways = _text(index / "ways_of_associativity")
            return Cache(int(size) * 1024, int(ways) if ways.isdecimal() else 0)
    name = "SC_LEVEL1_DCACHE_SIZE" if level == 1 else f"SC_LEVEL{level}_CACHE_SIZE"
    known = getattr(os, "sysconf_names", {})
    told = os.sysconf(name) if name in known else 0
    return Cache(told, 0) if told > 0 else None


def _text(path: Path) -> str:
    """A small file of the system; empty where it cannot be read."""
    try:
        return path.read_text().strip()
    except (OSError, ValueError):
        return ""


def control(name: str) -> int:
    """A number that macOS's `sysctlbyname` tells; 0 where it tells none."""
    try:
        ask = ctypes.CDLL(None).sysctlbyname
    except (OSError, AttributeError):
        return 0
    value, size = ctypes.c_uint64(), ctypes.c_size_t(8)
    failed = ask(name.encode(), ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0))
    return 0 if failed else int(value.value)
