"""Modules and source lines of a node in the user's model."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from compiler.core.lazy import loading
from compiler.core.modules import Line
from compiler.imported.torch.graphs import Node

_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
_SELF = re.compile(r"^(L\['self'\]|L__self__)\.?")
_RUN = re.compile(r"@(\d+)$")


@dataclass(frozen=True, slots=True)
class Place:
    """The modules around a node, each by its name in its parent, and the lines that led to it,
    outermost first."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    run: int
    lines: tuple[Line, ...]

    @property
    def described(self) -> str:
        """`layers.0.attn, model.py:12`, as far as known."""
        parts = [".".join(self.names)] if self.names else []
        if self.lines:
            parts.append(f"{os.path.basename(self.lines[-1].file)}:{self.lines[-1].line}")
        return ", ".join(parts)


def place_of(node: Node) -> Place:
    """The place in the model of a node of an exported graph."""
    names, kinds, run, before = [], [], 0, ""
    for key, path, kind in _modules(node):
        if not path or path == before:
            continue
        names.append(path.removeprefix(f"{before}.") if before else path)
        kinds.append(kind.rpartition(".")[2])
        match = _RUN.search(key)
        run, before = int(match[1]) if match else 0, path
    return Place(tuple(names), tuple(kinds), run, tuple(_lines(node)))


def model_of(nodes: Iterable[Node]) -> str:
    """The class of the outermost module."""
    for node in nodes:
        for _, path, kind in _modules(node):
            if not path:
                return kind.rpartition(".")[2]
    return "Module"


def _modules(node: Node) -> Iterator[tuple[str, str, str]]:
    """Key, path and class of the modules around a node, from the outermost."""
    for key, (path, kind) in (node.meta.get("nn_module_stack") or {}).items():
        if path != "_empty_nn_module_stack_from_metadata_hook":
            name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
            yield key, _SELF.sub("", path), name


def _lines(node: Node) -> list[Line]:
    """The lines of the model; PyTorch's own if there are no others."""
    lines = [
        Line(file, int(number), function)
        for file, number, function in _FRAME.findall(node.meta.get("stack_trace") or "")
    ]
    of_model = [line for line in lines if not line.file.startswith(_home())]
    modules = os.path.join(_home(), "nn", "modules", "")
    return of_model or [
        line for line in lines if line.file.startswith(modules) and line.function == "forward"
    ]


def _home() -> str:
    with loading():
        import torch
    return os.path.join(os.path.dirname(str(torch.__file__)), "")
