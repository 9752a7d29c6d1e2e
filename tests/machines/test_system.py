"""Figures from the operating system: files of Linux and sysctl of macOS, both mocked."""

import ctypes
import mmap
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from compiler.machines import system
from compiler.machines.system import Cache

K, M = 1024, 1024 * 1024
LINUX = [
    ("1", "Data", "48K", "12"), ("1", "Instruction", "32K", "8"), ("2", "Unified", "1024K", "16"),
    ("3", "Unified", "32768K", "16"),
]  # fmt: skip
APPLE = {
    "hw.perflevel0.l1dcachesize": 128 * K, "hw.perflevel0.l2cachesize": 12 * M,
    "hw.l1dcachesize": 64 * K, "hw.l2cachesize": 4 * M, "hw.perflevel0.physicalcpu": 4,
    "hw.physicalcpu": 8, "hw.memsize": 16 * 1024 * M,
}  # fmt: skip
INTEL_MAC = {
    "hw.l1dcachesize": 32 * K, "hw.l2cachesize": 256 * K, "hw.l3cachesize": 6 * M,
    "hw.physicalcpu": 2, "hw.memsize": 8 * 1024 * M,
}  # fmt: skip


def caches_in(folder: Path, rows: list[tuple[str, str, str, str]]) -> None:
    """The files of the first processor's caches."""
    for number, row in enumerate(rows):
        place = folder / f"cpu0/cache/index{number}"
        place.mkdir(parents=True)
        for name, text in zip(("level", "type", "size", "ways_of_associativity"), row, strict=True):
            (place / name).write_text(f"{text}\n")


@pytest.fixture
def linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of /sys/devices/system/cpu."""
    monkeypatch.setattr(system, "CPUS", tmp_path)
    monkeypatch.setattr(system, "IS_MAC", False)
    monkeypatch.setattr(os, "sysconf", lambda name: 0 if "CACHE" in name else 4096)
    return tmp_path


def mac(monkeypatch: pytest.MonkeyPatch, told: Mapping[str, int]) -> None:
    """A sysctl that tells so much."""
    monkeypatch.setattr(system, "IS_MAC", True)
    monkeypatch.setattr(system, "control", lambda name: told.get(name, 0))


# --- Linux ------------------------------------------------------------------------------------


def test_caches_of_linux(linux: Path) -> None:
    caches_in(linux, LINUX)
    assert system.caches() == (Cache(48 * K, 12), Cache(1 * M, 16), Cache(32 * M, 16))
    assert system.origin() == "Linux, /sys/devices/system/cpu"


def test_a_cache_without_ways_and_one_that_is_not_there(linux: Path) -> None:
    """Many AArch64 systems tell no ways; some have two levels."""
    caches_in(linux, [("1", "Data", "64K", ""), ("2", "Unified", "1024K", "what")])
    assert system.caches() == (Cache(64 * K, 0), Cache(1 * M, 0), None)


def test_where_there_are_no_files_sysconf_is_asked(
    linux: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"SC_LEVEL1_DCACHE_SIZE": 32 * K, "SC_LEVEL2_CACHE_SIZE": -1}
    monkeypatch.setattr(os, "sysconf", told.get)
    monkeypatch.setattr(os, "sysconf_names", dict.fromkeys(told, 0))
    assert system.caches() == (Cache(32 * K, 0), None, None)


@pytest.mark.parametrize(("siblings", "allowed", "cores"), [
    ({0: "0,4", 1: "1,5", 4: "0,4", 5: "1,5"}, {0, 1, 4, 5}, 2),
    ({0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3"}, {0, 1, 2, 3}, 2),
    ({0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3"}, {1, 2}, 2),
    ({0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3"}, {0, 1}, 1),
    ({0: "0", 1: "1", 2: "2"}, {0, 1, 2}, 3),
    ({}, {3, 7}, 2),
])  # fmt: skip
def test_two_hyper_threads_are_one_core(
    siblings: dict[int, str], allowed: set[int], cores: int, linux: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for number, row in siblings.items():
        place = linux / f"cpu{number}/topology"
        place.mkdir(parents=True)
        (place / "thread_siblings_list").write_text(row + "\n")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: allowed, raising=False)
    assert system.core_count() == cores


def test_memory_in_use_here() -> None:
    now, most = system.resident_bytes(), system.most_resident_bytes()
    assert 10 * M < now < 2 * most and most < system.memory_bytes()
    held = bytearray(64 * M)
    held[:: mmap.PAGESIZE] = b"x" * len(held[:: mmap.PAGESIZE])
    assert system.most_resident_bytes() >= most


# --- macOS ------------------------------------------------------------------------------------


def test_an_apple_processor_tells_of_its_performance_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mac(monkeypatch, APPLE)
    assert system.caches() == (Cache(128 * K, 0), Cache(12 * M, 0), None)
    assert system.core_count() == 4 and system.memory_bytes() == 16 * 1024 * M
    assert system.origin() == "macOS, sysctl"


def test_a_mac_with_one_kind_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    mac(monkeypatch, INTEL_MAC)
    assert system.caches() == (Cache(32 * K, 0), Cache(256 * K, 0), Cache(6 * M, 0))
    assert system.core_count() == 2


def test_a_mac_that_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    mac(monkeypatch, {})
    assert system.caches() == (None, None, None)
    assert system.core_count() == (os.cpu_count() or 1) and system.memory_bytes() > 0


def test_macos_has_no_counters_that_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = "arm64"
    for name, number in (("Darwin", None), ("Linux", None)):
        monkeypatch.setattr("platform.system", lambda name=name: name)
        monkeypatch.setattr("platform.machine", lambda: machine)
        assert system.sampling_call() is number
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert system.sampling_call() == 241


def test_the_most_memory_is_in_bytes_there_and_in_kilobytes_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Usage:
        ru_maxrss = 5 * M

    monkeypatch.setattr("resource.getrusage", lambda who: Usage)
    monkeypatch.setattr(system, "IS_MAC", False)
    assert system.most_resident_bytes() == 5 * M * 1024
    mac(monkeypatch, {})
    monkeypatch.setattr(system, "PROCESS", tmp_path)
    assert system.most_resident_bytes() == system.resident_bytes() == 5 * M


def test_sysctl_is_asked_as_its_manual_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name, place, length in and out, nothing to set; 4 bytes or 8 come back."""
    asked: list[bytes] = []

    class Library:
        @staticmethod
        def sysctlbyname(name: bytes, place: Any, length: Any, new: Any, size: Any) -> int:
            asked.append(name)
            assert length._obj.value == 8 and new is None and size.value == 0
            if name == b"hw.none":
                return -1
            ctypes.memmove(place, (12 * M).to_bytes(4, "little"), 4)
            length._obj.value = 4
            return 0

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library)
    assert system.control("hw.l2cachesize") == 12 * M and system.control("hw.none") == 0
    assert asked == [b"hw.l2cachesize", b"hw.none"]


def test_a_library_without_sysctl_tells_nothing() -> None:
    assert system.control("hw.memsize") == 0 or system.IS_MAC


# --- threads ----------------------------------------------------------------------------------


class Process:
    """A C library that notes what it is called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[Any]]] = []

    def __getattr__(self, name: str) -> Any:
        def call(*given: Any) -> int:
            self.calls.append((name, [getattr(it, "value", it) for it in given[1:]]))
            return 0

        return call


@pytest.mark.parametrize("is_mac", [False, True])
def test_workers_are_of_a_quality_that_gets_performance_cores(
    is_mac: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "IS_MAC", is_mac)
    process = Process()
    system.prepare_thread(process, ctypes.create_string_buffer(system.MOST_BYTES), 2**20)
    quality = [("pthread_attr_set_qos_class_np", [0x19, 0])] if is_mac else []
    begin = [("pthread_attr_init", []), ("pthread_attr_setstacksize", [2**20])]
    assert process.calls == [*begin, *quality]


def test_a_thread_uses_other_cores_than_its_process_is_limited_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(system, "_MOST_CORES", [])
    system.limit_cores(1)
    with system.using_cores(5), ThreadPoolExecutor(1) as other:
        assert system.core_count() == 5 and other.submit(system.core_count).result() == 1
    assert system.core_count() == 1 <= system.all_cores()
