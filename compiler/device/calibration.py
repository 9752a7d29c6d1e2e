"""measure: how fast this machine runs generated code, as a `MachineModel`; about a second.

Every figure is the time of a kernel made by this compiler, the least of several runs:

    read, write   sums and fills of arrays that fit each cache, and of one that fits none
    strided       a vector times a matrix, whose columns the inner loop walks down
    operations    one operation per element of an array in the first cache; multiply-adds, and
                  additions and multiplications that are none, in long chains
    memory_cores  copies past all caches by all cores at once, next to those by one

The model is kept in a file of the user's cache folder, by processor and version.
"""

import hashlib
import math
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.trace import Provenance
from compiler.core.user_cache import read, user_cache, write
from compiler.device import cpu
from compiler.device.program import Program
from compiler.graph import nodes
from compiler.graph.nodes import TensorNode, const, elementwise
from compiler.llvm import jit
from compiler.loops.choices import Choices, Parallelize
from compiler.loops.collapse import collapse
from compiler.loops.index import index
from compiler.loops.simplify import simplify
from compiler.loops.transforms.axes import axes
from compiler.loops.transforms.parallelize import parallelize
from compiler.lowered.linearize import linearize
from compiler.ops.table import OPS
from compiler.settings.machine import DEFAULT, EXPENSIVE, MachineModel
from compiler.threads.workers import core_count

VERSION = 3
"""Of the figures and of the file: another version is measured again."""
SECONDS = 0.004
"""How long each kernel is repeated. A choice: all of `measure` took 4.5 s on two busy cores of an
AMD EPYC (2026-11-23)."""
SMALL = 4096
"""Elements of arrays that the first cache holds."""
CHAIN = 24
"""Operations in a row, so that loading and storing counts little. Measured 2026-11-23 on one core
of an AMD EPYC (znver3), ns of a multiply-add by length: 1: 0.19, 4: 0.073, 8: 0.038, 16: 0.040, 24:
0.037, 48: 0.049; of a multiplication in vectors 0.137, 0.037, 0.027, 0.022, 0.023 and 0.031."""
SIZES = (32 * 1024, 512 * 1024, 12 * 1024 * 1024, 128 * 1024 * 1024)
"""Bytes of the arrays that stand for each level."""
COLUMNS = (96, 256, 1024, 4096)
"""Rows and columns of the matrices that stand for each level."""
NAMES = "SC_LEVEL1_DCACHE_SIZE", "SC_LEVEL2_CACHE_SIZE", "SC_LEVEL3_CACHE_SIZE"
SLOWER = 0.75
"""The share of the speed of few bytes below which they come from memory: copies take 28.5 bytes/ns
up to 32 MB, 16 from 64 on and 15 from 128 on, of a cache of 480 MB (Xeon, 2 of its cores,
2026-11-23)."""
Array = np.ndarray[Any, np.dtype[Any]]


def measure() -> MachineModel:
    """Measure this machine."""
    floor = _per_element(lambda x: elementwise("add", x, x))
    read, write = zip(*(bandwidth(n) for n in SIZES), strict=True)
    vector, scalar = (_simple(level) for level in (3, 1))
    operations = {op: _operation(op, dtypes.float32, floor) for op in EXPENSIVE}
    exponential = _operation("exp", dtypes.float64, floor)
    return MachineModel(
        name=f"{jit.host_name()}, measured",
        cache_bytes=_caches(),
        read=_descending(read),
        write=_descending(write),
        strided=tuple(_column(n) for n in COLUMNS),  # type: ignore[arg-type]
        vector_ns=vector,
        scalar_ns=scalar,
        fma_ns=_multiply_add(),
        step_ns=_step(vector),
        launch_ns=_launch(),
        memory_cores=_memory_cores(),
        wide=min(max(exponential / operations["exp"], 1.0), 8.0),
        operations=tuple(operations.items()),
    )


def _descending(speeds: tuple[float, ...]) -> tuple[float, float, float, float]:
    """A level is never faster than the one before it: where it seems so, it is the noise."""
    result = [min(speeds[: n + 1]) for n in range(4)]
    return result[0], result[1], result[2], result[3]


def _caches() -> tuple[int, int, int]:
    """The sizes of the caches as the system states them, else the default's. Of the third, which
    others may use too, no more than what this process keeps there."""
    first, second, third = (
        _stated(level, name) or usual
        for level, (name, usual) in enumerate(zip(NAMES, DEFAULT.cache_bytes, strict=True), start=1)
    )
    return first, second, _kept(third)


def _stated(level: int, name: str) -> int:
    """The size of a cache of data by the files of Linux, else by `sysconf`; 0 where none is told.

    Virtual machines often tell `sysconf` nothing.
    """
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            of, kind, size = ((folder / it).read_text().strip() for it in ("level", "type", "size"))
            if int(of) == level and kind != "Instruction":
                return int(size.removesuffix("K")) * 1024
        except (OSError, ValueError):
            continue
    known = getattr(os, "sysconf_names", {})
    return max(os.sysconf(name), 0) if name in known else 0


def _kept(stated: int) -> int:
    """The bytes of the last cache from and to which copies are as fast as of few: a virtual machine
    has a part of what its processor has."""
    kept, most = SIZES[2], min(stated, SIZES[3])
    if kept > most:
        return stated
    first = _copied(kept)
    while 2 * kept <= most:
        if _copied(2 * kept) < SLOWER * first:
            return kept
        kept *= 2
    return stated if stated <= SIZES[3] else kept


def _copied(nbytes: int, tasks: int = 1) -> float:
    """Bytes per ns of a copy, by so many cores, that reads and writes so many bytes together."""
    size = nbytes // 8
    value = elementwise("mul", _param(1, (size,)), const(1.5, dtypes.float32, (size,)))
    return nbytes / _ns(_load(value, tasks=tasks), [_array(size), _array(size)])


def _load(value: TensorNode, level: int = 3, tasks: int = 1) -> Program:
    """The program that writes `value`, an expression over Params, to argument 0; its outermost loop
    is shared out where there are several `tasks`.
    """
    body = nodes.Sink((nodes.Store((nodes.Param((), 0, value.shape, value.dtype), value)),))
    provenance: Provenance[TensorNode] = Provenance()
    loops = index(body, provenance)
    loops = collapse(simplify(loops, provenance, None), provenance, None)
    if tasks > 1:
        outermost = next(iter(axes(loops)))
        loops = parallelize(loops, Choices((Parallelize(outermost, tasks),)), provenance)
    spec = cpu.LlvmRenderer().render(linearize(loops).instructions, "measured")
    return cpu.load(cpu.compile_spec(spec, level))


def _ns(program: Program, arrays: list[Array]) -> float:
    """The least time of a run, launch included."""
    buffers = [arrays[slot].ctypes.data for slot in program.slots]
    clock = time.perf_counter_ns
    is_one = program.tasks == 1
    run = partial(program.execute, buffers) if is_one else program.bound(buffers, [0])
    run()
    least, end = math.inf, clock() + int(SECONDS * 1e9)
    while True:
        start = clock()
        run()
        now = clock()
        least = min(least, now - start)
        if now > end:
            return float(least)


def _array(size: int, dtype: DType = dtypes.float32) -> Array:
    """`size` ones, in memory of the allocator: the pages are there."""
    result = cpu.allocate(size, dtype, "measured")
    result[...] = 1
    return result


def _param(slot: int, shape: tuple[int, ...], dtype: DType = dtypes.float32) -> nodes.Param:
    return nodes.Param((), slot, shape, dtype)


def _launch() -> float:
    program = _load(elementwise("neg", _param(1, (1,))))
    return _ns(program, [_array(1), _array(1)])


def _per_element(
    build: Callable[[TensorNode], TensorNode], dtype: DType = dtypes.float32, level: int = 3
) -> float:
    """ns per element of an expression of one argument that the first cache holds."""
    program = _load(build(_param(1, (SMALL,), dtype)), level)
    return _ns(program, [_array(SMALL, dtype), _array(SMALL, dtype)]) / SMALL


def _operation(op: str, dtype: DType, floor: float) -> float:
    """ns per element of one operation of the table, without reading and writing."""
    row = OPS[op]
    target = dtypes.int32 if row.is_alone else dtype

    def build(x: TensorNode) -> TensorNode:
        # a distinct second operand, or LLVM folds x / x
        others = [elementwise("add", x, const(2, target, x.shape))] * (row.arity - 1)
        return elementwise(op, x, *others)

    return max(_per_element(build, target) - floor, 0.002)


def _multiply_add() -> float:
    """ns of a multiplication and a subtraction of one element, one after the other, in vectors."""

    def build(x: TensorNode) -> TensorNode:
        value = x
        for _ in range(CHAIN):
            half = elementwise("mul", value, const(0.5, dtypes.float32, x.shape))
            value = elementwise("sub", half, x)
        return value

    return _per_element(build) / CHAIN


def _simple(level: int) -> float:
    """ns of one multiplication or subtraction of one element: a chain of each, side by side."""

    def build(x: TensorNode) -> TensorNode:
        products = differences = x
        for _ in range(CHAIN):
            products = elementwise("mul", products, x)
            differences = elementwise("sub", x, differences)
        return elementwise("sub", products, differences)

    return _per_element(build, level=level) / (2 * CHAIN)


def bandwidth(nbytes: int) -> tuple[float, float]:
    """Bytes per ns read and written, of arrays of this size."""
    size, launch = nbytes // 4, 250.0
    shape = (size,)
    one, many = _array(1), _array(size)
    read = _ns(_load(nodes.Reduce((_param(1, shape),), "sum", (0,))), [one, many])
    write = _ns(_load(const(1.5, dtypes.float32, shape)), [many])
    return nbytes / max(read - launch, 1.0), nbytes / max(write - launch, 1.0)


def _memory_cores() -> float:
    """How many cores move as many bytes from and to memory as all do together."""
    cores = core_count()
    one, all_cores = (_copied(SIZES[-1], tasks) for tasks in (1, cores))
    return min(max(all_cores / one, 1.0), float(cores))


def _column(size: int) -> float:
    """ns per element of a square matrix that is read down its columns."""
    row = nodes.Expand((_param(1, (1, size)),), (size, size))
    product = elementwise("mul", row, nodes.Permute((_param(2, (size, size)),), (1, 0)))
    program = _load(nodes.Reduce((product,), "sum", (1,)))
    arrays = [_array(size), _array(size), _array(size * size)]
    return _ns(program, arrays) / (size * size)


def _step(vector_ns: float) -> float:
    """ns of beginning and ending an inner loop, beyond what it computes: a sum of short rows."""
    rows, width = 64, 128
    value = nodes.Reduce((_param(1, (rows, width)),), "sum", (1,))
    time_per_row = _ns(_load(value), [_array(rows), _array(rows * width)]) / rows
    return min(max(time_per_row - width * vector_ns, 0.3), 30.0)


# --- the file -------------------------------------------------------------------------------------


def calibrate(folder: str | Path | None = None, again: bool = False) -> MachineModel:
    """The model of this machine: from the file in `folder`, else measured and kept there.

    `folder` is the user's cache folder unless given; `again` measures in any case. Nothing
    else changes: pass the result as `Options(model=…)`. A file that cannot be read is
    measured again, and one that cannot be written is only warned of.
    """
    place = Path(folder) if folder is not None else user_cache()
    if place is None:
        return measure()
    path = place / f"machine-{_key()[:16]}.json"
    found = None if again else _read(path)
    if found is not None:
        return found
    model = measure()
    _write(path, model)
    return model


def _key() -> str:
    """Everything that the figures depend on: processor, its features, this file's version."""
    text = "\n".join((str(VERSION), jit.host_name(), jit.host_features()))
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> MachineModel | None:
    """The model in a file; None, with a warning, where the file is no such model."""
    try:
        import json

        held = json.loads(read(path).decode())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        _warn(path, str(error))
        return None
    try:
        if held["key"] == _key():
            return _model(held["model"])
        _warn(path, "it is of another machine or version")
    except (KeyError, TypeError, ValueError) as error:
        _warn(path, repr(error))
    return None


def _warn(path: Path, why: str) -> None:
    warnings.warn(f"{path} is no machine model ({why}); measuring again", stacklevel=4)


def _model(fields: dict[str, Any]) -> MachineModel:
    """The model of a JSON object. Raises where a figure is missing, not positive or no number."""
    values = {name: _frozen(value) for name, value in fields.items()}
    model = MachineModel(**values)
    counts = (len(model.cache_bytes), len(model.read), len(model.write), len(model.strided))
    single = (model.vector_ns, model.scalar_ns, model.fma_ns, model.step_ns, model.launch_ns,
              model.wide, model.memory_cores)  # fmt: skip
    levels = (*model.cache_bytes, *model.read, *model.write, *model.strided)
    figures = (*levels, *single, *(ns for _, ns in model.operations))
    if set(asdict(DEFAULT)) != set(fields) or counts != (3, 4, 4, 4):
        raise ValueError("figures are missing")
    if not all(isinstance(f, int | float) and 0 < f < math.inf for f in figures):
        raise ValueError("a figure is not positive")
    return model


def _frozen(value: object) -> Any:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value


def _write(path: Path, model: MachineModel) -> None:
    """Replace the file in one step: who reads it meanwhile has the old one or the new one."""
    import json

    text = json.dumps({"key": _key(), "model": asdict(model)}, indent=1)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, text.encode())
    except OSError as error:
        warnings.warn(f"the machine model could not be kept: {error}", stacklevel=3)
