"""Where a node comes from: the user's file, line and the public call that made it.

Every public `Tensor` call runs inside `user_call`, which finds the first stack frame outside this
package. Nodes built during the call carry that `Origin`; later stages carry sets of them along.
"""

import functools
import linecache
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = str(Path(__file__).parent)


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """A place in the user's program; `method` is the public call made there, e.g. "softmax"."""

    file: str
    line: int
    method: str

    @property
    def text(self) -> str:
        """The source line, without its indentation; "" where the file cannot be read."""
        return linecache.getline(self.file, self.line).strip()

    @property
    def place(self) -> str:
        """`file:line` with the folder left out (a notebook cell reads `cell:line`)."""
        name = Path(self.file).name
        if self.file.startswith("<") or "ipykernel_" in self.file:
            name = "cell"
        return f"{name}:{self.line}"


class _State(threading.local):
    """The origin of the public call that is running on this thread."""

    origin: Origin | None = None


state = _State()


def caller(method: str, depth: int = 2) -> Origin:
    """The innermost frame outside this package, `depth` frames or more above this one."""
    frame = sys._getframe(depth)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return Origin(frame.f_code.co_filename, frame.f_lineno, method)


def current() -> Origin | None:
    """The origin new nodes get: that of the public call that is running, None outside one."""
    return state.origin


def user_call(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a public function: nodes made while it runs come from its caller's line."""
    name = function.__name__.strip("_")

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        if state.origin is not None:
            return function(*args, **kwargs)
        state.origin = caller(name)
        try:
            return function(*args, **kwargs)
        finally:
            state.origin = None

    return wrapper


class no_origin:
    """Nodes made inside belong to no line: passes merge equal nodes whatever made them."""

    def __enter__(self) -> None:
        self.saved = state.origin
        state.origin = None

    def __exit__(self, *exception: object) -> None:
        state.origin = self.saved
