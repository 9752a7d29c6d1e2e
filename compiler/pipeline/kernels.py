"""One kernel from body to LLVM IR: its loops, its instructions, its source, all linked.

Kernels are kept by body: a body met again, in this program or another, costs nothing.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from compiler.core.machine import MachineModel
from compiler.core.options import Mode, Options
from compiler.core.passes import Step
from compiler.core.reason import Decision, Reason, numbers_of
from compiler.core.trace import PassRecord, Provenance
from compiler.device import device, program
from compiler.device.program import CompiledSpec, Program, ProgramSpec
from compiler.graph.nodes import Sink, TensorNode
from compiler.llvm.emit import emit
from compiler.llvm.level import Level, level_of
from compiler.llvm.source import Source
from compiler.llvm.writer import SourceLine
from compiler.loops.choices import PLAIN, Choices, parse, show, word
from compiler.loops.choosing.choose import choose
from compiler.loops.index import index
from compiler.loops.nodes import Body
from compiler.lowered import verify as verify_lowered
from compiler.lowered.linearize import linearize
from compiler.lowered.values import Linear
from compiler.pipeline import dropped
from compiler.pipeline.rows import run_passes
from compiler.schedule.items import Kernel, Operation
from compiler.threads.workers import begin, core_count

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
    choices: Choices = PLAIN

    def decisions(self, entity: str) -> tuple[Decision, ...]:
        """Each choice, made or refused, with its reason; `entity` is that of the kernel's loops."""
        made = (
            Decision(entity, word(c), True, Reason(f"{show(c)}: {c.because or 'as asked'}",
                                                   *numbers_of(c.because)))
            for c in self.choices
        )  # fmt: skip
        refused = (Decision(entity, r.kind, False, r.because) for r in self.choices.refused)
        return (*made, *refused)


def compile_kernel(name: str, body: Sink, options: Options, number: int) -> CompiledKernel:
    """Take `body` through loops, instructions and LLVM IR.

    What the compiler chose and cannot be done is left out (`dropped.py`).
    """
    begun = _begun(name, body, options, number)
    choices, attempt = _choices(name, begun.loops, options), 1
    while True:
        try:
            return _finished(begun, choices, options)
        except Exception as error:  # whatever it is: with other choices it need not be
            choices = dropped.again(choices, error, options, attempt)
        begun, attempt = _begun(name, body, options, number), attempt + 1


@dataclass(frozen=True, slots=True)
class _Begun:
    """A kernel up to where its loops are chosen."""

    name: str
    body: Sink
    number: int
    loops: Body
    records: tuple[PassRecord, ...]
    provenance: Provenance[TensorNode]
    seconds: float

    @property
    def prefix(self) -> str:
        """How the entities of its loops begin."""
        return f"loops:{self.number}:"


def _begun(name: str, body: Sink, options: Options, number: int) -> _Begun:
    """The loops of a kernel without choices."""
    start = time.perf_counter()
    lines: Provenance[TensorNode] = Provenance()
    indexed, prefix = index(body, lines), f"loops:{number}:"
    loops, records = run_passes("loops", indexed, lines, options, prefix, name)
    spent = time.perf_counter() - start
    return _Begun(name, body, number, loops, tuple(records), lines, spent)


def _finished(begun: _Begun, choices: Choices, options: Options) -> CompiledKernel:
    """The rest of a kernel's stages, with these choices."""
    clock = time.perf_counter
    start = clock()
    name, loops, records, lines = begun.name, begun.loops, begun.records, begun.provenance
    if choices or options.passes is not None:
        loops, more = run_passes("loops", loops, lines, options, begun.prefix, name, choices)
        records += tuple(more)
    looped = clock()
    linear = linearize(loops)
    if options.verify:
        verify_lowered.verify(linear.instructions)
    lowered = clock()
    source = tuple(emit(name, tuple(linear.instructions)))
    spent = begun.seconds + looped - start
    seconds = {"loops": spent, "lowered": lowered - looped, "llvm": clock() - lowered}
    level = level_of(linear.instructions, options.optimize, options.mode)
    return CompiledKernel(
        name, begun.body, loops, linear, source, records, lines, level, seconds, choices
    )


def _choices(name: str, loops: Body, options: Options) -> Choices:
    """How the loops of a kernel are to be transformed; by default only by passes that are there."""
    asked_for = _asked_for(name, options)
    if not isinstance(asked_for, MachineModel):
        return asked_for
    try:
        made = choose(loops, asked_for)
    except Exception as error:  # a mistake of a heuristic's
        return dropped.unchosen(error)
    if options.passes is None:
        return made
    there = {row.name for row in options.passes.of("loops")}
    return replace(made, rows=tuple(choice for choice in made if word(choice) in there))


def machine_of(options: Options) -> MachineModel:
    """The machine that loops are chosen for, and times estimated on: with as many cores as one
    kernel may use."""
    return replace(options.model, cores=options.threads or core_count())


def _asked_for(name: str, options: Options) -> Choices | MachineModel:
    """The choices for a kernel's loops, or the machine that they are to be chosen for."""
    match options.loops:
        case "plain":
            return PLAIN
        case "auto":
            return machine_of(options)
        case given:
            return parse(given.get(name, PLAIN))


@dataclass(frozen=True, slots=True)
class Asked:
    """What a program follows from, besides its body and its kind of device."""

    optimize: int = 3
    mode: Mode = "fast"
    loops: Choices | MachineModel = PLAIN
    """The choices for its loops, or the machine that they were chosen for."""
    passes: tuple[Step, ...] | None = None
    """The passes on its loops, where they are not the usual ones."""


def asked(name: str, options: Options) -> Asked:
    """What the program of kernel `name` follows from."""
    passes = options.passes.of("loops") if options.passes is not None else None
    return Asked(options.optimize, options.mode, _asked_for(name, options), passes)


USUAL = Asked()
Key: TypeAlias = tuple[Sink, str, Asked]


class Programs:
    """Loaded programs by body, device kind, and how they were made."""

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
        self, kernel: CompiledKernel, where: device.Device, how: Asked = USUAL
    ) -> Program:
        """The program of a kernel; compiled and loaded when it is met for the first time."""
        held = self.holds(kernel.body, where, how)
        if held is not None:
            return held
        compiled = where.compile(program_spec(kernel, where), how.optimize, how.mode)
        return self.load(kernel.body, where, compiled, how)

    def load(
        self, body: Sink, where: device.Device, compiled: CompiledSpec, how: Asked
    ) -> Program:
        """The program of a body that is met for the first time, loaded and kept."""
        self.misses += 1
        loaded = where.load(compiled)
        self._table[body, where.base_key, how] = loaded
        if len(self._table) > self._kept:
            self._table.popitem(last=False)
        return loaded

    def holds(self, body: Sink, where: device.Device, how: Asked = USUAL) -> Program | None:
        """The program of `body` if it is loaded; it counts as used."""
        key = body, where.base_key, how
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
    missing: dict[tuple[Sink, str], tuple[device.Device, Asked]] = {}
    for each in operations:
        if not isinstance(each, Kernel):
            continue
        key = each.body, device.get(each.device).base_key
        if key in result or key in missing:
            continue
        where, how = device.get(options.device or key[1]), asked(each.name, options)
        held = PROGRAMS.holds(each.body, where, how)
        if held is None:
            missing[key] = where, how
        else:
            result[key] = held
    sources = (
        (where, program_spec(compiled(body), where)) for (body, _), (where, _) in missing.items()
    )
    for key, made in zip(missing, _compile(sources, len(missing), options), strict=True):
        result[key] = PROGRAMS.load(key[0], missing[key][0], made, missing[key][1])
    return result


def _compile(
    sources: Iterable[tuple[device.Device, ProgramSpec]], count: int, options: Options
) -> list[CompiledSpec]:
    """Each source compiled; on several threads where there are several."""
    settings = options.optimize, options.mode, options.cache
    if count < 2:
        return [_beside(spec, where.compile, settings) for where, spec in sources]
    from concurrent.futures import ThreadPoolExecutor  # it imports much

    begin(options.cache)  # several kernels are run by the native driver
    # one pool per program: threads that wait for ever would not survive a fork
    pool = ThreadPoolExecutor(min(count, os.cpu_count() or 1), "compile")
    try:
        waiting = [pool.submit(where.compile, spec, *settings) for where, spec in sources]
        return [each.result() for each in waiting]
    finally:
        pool.shutdown(cancel_futures=True)


def _beside(
    spec: ProgramSpec, compiled: Callable[..., CompiledSpec], settings: tuple[Any, ...]
) -> CompiledSpec:
    """One kernel compiled; at the same time the native driver where it has several tasks."""
    if spec.tasks > 1:
        begin(settings[-1])
    return compiled(spec, *settings)


def program_spec(kernel: CompiledKernel, where: device.Device) -> ProgramSpec:
    """What the device's compiler takes: the source, and what its instructions say about it."""
    source = Source(title=kernel.name, name=kernel.name, rows=kernel.source, kernel=0)
    instructions = kernel.linear.instructions
    return program.program_spec(kernel.name, source, where.name, instructions)
