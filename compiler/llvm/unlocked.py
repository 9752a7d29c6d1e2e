"""LLVM's two long calls, on several threads at once.

llvmlite runs one call at a time, whatever it is called on. LLVM itself asks for less: what is made
in contexts of its own, for target machines of its own, may be made at the same time. So these two
functions are called through a second handle of the same library, which has no lock. Where a version
of llvmlite does not have it under this name, they go through llvmlite and threads take turns.

A fork waits until no thread is in LLVM, by either handle: a child could not use it otherwise.
"""

import contextlib
import ctypes
import functools
from typing import Any

from llvmlite.binding import ffi

from compiler.core import forking

Functions = tuple[Any, Any]
_GATE = forking.Gate()
ASSEMBLY, OBJECT = 0, 1
"""LLVM's numbers for the two forms of machine code."""


@functools.cache
def _functions() -> Functions | None:
    """Running passes and emitting code, without the lock; None where they cannot be had."""
    try:
        library = ctypes.CDLL(ffi.lib._name)
        run, emit = library.LLVMPY_RunNewModulePassManager, library.LLVMPY_TargetMachineEmitToMemory
        locked = ffi.lib.LLVMPY_RunNewModulePassManager, ffi.lib.LLVMPY_TargetMachineEmitToMemory
        for function, other in zip((run, emit), locked, strict=True):
            function.argtypes, function.restype = other.argtypes, other.restype
    except (AttributeError, OSError):
        return None
    return run, emit


def is_parallel() -> bool:
    """True if threads can make code at the same time."""
    return _functions() is not None


def run_passes(passes: Any, module: Any, builder: Any) -> None:
    """Run a pipeline on a module that no other thread uses, of a context that none uses."""
    functions = _functions()
    if functions is None:
        passes.run(module, builder)
    else:
        with _GATE.passed():
            functions[0](passes, module, builder)


def emit_object(machine: Any, module: Any) -> bytes:
    """The object file of such a module, by a machine that no other thread uses."""
    if _functions() is None:
        code: bytes = machine.emit_object(module)
        return code
    return _emit(machine, module, OBJECT)


def emit_assembly(machine: Any, module: Any) -> str:
    """The same as assembly."""
    if _functions() is None:
        return str(machine.emit_assembly(module))
    return _emit(machine, module, ASSEMBLY).decode("latin-1")


def _emit(machine: Any, module: Any, kind: int) -> bytes:
    functions = _functions()
    assert functions is not None
    with ffi.OutputString() as problem:
        with _GATE.passed():
            buffer = functions[1](machine, module, kind, problem)
        if not buffer:
            raise RuntimeError(str(problem))
    try:
        start, size = ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer)
        return ctypes.string_at(start, size)
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


def _let_in() -> None:
    _LOCK.__exit__(None, None, None)


_LOCK: Any = getattr(ffi.lib, "_lock", contextlib.nullcontext())
# before a fork, what runs without llvmlite's lock ends first, then what runs with it
forking.around(_LOCK.__enter__, _let_in)
forking.around(_GATE.close, _GATE.open)
