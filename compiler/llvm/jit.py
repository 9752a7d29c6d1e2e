"""Machine code from LLVM IR text: parse, optimise, generate, load; all through llvmlite.

MCJIT is used because it loads in the least time. The text is verified first: a fault in
generated code would end the process, an exception would not.

One target machine of a level makes the code of all programs: what it finds out about the
processor takes more time and memory than a kernel. The engine that holds a program's code gets
only the finished object, and a machine of its own that never compiles.
"""

import ctypes
import functools
import threading
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

from compiler.errors import InternalError

_lock = threading.Lock()


@functools.cache
def _prepare() -> None:
    """Once per process: the native target; on x86, Intel syntax for printed assembly."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    if is_x86():  # an LLVM without this target would end the process at the option
        llvm.set_option("", "-x86-asm-syntax=intel")


def is_x86() -> bool:
    """Whether this host is an x86."""
    return str(llvm.get_process_triple()).startswith(("x86", "i386", "i686"))


def is_arm() -> bool:
    """Whether this host is a 64-bit ARM."""
    return str(llvm.get_process_triple()).startswith(("aarch64", "arm64"))


@functools.cache
def host_features() -> str:
    """The host's features as LLVM's feature string (the CPU's name may be wrong)."""
    _prepare()
    return str(llvm.get_host_cpu_features().flatten())


def target_machine(level: int) -> Any:
    """A target machine for this host at optimisation `level` (0-3).

    On x86 the large code model: code and constants are loaded into blocks of their own, and where
    files of many gigabytes are mapped these may lie further apart than the 32-bit offsets of the
    small one reach. LLVM would end the process. Elsewhere llvmlite keeps them in one block.
    """
    _prepare()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=host_features(),
        opt=level,
        reloc="pic",
        codemodel="large" if is_x86() else "small",
        jit=True,
    )


def parse(text: str) -> Any:
    """The module of `text`, verified.

    Raises `InternalError` with LLVM's message where LLVM refuses it.
    """
    _prepare()
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise InternalError("llvm", "LLVM refuses the generated text", got=str(error)) from error
    return module


def optimise(module: Any, machine: Any, level: int) -> None:
    """Run LLVM's pipeline of `level` on the module, in place."""
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = level > 1
    options.slp_vectorization = level > 1
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    try:
        passes.run(module, builder)
    finally:
        # closing it does nothing: of its two base classes, the one that frees nothing comes first
        NewPassManager._dispose(passes)
        passes.detach()


@functools.cache
def shared_machine(level: int) -> Any:
    """The machine of a level that makes all code; one thread at a time may use it."""
    return target_machine(level)


@dataclass(slots=True)
class Loaded:
    """Machine code in memory; `entry` runs the function on pointers."""

    engine: Any
    entry: Any
    address: int


def load(text: str, name: str, arguments: int, level: int = 3) -> Loaded:
    """Compile `text` and load it; `name` is the function, with `arguments` pointers."""
    with _lock:
        engine = _engine(_object_code(text, level))
        address = engine.get_function_address(name)
    entry = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)
    return Loaded(engine, entry, address)


def _object_code(text: str, level: int) -> bytes:
    """The object file of `text`, optimised."""
    machine, module = shared_machine(level), parse(text)
    optimise(module, machine, level)
    code: bytes = machine.emit_object(module)
    return code


def _engine(code: bytes) -> Any:
    """An engine that holds an object file in memory, linked and executable."""
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine
