"""Modules: the parts of a model, and the lines of a model that was written elsewhere.

    with in_module("BertModel"):                           the model itself
        with in_module("encoder", "layer.0"):              nodes made inside belong to that module …
            with called_at("linear", [Line("model.py", 12, "Layer.forward")]):
                y = x.linear(w, b)                         … and come from line 12 of model.py

The outermost module is the model, which stands in no path: this one is `encoder.layer.0`. What is
a part of no model, as an optimiser's step, stands in one without a name. An
importer opens the modules of each node anew: equal names in one place are one module. Tensor code
may use `in_module`, too: its modules then take the place of the functions inside of them.
"""

import linecache
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from compiler.core import frames
from compiler.core.frames import Frame
from compiler.core.origin import Origin, state, stated


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a model's source, in the function in which it stands."""

    file: str
    line: int
    function: str = ""


class in_module:
    """Nodes made inside belong to a module in the present one, and that to those named before it.

    `kinds` says for each name what its author calls such modules, its class. `run` tells apart the
    runs of a module that is called several times.
    """

    def __init__(self, *names: str, kinds: Sequence[str] = (), run: int = 0) -> None:
        self.names = names
        self.kinds = (*kinds, *("",) * (len(names) - len(kinds)))
        self.run = run

    def __enter__(self) -> None:
        self.saved = module = state.module
        if module is None and self.names:
            caller = _place(state.origin) or frames.innermost(sys._getframe(1))
        else:
            caller = None
        for name, kind in zip(self.names, self.kinds, strict=True):
            run = self.run if name is self.names[-1] else 0
            module = frames.module(name, kind, module, caller if module is None else None, run)
        state.module = module

    def __exit__(self, *exception: object) -> None:
        state.module = self.saved


class called_at:
    """Nodes made inside, and errors, come from one call of `method` at a line of a model.

    `lines` led to it, from the outermost; without any it is the user's line that called the model.
    """

    def __init__(self, method: str, lines: Sequence[Line] = ()) -> None:
        self.method = method
        self.lines = lines

    def __enter__(self) -> None:
        self.saved = state.origin
        place = _caller() or frames.innermost(sys._getframe(1))
        for line in self.lines:
            place = frames.stated(line.file, line.line, line.function, place)
        state.origin = stated(self.method, place, state.module)

    def __exit__(self, *exception: object) -> None:
        state.origin = self.saved


class run_by:
    """Models called inside are run by no program: by `command`, whose `words` stand in the place of
    the user's line."""

    def __init__(self, command: str, words: str) -> None:
        self.command = command
        self.words = words

    def __enter__(self) -> None:
        text = f"{self.words}\n"
        linecache.cache[self.command] = (len(text), None, [text], self.command)
        self.saved = state.origin
        state.origin = Origin(self.command, 1, "run")

    def __exit__(self, *exception: object) -> None:
        state.origin = self.saved


def _caller() -> Frame | None:
    """The user's line that called the model, or the call that is running."""
    if state.module is not None:
        return state.module.chain()[0].caller
    return _place(state.origin)


def _place(origin: Origin | None) -> Frame | None:
    if origin is None:
        return None
    return frames.stated(origin.file, origin.line, origin.function, origin.outer)
