"""Programs: a kernel's source with its metadata, compiled, and ready to run.

Renderer:        instructions -> ProgramSpec      writes the source
Compiler:        ProgramSpec  -> CompiledSpec     compiles it to machine code, or keeps the text
RuntimeFactory:  CompiledSpec -> Program          loads it
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol, TypeAlias

import numpy as np

from compiler.core.lazy import loading
from compiler.device.launch_sizes import LaunchDims, ProgramError, Size, Values, resolve_launch_dims
from compiler.device.metadata import Given, Metadata, derive, derive_instructions, merge
from compiler.llvm.level import Level
from compiler.llvm.thunk import CORE, thunk
from compiler.loops.nodes import Body
from compiler.lowered.by_hand import Special
from compiler.lowered.instructions import DefineGlobal, Instruction, Store
from compiler.lowered.machine import DefineVar, MachineInstruction
from compiler.settings.options import Cache, Mode


class SourceText(Protocol):
    """Generated source, whatever the language."""

    @property
    def text(self) -> str:
        """All of it, as its compiler reads it."""
        ...


@dataclass(frozen=True, slots=True)
class Interface:
    """The arguments of machine code besides buffers: `parameters` are the variables and launch
    indices that follow the buffers, `scratch` the bytes of scratch memory for each task, and
    `aligned` the slots whose buffers must be aligned to 64 bytes."""

    parameters: tuple[str, ...]
    scratch: int
    aligned: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ProgramSpec:
    """Generated source of a kernel, with the metadata to compile and run it.

    The source was generated from `instructions`. A program that was loaded from the cache has
    neither, and its `interface` is given.
    """

    name: str
    source: SourceText
    device: str
    metadata: Metadata
    instructions: tuple[Instruction, ...] = ()
    given: Interface | None = None
    interface: Interface = field(init=False)
    """The arguments of its machine code besides buffers, computed once."""

    def __post_init__(self) -> None:
        of_text = Interface(self.metadata.var_names, 0, ())
        interface = _interface(self.instructions) if self.instructions else of_text
        object.__setattr__(self, "interface", self.given or interface)

    @property
    def text(self) -> str:
        """The source and, behind it, the function that a driver calls (`llvm/thunk.py`)."""
        rows = thunk(self.name, len(self.globals), self.parameters, self.scratch > 0)
        return "\n".join([self.source.text, *rows])

    @property
    def tasks(self) -> int:
        """The number of tasks, numbered by `core_id`, which may run in parallel."""
        return next((v.high + 1 for v in self.metadata.vars if v.name == CORE), 1)

    @property
    def globals(self) -> tuple[int, ...]:
        """The argument slots, ascending."""
        return self.metadata.globals

    @property
    def outs(self) -> tuple[int, ...]:
        """The slots stored to, ascending; one that is also loaded from is in `ins` as well."""
        return self.metadata.outs

    @property
    def ins(self) -> tuple[int, ...]:
        """The slots loaded from, ascending."""
        return self.metadata.ins

    @property
    def parameters(self) -> tuple[str, ...]:
        """The variables and launch indices that follow the buffers, as the source takes them."""
        return self.interface.parameters

    @property
    def scratch(self) -> int:
        """The bytes of scratch memory that each task gets as its last argument; 0: none."""
        return self.interface.scratch

    @property
    def aligned(self) -> tuple[int, ...]:
        """The slots, ascending, whose buffers have to begin at a multiple of 64 bytes."""
        return self.interface.aligned

    def launch_dims(self, values: Values | None = None) -> LaunchDims:
        """The launch size of the program with these values of its variables."""
        return resolve_launch_dims(self.metadata.global_size, self.metadata.local_size, values)


def _interface(instructions: Sequence[Instruction]) -> Interface:
    """The arguments, besides buffers, of code of these instructions."""
    with loading():  # not at import: it imports the writer of LLVM IR
        from compiler.llvm.scratch import layout

    parameters = tuple(i.name for i in instructions if isinstance(i, DefineVar | Special))
    streamed = {i.buffer for i in instructions if isinstance(i, Store) and i.is_streamed}
    arguments = (i for i in instructions if isinstance(i, DefineGlobal))
    aligned = tuple(a.slot for a in arguments if a.out in streamed)
    return Interface(parameters, layout(instructions).size, aligned)


def program_spec(
    name: str,
    source: SourceText,
    device: str,
    instructions: Sequence[Instruction],
    given: Given | None = None,
) -> ProgramSpec:
    """The program of lowered instructions: metadata derived, unless `given` states it.

    Raises `ProgramError` where the two conflict.
    """
    metadata = merge(derive_instructions(instructions), given or Given())
    return ProgramSpec(name, source, device, metadata, tuple(instructions))


@dataclass(frozen=True, slots=True)
class Stages:
    """A program in the last stages of compilation; stages not reached yet are None."""

    body: Any
    device: Any
    linear: Any = None
    source: Any = None
    binary: Any = None


def from_stages(stages: Stages, name: str = "kernel", given: Given | None = None) -> ProgramSpec:
    """The program of these stages, whose types are checked.

    Raises `ProgramError` naming a stage that is missing or of another type, and if body,
    instructions and `given` disagree.
    """
    _expect("body", stages.body, Body)
    _expect("device", stages.device, str)
    _expect("linear", stages.linear, tuple)
    for each in stages.linear:
        _expect("linear", each, Instruction.__args__ + MachineInstruction.__args__)
    if not isinstance(getattr(stages.source, "text", None), str):
        _wrong("source", stages.source, "generated text")
    if stages.binary is not None:
        _expect("binary", stages.binary, bytes)
    metadata = merge(derive([stages.body]), given or Given())
    linear = derive_instructions(stages.linear)
    if linear.globals and (linear.outs, linear.ins) != (metadata.outs, metadata.ins):
        got = f"outs {linear.outs}, ins {linear.ins}"
        expected = f"outs {metadata.outs}, ins {metadata.ins}"
        raise ProgramError("program", "body and instructions disagree", got=got, expected=expected)
    return ProgramSpec(name, stages.source, stages.device, metadata, stages.linear)


def _expect(stage: str, value: object, kinds: Any) -> None:
    if not isinstance(value, kinds):
        names = kinds.__name__ if isinstance(kinds, type) else "instructions"
        _wrong(stage, value, names)


def _wrong(stage: str, value: object, expected: str) -> NoReturn:
    what = "is missing" if value is None else "is something else"
    got = type(value).__name__
    raise ProgramError("program", f"stage {stage} {what}", got=got, expected=expected)


@dataclass(frozen=True, slots=True)
class CompiledSpec:
    """A program that passed the device's compiler; `level` is the optimisation level.

    `binary` is machine code if the compiler generates it, else the source is loaded; `done` is
    LLVM's work at that level, with the reason.
    """

    spec: ProgramSpec
    level: int
    binary: bytes = b""
    done: Level | None = None

    @property
    def name(self) -> str:
        """The entry point."""
        return self.spec.name

    @property
    def var_names(self) -> tuple[str, ...]:
        """The order in which the program takes the values of its variables."""
        return self.spec.metadata.var_names

    @property
    def global_size(self) -> Size:
        """The number of groups, or of members if there is no local size."""
        return self.spec.metadata.global_size

    @property
    def local_size(self) -> Size | None:
        """The number of members of a group."""
        return self.spec.metadata.local_size

    @property
    def buffer_count(self) -> int:
        """The number of buffers that a run takes."""
        return len(self.spec.globals)


@dataclass(frozen=True, slots=True)
class Task:
    """Machine code that runs one task of a program: its thunk (`llvm/thunk.py`).

    `parameters` follow the buffers among the arguments; `scratch` is in bytes.
    """

    address: int
    parameters: tuple[str, ...]
    scratch: int


class Program(Protocol):
    """A kernel that can run; it keeps no state between runs, so threads may share it."""

    @property
    def name(self) -> str:
        """The kernel's name."""
        ...

    @property
    def slots(self) -> tuple[int, ...]:
        """The argument slots the program takes, without those that it never accesses."""
        ...

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in the order in which a run takes their values."""
        ...

    @property
    def tasks(self) -> int:
        """The number of tasks, which may run in parallel; 1: it uses one thread."""
        ...

    @property
    def task(self) -> "Task | None":
        """Its machine code as a task; None if only `execute` can run it."""
        ...

    @property
    def aligned(self) -> tuple[int, ...]:
        """The slots whose buffers have to begin at a multiple of 64 bytes in a run by `task`."""
        ...

    def unstreamed(self) -> "Program":
        """An equivalent program for buffers of any alignment."""
        ...

    def execute(
        self, buffers: Sequence[int], values: Sequence[int] = (), dims: LaunchDims | None = None
    ) -> None:
        """Run on the buffers of `slots`, given by address, with the values of the variables."""
        ...

    def bound(self, buffers: Sequence[int], values: Sequence[int] = ()) -> Callable[[], None]:
        """A function that runs it on these buffers and values at each call."""
        ...


class OfSpec:
    """Base of programs: properties that its spec states."""

    def __init__(self, spec: ProgramSpec) -> None:
        self._spec = spec

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self._spec.name

    @property
    def slots(self) -> tuple[int, ...]:
        """The argument slots the program takes."""
        return self._spec.globals

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in the order in which a run takes their values."""
        return self._spec.metadata.var_names


class Renderer(Protocol):
    """Writes source from lowered instructions."""

    @property
    def device(self) -> str:
        """The name of the device the source is for."""
        ...

    def render(self, instructions: Sequence[Instruction], name: str = "kernel") -> ProgramSpec:
        """The program of these instructions; `name` is its entry point."""
        ...


class Compiler(Protocol):
    """Makes a program loadable."""

    def __call__(
        self, spec: ProgramSpec, level: int, /, mode: Mode = "fast", cache: Cache = False
    ) -> CompiledSpec:
        """The program compiled at optimisation `level` (0 to 3); see `Options`. Thread-safe.
        """
        ...


RuntimeFactory: TypeAlias = Callable[[CompiledSpec], Program]


def runs(spec: ProgramSpec, values: Sequence[int]) -> Iterator[dict[str, int]]:
    """The value of each parameter in each run of a program on a CPU, one run after the other.

    `values` are in the order of `var_names`; the value of `core_id` is replaced.
    Raises `ProgramError` for too few or too many of them, for one outside its bounds, and for a
    program of several runs that could not tell them apart.
    """
    value_of = known_values(spec.metadata, values)
    dims = spec.launch_dims(value_of)
    specials = [i for i in spec.instructions if isinstance(i, Special)]
    groups, members = dims.global_size, dims.local_size or (1, 1, 1)
    has_core = CORE in value_of
    _check_indices("group", groups, {s.axis for s in specials if s.kind != "local"}, has_core)
    _check_indices("member", members, {s.axis for s in specials if s.kind == "local"}, False)
    for group in np.ndindex(*groups):
        for member in np.ndindex(*members):
            row = value_of | ({CORE: group[0]} if has_core else {})
            for each in specials:
                row[each.name] = (member if each.kind == "local" else group)[each.axis]
            yield row


def known_values(metadata: Metadata, values: Sequence[int]) -> dict[str, int]:
    """The values by name, each inside its bounds; raises `ProgramError` as `runs` does."""
    names = metadata.var_names
    if not names and not values:
        return {}
    if len(values) != len(names):
        got, expected = str(len(values)), ", ".join(names) or "none"
        raise ProgramError("program", "one value per variable", got=got, expected=expected)
    value_of = dict(zip(names, values, strict=True)) | ({CORE: 0} if CORE in names else {})
    for each in metadata.vars:
        if not each.low <= value_of[each.name] <= each.high:
            got, expected = str(value_of[each.name]), f"{each.low} … {each.high}"
            what = f"variable {each.name} is outside its bounds"
            raise ProgramError("program", what, got=got, expected=expected)
    return value_of


def _check_indices(what: str, sizes: tuple[int, int, int], axes: set[int], has_core: bool) -> None:
    """Refuse several groups or members along an axis without a launch index."""
    indexed = axes | ({0} if has_core else set())
    for axis, size in enumerate(sizes):
        if size > 1 and axis not in indexed:
            problem = f"several {what}s along axis {axis}, but no launch index for it"
            raise ProgramError("program", problem, got=str(size), expected="1")
