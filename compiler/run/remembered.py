"""Compiled programs cached on disk for the next process: kernels, their order and machine code.

An entry is stored as object code is (`llvm/cache.py`). Its key covers everything that affects
compilation: the graph without its data and source lines, constants bit by bit; the
options; the processor with its features and the number of cores; LLVM, NumPy, Python and the
sources of this compiler. The entry, in JSON, has what running takes, as `core/written.py` writes
it; memory, levels and native steps follow from it. Machine code is kept once, with other objects.

    {"modules": […], "rows": […], "items": […], "results": […],
     "programs": [[body, kind of device, description, key of the object], …]}

A plan of ResNet-18 and its first run took 0.06 s instead of 0.85 with object code alone; a softmax
that nobody compiled before takes 3 ms more of 48, to look and to write (Xeon, AVX-512, 2026-11-23).

Some programs are not cached, each with its reason in `COUNT.left`: those with functions or passes
of the user, which only this process knows; searches over loops, which cache their own results; and
programs without machine code.
"""

import functools
import hashlib
import json
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from compiler.core.errors import CompileError
from compiler.core.kept import Kept
from compiler.core.lazy import loading
from compiler.core.written import Kinds, Reader, Unwritable, Writer, load_kinds
from compiler.device.described import DESCRIBED, Described, DescribedProgram, described, loaded
from compiler.device.program import Program
from compiler.graph.kinds.effects import Custom
from compiler.graph.kinds.repeat import with_iterations
from compiler.graph.nodes import Buffer, Sink
from compiler.graph.writable import writable
from compiler.llvm import jit
from compiler.llvm.cache import OBJECTS, PROGRAM, folder_of
from compiler.machines.system import core_count
from compiler.run.execution import Programs
from compiler.schedule.items import Kernel, MemoryTransfer, ScheduleItem, Synchronization
from compiler.settings.options import Cache, Options

FORMAT = 2
"""The version of entries; increase it if their content or its use changes."""
KEPT = 1024
"""Programs kept in memory that were found on disk: a bound on memory, not measured."""
RECORDS = (ScheduleItem, Kernel, MemoryTransfer, Synchronization, *DESCRIBED)
NO_CHOICE = ("trace", "cache", "loops", "passes", "tune", "machine")
"""Options that are no part of the key as they are: each is left out, refused, or written out."""


class Count:
    """The numbers of programs found on disk, and not found, since the caches were cleared."""

    def __init__(self) -> None:
        self.hits = self.misses = 0
        self.left: Counter[str] = Counter()
        """Programs that were not remembered, by reason."""

    def clear(self) -> None:
        """Begin to count again."""
        self.hits = self.misses = 0
        self.left.clear()


COUNT = Count()


def forget() -> None:
    """Forget what was loaded, and begin to count again."""
    COUNT.clear()
    LOADED.clear()


LOADED: Kept[tuple[bytes, Described], DescribedProgram] = Kept(KEPT)


@dataclass(frozen=True, slots=True)
class Code:
    """A program that was kept: the key of its object code, and that code."""

    key: bytes
    binary: bytes
    what: Described

    def load(self, again: Callable[[], Program]) -> Program:
        """The program, in memory; one that is there already stays the same."""
        held = LOADED.held((self.key, self.what))
        if held is not None:
            return held
        return LOADED.keep((self.key, self.what), loaded(self.what, self.binary, again))


@dataclass(frozen=True, slots=True)
class Remembered:
    """A program cut into kernels, with the code of each by its body and kind of device."""

    items: tuple[ScheduleItem, ...]
    results: tuple[Buffer, ...]
    codes: Mapping[tuple[Sink, str], Code]

    def load(self, again: Callable[[], Programs]) -> Programs:
        """Its programs; `again` compiles all of them, should one be needed that was not kept."""
        programs = functools.cache(again)

        def compiled(key: tuple[Sink, str]) -> Program:
            return programs()[key]

        return {k: code.load(functools.partial(compiled, k)) for k, code in self.codes.items()}


def key_of(root: Sink, options: Options) -> bytes | None:
    """The key of a program without its data; None where it is not to be remembered."""
    if options.cache is False:
        return None
    try:
        return _key(root, options)
    except Unwritable as error:
        COUNT.left[str(error)] += 1
        return None


def _key(root: Sink, options: Options) -> bytes:
    if options.passes is not None:
        raise Unwritable("passes of the user's are known to one process alone")
    if options.tune:
        raise Unwritable("a search over loops remembers what it found by itself")
    if any(isinstance(node, Custom) for node in with_iterations(root)):
        raise Unwritable("functions of the user's are known to one process alone")
    writer = Writer(kinds())
    writer.node(root)
    parts = *_versions(), *_machine(), *_asked(options), json.dumps(writer.rows)
    return hashlib.sha256("\n".join(parts).encode()).digest()


def _asked(options: Options) -> Iterator[str]:
    """The options as text."""
    plain = (f.name for f in fields(options) if f.name not in NO_CHOICE)
    yield from (f"{name}={getattr(options, name)!r}" for name in plain)
    model = options.model
    yield from (f"{f.name}={getattr(model, f.name)!r}" for f in fields(model) if f.compare)
    if isinstance(options.loops, str):
        yield options.loops
        return
    with loading():  # rarely given, and they import loops
        from compiler.loops.choices import parse, text

    try:
        yield from sorted(f"{name}: {text(parse(it))}" for name, it in options.loops.items())
    except CompileError as error:
        raise Unwritable("its choices about loops are to be refused") from error


def _machine() -> tuple[str, ...]:
    """The processor and LLVM, and the cores that this process may use."""
    return jit.maker(), str(core_count())


@functools.cache
def _versions() -> tuple[str, ...]:
    """The versions of the format, of Python, of NumPy and of the compiler's sources."""
    return str(FORMAT), sys.version, np.__version__, sources(Path(__file__).parent.parent)


def sources(package: Path) -> str:
    """The files of a package by name, size and time of change; its version where it has none."""
    try:
        return repr(sorted(_files(package)))
    except OSError:  # it is in an archive, which only changes as a whole
        import importlib.metadata  # it imports much

        return importlib.metadata.version("svodviz")


def _files(package: Path) -> Iterator[tuple[str, int, int]]:
    """Each file of Python's, with its bytes and nanoseconds."""
    folders, start = [str(package)], len(str(package))
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith((".py", ".pyc")):
                    status = entry.stat()
                    yield entry.path[start:], status.st_size, status.st_mtime_ns
                elif entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)


def kinds() -> Kinds:
    """The types allowed in an entry: records, and nodes of graphs except functions of the user."""
    return {f"record {kind.__name__}": kind for kind in RECORDS} | writable()


def remembered(key: bytes, cache: Cache) -> Remembered | None:
    """The program that is kept for a key; None where that, or the code of a kernel, is missing."""
    folder = folder_of(cache, PROGRAM)
    content = folder.get(key) if folder else None
    program = None if content is None else _read(content, cache)
    COUNT.hits += program is not None
    COUNT.misses += program is None
    return program


def _read(content: bytes, cache: Cache) -> Remembered | None:
    """The program of an entry; one that is none is a warning."""
    try:
        entry = json.loads(content)
        load_kinds(entry["modules"])
        reader = Reader(kinds(), entry["rows"])
        items, results, rows = map(reader.value, (entry["items"], entry["results"],
                                                  entry["programs"]))  # fmt: skip
        entries = {(body, kind): (bytes.fromhex(key), what) for body, kind, what, key in rows}
    except Exception as error:  # written by whatever it was: it need not even be JSON
        what = f"{type(error).__name__}: {error}"
        warnings.warn(f"{PROGRAM.name} cannot be read, {what}: {PROGRAM.again}", stacklevel=2)
        return None
    folder = folder_of(cache)
    codes: dict[tuple[Sink, str], Code] = {}
    for place, (key, described_as) in entries.items():
        binary = OBJECTS.get(key, folder)
        if binary is None:
            return None
        codes[place] = Code(key, binary, described_as)
    return Remembered(items, results, codes)


def remember(
    key: bytes,
    schedule: tuple[Sequence[ScheduleItem], Sequence[Buffer]],
    programs: Programs,
    inputs: Collection[Buffer],
    cache: Cache,
) -> None:
    """Keep a program: its schedule (items and results), and of its data only `inputs`."""
    folder = folder_of(cache, PROGRAM)
    if folder is None:
        return
    try:
        content = _written(schedule, programs, inputs, cache)
    except Unwritable as error:
        COUNT.left[str(error)] += 1
    else:
        folder.put(key, content)


def _written(
    schedule: tuple[Sequence[ScheduleItem], Sequence[Buffer]],
    programs: Programs,
    inputs: Collection[Buffer],
    cache: Cache,
) -> bytes:
    """The entry of a program; its machine code is stored separately."""
    items, results = schedule
    held = {b for item in items for b in item.operation.arguments} | set(results)
    if any(buffer.unique >= 0 and buffer not in inputs for buffer in held):
        raise Unwritable("it has data that were made while it was compiled")
    rows: list[tuple[Any, ...]] = []
    folder = folder_of(cache)
    for (body, kind), program in programs.items():
        text_and_code = described(program)
        if text_and_code is None:
            raise Unwritable("not all of it is machine code that a driver can run")
        what, key, code = text_and_code
        if folder is not None and not folder.has(key):
            folder.put(key, code)
        rows.append((body, kind, what, key.hex()))
    writer = Writer(kinds())
    values = map(writer.value, (tuple(items), tuple(results), tuple(rows)))
    entry = dict(zip(("items", "results", "programs"), values, strict=True))
    return json.dumps({"modules": writer.modules, "rows": writer.rows, **entry}).encode()
