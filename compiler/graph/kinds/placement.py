"""Placement: nodes for copies to devices and for sharded values.

    Device(name) | Unique(id)  a device | equal to nothing else; neither has a value
    Copy(x, device)            x on the device; x itself if it is there already
    Copy(x, device, unique)    a clone: always memory of its own; `unique` distinguishes clones
    Copy(x, device…)           x in as many shards, each on the device at its position
    Multi(shards…; axis, real) one value on several devices: sharded along `axis`, or replicated
                               if it is None; `real` marks the shards that hold elements
    Joint(x…; op, axis)        the values of workers of a cluster combined by `op`, or, if that is
                               "", concatenated along `axis`
    Received(joint; device)    the value of a Joint on one of the devices

Shards may differ in extent along their axis, and some may be empty. `graph/shard.py` removes every
Multi from a program, `graph/collectives.py` every Joint.
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
    """The device called `name`, an operand of Copy; it has no value."""

    name: str

    def _infer(self) -> tuple[Shape, DType]:
        return (), bool_


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Unique(TensorNode):
    """A node equal to no other. A Copy that reads one is a clone, and clones stay distinct."""

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
        """The target device; the first one of several."""
        return self.devices[0]

    @property
    def clone(self) -> bool:
        """True if it is a clone: memory of its own even if the value is on the device already."""
        return isinstance(self.sources[-1], Unique)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Multi(TensorNode):
    """One value in shards along `axis`; replicated if that is None."""

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
        """The extent of each shard along the axis."""
        if self.axis is None:
            raise InternalError("multi", "copies have no lengths along an axis")
        return tuple(shard.shape[self.axis] for shard in self.sources)

    @property
    def real(self) -> tuple[tuple[int, TensorNode], ...]:
        """The shards that hold elements, each with its position."""
        places = enumerate(zip(self.sources, self.real_mask, strict=True))
        return tuple((place, shard) for place, (shard, is_real) in places if is_real)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Joint(TensorNode):
    """The combined or concatenated values of several devices.

    The exchange that brings it to its readers is chosen when all of them are known.
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
    """The whole value of a Joint, on `device`."""

    device: str

    def _placed(self) -> Devices:
        return (self.device,)


WITHOUT_SOURCES = (*LEAVES, Device, Unique)


def multi(shards: "tuple[TensorNode, ...]", axis: int | None) -> Multi:
    """The value with these shards; shards without elements along the axis are not real."""
    real = tuple(axis is None or shard.shape[axis] > 0 for shard in shards)
    return Multi(shards, axis, real)


def copy_to(node: TensorNode, device: str) -> TensorNode:
    """`node` on `device`: a copy, or `node` itself if it is there."""
    return node if node.devices == (device,) else Copy((node, Device((), device)))


def replicated_like(node: TensorNode, other: TensorNode) -> TensorNode:
    """`node`, replicated on the devices of `other`."""
    if not other.devices or node.devices == other.devices:
        return node
    copies = tuple(copy_to(node, device) for device in other.devices)
    return copies[0] if len(copies) == 1 else multi(copies, None)


def is_computed(node: Copy) -> bool:
    """True if the value is computed on the target device instead of copied: its source is on none.

    That holds for constants, and for values computed from constants and files, but not for a part
    of a file. It does not hold for Params of a loop body, whose device is not known yet.
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
    """The problem of a Copy or a Multi: a sentence, what was found, what is expected."""
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
