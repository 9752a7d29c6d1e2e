"""The machine at hand: a row of `MACHINES`, completed by what this host reports.

    LLVM              the processor's name chooses the row, its features the width of vectors
    operating system  sizes and ways of caches, pages, cores
    calibrate()       times, if they were measured: kept in the user's cache folder

SVODVIZ_MACHINE names another machine to choose loops for, unless options do, so that output is the
same everywhere: the documentation and the tests set it.
"""

import difflib
import functools
import mmap
import os
from dataclasses import replace
from pathlib import Path

from compiler.core.errors import DataError
from compiler.core.user_cache import user_cache
from compiler.machines import measured, system
from compiler.machines.model import MachineModel
from compiler.machines.named import MACHINES
from compiler.machines.processors import Processor, dots, host, is_arm, is_x86

ASKED = "SVODVIZ_MACHINE"
"""The environment variable that names the machine, in every process that a run starts."""
HOST = "host"
"""The name of the machine at hand."""


def machine(name: str = "") -> MachineModel:
    """The machine of that name; without a name the one in SVODVIZ_MACHINE, else the one at hand.

    Its text states the origin of each figure. "host" is always the one at hand. Raises
    `DataError` for an unknown name.
    """
    asked = name or asked_for() or HOST
    if asked == HOST:
        return _host(host(), system.core_count(), str(user_cache() or ""))
    if asked not in MACHINES:
        near = difflib.get_close_matches(asked.lower(), MACHINES, 1)
        hint = f"did you mean {near[0]}?" if near else ""
        expected = ", ".join((HOST, *MACHINES))
        where = "machine" if name else ASKED
        raise DataError(where, "no such machine", got=repr(asked), expected=expected, hint=hint)
    return MACHINES[asked].model


def asked_for() -> str:
    """The machine that SVODVIZ_MACHINE names; empty where it names none."""
    return os.environ.get(ASKED, "")


@functools.lru_cache(8)
def _host(processor: Processor, cores: int, folder: str) -> MachineModel:
    measured_model = measured.kept(Path(folder)) if folder else None
    return replace(measured_model or stated(processor), cores=cores, dots=dots(processor))


def forget() -> None:
    """Clear the cached model, so that the next call reads the measurements again."""
    _host.cache_clear()


def stated(processor: Processor) -> MachineModel:
    """The machine at hand by stated figures alone, without measurements."""
    row, why = _row(processor)
    nbytes, registers = _vectors(processor)
    caches = system.caches()
    sizes = [it.nbytes if it else usual for it, usual in zip(caches, row.cache_bytes, strict=True)]
    ways = [it.ways or usual if it else usual for it, usual in zip(caches, row.ways, strict=True)]
    features, table = "LLVM's features of this processor", f"the table's row {row.name}: {why}"
    cache_origin = system.origin() if all(caches) else f"{system.origin()}; else {row.name}"
    origins = {
        "vector_bytes": features, "multiply_adds": table, "loads": table,
        "cache_bytes": cache_origin, "read": table,
        "page_bytes": f"the system; how many are kept: {row.name}",
        "cores": "that this process may use, two hyper-threads counted once", "vector_ns": table,
    }  # fmt: skip
    slower = row.vector_bytes / nbytes
    return replace(
        row, name=f"{processor.name} ({row.name})", vector_bytes=nbytes, registers=registers,
        cache_bytes=(sizes[0], sizes[1], sizes[2]), ways=(ways[0], ways[1], ways[2]),
        dots=dots(processor), page_bytes=mmap.PAGESIZE, vector_ns=row.vector_ns * slower,
        fma_ns=row.fma_ns * slower,
        operations=tuple((op, ns * slower) for op, ns in row.operations),
        cores=system.core_count(), origins=tuple(origins.items()),
    )  # fmt: skip


def is_in_table(processor: Processor) -> bool:
    """True if the table of machines has this exact processor, not only a similar one."""
    return any(it.cpu == processor.name != "generic" for it in MACHINES.values())


def _row(processor: Processor) -> tuple[MachineModel, str]:
    """The row of a processor, and the reason for this choice."""
    name = processor.name
    by_name = {it.cpu: it.model for it in MACHINES.values() if it.cpu != "generic"}
    if name in by_name:
        return by_name[name], "LLVM's name of this processor"
    if is_x86():
        wide = processor.has("avx512f", "avx512vl")
        return MACHINES["x86-avx512" if wide else "x86-avx2"].model, "by its features"
    usual = "apple-m1" if name.startswith("apple") else "arm-neon"
    return MACHINES[usual].model, "by its maker" if usual == "apple-m1" else "by its architecture"


def _vectors(processor: Processor) -> tuple[int, int]:
    """Bytes and number of the registers for vectors."""
    if not is_x86():
        return 16, 32 if is_arm() else 16
    if processor.has("avx512f", "avx512vl"):
        return 64, 32
    return 32 if processor.has("avx") else 16, 16
