"""The tensors that exist, and those among them that read what a program is about to write.

A tensor is a value: writing to the memory of one must not change another. So all that read a
buffer which a program writes are computed in that program, before it is written.
"""

import weakref
from typing import Any

from compiler.graph.effects import Assign
from compiler.graph.nodes import Buffer, TensorNode
from compiler.node import toposort

_FIRST_LIMIT = 1024
_references: list[Any] = []
_limit = _FIRST_LIMIT
_claims: "weakref.WeakValueDictionary[tuple[str, int], Assign]" = weakref.WeakValueDictionary()
"""For each value that an assign waits to write over that assign."""


def note(tensor: Any) -> None:
    """Remember a new tensor for as long as it exists."""
    global _limit
    _references.append(weakref.ref(tensor))
    if len(_references) > _limit:
        _references[:] = [each for each in _references if each() is not None]
        _limit = max(2 * len(_references), _FIRST_LIMIT)


def tensors() -> list[Any]:
    """All tensors that exist."""
    found = (each() for each in list(_references))
    return [tensor for tensor in found if tensor is not None and hasattr(tensor, "node")]


def storage(node: TensorNode) -> Buffer | None:
    """The buffer that a chain of assigns writes, or the buffer itself; None for other nodes."""
    while isinstance(node, Assign):
        node = node.sources[0]
    return node if isinstance(node, Buffer) else None


def written(nodes: list[TensorNode]) -> set[int]:
    """The numbers of the buffers that computing `nodes` writes."""
    found = (storage(node) for node in toposort(nodes) if isinstance(node, Assign))
    return {buffer.unique for buffer in found if buffer is not None}


def touching(numbers: set[int], others: list[Any]) -> list[Any]:
    """The tensors among `others` that need one of these buffers to be computed."""
    needs: set[TensorNode] = set()
    for node in toposort([tensor.node for tensor in others]):
        is_one = isinstance(node, Buffer) and node.unique in numbers
        if is_one or any(source in needs for source in node.sources):
            needs.add(node)
    return [tensor for tensor in others if tensor.node in needs]


def together(given: list[Any]) -> list[Any]:
    """`given`, and every tensor that needs a buffer which computing them writes."""
    chosen = list(given)
    while True:
        numbers = written([tensor.node for tensor in chosen])
        if not numbers:
            return chosen
        known = {id(tensor) for tensor in chosen}
        rest = [tensor for tensor in tensors() if id(tensor) not in known]
        found = touching(numbers, rest)
        if not found:
            return chosen
        chosen += found


def claim(target: TensorNode, value: TensorNode) -> Assign | None:
    """`value` assigned to `target`, a Buffer or an Assign; None where another assign to it waits.

    That one will write over the target, so there can be no second.
    """
    if _key(target) in _claims:
        return None
    made = Assign((target, value))
    _claims[_key(target)] = made
    return made


def release(nodes: list[TensorNode]) -> None:
    """The assigns that `nodes` need have taken effect."""
    for node in toposort(nodes) if _claims else ():
        if isinstance(node, Assign):
            _claims.pop(_key(node.sources[0]), None)


def _key(target: TensorNode) -> tuple[str, int]:
    """A buffer is known by its number: passes may have made its node again."""
    return ("buffer", target.unique) if isinstance(target, Buffer) else ("node", id(target))
