"""LLVM's two long calls, running passes and emitting code, in parallel threads.

llvmlite holds one lock during every call. LLVM itself allows more: threads with separate contexts
and separate target machines may run at the same time. So these two functions are called through a
second handle of the same library, without the lock. If a version of llvmlite does not offer it,
they go through llvmlite, one thread at a time.

A fork waits until no thread is in LLVM, by either handle; otherwise the child could not use LLVM.
"""

import contextlib
import ctypes
import functools
from typing import Any

from llvmlite.binding import ffi

from compiler.core import forking

Functions = tuple[Any, Any]
_BARRIER = forking.Barrier()
ASSEMBLY, OBJECT = 0, 1
"""LLVM's numbers for the two forms of machine code."""


@functools.cache
def _functions() -> Functions | None:
    """The functions that run passes and emit code, without the lock; None if unavailable."""
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
    """True if threads can compile in parallel."""
    return _functions() is not None


def run_passes(passes: Any, module: Any, builder: Any) -> None:
    """Run a pipeline on a module that no other thread uses, of a context that none uses."""
    functions = _functions()
    if functions is None:
        passes.run(module, builder)
    else:
        with _BARRIER.passed():
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
        with _BARRIER.passed():
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
forking.around(_BARRIER.close, _BARRIER.open)
