"""The module that is running: nodes are attributed to it, by its name in the model that was called.

    model(x)                    called by no module: it is the model, and names count from it
      self.blocks[0](x)         blocks.0
        self.norms[1](x)        blocks.0.norms.1: also where the block was not called itself

A module that is not part of the model, such as one created in `forward`, has the name of its class.
Names are cached for each line that calls a model, until an attribute is set.
"""

import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from compiler.core import frames
from compiler.core.frames import Module
from compiler.core.origin import state

Inside: TypeAlias = Callable[[Any], Iterator[tuple[str, Any]]]
"""Returns the direct submodules of a module, each with its name there."""

CHANGES = [0]
"""How often an attribute of any module was set: a captured function compares it to detect
changes."""


@dataclass(slots=True, eq=False)
class _Model:
    """A module that was called by no other module.

    `places` maps the number of each submodule to its parent and its name there; `inner` caches the
    modules that were entered, by their caller.
    """

    changes: int
    places: dict[int, tuple[int, str, str]]
    inner: dict[tuple[Module, int], Module] = field(default_factory=dict)


class _Running(threading.local):
    """The model that is running on this thread, and its current module."""

    model: _Model | None = None
    number: int = 0
    root: Module | None = None


_running = _Running()
_models: dict[int, tuple["weakref.ref[Any]", _Model]] = {}


def run(module: Any, inside: Inside, inputs: tuple[Any, ...], given: Mapping[str, Any]) -> Any:
    """The result of `module.forward`; nodes created meanwhile are attributed to the module."""
    if state.origin is not None:  # inside a public call: nodes have the line of that
        return module.forward(*inputs, **given)
    outer, model = state.module, _running.model
    known = model.inner.get((outer, id(module))) if model and outer else None
    if known is None:
        known = _entered(module, outer)
    if known is None:
        return _run_model(module, inside, inputs, given)
    state.module = known
    try:
        return module.forward(*inputs, **given)
    finally:
        state.module = outer


def _entered(module: Any, outer: Module | None) -> Module | None:
    """The place of a module in the running model; None if it is not part of it."""
    model, root = _running.model, _running.root
    if model is None or root is None or outer is None or root not in outer.chain():
        return None
    way: list[tuple[str, str]] = []
    number = id(module)
    while number != _running.number:
        if number not in model.places:
            return None
        number, name, kind = model.places[number]
        way.append((name, kind))
    place = root
    for name, kind in reversed(way):
        place = frames.module(name, kind, place, None)
    model.inner[outer, id(module)] = place
    return place


def _run_model(
    module: Any, inside: Inside, inputs: tuple[Any, ...], given: Mapping[str, Any]
) -> Any:
    """Run a module that no other module called, or one that is not part of the running model."""
    outer = state.module
    saved = _running.model, _running.number, _running.root
    name = type(module).__name__
    caller = None if outer else frames.innermost(sys._getframe(1))
    state.module = root = frames.module(name, name, outer, caller)
    _running.model, _running.number, _running.root = _model(module, inside), id(module), root
    try:
        return module.forward(*inputs, **given)
    finally:
        state.module = outer
        _running.model, _running.number, _running.root = saved


def _model(module: Any, inside: Inside) -> _Model:
    """The current names of the submodules of a module."""
    number = id(module)
    held, model = _models.get(number, (None, None))
    if held is not None and held() is module and model and model.changes == CHANGES[0]:
        return model
    model = _Model(CHANGES[0], _places(module, inside))
    _models[number] = weakref.ref(module, lambda _: _models.pop(number, None)), model
    return model


def _places(module: Any, inside: Inside) -> dict[int, tuple[int, str, str]]:
    """The place of each submodule; if there are several, the one closest to the model."""
    found: dict[int, tuple[int, str, str]] = {}
    order = [module]
    met = {id(module)}
    for each in order:
        for name, inner in inside(each):
            if id(inner) not in met:
                met.add(id(inner))
                found[id(inner)] = id(each), name, type(inner).__name__
                order.append(inner)
    return found
