"""Tensor methods that say where data are: `to`, `clone`, `shard`, and what is asked about it.

    x.to("CPU:1")                       a copy there, unless x is there already
    x.shard(("CPU:0", "CPU:1"), axis=0) each device has a part of the rows
    w.shard(("CPU:0", "CPU:1"))         each device has all of w

Operands of one operation must be in one place: on one device, or in shards on the same devices
in the same order. Constants and tensors in files are read from anywhere. Along which axis the
operands are cut does not matter: `graph/shard.py` moves what has to be moved.
"""

import itertools
from collections.abc import Sequence
from typing import Self

from compiler.core import lazy
from compiler.core.errors import DataError, DeviceError, ShapeError
from compiler.graph.devices import DEFAULT, written
from compiler.graph.kinds.placement import Copy, Device, Multi, Unique, multi
from compiler.graph.nodes import Buffer, TensorNode
from compiler.graph.reshard import ShardLayout, even_lengths, part
from compiler.tensors.directives import Directives
from compiler.tensors.shapes import axis_of
from compiler.tensors.value import traced

_clones = itertools.count(1)


def device_name(operation: str, name: object) -> str:
    """The device called `name`, which must run programs, as it is written everywhere else."""
    if not isinstance(name, str):
        raise DeviceError(operation, "a device is named by a string", got=repr(name))
    with lazy.loading():  # with what runs programs
        from compiler.device import device as devices

    try:
        found = devices.get(name)
    except DataError as error:
        raise DeviceError(
            operation, error.problem, got=error.got, expected=error.expected
        ) from error
    if not found.is_executor:
        raise DeviceError(
            operation, "nothing can be moved to files", got=name, expected="CPU, CPU:1, INTERPRET",
        )  # fmt: skip
    return found.name


def _device_names(operation: str, given: object) -> tuple[str, ...]:
    """Distinct devices, at least one."""
    names = tuple(given) if isinstance(given, list | tuple) else (given,)
    found = tuple(device_name(operation, name) for name in names)
    if not found or len(set(found)) != len(found):
        raise DeviceError(
            operation, "each shard needs a device of its own", got=written(found),
            expected="different devices, at least one", hint="CPU:0 is CPU",
        )  # fmt: skip
    return found


def _in_shards(node: TensorNode) -> TensorNode:
    with lazy.loading():  # with the passes of the graph
        from compiler.run.sharding import in_shards

    return in_shards([node])[0]


@traced
class Placement(Directives):
    """Where a tensor is."""

    __slots__ = ()

    @property
    def device(self) -> str | tuple[str, ...]:
        """The name of the device; a name per shard where the tensor is in shards."""
        if isinstance(self.node, Buffer):
            return self.node.device
        found = self.node.devices
        return found if len(found) > 1 else found[0] if found else DEFAULT

    def to(self, device: str | Sequence[str]) -> Self:
        """The same values on `device`; nothing is copied where they are there already.

        A tensor in shards is gathered; given as many devices as shards, it stays in shards.
        Raises `DeviceError` for what is no device, or cannot compute.
        """
        names = _device_names("to", device)
        is_there = self.node.devices == names
        if is_there or (len(names) > 1 and len(self.node.devices) <= 1):
            return self._same() if is_there else self.shard(names)
        if 1 < len(names) != len(self.node.devices):
            raise DeviceError(
                "to", "there is not one device per shard", got=written(names),
                expected=f"{len(self.node.devices)} devices",
                hint="shard(devices, axis) cuts the tensor anew",
            )  # fmt: skip
        return self._new(Copy((self.node, *(Device((), name) for name in names))))

    def to_device(self, device: str | Sequence[str], /, *, stream: None = None) -> Self:
        """The same as `to`, as the array API calls it; a processor has no streams."""
        if stream is not None:
            raise DeviceError("to_device", "a processor has no streams", got=repr(stream),
                              expected="stream=None")  # fmt: skip
        return self.to(device)

    def cpu(self) -> Self:
        """On the first device; the same as `to("CPU")`."""
        return self.to(DEFAULT)

    def clone(self) -> Self:
        """The same values in memory of their own, where they are: two clones are two tensors."""
        places = [Device((), name) for name in self.node.devices or (DEFAULT,)]
        return self._new(Copy((self.node, *places, Unique((), next(_clones)))))

    def shard(self, devices: Sequence[str], axis: int | None = None) -> Self:
        """In shards, one per device: cut along `axis`, or whole on each where that is None.

        Parts differ by one element at most, the longer ones first; a device may have none. The
        whole is computed where it is and its parts are copied. Raises `DeviceError`, `AxisError`.
        """
        names = _device_names("shard", devices)
        layout = ShardLayout(names)
        if axis is not None:
            if not self.ndim:
                raise ShapeError("shard", "rank 0 has no axis to cut", expected="axis=None")
            place = axis_of("shard", axis, self.ndim)
            layout = ShardLayout(names, place, even_lengths(self.shape[place], len(names)))
        if len(names) == 1:
            return self.to(names[0])
        parts = [part(self.node, layout.bounds(self.shape, i)) for i in range(len(names))]
        pairs = zip(parts, names, strict=True)
        shards = tuple(Copy((piece, Device((), name))) for piece, name in pairs)
        return self._new(multi(shards, layout.axis))

    @property
    def shards(self) -> "list[Self]":
        """The parts of the tensor, one per device, each a tensor there; all of it on one."""
        node = _in_shards(self.node)
        return [self._new(s) for s in node.sources] if isinstance(node, Multi) else [self]

    @property
    def axis(self) -> int | None:
        """The axis along which the tensor is cut; None where it is whole on each device."""
        node = _in_shards(self.node)
        return node.axis if isinstance(node, Multi) else None
