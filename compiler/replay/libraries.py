"""Libraries that `jit` knows: which of their functions are pure.

A captured function may call pure functions. A function without a row here, such as `time.time`, may
return another result in each call: its callers are not replayed.
"""

import sys
import sysconfig
from types import FunctionType, ModuleType
from typing import Any

OWN = __name__.partition(".")[0]
PURE = frozenset({
    "_collections", "_collections_abc", "_functools", "_operator", "abc", "argparse", "array",
    "ast", "base64", "binascii", "bisect", "builtins", "calendar", "cmath", "collections",
    "colorsys", "contextlib", "copy", "copyreg", "dataclasses", "datetime", "decimal",
    "difflib", "einops", "enum", "fractions", "functools", "genericpath", "hashlib", "heapq",
    "html", "inspect", "ipaddress", "itertools", "json", "keyword", "logging", "math",
    "ml_dtypes", "numbers", "numpy", "operator", "posixpath", "pprint", "queue", "re",
    "reprlib", "statistics", "string", "struct", "textwrap", "threading", "traceback", "types",
    "typing", "typing_extensions", "unicodedata", "uuid", "warnings", "weakref", "zlib", OWN,
    "svodviz",
})  # fmt: skip
"""Modules whose functions are pure, except for those in `IMPURE`. Text that they print or log is
printed only at capture."""
IMPURE = frozenset({
    "numpy.random", "numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "numpy.fromfile",
    "numpy.memmap", "numpy.get_printoptions", "numpy.geterr", "numpy.getbufsize",
    "numpy.geterrcall", "numpy.empty", "numpy.empty_like", "numpy.lib.format",
    "numpy.fromregex", "datetime.datetime.now", "datetime.datetime.today",
    "datetime.datetime.utcnow", "datetime.date.today", "uuid.uuid1", "uuid.uuid4",
    "decimal.getcontext", "decimal.localcontext", "decimal.Decimal", "inspect.stack",
    "inspect.currentframe", "threading.active_count", "threading.current_thread",
    "threading.get_ident", "threading.get_native_id", "threading.enumerate",
    "threading.main_thread", "threading.local", "traceback.extract_stack",
    "traceback.format_stack", "weakref.getweakrefcount", "argparse.ArgumentParser",
    "logging.getLevelName", "logging.root", "statistics.NormalDist.samples", "builtins.open",
    "builtins.input", "builtins.eval", "builtins.exec", "builtins.globals",
    "builtins.__import__", "builtins.compile", "builtins.breakpoint", "builtins.id",
    "builtins.memoryview", "json.load",
})  # fmt: skip
"""Functions that depend on more than their arguments, or return objects with state outside of
Python."""
DATA_ONLY = frozenset({
    "_collections_abc", "argparse", "collections", "contextlib", "dataclasses", "enum",
    "fractions", "functools", "ipaddress", "numbers", "numpy", "numpy.ma", "queue", "string",
    "threading", "types", "typing", "uuid", "weakref", "_weakrefset", "ml_dtypes", "abc",
    "logging", "datetime", "statistics",
})  # fmt: skip
"""Library modules whose Python classes keep all their state in attributes."""
_LIBRARIES = tuple(
    path for name in ("stdlib", "platstdlib", "purelib", "platlib")
    if (path := sysconfig.get_paths().get(name))
)  # fmt: skip


def module_of(value: Any) -> str:
    """The name of the module that defines a function or class; "" if it has none."""
    if isinstance(value, ModuleType):
        return value.__name__
    name = getattr(value, "__module__", None)
    return name if isinstance(name, str) else ""


def is_own(value: Any) -> bool:
    """True for members of the compiler."""
    return module_of(value).partition(".")[0] == OWN


def is_python(value: Any) -> bool:
    """True for members of Python: the standard library and builtins."""
    root = module_of(value).partition(".")[0]
    return root == "builtins" or root in sys.stdlib_module_names - {"__main__"}


def is_library(value: Any) -> bool:
    """True for members of Python, the compiler, or an installed package."""
    if is_own(value) or is_python(value):
        return True
    module = sys.modules.get(module_of(value).partition(".")[0])
    file = getattr(module, "__file__", None) or ""
    return file.startswith(_LIBRARIES)


def is_wrapper(function: FunctionType) -> bool:
    """True for code of a pure Python module that wraps a user's function and has its name, such as
    the `__repr__` of a dataclass: its closure is followed instead."""
    name = function.__globals__.get("__name__", "")
    module = sys.modules.get(name)
    is_there = module is not None and vars(module) is function.__globals__
    return is_there and name in sys.stdlib_module_names and name in PURE


def is_pure(name: str) -> bool:
    """True if the function with this full name is pure."""
    parts = name.split(".")
    if any(".".join(parts[:count]) in IMPURE for count in range(1, len(parts) + 1)):
        return False
    return parts[0] in PURE
