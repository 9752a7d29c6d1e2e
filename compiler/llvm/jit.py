"""Machine code from LLVM IR text: parse, optimise, generate, load; all through llvmlite.

MCJIT is used because it loads fastest. The text is verified first: a fault in generated code would
end the process, whereas an exception does not.

Target machines are kept by level and reused for all programs: creating one takes more time and
memory than compiling a kernel. Each compiles one program at a time, so threads that compile
concurrently use one each. The engine that holds a program's code gets only the finished object, and
a target machine of its own that never compiles.
"""

import contextlib
import ctypes
import functools
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import llvmlite
import llvmlite.binding as llvm
from llvmlite.binding.context import create_context
from llvmlite.binding.newpassmanagers import NewPassManager

from compiler.core.errors import InternalError
from compiler.llvm import unlocked
from compiler.llvm.cache import OBJECTS, folder_of
from compiler.llvm.level import Level
from compiler.machines import processors
from compiler.machines.processors import host, is_x86
from compiler.settings.options import Cache

ENTRY = "kernel"
"""The name of every program's function in its object code, so that equal kernels are equal
code, whatever they are called in their program."""
TASK = ".task"
"""The end of the name of the function that calls a kernel; the kernel itself keeps its name."""
FORMAT = 1
"""The version of the object code; increase it if code is generated or called differently."""
_idle: defaultdict[int, list[Any]] = defaultdict(list)
"""Idle target machines by level."""


@functools.cache
def _prepare() -> None:
    """Once per process: the native target; on x86, Intel syntax for printed assembly."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    if is_x86():  # an LLVM without this target would end the process at the option
        llvm.set_option("", "-x86-asm-syntax=intel")


def host_name() -> str:
    """LLVM's name of the processor that code is made for; the host's may be wrong."""
    return host().name


def host_features() -> str:
    """The features of the processor that code is made for, as LLVM's feature string."""
    _prepare()
    return host().features


def target_machine(level: int) -> Any:
    """A target machine for this host at optimisation `level` (0-3).

    On x86 it uses the large code model: code and constants are loaded into separate blocks. If
    files of many gigabytes are mapped, these may be further apart than the 32-bit offsets of the
    small model reach, and LLVM would end the process. Elsewhere llvmlite keeps them in one block.
    """
    _prepare()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=host_name(),
        features=host_features(),
        opt=level,
        reloc="pic",
        codemodel="large" if is_x86() else "small",
        jit=True,
    )


@contextlib.contextmanager
def borrowed_machine(level: int) -> Iterator[Any]:
    """A target machine of a level for exclusive use by this thread."""
    machines = _idle[level]
    try:
        machine = machines.pop()
    except IndexError:
        machine = target_machine(level)
    try:
        yield machine
    finally:
        machines.append(machine)


def parse(text: str) -> Any:
    """The module of `text`, verified, in a context of its own.

    Raises `InternalError` with LLVM's message where LLVM refuses it.
    """
    _prepare()
    module = None
    try:
        module = llvm.parse_assembly(text, create_context())
        module.verify()
    except RuntimeError as error:
        if module is not None:
            module.close()  # before its context: who keeps the error keeps both
        raise InternalError("llvm", "LLVM refuses the generated text", got=str(error)) from error
    return module


def optimise(module: Any, machine: Any, level: Level) -> None:
    """Run the passes of `level` on the module, in place."""
    options = llvm.create_pipeline_tuning_options(speed_level=level.number)
    options.loop_vectorization = level.number > 1
    options.slp_vectorization = level.number > 1
    builder = llvm.create_pass_builder(machine, options)
    passes = _few() if level.passes == "few" else builder.getModulePassManager()
    try:
        unlocked.run_passes(passes, module, builder)
    finally:
        _free(passes)


def _few() -> Any:
    """Inline calls only. Already vectorised code gains nothing from more: sums of products,
    softmax and elementwise chains ran as fast as after the whole pipeline. InstCombine took up to
    10 ms, and moved the loads of softmax to where they cost half as much again.
    """
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    return passes


def _free(passes: Any) -> None:
    """Free a pipeline. Closing it does nothing, because of its two base classes the one that frees
    nothing comes first. If llvmlite no longer has this method, close it."""
    dispose = getattr(NewPassManager, "_dispose", None)
    if dispose is None:
        passes.close()
        return
    dispose(passes)
    passes.detach()


@functools.cache
def maker() -> str:
    """Everything that machine code depends on besides its text and level."""
    _prepare()
    versions = FORMAT, llvmlite.__version__, *llvm.llvm_version_info
    target = llvm.get_process_triple(), host_name(), host_features()
    return " ".join(map(str, (*versions, *target)))


def object_code(text: str, name: str, level: Level, cache: Cache = False) -> bytes:
    """The object file of the program whose function is `name`; its function is `ENTRY`.

    Cached in memory and, if `cache` allows it, on disk. Thread-safe.
    """
    text = _nameless(text, name)
    folder = folder_of(cache)
    key = _key(text, level)
    held = OBJECTS.get(key, folder)
    if held is not None:
        return held
    code = _object_code(text, level)
    OBJECTS.put(key, code, folder)
    return code


def code_size(code: bytes) -> int:
    """The bytes of machine code in an object file."""
    file = llvm.ObjectFileRef.from_data(code)
    return sum(section.size() for section in file.sections() if section.is_text())


def object_key(text: str, name: str, level: Level) -> bytes:
    """The key under which `object_code` keeps the object file."""
    return _key(_nameless(text, name), level)


def _nameless(text: str, name: str) -> str:
    """`text`, its function `name` called `ENTRY`."""
    return re.sub(rf"@{re.escape(name)}(?=\(|{re.escape(TASK)}\()", f"@{ENTRY}", text)


def _key(text: str, level: Level) -> bytes:
    parts = maker(), str(level.number), level.passes, text
    return hashlib.sha256("\n".join(parts).encode()).digest()


def _object_code(text: str, level: Level) -> bytes:
    """The object file of `text`, optimised."""
    with parse(text) as module, borrowed_machine(level.number) as machine:
        optimise(module, machine, level)
        return unlocked.emit_object(machine, module)


@dataclass(slots=True)
class Loaded:
    """Machine code in memory; `entry` runs function `name` on pointers."""

    name: str
    engine: Any
    entry: Any
    address: int

    def address_of(self, name: str) -> int:
        """The address of a function by its name in the text; 0 if there is none."""
        names = {self.name: ENTRY, self.name + TASK: ENTRY + TASK}
        return int(self.engine.get_function_address(names.get(name, name)))


def load(text: str, name: str, arguments: int, level: int = 3) -> Loaded:
    """Compile `text` with LLVM's pipeline of `level`, and load it; see `load_object`."""
    wanted = Level(level, "pipeline", "it was asked for")
    return load_object(object_code(text, name, wanted), name, arguments)


def load_object(code: bytes, name: str, arguments: int) -> Loaded:
    """Load what `object_code` made; function `name` takes so many pointers or 64-bit integers.

    Raises `InternalError` where there is no such function.
    """
    _prepare()
    engine = _engine(code)
    address = engine.get_function_address(ENTRY)
    if not address:
        raise InternalError("llvm", "the text has no function of the program's name", got=name)
    entry = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)
    return Loaded(name, engine, entry, address)


def _engine(code: bytes) -> Any:
    """An engine that holds an object file in memory, linked and executable.

    The engine is created with an empty module, which it never compiles: linking is faster.
    """
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    empty = llvm.parse_assembly("")
    engine = llvm.create_mcjit_compiler(empty, machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.remove_module(empty)
    engine.finalize_object()
    return engine


@functools.cache
def dots() -> frozenset[str]:
    """The dot-product instructions for small types that generated code may use."""
    return frozenset(processors.dots(host()))


@functools.cache
def has_avx512() -> bool:
    """True if vectors of 512 bits and of fewer have the operations of AVX-512 (F and VL)."""
    return is_x86() and host().has("avx512f", "avx512vl")
