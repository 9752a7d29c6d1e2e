"""Copies of tensors, and where a tensor is: the functions behind `to`, `clone` and `device`."""

import itertools

from compiler.device import device as devices
from compiler.errors import DataError
from compiler.graph.nodes import Buffer, Copy, TensorNode

_clones = itertools.count(1)


def device_of(node: TensorNode) -> str:
    """Where a value is computed: on the device of its first input that is not on disk."""
    stack, seen = [node], {node}
    while stack:
        each = stack.pop()
        if isinstance(each, Buffer | Copy) and devices.get(each.device).is_executor:
            return each.device
        sources = () if isinstance(each, Copy) else each.sources
        new = [s for s in reversed(sources) if s not in seen]
        seen.update(new)
        stack.extend(new)
    return devices.CPU.name


def copied_to(node: TensorNode, name: str) -> TensorNode:
    """`node` on the device called `name`, itself if it is there.

    Raises `DataError` for an unknown device, and for one that computes nothing.
    """
    target = devices.get(name)
    if not target.is_executor:
        what = "tensors are read from this device, not copied to it"
        raise DataError("to", what, got=target.name, expected="CPU, CPU:1, … or INTERPRET")
    is_there = device_of(node) == target.name
    is_on_disk = isinstance(node, Buffer) and not devices.get(node.device).is_executor
    return node if is_there and not is_on_disk else Copy((node,), target.name)


def cloned(node: TensorNode) -> TensorNode:
    """`node` in memory of its own, on its device."""
    return Copy((node,), device_of(node), next(_clones))
