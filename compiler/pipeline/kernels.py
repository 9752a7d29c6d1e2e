"""One kernel from body to LLVM IR: its loops, its instructions, its source, all linked.

Kernels are kept by body: a body met again, in this program or another, costs nothing.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

from compiler.core.errors import CompileError
from compiler.core.kept import Kept
from compiler.core.passes import StageName, Step
from compiler.core.reason import Decision, Reason, numbers_of
from compiler.core.trace import Facts, PassRecord, Provenance
from compiler.device import device
from compiler.device.program import CompiledSpec, Program, ProgramSpec
from compiler.graph.nodes import Sink, TensorNode
from compiler.llvm.level import Level
from compiler.llvm.writer import SourceLine
from compiler.loops.choices import PLAIN, Choices, parse, show, word
from compiler.loops.count import count
from compiler.loops.nodes import Body
from compiler.loops.printer import scalar_facts
from compiler.lowered.instructions import Instruction
from compiler.lowered.values import Linear
from compiler.machines.model import MachineModel
from compiler.pipeline import driver, dropped
from compiler.schedule.analysis.work import Work, estimate
from compiler.schedule.fission import Estimated
from compiler.schedule.items import Kernel, Operation
from compiler.settings.options import Mode, Options
from compiler.threads.workers import begin

KEPT = 1024
"""Loaded programs kept in memory, least recently used first out: a bound on memory, not
measured."""


@dataclass(frozen=True, slots=True, eq=False)
class CompiledKernel:
    """Every stage of one kernel. Times are seconds."""

    name: str
    body: Sink
    whole: Body
    """The loops before any choice: choices name their axes."""
    loops: Body
    linear: Linear
    source: tuple[SourceLine, ...]
    records: tuple[PassRecord, ...]
    provenance: Provenance[TensorNode]
    level: Level
    """LLVM's level for it: what it does to it, and why."""
    seconds: dict[str, float] = field(default_factory=dict)
    choices: Choices = PLAIN

    def decisions(self, entity: str) -> tuple[Decision, ...]:
        """Each choice, made or refused, with its reason; `entity` is that of the kernel's loops."""
        decisions = (
            Decision(entity, word(c), True, Reason(f"{show(c)}: {c.because or 'as asked'}",
                                                   *numbers_of(c.because)))
            for c in self.choices
        )  # fmt: skip
        refused = (Decision(entity, r.kind, False, r.because) for r in self.choices.refused)
        return (*decisions, *refused)


@dataclass(slots=True, kw_only=True, eq=False)
class KernelUnit(driver.Unit):
    """A kernel as it goes through the rows of loops, instructions and LLVM IR."""

    rewritten: ClassVar[StageName] = "loops"
    describe: ClassVar[Facts] = scalar_facts

    body: Sink
    loops: Body = field(init=False)
    whole: Body = field(init=False)
    """The loops before any choice."""
    linear: Linear = field(init=False)
    source: list[SourceLine] = field(init=False)
    level: Level = field(init=False)

    @property
    def machine(self) -> MachineModel:
        """The machine that its loops are chosen for."""
        return self.options.model

    @property
    def kinds(self) -> set[str] | None:
        """The passes on loops that are there; None: the usual ones."""
        passes = self.options.passes
        return None if passes is None else {row.name for row in passes.of("loops")}

    def named(self, name: str, prefix: str) -> "KernelUnit":
        """The same as far as it went, as the kernel of another name."""
        named = copy(self)
        named.name, named.prefix = name, prefix
        named.ran, named.facts = list(self.ran), set(self.facts)
        named.records = [replace(r, kernel=name, prefix=prefix) for r in self.records]
        return named

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """The instructions that it is lowered to."""
        return tuple(self.linear.instructions)


def compile_kernel(name: str, body: Sink, options: Options, number: int) -> CompiledKernel:
    """Take `body` through loops, instructions and LLVM IR.

    What the compiler chose and cannot be done is left out (`dropped.py`).
    """
    asked_for, number_of = _asked_for(name, options), f"loops:{number}:"
    fields = {"body": body, "name": name, "options": options, "prefix": number_of}
    if not isinstance(asked_for, MachineModel):
        return _compiled(*_through(("lowered", "llvm"), asked_for, None, fields))
    held = _looped(body, options)
    again = None if held is None else held.named(name, number_of)
    return _compiled(*_through(("lowered", "llvm"), None, again, fields))


def _looped(body: Sink, options: Options) -> KernelUnit | None:
    """A kernel that was estimated, as far as it went; one that was only tried is verified now."""
    held = LOOPED.held(_key(body, options))
    if held is not None or not options.verify:
        return held
    tried = LOOPED.held(_key(body, replace(options, verify=False)))
    if tried is None:
        return None
    unit = tried.named("", "")
    unit.options = options
    try:
        driver.check(unit, "loops")
    except CompileError:
        return None  # compiled again, the row that is to blame is found
    return LOOPED.keep(_key(body, options), unit)


def _through(
    stages: Sequence[StageName],
    choices: Choices | None,
    unit: KernelUnit | None,
    fields: Mapping[str, Any],
) -> tuple[KernelUnit, Choices]:
    """A kernel as it went through the rows of loops and of `stages`, and what was chosen for it.

    `unit` is one that went through those of loops already.
    """
    attempt = 1
    while True:
        kernel = unit or KernelUnit(choices=choices, **fields)
        if unit is None:
            driver.run(kernel, "loops", until="choose")
            kernel.whole = kernel.loops
        assert kernel.choices is not None
        try:
            if unit is None:
                driver.run(kernel, "loops", after="choose")
            for stage in stages:
                driver.run(kernel, stage)
        except Exception as error:  # whatever it is: with other choices it need not be
            options: Options = fields["options"]
            choices, unit = dropped.again(kernel.choices, error, options, attempt), None
            attempt += 1
        else:
            return kernel, kernel.choices


HELD = 256
"""Kernels kept that went through the passes on loops alone, besides all of a program that is being
made: a bound on memory, not measured."""
Looped: TypeAlias = tuple[Sink, "Asked", bool, bool]
LOOPED: Kept[Looped, KernelUnit] = Kept(HELD)
"""Kernels that were estimated: those that a program is then cut into go on from there."""
WORKS: Kept[tuple[Sink, "Asked"], tuple[Work, Work, bool]] = Kept(KEPT)
"""The work of kernels that were estimated, the same in vectors, and whether their loops are plain.
"""


def forget() -> None:
    """Forget all kernels: programs, and what was estimated."""
    for each in (PROGRAMS, LOOPED, WORKS):
        each.clear()


def _key(body: Sink, options: Options) -> Looped:
    """The key of the loops chosen for a body: the body, its options, and what is recorded."""
    return body, asked("", options), options.trace, options.verify


def estimated(body: Sink, options: Options, resident: int = 0, is_tried: bool = False) -> Estimated:
    """The time of a kernel of this body with the loops that are chosen for it.

    `resident` are the bytes of the whole program, which runs again and again. What is only tried
    is neither recorded nor, unless it is kept, verified: most of it is dropped.
    """
    how = replace(options, loops="auto")
    key = body, asked("", how)
    held = WORKS.held(key)
    if held is None:
        how = replace(how, trace=False, verify=False) if is_tried else how
        unit, choices = _through((), None, None, {"body": body, "options": how})
        LOOPED.keep(_key(body, how), unit)
        work = count(unit.loops)
        held = WORKS.keep(key, (work, work.in_vectors, choices.is_plain))
    *works, is_plain = held
    model = how.model
    ns, ideal = (estimate(it, model, resident) for it in works)
    return Estimated(ns, ideal, is_plain)


def _compiled(unit: KernelUnit, choices: Choices) -> CompiledKernel:
    """The kernel of a unit that went through all rows."""
    stages: tuple[StageName, ...] = "loops", "lowered", "llvm"
    return CompiledKernel(
        unit.name, unit.body, unit.whole, unit.loops, unit.linear, tuple(unit.source),
        tuple(unit.records), unit.provenance, unit.level,
        {stage: unit.took(stage) for stage in stages}, choices,
    )  # fmt: skip


def _asked_for(name: str, options: Options) -> Choices | MachineModel:
    """The choices for a kernel's loops, or the machine that they are to be chosen for."""
    match options.loops:
        case "plain":
            return PLAIN
        case "auto":
            return options.model
        case loops:
            return parse(loops.get(name, PLAIN))


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that a program follows from, besides its body and its kind of device."""

    optimize: Literal[0, 1, 2, 3] = 3
    mode: Mode = "fast"
    loops: Choices | MachineModel = PLAIN
    """The choices for its loops, or the machine that they were chosen for."""
    passes: tuple[Step, ...] | None = None
    """The passes on its loops, where they are not the usual ones."""


def asked(name: str, options: Options) -> Asked:
    """The options that the program of kernel `name` follows from."""
    passes = options.passes.of("loops") if options.passes is not None else None
    return Asked(options.optimize, options.mode, _asked_for(name, options), passes)


USUAL = Asked()
Key: TypeAlias = tuple[Sink, str, Asked]


class Programs(Kept[Key, Program]):
    """Loaded programs by body, device kind, and how they were made."""

    def get(self, kernel: CompiledKernel, where: device.Device, how: Asked = USUAL) -> Program:
        """The program of a kernel; compiled and loaded when it is met for the first time."""
        held = self.held((kernel.body, where.base_key, how))
        if held is not None:
            return held
        options = Options(optimize=how.optimize, mode=how.mode, cache=False)
        code = CodeUnit(kernel=kernel, where=where, options=options)
        driver.run(code, "machine", until="compile")
        return self.load(code, how)

    def load(self, code: "CodeUnit", how: Asked) -> Program:
        """The program of a body that is met for the first time, loaded and kept."""
        self.misses += 1
        driver.run(code, "machine", after="compile")
        return self.keep((code.kernel.body, code.where.base_key, how), code.program)


PROGRAMS = Programs(KEPT)


def load_programs(
    operations: Iterable[Operation], options: Options, compiled: Callable[[Sink], CompiledKernel]
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
        held = PROGRAMS.held((each.body, where.base_key, how))
        if held is None:
            missing[key] = where, how
        else:
            result[key] = held
    codes = (
        _specified(compiled(body), where, options) for (body, _), (where, _) in missing.items()
    )
    for key, code in zip(missing, _compile(codes, len(missing), options), strict=True):
        result[key] = PROGRAMS.load(code, missing[key][1])
    return result


@dataclass(slots=True, kw_only=True, eq=False)
class CodeUnit(driver.Unit):
    """A kernel as it becomes a program of a device."""

    kernel: CompiledKernel
    where: device.Device
    spec: ProgramSpec = field(init=False)
    code: CompiledSpec = field(init=False)
    program: Program = field(init=False)


def _specified(kernel: CompiledKernel, where: device.Device, options: Options) -> CodeUnit:
    """A kernel up to what the device's compiler takes."""
    unit = CodeUnit(kernel=kernel, where=where, options=options)
    driver.run(unit, "machine", until="specify")
    return unit


def _compile(codes: Iterable[CodeUnit], count: int, options: Options) -> list[CodeUnit]:
    """Each compiled; on several threads where there are several."""
    if count < 2:
        return [_beside(code) for code in codes]
    from concurrent.futures import ThreadPoolExecutor  # it imports much

    begin(options.cache)  # several kernels are run by the native driver
    # one pool per program: threads that wait for ever would not survive a fork
    pool = ThreadPoolExecutor(min(count, os.cpu_count() or 1), "compile")
    try:
        waiting = [pool.submit(_compiled_code, code) for code in codes]
        return [each.result() for each in waiting]
    finally:
        pool.shutdown(cancel_futures=True)


def _beside(code: CodeUnit) -> CodeUnit:
    """One kernel compiled; at the same time the native driver where it has several tasks."""
    if code.spec.tasks > 1:
        begin(code.options.cache)
    return _compiled_code(code)


def _compiled_code(code: CodeUnit) -> CodeUnit:
    """A kernel up to machine code."""
    driver.run(code, "machine", after="specify", until="compile")
    return code


def program_spec(kernel: CompiledKernel, where: device.Device) -> ProgramSpec:
    """The input of the device's compiler: the source, and what its instructions say about it."""
    return _specified(kernel, where, Options()).spec
