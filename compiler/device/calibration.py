"""measure: how fast this machine runs generated code, as a `MachineModel`; about a second.

Every figure is the time of a kernel made by this compiler, the least of several runs:

    read, write   sums and fills of arrays that fit each cache, and of one that fits none
    strided       a vector times a matrix, whose columns the inner loop walks down
    operations    one operation per element of an array in the first cache; multiply-adds, and
                  additions and multiplications that are none, in long chains
    memory_cores  copies past all caches by all cores at once, next to those by one

The model is kept in a file of the user's cache folder, by processor and version.
"""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.trace import Provenance
from compiler.core.user_cache import user_cache
from compiler.device import cpu
from compiler.device.program import Program
from compiler.graph import nodes
from compiler.graph.nodes import TensorNode, const, elementwise
from compiler.loops.choices import Choices, Parallelize
from compiler.loops.collapse import collapse
from compiler.loops.index import index
from compiler.loops.simplify import simplify
from compiler.loops.transforms.axes import axes
from compiler.loops.transforms.parallelize import parallelize
from compiler.lowered.linearize import linearize
from compiler.machines import at_hand, measured
from compiler.machines.model import EXPENSIVE, MachineModel
from compiler.machines.processors import host
from compiler.machines.system import core_count
from compiler.ops.table import OPS

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
SLOWER = 0.75
"""The share of the speed of few bytes below which they come from memory: copies take 28.5 bytes/ns
up to 32 MB, 16 from 64 on and 15 from 128 on, of a cache of 480 MB (Xeon, 2 of its cores,
2026-11-23)."""
BUSY = 0.8
"""The share of all multiply-adds that a long chain reaches, from which the length of a cycle
follows: 0.014 ns where 0.0113 is the least (Xeon, AVX-512, 2026-11-23)."""
Array = np.ndarray[Any, np.dtype[Any]]


def measure() -> MachineModel:
    """Measure this machine."""
    floor = _per_element(lambda x: elementwise("add", x, x))
    read, write = zip(*(bandwidth(n) for n in SIZES), strict=True)
    vector, scalar = (_simple(level) for level in (3, 1))
    operations = {op: _operation(op, dtypes.float32, floor) for op in EXPENSIVE}
    exponential = _operation("exp", dtypes.float64, floor)
    stated = at_hand.stated(host())
    words = dict.fromkeys(("read", "vector_ns"), "measured by compiler.calibrate()")
    fma = _multiply_add()
    return replace(
        stated,
        name=f"{stated.name}, measured",
        cache_bytes=_caches(stated),
        read=_descending(read),
        write=_descending(write),
        strided=tuple(_column(n) for n in COLUMNS),  # type: ignore[arg-type]
        vector_ns=vector,
        scalar_ns=scalar,
        fma_ns=fma,
        cycle_ns=fma * stated.lanes(4) * stated.multiply_adds / BUSY,
        step_ns=_step(vector),
        launch_ns=_launch(),
        memory_cores=_memory_cores(),
        wide=min(max(exponential / operations["exp"], 1.0), 8.0),
        operations=tuple(operations.items()),
        origins=tuple((dict(stated.origins) | words).items()),
    )


def _descending(speeds: tuple[float, ...]) -> tuple[float, float, float, float]:
    """A level is never faster than the one before it: where it seems so, it is the noise."""
    result = [min(speeds[: n + 1]) for n in range(4)]
    return result[0], result[1], result[2], result[3]


def _caches(stated: MachineModel) -> tuple[int, int, int]:
    """The caches as they are stated. Of the third, which others may use too, no more than what
    this process keeps there."""
    first, second, third = stated.cache_bytes
    return first, second, _kept(third)


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


def calibrate(folder: str | Path | None = None, again: bool = False) -> MachineModel:
    """The model of this machine: from the file in `folder`, else measured and kept there.

    `folder` is the user's cache folder unless given: what is kept there is what loops are chosen by
    and estimates rest on from then on. `again` measures in any case. A file that cannot be read is
    measured again, and one that cannot be written is only warned of.
    """
    place = Path(folder) if folder is not None else user_cache()
    if place is None:
        return measure()
    found = None if again else measured.kept(place)
    if found is not None:
        return found
    model = measure()
    measured.keep(place, model)
    at_hand.forget()
    return model
