"""measure: the speed of generated code on this machine, as a `MachineModel`; takes half a second.

Figures are times of kernels made by this compiler, the least of several runs:

    read, write   sums and fills of arrays that fit each cache, and of one that fits none
    strided       a vector times a matrix, whose columns the inner loop walks down
    operations    one operation per element of an array in the first cache; additions and
                  multiplications in long chains
    memory_cores  copies past all caches by all cores at once, next to those by one

Cycles, and the issue rates per cycle, come from hand-written loops (`cycles.py`). For a processor
that the table of machines lists by name they come from the table, which other load cannot disturb.

The model is kept in a file of the user's cache folder, by processor and version.
"""

import itertools
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import Array, DType
from compiler.core.trace import Provenance
from compiler.core.user_cache import user_cache
from compiler.device import cpu, cycles
from compiler.device.cycles import Cycles
from compiler.device.program import Program
from compiler.graph import nodes
from compiler.graph.nodes import TensorNode, const, elementwise
from compiler.loops.choices import Choices, Parallelize, parse
from compiler.loops.coalesce import coalesce
from compiler.loops.index import index
from compiler.loops.simplify import simplify
from compiler.loops.transforms.axes import axes
from compiler.loops.transforms.parallelize import parallelize
from compiler.loops.transforms.tile import tile
from compiler.loops.transforms.unroll import unroll
from compiler.loops.transforms.vectorize import vectorize
from compiler.lowered.linearize import linearize
from compiler.machines import at_hand, measured
from compiler.machines.model import EXPENSIVE, MachineModel
from compiler.machines.named import descending
from compiler.machines.processors import has_multiply_add, host
from compiler.machines.system import core_count
from compiler.ops.table import OPS

SECONDS, LONGEST = 0.003, 0.02
"""Seconds for which each kernel is repeated, and the limit if the least time did not recur `AGAIN`
times, because another program has the core. A choice: all of `measure` takes 0.45 s of processor
time on one core of an AMD EPYC (Zen 5, AVX-512, 2026-11-24)."""
TRIES = 3
"""Repetitions of measurements on all cores at once. A choice."""
AGAIN, ALIKE = 3, 1.05
"""The least time is accepted once `AGAIN` times are within a factor `ALIKE` of it."""
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
NARROW = 64
"""Columns of these that are read: cache lines are reused as often as in all columns."""
BUSY = 0.8
"""The typical share of peak multiply-adds that a kernel reaches: 0.014 ns where 0.0113 is the least
(Xeon, AVX-512, 2026-11-23)."""
SLOWED = 1.6
"""A cycle under load is at most so many times as long as one of integers: processors slow down for
wide vectors. More than that is somebody else's load."""
WORDS = "measured by compiler.calibrate()"
CYCLES_SECONDS = 0.02
"""Of the loops whose cycles are known, twice: 0.232 ns a cycle, to three places, each time (EPYC,
Zen 5, 2026-11-24)."""


def measure() -> MachineModel:
    """Measure this machine."""
    stated = at_hand.stated(host())
    loops = cycles.Loops(stated, has_multiply_add())
    loops.run(CYCLES_SECONDS)
    wide = _in_vectors(stated.vector_bytes, 4)
    floor = _per_element(lambda x: elementwise("add", x, x), choices=wide)
    room = _array(SIZES[-1] // 4)
    read, write = zip(*(bandwidth(n, room) for n in SIZES), strict=True)
    nbytes = stated.vector_bytes
    operations = {op: _operation(op, dtypes.float32, nbytes, floor) for op in EXPENSIVE}
    exponential = _operation("exp", dtypes.float64, nbytes, floor)
    vector, scalar = _simple(wide), _simple("")
    loops.run(CYCLES_SECONDS)  # a neighbour may be gone by now
    counted = in_cycles(stated, loops.found(), at_hand.is_in_table(host()))
    return replace(
        counted,
        name=f"{stated.name}, measured",
        cache_bytes=_caches(stated, room),
        read=descending(read),  # where it seems otherwise, it is the noise
        write=descending(write),
        strided=tuple(_column(n, room) for n in COLUMNS),  # type: ignore[arg-type]
        vector_ns=vector,
        scalar_ns=scalar,
        step_ns=_step(vector),
        launch_ns=_launch(),
        memory_cores=_memory_cores(room),
        wide=min(max(exponential / operations["exp"], 1.0), 8.0),
        operations=tuple(operations.items()),
        origins=tuple(_origins(counted).items()),
    )


def in_cycles(stated: MachineModel, cycles: Cycles, is_in_table: bool) -> MachineModel:
    """The model with the measured cycle and issue rates; a processor of the table keeps the
    table's."""
    if not is_in_table:
        stated = replace(
            stated,
            multiply_adds=cycles.multiply_adds or stated.multiply_adds,
            loads=cycles.loads or stated.loads,
            latency=cycles.latency or stated.latency,
            origins=(*stated.origins, ("multiply_adds", WORDS), ("loads", WORDS)),
        )
    cycle = (cycles.multiply_add_ns or 0.0) * stated.multiply_adds
    if not cycles.ns <= cycle <= SLOWED * cycles.ns:
        cycle = cycles.ns
    fma = cycle / (stated.multiply_adds * stated.lanes(4) * BUSY)
    return replace(stated, cycle_ns=cycle, fma_ns=fma)


def _origins(model: MachineModel) -> dict[str, str]:
    """The origin of the figures of each field."""
    origins = dict(model.origins)
    both = {it: origins[it] for it in ("multiply_adds", "loads") if origins[it] != WORDS}
    timed = {it: f"{words}; ns {WORDS}" for it, words in both.items()}
    speeds = {"cache_bytes": f"{origins['cache_bytes']}; speeds {WORDS}"}
    return origins | timed | speeds | dict.fromkeys(("read", "vector_ns"), WORDS)


def _caches(stated: MachineModel, room: Array) -> tuple[int, int, int]:
    """The caches as the system states them. The third, which may be shared, is limited to the part
    that this process can use."""
    first, second, third = stated.cache_bytes
    return first, second, _kept(third, room)


def _kept(stated: int, room: Array) -> int:
    """The effective size of the last cache, up to which copies keep their speed: a virtual machine
    has a part of its processor's cache."""
    kept, most = SIZES[2], min(stated, SIZES[3])
    if kept > most:
        return stated
    first = _copied(kept, room)
    while 2 * kept <= most:
        if _copied(2 * kept, room) < SLOWER * first:
            return kept
        kept *= 2
    return stated if stated <= SIZES[3] else kept


def _copied(nbytes: int, room: Array, tasks: int = 1) -> float:
    """Bytes per ns of a copy by `cores` cores; the bytes count both reads and writes."""
    size = nbytes // 8
    value = elementwise("mul", _param(1, (size,)), const(1.5, dtypes.float32, (size,)))
    return nbytes / _ns(_load(value, tasks=tasks), [room[:size], room[size : 2 * size]])


def _load(value: TensorNode, choices: str = "", level: int = 3, tasks: int = 1) -> Program:
    """The program that writes `value`, an expression over Params, to argument 0; its outermost loop
    is divided among `tasks` if there are several.
    """
    body = nodes.Sink((nodes.Store((nodes.Param((), 0, value.shape, value.dtype), value)),))
    provenance: Provenance[TensorNode] = Provenance()
    loops = index(body, provenance)
    loops = coalesce(simplify(loops, provenance, None), provenance, None)
    chosen = parse(choices)
    for transform in (tile, unroll, vectorize):
        loops = transform(loops, chosen, provenance)
    if tasks > 1:
        outermost = next(iter(axes(loops)))
        loops = parallelize(loops, Choices((Parallelize(outermost, tasks),)), provenance)
    spec = cpu.LlvmRenderer().render(linearize(loops).instructions, "measured")
    return cpu.load(cpu.compile_spec(spec, level))


def _ns(program: Program, arrays: list[Array]) -> float:
    """The least time of a run, launch included."""
    buffers = [arrays[slot].ctypes.data for slot in program.slots]
    is_one = program.tasks == 1
    return _least(partial(program.execute, buffers) if is_one else program.bound(buffers, [0]))


def _least(run: Callable[[], object]) -> float:
    """The least time of a call; repeated for longer if it did not recur."""
    clock = time.perf_counter_ns
    run()
    times, begun = list[int](), clock()
    while True:
        start = clock()
        run()
        now = clock()
        times.append(now - start)
        spent = (now - begun) * 1e-9
        if spent > LONGEST or (spent > SECONDS and _came_again(times)):
            return float(min(times))


def _came_again(times: list[int]) -> bool:
    least = ALIKE * min(times)
    return sum(it <= least for it in times) >= AGAIN


def _array(size: int, dtype: DType = dtypes.float32) -> Array:
    """`size` ones, in memory of the allocator, whose pages are mapped."""
    result = cpu.allocate(size, dtype, "measured")
    result[...] = 1
    return result


def _param(slot: int, shape: tuple[int, ...], dtype: DType = dtypes.float32) -> nodes.Param:
    return nodes.Param((), slot, shape, dtype)


def _launch() -> float:
    program = _load(elementwise("neg", _param(1, (1,))))
    return _ns(program, [_array(1), _array(1)])


def _per_element(
    build: Callable[[TensorNode], TensorNode], dtype: DType = dtypes.float32, choices: str = ""
) -> float:
    """ns per element of an expression of one argument that fits the first cache, without LLVM's
    vectoriser."""
    program = _load(build(_param(1, (SMALL,), dtype)), choices, level=3 if choices else 1)
    return _ns(program, [_array(SMALL, dtype), _array(SMALL, dtype)]) / SMALL


def _in_vectors(nbytes: int, itemsize: int) -> str:
    """The choices for a loop over elements in vectors."""
    return f"tile i0 {nbytes // itemsize}; vectorize i0.1"


def _operation(op: str, dtype: DType, nbytes: int, floor: float) -> float:
    """ns per element of one operation of the table, without reading and writing."""
    row = OPS[op]
    target = dtypes.int32 if row.is_alone else dtype

    def build(x: TensorNode) -> TensorNode:
        # a distinct second operand, or LLVM folds x / x
        others = [elementwise("add", x, const(2, target, x.shape))] * (row.arity - 1)
        return elementwise(op, x, *others)

    choices = "" if row.is_alone else _in_vectors(nbytes, target.itemsize)
    return max(_per_element(build, target, choices) - floor, 0.002)


def _simple(choices: str) -> float:
    """ns of one multiplication or subtraction of one element: a chain of each, side by side."""

    def build(x: TensorNode) -> TensorNode:
        products = differences = x
        for _ in range(CHAIN):
            products = elementwise("mul", products, x)
            differences = elementwise("sub", x, differences)
        return elementwise("sub", products, differences)

    return _per_element(build, choices=choices) / (2 * CHAIN)


def bandwidth(nbytes: int, room: Array | None = None) -> tuple[float, float]:
    """Bytes per ns read and written, of arrays of this size; in the memory `room` if given."""
    size, launch = nbytes // 4, 250.0
    shape = (size,)
    one, many = _array(1), _array(size) if room is None else room[:size]
    read = _ns(_load(nodes.Reduce((_param(1, shape),), "sum", (0,))), [one, many])
    write = _ns(_load(const(1.5, dtypes.float32, shape)), [many])
    return nbytes / max(read - launch, 1.0), nbytes / max(write - launch, 1.0)


def _memory_cores(room: Array) -> float:
    """The number of cores that saturate the memory bandwidth: the most of some tries, because other
    programs may have one of the cores."""
    cores, speedup = core_count(), 1.0
    one = _copied(SIZES[-1], room)
    for _ in range(TRIES):
        speedup = max(speedup, _copied(SIZES[-1], room, cores) / one)
        if speedup > SLOWER * cores:
            break
    return min(speedup, float(cores))


def _column(size: int, room: Array) -> float:
    """ns per element of a square matrix that is read down its columns. In a large one each run
    reads the columns after those of the last run, so that they are not cached by it."""
    width = size if size <= COLUMNS[2] else NARROW
    some = nodes.Shrink((_param(2, (size, size)),), ((0, size), (0, width)))
    row = nodes.Expand((_param(1, (1, size)),), (width, size))
    product = elementwise("mul", row, nodes.Permute((some,), (1, 0)))
    program = _load(nodes.Reduce((product,), "sum", (1,)))
    column, left, matrix = (it.ctypes.data for it in np.split(room, (SMALL, 2 * SMALL)))
    parts = itertools.cycle(range(matrix, matrix + size * 4, width * 4))

    def run() -> None:
        places = column, left, next(parts)
        program.execute([places[slot] for slot in program.slots])

    return _least(run) / (width * size)


def _step(vector_ns: float) -> float:
    """ns of beginning and ending an inner loop, beyond what it computes: a sum of short rows."""
    rows, width = 64, 128
    value = nodes.Reduce((_param(1, (rows, width)),), "sum", (1,))
    time_per_row = _ns(_load(value), [_array(rows), _array(rows * width)]) / rows
    return min(max(time_per_row - width * vector_ns, 0.3), 30.0)


def calibrate(folder: str | Path | None = None, again: bool = False) -> MachineModel:
    """The model of this machine: from the file in `folder`, else measured and saved there.

    `folder` is the user's cache folder by default; from then on loops are chosen and times are
    estimated by the model saved there. `again` measures in any case. If the file cannot be read,
    the machine is measured again; if it cannot be written, there is a warning.
    """
    place = Path(folder) if folder is not None else user_cache()
    if place is None:
        return measure()
    remembered = None if again else measured.kept(place)
    if remembered is not None:
        return remembered
    model = measure()
    measured.keep(place, model)
    at_hand.forget()
    return model
