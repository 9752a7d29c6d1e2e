"""Nodes that say where a value is: copies to devices, and values in shards.

    Device(name) | Unique(id)  a device | equal to nothing else; neither has a value
    Copy(x, device)            x on the device; nothing to do where x is there already
    Copy(x, device, unique)    a clone: always memory of its own; `unique` tells two clones apart
    Copy(x, device…)           x in as many shards, each on the device at its place
    Multi(shards…; axis, real) one value on several devices: cut along `axis`, or, where it is
                               None, whole on each; `real` says which shards hold elements
    Joint(x…; op, axis)        the values of workers of a cluster combined by `op`, or, where that
                               is "", one after the other along `axis`
    Received(joint; device)    the same, on one of them

Shards may differ in extent along their axis, and some may be empty. `graph/shard.py` takes every
Multi out of a program, `graph/collectives.py` every Joint.
"""

from dataclasses import dataclass

from compiler.core.dtypes import DType, bool_
from compiler.core.errors import InternalError
from compiler.core.node import toposort
from compiler.graph import extents as rules
from compiler.graph.devices import Devices, first_device
from compiler.graph.nodes import LEAVES, MOVEMENT, Buffer, Param, Shape, TensorNode


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Device(TensorNode):
    """The device called `name`; no value of its own: a Copy reads it."""

    name: str

    def _infer(self) -> tuple[Shape, DType]:
        return (), bool_


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Unique(TensorNode):
    """Equal to no other: a Copy that reads it is a clone, and two clones are two values."""

    id: int

    def _infer(self) -> tuple[Shape, DType]:
        return (), bool_


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Copy(TensorNode):
    """The value of `sources[0]` on the devices that the other sources name."""

    _extents = rules.kept

    def _placed(self) -> Devices:
        return tuple(source.name for source in self.sources[1:] if isinstance(source, Device))

    @property
    def device(self) -> str:
        """The device it goes to; the first of several."""
        return self.devices[0]

    @property
    def clone(self) -> bool:
        """Whether it is memory of its own even where the value is on the device already."""
        return isinstance(self.sources[-1], Unique)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Multi(TensorNode):
    """One value in shards along `axis`; in whole copies where that is None."""

    axis: int | None
    real_mask: tuple[bool, ...]

    def _infer(self) -> tuple[Shape, DType]:
        first = self.sources[0]
        if self.axis is None:
            return first.shape, first.dtype
        total = sum(self.lengths)
        shape = (*first.shape[: self.axis], total, *first.shape[self.axis + 1 :])
        return shape, first.dtype

    def _placed(self) -> Devices:
        return tuple(first_device(shard.devices) for shard in self.sources)

    @property
    def lengths(self) -> Shape:
        """The extent of the axis in each shard."""
        if self.axis is None:
            raise InternalError("multi", "copies have no lengths along an axis")
        return tuple(shard.shape[self.axis] for shard in self.sources)

    @property
    def real(self) -> tuple[tuple[int, TensorNode], ...]:
        """The shards that hold elements, each with its place."""
        places = enumerate(zip(self.sources, self.real_mask, strict=True))
        return tuple((place, shard) for place, (shard, is_real) in places if is_real)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Joint(TensorNode):
    """What several devices have together; how each gets it is decided when all readers are known.
    """

    op: str
    axis: int

    def _infer(self) -> tuple[Shape, DType]:
        first = self.sources[0]
        if self.op:
            return first.shape, first.dtype
        total = sum(source.shape[self.axis] for source in self.sources)
        return (*first.shape[: self.axis], total, *first.shape[self.axis + 1 :]), first.dtype

    def _placed(self) -> Devices:
        return tuple(first_device(source.devices) for source in self.sources)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Received(TensorNode):
    """All of a Joint, on `device`."""

    device: str

    def _placed(self) -> Devices:
        return (self.device,)


WITHOUT_SOURCES = (*LEAVES, Device, Unique)


def multi(shards: "tuple[TensorNode, ...]", axis: int | None) -> Multi:
    """The value with these shards; those without elements along the axis are not real."""
    real = tuple(axis is None or shard.shape[axis] > 0 for shard in shards)
    return Multi(shards, axis, real)


def copy_to(node: TensorNode, device: str) -> TensorNode:
    """`node` on `device`, itself where it is there."""
    return node if node.devices == (device,) else Copy((node, Device((), device)))


def beside(node: TensorNode, other: TensorNode) -> TensorNode:
    """`node`, whole on each device that `other` is on."""
    if not other.devices or node.devices == other.devices:
        return node
    copies = tuple(copy_to(node, device) for device in other.devices)
    return copies[0] if len(copies) == 1 else multi(copies, None)


def is_computed(node: Copy) -> bool:
    """Whether a kernel makes the value where it is wanted: what it comes from is on no device.

    Constants are on none; so is what is made of them and of files, but not a part of a file.
    Where the Params of a loop's step are is not known yet.
    """
    base = node.sources[0]
    if base.devices:
        return False
    while isinstance(base, MOVEMENT):
        base = base.sources[0]
    if isinstance(base, Buffer):
        return False
    return not any(isinstance(each, Param) for each in toposort([base]))


def placement_problem(node: TensorNode) -> tuple[str, object, object] | None:
    """The problem of a Copy or a Multi: the words, what was found, what is expected."""
    match node:
        case Copy():
            return _copy_problem(node)
        case Multi():
            return _multi_problem(node)
        case _:
            named = [s for s in node.sources if isinstance(s, (Device, Unique))]
            what = "a device or unique is an operand of what is no copy"
            return (what, type(node).__name__.lower(), "copy") if named else None


def _copy_problem(node: Copy) -> tuple[str, object, object] | None:
    kinds = [type(source).__name__.lower() for source in node.sources[1:]]
    names = kinds[:-1] if kinds[-1:] == ["unique"] else kinds
    if not names or set(names) != {"device"}:
        return "a copy names no device", kinds, "devices, then perhaps a unique"
    source = node.sources[0].devices
    if len(names) > 1 and len(source) != len(names):
        return "a copy to several devices reads no such shards", len(source), len(names)
    return None


def _multi_problem(node: Multi) -> tuple[str, object, object] | None:
    count = len(node.real_mask)
    if not count == len(node.sources) == len(set(node.devices)):
        return "a multi has not one shard per device", node.devices, f"{count} devices"
    shapes = {
        tuple(n for axis, n in enumerate(s.shape) if axis != node.axis) for s in node.sources
    }
    if len(shapes) > 1 or len({s.dtype for s in node.sources}) > 1:
        return "the shards of a multi differ", [s.shape for s in node.sources], "one shape and type"
    if any(len(shard.devices) > 1 for shard in node.sources):
        return "a shard is itself in shards", [s.devices for s in node.sources], "one device each"
    if node.axis is not None and not 0 <= node.axis < len(node.sources[0].shape):
        return "the axis of a multi is out of range", node.axis, len(node.sources[0].shape)
    real = multi(node.sources, node.axis).real_mask
    if node.real_mask != real:
        return "a multi is wrong about which shards hold elements", node.real_mask, real
    return None
