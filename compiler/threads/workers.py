"""The workers of this process: threads of machine code that help to run kernels.

    idle  ── no work for 200 µs ──▶  asleep: no processor time       (`threads/driver.py`)

A worker never enters Python. Threads are started when a program first has a step of several
tasks, and joined at the interpreter's exit: what still runs then does its work alone. A process
made by `fork` has none of its parent's threads, and starts its own when it needs them.

Ctrl-C is noticed once the kernels under way have returned: signals go to Python's threads.
"""

import atexit
import ctypes
import functools
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from compiler.core import forking
from compiler.llvm import jit
from compiler.llvm.level import Level
from compiler.machines.system import MOST_BYTES, core_count, prepare_thread
from compiler.settings.options import Cache
from compiler.threads import driver

SPIN_SECONDS = 200e-6
"""Seconds that an idle worker spins before it sleeps: as long as Python takes between calls of a
captured function, 60 to 100 µs if a kernel has evicted it from the caches. A product of 256² takes
294 to 311 µs a call then, 336 with 50 µs, 299 with 1 ms (EPYC, Zen 3, two cores, 2026-11-27).
Waking a worker takes about 50 µs: medians of 2,000 runs of a kernel in two tasks against one are 21
against 19 µs while the worker spins, 94 against 32 if it fell asleep 100 µs before, and without
spinning 56 against 31 even in direct succession (the same machine, busy with other work,
2026-11-23)."""
STACK_BYTES = 16 * 2**20
"""The stack of a worker's thread. A choice, no measurement."""
Words: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"


@dataclass(frozen=True, slots=True)
class Native:
    """The functions of `threads/driver.py`."""

    run: Any
    """`sv.run`, called with integers; it returns when all steps are done."""
    each: int
    """The address of the thunk that runs one kernel per task."""
    copy: int
    """The address of the thunk that copies bytes."""
    mark: int
    """The address of the thunk that marks the end of a program."""
    address: Callable[[str], int]
    """The address of a function."""


def native(cache: Cache = False) -> Native:
    """The native side, compiled once per process; `cache` is that of `Options`, at first."""
    if not _NATIVE and _BEGUN:
        _BEGUN[0].join()
    return _NATIVE[0] if _NATIVE else _made(cache)


def begin(cache: Cache = False) -> None:
    """Begin to compile the native side, where there is a core for it besides this thread's."""
    if _NATIVE or _BEGUN or core_count() < 2:
        return
    thread = threading.Thread(target=_made, args=(cache,), name="compile native")
    thread.start()
    _BEGUN.append(thread)


_NATIVE: list[Native] = []
_BEGUN: list[threading.Thread] = []
"""The thread that compiles the native side, once it was started."""
LEVEL = Level(0, "few", "it waits more than it computes: compiled in the least time")


def _made(cache: Cache) -> Native:
    """Compile, or find, the native side. Threads may run in it: it is never freed."""
    code = jit.object_code(driver.source(), "sv.run", LEVEL, cache)
    loaded = jit.load_object(code, "sv.run", 6)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(loaded.engine))
    each, copy, mark = (loaded.address_of(f"sv.{name}") for name in ("each", "copy", "mark"))
    _NATIVE.append(Native(loaded.entry, each, copy, mark, loaded.address_of))
    return _NATIVE[0]


class Pool:
    """Shared memory of callers and workers, and the workers' threads."""

    def __init__(self) -> None:
        self._lock = forking.lock()
        self._memory: Words = np.zeros(driver.POOL_BYTES // 8 + 16, np.int64)
        start = self._memory.ctypes.data
        self.address = -(-start // 128) * 128
        self._cells: list[Words] = []
        self._threads: list[ctypes.c_void_p] = []
        self._is_stopped = False
        process = _process()
        process.pthread_mutex_init(self.address + driver.MUTEX, None)
        process.pthread_cond_init(self.address + driver.CONDITION, None)
        ctypes.c_int64.from_address(self.address + driver.SPINS).value = _spins()

    @property
    def width(self) -> int:
        """The number of threads that can work: the workers and the caller."""
        return len(self._threads) + 1

    def grow(self, width: int) -> None:
        """Start workers until `width` threads can work. One that cannot be started is not needed:
        the others do its tasks."""
        with self._lock:
            while self.width < min(width, driver.MOST_WORKERS + 1) and not self._is_stopped:
                if not self._start():
                    return

    def _start(self) -> bool:
        cell: Words = np.array([self.address, self.width], np.int64)
        thread, attributes = ctypes.c_void_p(), ctypes.create_string_buffer(MOST_BYTES)
        process = _process()
        prepare_thread(process, attributes, STACK_BYTES)
        # a new thread inherits what is blocked: signals are for Python's threads
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            entry = ctypes.c_void_p(native().address("sv.worker"))
            argument = ctypes.c_void_p(cell.ctypes.data)
            failed = process.pthread_create(ctypes.byref(thread), attributes, entry, argument)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            process.pthread_attr_destroy(attributes)
        if failed:
            return False
        self._cells.append(cell)
        self._threads.append(thread)
        return True

    def stop(self) -> None:
        """End the workers and wait for them. Callers do their work alone from now on."""
        with self._lock:
            self._is_stopped = True
            threads, self._threads = self._threads, []
            if threads:
                stop = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(native().address("sv.stop"))
                stop(self.address)
            for thread in threads:
                _process().pthread_join(thread, None)


class Workers:
    """The pool of this process, made when it is needed."""

    def __init__(self) -> None:
        self._lock = forking.lock()
        self._pool: Pool | None = None
        self._left: list[Pool] = []

    def pool(self, width: int) -> int:
        """The address of a pool in which `width` threads can work; 0: none, for a width of 1."""
        if width < 2:
            return 0
        pool = self._pool
        if pool is None or pool.width < width:
            pool = self._made(width)
        return pool.address

    def _made(self, width: int) -> Pool:
        with self._lock:
            if self._pool is None:
                self._pool = Pool()
            pool = self._pool
        pool.grow(width)
        return pool

    def stop(self) -> None:
        """End the workers; see `Pool.stop`."""
        if self._pool is not None:
            self._pool.stop()

    def forget(self) -> None:
        """After a fork: the threads are the parent's."""
        if self._pool is not None:
            self._left.append(self._pool)  # its memory may be in use further up the stack
            self._pool = None


WORKERS = Workers()
atexit.register(WORKERS.stop)
forking.in_child(WORKERS.forget)


@functools.cache
def _process() -> ctypes.CDLL:
    """The functions of the C library."""
    process = ctypes.CDLL(None)
    for name in ("pthread_mutex_init", "pthread_cond_init"):
        getattr(process, name).argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    process.pthread_join.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    return process


@functools.cache
def _spins() -> int:
    """The number of pauses of a worker in `SPIN_SECONDS`."""
    address = native().address("sv.pause")
    pause = ctypes.CFUNCTYPE(None, ctypes.c_int64)(address)
    times, least = 2000, 1.0  # five times 2,000 pauses: a choice
    for _ in range(5):
        start = time.perf_counter()
        pause(times)
        least = min(least, time.perf_counter() - start)
    return max(int(times * SPIN_SECONDS / least), 100)
