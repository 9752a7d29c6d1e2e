"""The devices of tensors, by name. The operands of a node have to be on the same devices.

    devices = ()                 on no device: constants, and files, which any device reads
            | (name,)            on one device
            | (name, name, …)    in shards, one per device

`CPU` and `CPU:0` are one device, written without its number.
"""

from typing import Any, TypeAlias

from compiler.core.errors import DeviceError

Devices: TypeAlias = tuple[str, ...]

DASK = "DASK"
"""Workers of a cluster: DASK, DASK:1, …"""
DISK = "DISK"
DEFAULT = "CPU"
"""The device of kernels that read only constants and files."""


def is_disk(device: str) -> bool:
    """True if a device is storage, on which nothing can be computed."""
    return device.partition(":")[0] == DISK


def is_remote(device: str) -> bool:
    """True if a device is a worker of a cluster, whose memory is in another process."""
    return device.partition(":")[0] == DASK


def written(devices: Devices) -> str:
    """`CPU:1` or `CPU, CPU:1`, as printed programs and messages write devices."""
    return ", ".join(devices) or "no device"


def first_device(devices: Devices) -> str:
    """The first device of a value, or the default device where it is on none."""
    return devices[0] if devices else DEFAULT


def common_devices(node: Any) -> Devices:
    """The devices that all sources of a node share; else `DeviceError` with two that differ."""
    common: Devices = ()
    for source in node.sources:
        devices: Devices = source.devices
        if devices is common or not devices:
            continue
        if common and devices != common:
            _refuse(node, common, devices)
        common = devices
    return common


def _refuse(node: Any, first: Devices, other: Devices) -> None:
    """Raise the error that names both devices, with a hint how to move the operands together."""
    sharded = next((d for d in (first, other) if len(d) > 1), None)
    name = getattr(node, "op", type(node).__name__.lower())
    hint = f'move one operand: .to("{first[0]}") or .to("{other[0]}")'
    if sharded:
        hint = f"shard the other operand too: .shard({sharded}); or gather this one: .to(…)"
    raise DeviceError(
        name, "the operands are on different devices", got=f"{written(first)} and {written(other)}",
        expected="one device, or the same devices in the same order", hint=hint,
    )  # fmt: skip
