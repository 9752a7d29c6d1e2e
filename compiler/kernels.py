"""One kernel from body to LLVM IR: its loops, its instructions, its source, all linked.

Kernels are kept by body: a body met again, in this program or another, costs nothing.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from compiler.device import device, program
from compiler.device.program import Program, ProgramSpec
from compiler.graph.nodes import Sink, TensorNode
from compiler.llvm.emit import emit
from compiler.llvm.source import Source
from compiler.llvm.writer import SourceLine
from compiler.loops.choices import PLAIN, Choices, parse, show, word
from compiler.loops.choose import choose
from compiler.loops.index import index
from compiler.loops.nodes import Body
from compiler.lowered import verify as verify_lowered
from compiler.lowered.linearize import linearize
from compiler.lowered.values import Linear
from compiler.options import Options
from compiler.pipeline import run_passes
from compiler.schedule.items import Kernel, Operation
from compiler.trace import Decision, PassRecord, Provenance

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
    seconds: dict[str, float] = field(default_factory=dict)
    choices: Choices = PLAIN

    def decisions(self, entity: str) -> tuple[Decision, ...]:
        """Each choice with its reason; `entity` is that of the kernel's loops."""
        return tuple(
            Decision(entity, word(c), True, f"{show(c)}: {c.because or 'as asked'}")
            for c in self.choices
        )


def compile_kernel(name: str, body: Sink, options: Options, number: int) -> CompiledKernel:
    """Take `body` through loops, instructions and LLVM IR."""
    clock = time.perf_counter
    start = clock()
    provenance: Provenance[TensorNode] = Provenance()
    indexed, prefix = index(body, provenance), f"loops:{number}:"
    loops, records = run_passes("loops", indexed, provenance, options, prefix, name)
    choices = _choices(name, loops, options)
    if choices:
        loops, chosen = run_passes("loops", loops, provenance, options, prefix, name, choices)
        records += chosen
    looped = clock()
    linear = linearize(loops)
    if options.verify:
        verify_lowered.verify(linear.instructions)
    lowered = clock()
    source = tuple(emit(name, tuple(linear.instructions)))
    seconds = {"loops": looped - start, "lowered": lowered - looped, "llvm": clock() - lowered}
    return CompiledKernel(
        name, body, loops, linear, source, tuple(records), provenance, seconds, choices
    )


def _choices(name: str, loops: Body, options: Options) -> Choices:
    """How the loops of a kernel are to be transformed."""
    match options.loops:
        case "plain":
            return PLAIN
        case "auto":
            return choose(loops, options.model)
        case given:
            return parse(given.get(name, PLAIN))


def _asked(name: str, options: Options) -> Hashable:
    """What the choices for a kernel follow from, besides its body."""
    match options.loops:
        case "plain":
            return PLAIN
        case "auto":
            return options.model
        case given:
            return parse(given.get(name, PLAIN))


class Programs:
    """Loaded programs by body, device kind, optimisation level and choices of loops."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._table: OrderedDict[tuple[Sink, str, int, Hashable], Program] = OrderedDict()
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._table)

    def clear(self) -> None:
        """Forget every program, and set the counts to 0."""
        self._table.clear()
        self.hits = self.misses = 0

    def get(
        self, kernel: CompiledKernel, where: device.Device, level: int, asked: Hashable = PLAIN
    ) -> Program:
        """The program of a kernel; compiled and loaded when it is met for the first time.

        `asked` is what its choices follow from.
        """
        held = self.holds(kernel.body, where, level, asked)
        if held is not None:
            return held
        self.misses += 1
        loaded = where.load(where.compile(program_spec(kernel, where), level))
        self._table[kernel.body, where.base_key, level, asked] = loaded
        if len(self._table) > self._kept:
            self._table.popitem(last=False)
        return loaded

    def holds(
        self, body: Sink, where: device.Device, level: int, asked: Hashable = PLAIN
    ) -> Program | None:
        """The program of `body` if it is loaded; it counts as used."""
        key = body, where.base_key, level, asked
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

    One that is loaded already needs no stage at all; `compiled` makes those of the others.
    """
    result: dict[tuple[Sink, str], Program] = {}
    for each in operations:
        if not isinstance(each, Kernel):
            continue
        key = each.body, device.get(each.device).base_key
        if key not in result:
            where = device.get(options.device or key[1])
            rest = where, options.optimize, _asked(each.name, options)
            held = PROGRAMS.holds(each.body, *rest)
            result[key] = held or PROGRAMS.get(compiled(each.body), *rest)
    return result


def program_spec(kernel: CompiledKernel, where: device.Device) -> ProgramSpec:
    """What the device's compiler takes: the source, and what its instructions say about it."""
    source = Source(title=kernel.name, name=kernel.name, rows=kernel.source, kernel=0)
    instructions = kernel.linear.instructions
    return program.program_spec(kernel.name, source, where.name, instructions)
