"""Call stacks: which of the user's lines were running, from the outermost to the innermost.

    def layernorm(x):
        return x - x.mean()        the line that makes a node …
    h = layernorm(x)               … and the frame that it is called from, its `outer`

What stands above the user's program (IPython, pytest, threads …) is left out, and so is code of
libraries in between. Frames are interned: equal stacks are one object, so they compare by identity.
"""

import dataclasses
import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType

MOST_FRAMES = 64
"""Frames of one stack that are kept, the innermost: recursion may be deeper."""
_MOST_STACKS = 1 << 16
"""Stacks that are known at once. Those met after that are new objects: merged later, no less."""

_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_HOSTS = frozenset(
    ("_pytest", "pluggy", "IPython", "ipykernel", "marimo", "nbclient", "doctest", "runpy",
     "threading", "unittest", "asyncio", "concurrent", "multiprocessing", "socketserver", "bdb")
)  # fmt: skip
"""Packages and modules that run programs: the user's begins below them."""


class Whose(Enum):
    """Whose code a file is."""

    OURS = auto()
    USERS = auto()
    LIBRARY = auto()
    HOST = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A line of the user's that was running, and the one that called it.

    Two calls on one line are two frames: `code` and `at` say which instruction it is.
    """

    file: str
    line: int
    function: str
    """`Block.forward`; "" at the top level of a program."""
    outer: "Frame | None"
    code: CodeType | None = None
    """None for a line that ran in another program: see `stated`."""
    at: int = 0

    def stack(self) -> "tuple[Frame, ...]":
        """This frame and those around it, from the outermost."""
        frames: list[Frame] = []
        frame: Frame | None = self
        while frame is not None:
            frames.append(frame)
            frame = frame.outer
        return tuple(reversed(frames))


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A part of a model, by the name that its author gave it: see `core/modules.py`.

    Modules are interned as frames are: one object for one name in one place.
    """

    name: str
    """Its name in `outer`: "attention"; of the outermost, what the model is called."""
    kind: str
    """The class of the module, "BertAttention"; "" where it is not known."""
    outer: "Module | None"
    caller: Frame | None
    """The user's line that called the model."""
    run: int = 0
    """Tells the runs of a module apart that is called several times."""

    def chain(self) -> "tuple[Module, ...]":
        """This module and those around it, from the outermost."""
        frames = [self]
        while frames[-1].outer is not None:
            frames.append(frames[-1].outer)
        return tuple(reversed(frames))

    @property
    def path(self) -> str:
        """The path in its model: "encoder.layers.0.attention"; "" for the model itself."""
        return ".".join(module.name for module in self.chain()[1:])


@lru_cache(1 << 16)
def stated(file: str, line: int, function: str, outer: Frame | None) -> Frame:
    """The frame of a line that did not run here: of a program that was written elsewhere."""
    return Frame(file, line, function, outer)


@lru_cache(1 << 16)
def module(
    name: str, kind: str, outer: Module | None, caller: Frame | None, run: int = 0
) -> Module:  # fmt: skip
    """The one module of this name in its place."""
    return Module(name, kind, outer, caller, run)


_ours: tuple[str, ...] = (str(Path(__file__).parents[1]),)
_whose: dict[str, Whose] = {}
_stacks: dict[tuple[int, ...], Frame] = {}


def count_as_ours(file: str) -> None:
    """The package whose `__init__` is `file` is no user's code: errors and nodes look beyond it."""
    global _ours
    _ours = tuple({*_ours, str(Path(file).parent)})
    _whose.clear()


def whose(code: CodeType) -> Whose:
    """Whose code it is; constructors that dataclasses write, and their `replace`, are ours."""
    file = code.co_filename
    owner = _whose.get(file)
    if owner is None:
        if file == "<string>":  # also the file of what a user's program executes
            return Whose.OURS if code.co_name == "__init__" else Whose.USERS
        owner = _whose[file] = _whose_file(file)
    return owner


def _whose_file(file: str) -> Whose:
    if file.startswith(_ours) or file == dataclasses.__file__:
        return Whose.OURS
    installed = next((at for at in _INSTALLED if at in file), "")
    inner = file.partition(installed)[2] if installed else file.removeprefix(_STANDARD)
    if not installed and inner == file:
        return Whose.LIBRARY if file.startswith("<frozen ") else Whose.USERS
    return Whose.HOST if inner.split(os.sep)[0].removesuffix(".py") in _HOSTS else Whose.LIBRARY


def innermost(frame: FrameType) -> Frame:
    """The stack of the user's frames at `frame` and above it; of a library's, where none is."""
    running = list(_running(frame)) or [_outside(frame)]
    key = tuple([number for it in running for number in (id(it.f_code), it.f_lasti)])
    return _stacks.get(key) or _added(running, key)


def _running(frame: FrameType | None) -> Iterator[FrameType]:
    """The user's frames from the innermost, up to where the program begins."""
    count = 0
    while frame is not None and count < MOST_FRAMES:
        code = frame.f_code
        match whose(code):
            case Whose.USERS:
                count += 1
                yield frame
                if code.co_name == "<module>":
                    return
            case Whose.HOST if count:
                return
        frame = frame.f_back


def _outside(frame: FrameType) -> FrameType:
    """The first frame outside of this package."""
    while frame.f_back is not None and whose(frame.f_code) is Whose.OURS:
        frame = frame.f_back
    return frame


def _added(running: list[FrameType], key: tuple[int, ...]) -> Frame:
    """The stack of running frames, which is new: it shares what it can with those that are known.

    A frame holds its code, so that no other has the number that stands in `key`.
    """
    if len(_stacks) > _MOST_STACKS:
        _stacks.clear()
    added: Frame | None = None
    for start in range(len(running) - 1, -1, -1):
        part = key[2 * start :]
        cached = _stacks.get(part)
        added = cached or _stacks.setdefault(part, _frame(running[start], added))
    assert added is not None
    return added


def _frame(frame: FrameType, outer: Frame | None) -> Frame:
    code = frame.f_code
    return Frame(
        code.co_filename, frame.f_lineno, function_name(code), outer, code, frame.f_lasti
    )  # fmt: skip


def function_name(code: CodeType) -> str:
    """`layernorm`, `Block.forward`, and `Block` for its `__call__`; "" for what has no name."""
    name = code.co_qualname.rpartition("<locals>.")[2].removesuffix(".__call__")
    return "" if "<" in name else name
