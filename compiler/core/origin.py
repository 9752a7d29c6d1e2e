"""The origin of a node: the user's file, line and the public call that created it.


Every public `Tensor` call runs inside `user_call`, which finds the user's innermost stack frame and
the frames around it. Nodes that are created during the call carry that `Origin`; later stages carry
sets of origins.
"""

import functools
import itertools
import linecache
import os
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from compiler.core import frames
from compiler.core.frames import Frame, Module, Whose

P = ParamSpec("P")
R = TypeVar("R")

_calls = itertools.count(1)
MARIMO = "__marimo__cell_"
"""The names of the files that marimo gives for its cells."""


def cell_number(file: str) -> int | None:
    """The execution count of the notebook cell that is compiled under the name `file`, if one is.

    Cells run under names that differ from process to process; IPython knows which is which. Where
    the front end does not count (its counter stays at 1), it is the place in the order of running;
    so it is in marimo, whose cells stand in the cache of source lines.
    """
    if MARIMO in file:
        cells = [it for it in linecache.cache if MARIMO in it]
        return cells.index(file) + 1 if file in cells else None
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or file not in shell.compile._filename_map:
        return None
    counts: dict[str, int] = shell.compile._filename_map
    return counts[file] if shell.execution_count > 1 else list(counts).index(file) + 1


def short_name(file: str) -> str:
    """`file` without its folder; "cell 5" for a notebook cell, "cell" where it has no number."""
    number = cell_number(file)
    if number is not None:
        return f"cell {number}"
    is_cell = file.startswith("<") or "ipykernel_" in file or MARIMO in file
    return "cell" if is_cell else os.path.basename(file)


def reading_order(file: str) -> tuple[int, str]:
    """Sorts files by name, and notebook cells by the order in which they ran."""
    return cell_number(file) or 0, file


@dataclass(frozen=True, slots=True)
class Origin:
    """A place in the user's program; `method` is the public call made there, e.g. "softmax".

    `outer` is the line that called the function in which it is made, with those around that one:
    what two calls of a helper make is made at two places. Places that differ only in `call` are
    one: it numbers the public calls of a process in their order, and groups nodes in pictures.
    `module` is the part of a model in which it is made, `back` the call that this one is the way
    back of; 0 for what is none.
    """

    file: str
    line: int
    method: str
    outer: Frame | None = None
    function: str = field(default="", compare=False)
    call: int = field(default=0, compare=False)
    module: Module | None = None
    back: int = field(default=0, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)
    """Every table of nodes asks for it."""

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "_hash", hash((self.file, self.line, self.method, self.outer, self.module))
        )  # fmt: skip

    def __hash__(self) -> int:
        return self._hash

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The lines that led to this one, from the outermost."""
        return self.outer.stack() if self.outer else ()

    @property
    def inside(self) -> str:
        """The user's functions that were running, from the outermost: "network/attention".

        In a model it is the path of the module, behind what called the model.
        """
        names = [*(frame.function for frame in self.frames), self.function]
        if self.module is not None:
            model, *inner = self.module.chain()
            around = model.caller.stack() if model.caller else ()
            names = [*(frame.function for frame in around), *(it.name for it in inner)]
            names = names if inner else [*names, model.name]
        return "/".join(name for name in names if name)

    @property
    def callers(self) -> "tuple[Origin, ...]":
        """The places that led to this one, from the outermost."""
        return tuple(Origin(frame.file, frame.line, frame.function) for frame in self.frames)

    @property
    def lines(self) -> tuple[tuple[str, int], ...]:
        """File and line of this place, then of those that led to it, from the innermost."""
        outer = ((frame.file, frame.line) for frame in reversed(self.frames))
        return (self.file, self.line), *outer

    @property
    def text(self) -> str:
        """The source line, without its indentation; "" where the file cannot be read."""
        return linecache.getline(self.file, self.line).strip()

    @property
    def place(self) -> str:
        """`file:line` with the folder left out (line 2 of notebook cell 5 reads `cell 5:2`)."""
        return f"{short_name(self.file)}:{self.line}"

    @property
    def address(self) -> str:
        """`file:line` with the folder, for an editor to follow; of a notebook cell its place."""
        is_cell = cell_number(self.file) is not None
        return self.place if is_cell else f"{self.file}:{self.line}"

    @property
    def _path(self) -> str:
        return self.module.path if self.module else ""

    def __lt__(self, other: "Origin") -> bool:
        mine = (reading_order(self.file), self.line, self.method)
        theirs = (reading_order(other.file), other.line, other.method)
        if mine == theirs:
            return (self.lines, self._path, self.call) < (other.lines, other._path, other.call)
        return mine < theirs


class _State(threading.local):
    """The origin of the public call that is running on this thread, and the module it is in."""

    origin: Origin | None = None
    module: Module | None = None
    after: Callable[[Any], Any] | None = None
    """The function applied to results of public calls before the user gets them."""


state = _State()


def caller(method: str, depth: int = 2) -> Origin:
    """The user's innermost frame, `depth` frames or more above this one."""
    frame = frames.innermost(sys._getframe(depth))
    return Origin(
        frame.file, frame.line, method, frame.outer, frame.function, next(_calls), state.module
    )  # fmt: skip


def users_lines(trace: TracebackType | None) -> tuple[Origin, ...]:
    """The lines of the user's program that a traceback passes, from the outermost."""
    passed = ((frame.f_code, line) for frame, line in traceback.walk_tb(trace))
    return tuple(
        Origin(code.co_filename, line, code.co_name)
        for code, line in passed
        if frames.whose(code) is Whose.USERS
    )


def current() -> Origin | None:
    """The origin new nodes get: that of the public call that is running, None outside one."""
    return state.origin


def user_call(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a public function: nodes made while it runs come from its caller's line."""
    name = public_name(function.__name__)

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        if state.origin is not None:
            return function(*args, **kwargs)
        state.origin = caller(name)
        try:
            result = function(*args, **kwargs)
            return result if state.after is None else state.after(result)
        finally:
            state.origin = None

    return wrapper


def public_name(name: str) -> str:
    """`add`, as errors and origins call `__add__` and the reflected `__radd__`."""
    plain = name.strip("_")
    is_reflected = name.startswith("__r") and plain not in ("repr", "round", "reversed")
    return plain[1:] if is_reflected else plain


class called:
    """Nodes made inside, and errors, come from the caller's line, as made by `method`."""

    def __init__(self, method: str) -> None:
        self.method = method

    def __enter__(self) -> None:
        self.saved = state.origin
        state.origin = self.saved or caller(self.method)

    def __exit__(self, *exception: object) -> None:
        state.origin = self.saved


def stated(method: str, place: Frame, module: Module | None) -> Origin:
    """A new call of `method`, on a line of a program that was written elsewhere."""
    return Origin(
        place.file, place.line, method, place.outer, place.function, next(_calls), module
    )  # fmt: skip


def derived(origin: Origin, method: str) -> Origin:
    """A new call, in which what `origin` made leads to more: on its line, as made by `method`."""
    return replace(origin, method=method, call=next(_calls), back=origin.call)


class no_origin:
    """Nodes made inside belong to no line: passes merge equal nodes whatever made them."""

    def __enter__(self) -> None:
        self.saved = state.origin
        state.origin = None

    def __exit__(self, *exception: object) -> None:
        state.origin = self.saved
