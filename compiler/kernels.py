"""One kernel from body to LLVM IR: its loops, its instructions, its source, all linked.

Kernels are kept by body: a body met again, in this program or another, costs nothing.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeAlias

from compiler.device import device, program
from compiler.device.program import CompiledSpec, Program, ProgramSpec
from compiler.graph.nodes import Sink, TensorNode
from compiler.llvm.emit import emit
from compiler.llvm.level import Level, level_of
from compiler.llvm.source import Source
from compiler.llvm.writer import SourceLine
from compiler.loops.index import index
from compiler.loops.nodes import Body
from compiler.lowered import verify as verify_lowered
from compiler.lowered.linearize import linearize
from compiler.lowered.values import Linear
from compiler.options import Mode, Options
from compiler.pipeline import run_passes
from compiler.schedule.items import Kernel, Operation
from compiler.trace import PassRecord, Provenance

KEPT = 1024
"""Loaded programs kept in memory, least recently used first out."""


@dataclass(frozen=True, slots=True, eq=False)
class CompiledKernel:
    """Every stage of one kernel. Times are seconds."""

    name: str
    body: Sink
    loops: Body
    linear: Linear
    source: tuple[SourceLine, ...]
    records: tuple[PassRecord, ...]
    provenance: Provenance[TensorNode]
    level: Level
    """What LLVM does to it, and why."""
    seconds: dict[str, float] = field(default_factory=dict)


def compile_kernel(name: str, body: Sink, options: Options, number: int) -> CompiledKernel:
    """Take `body` through loops, instructions and LLVM IR."""
    clock = time.perf_counter
    start = clock()
    provenance: Provenance[TensorNode] = Provenance()
    indexed = index(body, provenance)
    loops, records = run_passes(
        "loops", indexed, provenance, options, f"loops:{number}:", kernel=name
    )
    looped = clock()
    linear = linearize(loops)
    if options.verify:
        verify_lowered.verify(linear.instructions)
    lowered = clock()
    source = tuple(emit(name, tuple(linear.instructions)))
    seconds = {"loops": looped - start, "lowered": lowered - looped, "llvm": clock() - lowered}
    level = level_of(linear.instructions, options.optimize, options.mode)
    return CompiledKernel(
        name, body, loops, linear, source, tuple(records), provenance, level, seconds
    )


Key: TypeAlias = tuple[Sink, str, int, Mode]


class Programs:
    """Loaded programs by body, device kind, optimisation level and mode."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._table: OrderedDict[Key, Program] = OrderedDict()
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._table)

    def clear(self) -> None:
        """Forget every program, and set the counts to 0."""
        self._table.clear()
        self.hits = self.misses = 0

    def get(
        self, kernel: CompiledKernel, where: device.Device, level: int, mode: Mode = "fast"
    ) -> Program:
        """The program of a kernel; compiled and loaded when it is met for the first time."""
        held = self.holds(kernel.body, where, level, mode)
        if held is not None:
            return held
        compiled = where.compile(program_spec(kernel, where), level, mode)
        return self.load(kernel.body, where, compiled, mode)

    def load(
        self, body: Sink, where: device.Device, compiled: CompiledSpec, mode: Mode
    ) -> Program:
        """The program of a body that is met for the first time, loaded and kept."""
        self.misses += 1
        loaded = where.load(compiled)
        self._table[body, where.base_key, compiled.level, mode] = loaded
        if len(self._table) > self._kept:
            self._table.popitem(last=False)
        return loaded

    def holds(
        self, body: Sink, where: device.Device, level: int, mode: Mode = "fast"
    ) -> Program | None:
        """The program of `body` if it is loaded; it counts as used."""
        key = body, where.base_key, level, mode
        held = self._table.get(key)
        if held is not None:
            self.hits += 1
            self._table.move_to_end(key)
        return held


PROGRAMS = Programs()


def load_programs(
    operations: Iterable[Operation],
    options: Options,
    compiled: Callable[[Sink], CompiledKernel],
) -> dict[tuple[Sink, str], Program]:
    """The program of each kernel among `operations`, by body and kind of device.

    One that is loaded already needs no stage at all; `compiled` makes those of the others. Where
    there are several of these, LLVM works on some while `compiled` makes the next.
    """
    result: dict[tuple[Sink, str], Program] = {}
    missing: dict[tuple[Sink, str], device.Device] = {}
    for each in operations:
        if not isinstance(each, Kernel):
            continue
        key = each.body, device.get(each.device).base_key
        if key in result or key in missing:
            continue
        where = device.get(options.device or key[1])
        held = PROGRAMS.holds(each.body, where, options.optimize, options.mode)
        if held is None:
            missing[key] = where
        else:
            result[key] = held
    sources = ((where, program_spec(compiled(body), where)) for (body, _), where in missing.items())
    for (body, kind), made in zip(missing, _compile(sources, len(missing), options), strict=True):
        result[body, kind] = PROGRAMS.load(body, missing[body, kind], made, options.mode)
    return result


def _compile(
    sources: Iterable[tuple[device.Device, ProgramSpec]], count: int, options: Options
) -> list[CompiledSpec]:
    """Each source compiled; on several threads where there are several."""
    settings = options.optimize, options.mode, options.cache
    if count < 2:
        return [where.compile(spec, *settings) for where, spec in sources]
    # one pool per program: threads that wait for ever would not survive a fork
    pool = ThreadPoolExecutor(min(count, os.cpu_count() or 1), "compile")
    try:
        waiting = [pool.submit(where.compile, spec, *settings) for where, spec in sources]
        return [each.result() for each in waiting]
    finally:
        pool.shutdown(cancel_futures=True)


def program_spec(kernel: CompiledKernel, where: device.Device) -> ProgramSpec:
    """What the device's compiler takes: the source, and what its instructions say about it."""
    source = Source(title=kernel.name, name=kernel.name, rows=kernel.source, kernel=0)
    instructions = kernel.linear.instructions
    return program.program_spec(kernel.name, source, where.name, instructions)
