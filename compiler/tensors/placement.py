"""Tensor methods for devices and shards: `to`, `clone`, `shard`, and properties for them.

    x.to("CPU:1")                       a copy there, unless x is there already
    x.shard(("CPU:0", "CPU:1"), axis=0) each device has a part of the rows
    w.shard(("CPU:0", "CPU:1"))         each device has all of w

The operands of an operation must be on the same device, or in shards on the same devices in the
same order. Constants and tensors in files are readable from every device. Operands may be sharded
along different axes: `graph/shard.py` inserts the necessary moves.
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
from compiler.tensors.shapes import axis_of
from compiler.tensors.value import TensorValue, traced

_clones = itertools.count(1)


def device_name(operation: str, name: object) -> str:
    """The canonical name of device `name`, which must be able to run programs."""
    if not isinstance(name, str):
        raise DeviceError(operation, "a device is named by a string", got=repr(name))
    with lazy.loading():  # with the modules that run programs
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
    with lazy.loading():  # with the graph passes
        from compiler.run.sharding import in_shards

    return in_shards([node])[0]


@traced
class Placement(TensorValue):
    """Devices and shards of a tensor."""

    __slots__ = ()

    @property
    def device(self) -> str | tuple[str, ...]:
        """The name of the device, or a tuple with one name per shard."""
        if isinstance(self.node, Buffer):
            return self.node.device
        found = self.node.devices
        return found if len(found) > 1 else found[0] if found else DEFAULT

    def to(self, device: str | Sequence[str]) -> Self:
        """The same values on `device`; nothing is copied if they are there already.

        A sharded tensor is gathered; given one device per shard, it stays sharded. Raises
        `DeviceError` for names that are not devices, and for devices that cannot run programs.
        """
        names = _device_names("to", device)
        is_there = self.node.devices == names
        if is_there or (len(names) > 1 and len(self.node.devices) <= 1):
            return self._same() if is_there else self.shard(names)
        if 1 < len(names) != len(self.node.devices):
            raise DeviceError(
                "to", "the numbers of devices and shards differ", got=written(names),
                expected=f"{len(self.node.devices)} devices",
                hint="shard(devices, axis) shards the tensor again",
            )  # fmt: skip
        return self._new(Copy((self.node, *(Device((), name) for name in names))))

    def to_device(self, device: str | Sequence[str], /, *, stream: None = None) -> Self:
        """The same as `to`, with the name from the array API. Streams are not supported on a
        CPU."""
        if stream is not None:
            raise DeviceError("to_device", "a processor has no streams", got=repr(stream),
                              expected="stream=None")  # fmt: skip
        return self.to(device)

    def cpu(self) -> Self:
        """The same values on the first device: `to("CPU")`."""
        return self.to(DEFAULT)

    def clone(self) -> Self:
        """A copy with its own memory on the same device. Two clones do not share memory."""
        places = [Device((), name) for name in self.node.devices or (DEFAULT,)]
        return self._new(Copy((self.node, *places, Unique((), next(_clones)))))

    def shard(self, devices: Sequence[str], axis: int | None = None) -> Self:
        """The tensor in shards, one per device: partitioned along `axis`, or replicated on each
        device if `axis` is None.

        The sizes of shards differ by at most one, the larger ones first; a shard may be empty. The
        tensor is computed where it is, then its parts are copied. Raises `DeviceError`,
        `AxisError`.
        """
        names = _device_names("shard", devices)
        layout = ShardLayout(names)
        if axis is not None:
            if not self.ndim:
                raise ShapeError("shard", "rank 0 has no axis to shard", expected="axis=None")
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
        """The shards, each a tensor on its device; a list of one for a tensor that is not
        sharded."""
        node = _in_shards(self.node)
        return [self._new(s) for s in node.sources] if isinstance(node, Multi) else [self]

    @property
    def axis(self) -> int | None:
        """The axis along which the tensor is sharded; None if each device has all of it."""
        node = _in_shards(self.node)
        return node.axis if isinstance(node, Multi) else None
