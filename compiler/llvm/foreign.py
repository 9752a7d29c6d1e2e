"""Checks of LLVM IR that users wrote, before any program is compiled with it.

LLVM verifies that a text is well-formed. This module checks that it has the declared signature and
that the functions that it calls exist. A call of a missing function, or an instruction that this
processor does not have, would end the process.
"""

import ctypes
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import llvmlite.binding as llvm

from compiler.core.errors import CompileError
from compiler.core.lazy import loading
from compiler.llvm import jit

CHECK = "sv.check"
"""The name of the function around an inline instruction."""
_PROCESSORS = {
    "aarch64", "amdgcn", "arm", "bpf", "dx", "hexagon", "loongarch", "mips", "nvvm", "ppc", "r600",
    "riscv", "s390", "spv", "sve", "ve", "wasm", "x86", "xcore",
}  # fmt: skip
"""The beginnings of names of intrinsics for one family of processors, after `llvm.`."""


def check_inline(
    name: str, body: str, operands: Sequence[str], result: str, declarations: Sequence[str]
) -> tuple[str, ...]:
    """Declarations for a single instruction of these types on `%x0`, `%x1`, …; others are refused.

    Intrinsics are declared as our own code declares them, so that both are the same.
    """
    parameters = ", ".join(f"{t} %x{i}" for i, t in enumerate(operands))
    text = f"define {result} @{CHECK}({parameters}) {{\n  %y = {body}\n  ret {result} %y\n}}"
    with _parsed(name, [text, *declarations]) as module:
        others = [f.name for f in module.functions if not f.is_declaration and f.name != CHECK]
        if others:
            _refuse(name, "the text defines functions", ", ".join(others), "one instruction")
        blocks = list(module.get_function(CHECK).blocks)
        count = sum(len(list(block.instructions)) for block in blocks) - 1
        if len(blocks) > 1 or count > 1:
            _refuse(name, "more than one instruction", f"{count} instructions: {body}",
                    "one instruction", "custom.kernel takes whole functions")  # fmt: skip
        _check_calls(name, module)
        intrinsics = {f.name: f for f in module.functions if f.name.startswith("llvm.")}
        return tuple(_as_ours(line, intrinsics) for line in declarations)


def check_kernel(name: str, text: str, declarations: Sequence[str]) -> int:
    """The number of pointers that `void @name(ptr, …)` takes; a text without it is refused."""
    with _parsed(name, [text, *declarations]) as module:
        functions = [f for f in module.functions if f.name == name and not f.is_declaration]
        kinds = [str(p.type) for f in functions for p in f.arguments]
        if not functions or not str(functions[0].global_value_type).startswith("void ("):
            got = _head(functions[0]) if functions else text.strip().partition("\n")[0]
            _refuse(name, f"the text does not define void @{name}(ptr …)", got)
        if not kinds or set(kinds) != {"ptr"}:
            problem = "the parameters are not the result and the operands"
            _refuse(name, problem, ", ".join(kinds) or "none", "pointers")
        _check_calls(name, module)
        return len(kinds)


def _parsed(name: str, lines: Sequence[str]) -> Any:
    """The module of a text. LLVM's refusal is reported as the user's mistake."""
    try:
        return jit.parse("\n".join(lines))
    except CompileError as error:
        raise CompileError(f"custom {name}", "LLVM refuses the text", got=error.got) from error


def _check_calls(name: str, module: Any) -> None:
    """Refuse declared functions that do not exist, and instructions that this processor lacks."""
    missing = [each for each in _declared(module) if not _is_there(each)]
    if missing:
        got = ", ".join(f"@{each.name}" for each in missing)
        _refuse(name, "the text declares functions that do not exist", got,
                "LLVM's intrinsics, and functions of libraries that are loaded")  # fmt: skip
    if any(map(_is_of_a_processor, module.functions)) or " asm " in str(module):
        _try(name, str(module))


def _declared(module: Any) -> Iterator[Any]:
    for each in (*module.functions, *module.global_variables):
        if each.is_declaration:
            yield each


def _is_there(declared: Any) -> bool:
    """True if a function exists: LLVM knows the intrinsic, or the process has the symbol."""
    if declared.name.startswith("llvm."):
        return bool(list(declared.attributes))
    address = llvm.address_of_symbol(declared.name)
    return bool(address) or hasattr(_process(), declared.name)


@functools.cache
def _process() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _is_of_a_processor(function: Any) -> bool:
    prefix, _, rest = function.name.partition(".")
    return prefix == "llvm" and rest.partition(".")[0] in _PROCESSORS


def _try(name: str, text: str) -> None:
    """Compile for this processor in another process, which LLVM may abort."""
    with loading():
        from compiler.llvm import apart

    question = {"job": "passes", "text": text, "level": [0, "few"], "options": []}
    try:
        apart.ask(question)
    except CompileError as error:
        got = error.got or error.problem
        problem = "LLVM cannot compile the text for this processor"
        raise CompileError(f"custom {name}", problem, got=got) from error


def _as_ours(line: str, intrinsics: dict[str, Any]) -> str:
    """`declare double @llvm.fabs.f64(double)`, however the user wrote it."""
    called = line.partition("@")[2].partition("(")[0].strip()
    is_one = line.lstrip().startswith("declare") and line.count("@") == 1
    if not is_one or called not in intrinsics:
        return line
    result, _, rest = str(intrinsics[called].global_value_type).partition(" (")
    return f"declare {result} @{called}({rest}"


def _head(function: Any) -> str:
    return str(function).strip().partition("\n")[0].removesuffix("{").strip()


def _refuse(name: str, problem: str, got: str, expected: str = "", hint: str = "") -> None:
    raise CompileError(f"custom {name}", problem, got=got, expected=expected, hint=hint)
