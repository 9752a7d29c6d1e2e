"""The machine model: the resources of one core, and the speed at which it computes and moves data.

    for choosing loops      vectors and registers, multiply-adds and loads per cycle, their
                            latency, caches with their sets, pages, cores
    for estimating times    ns of operations, bytes per ns from and to each level

Times are those of generated code in a steady state. `DEFAULT` has those of a Xeon (AVX-512, 2
cores, 2026-11-23), rounded: 167, 166, 30 and 15 bytes/ns read, 152, 59, 28 and 10 written, 0.012 ns
for an operation and 0.014 for a multiply-add in vectors. Other machines are rows of `machines.py`,
the one at hand is found by `at_hand.py`, and `compiler.calibrate()` measures it.

    level 0 … 3     level-1, level-2 and level-3 cache, memory
"""

from dataclasses import dataclass, field

from compiler.core.printable import ShownAsText
from compiler.ops.table import OPS

LEVELS = ("L1", "L2", "L3", "memory")
EXPENSIVE = {row.name: row.ns for row in OPS.values() if row.ns is not None}
"""Nanoseconds per element of operations of several instructions, vectorised, in float32."""
FMA = "fma"
"""A product that is added to a sum: one instruction."""
PRINTED = ("vector_bytes", "multiply_adds", "loads", "cache_bytes", "read", "page_bytes", "cores",
           "vector_ns")  # fmt: skip
"""The field whose origin each printed line states."""
NEVER_VECTOR = frozenset(row.name for row in OPS.values() if row.is_alone)
"""Operations that keep a loop from being vectorised: their figures are those of one element."""
POLYNOMIALS = frozenset(
    op for op, ns in EXPENSIVE.items() if ns >= 0.1 and op not in NEVER_VECTOR
)
"""Operations with many constants."""

ALONE = 4.0
"""The factor by which an operation of several instructions is slower in scalar code: a round
figure below the 8 and 16 lanes of a vector; not measured."""


@dataclass(frozen=True, slots=True)
class MachineModel(ShownAsText):
    """The figures of a machine by which loops are chosen and times estimated, for one core.

    `vector_bytes`, `registers`: those for vectors; `multiply_adds`, `loads`: vectors of full width
    in a cycle; `latency`: cycles until the result of a multiply-add can be added to;
    `broadcasts`: True if a multiply-add can broadcast an element from memory, which then needs no
    register; `takes_lanes`: True if it can broadcast one lane of a register; `masks`: True if
    masked loads and stores cost no more than full ones; `cycle_ns`: the length of a cycle under
    load;
    `dots`: the dot-product instructions for small types, several products in each lane: u8i8, i8
    and u8 of 8 bits, i16, bf16.

    `cache_bytes`: sizes of the three caches; `ways`: how many lines share a set of each;
    `page_bytes`, `pages`, `page_ways`: of memory, how many a core keeps the addresses of, and how
    many of them share a set.

    `read`, `write`: bytes per ns from and to each level, by vectors one after the other;
    `strided`: ns per element of a strided read down a column, by the level that holds the array;
    `vector_ns`, `scalar_ns`: one simple operation on a float32 element in vectorised and other
    code; `fma_ns`: one multiply-add in vectorised code, which is one instruction; `step_ns`: one
    iteration of a loop that holds other loops; `operations`: ns per float32 element of operations
    of many instructions, vectorised; `wide`: the factor by which a 64-bit element takes longer;
    `launch_ns`: one call of a program.

    `cores`: the number of cores; `memory_cores`: how many of them saturate the bandwidth of memory,
    the only level that they share.

    `origins`: the origin of figures, by field; fields not named come from the row of `name`.
    """

    name: str = "x86-avx512"
    vector_bytes: int = 64
    registers: int = 32
    multiply_adds: float = 2.0
    loads: float = 2.0
    latency: float = 4.0
    broadcasts: bool = True
    takes_lanes: bool = False
    masks: bool = True
    cycle_ns: float = 0.36
    dots: tuple[str, ...] = ()
    cache_bytes: tuple[int, int, int] = (48 * 1024, 1024 * 1024, 32 * 1024 * 1024)
    ways: tuple[int, int, int] = (12, 16, 16)
    page_bytes: int = 4096
    pages: int = 1536
    page_ways: int = 12
    read: tuple[float, float, float, float] = (160.0, 150.0, 30.0, 15.0)
    write: tuple[float, float, float, float] = (150.0, 60.0, 28.0, 12.0)
    strided: tuple[float, float, float, float] = (0.2, 0.8, 7.0, 7.5)
    vector_ns: float = 0.012
    fma_ns: float = 0.014
    scalar_ns: float = 0.11
    step_ns: float = 5.5
    launch_ns: float = 300.0
    cores: int = 2
    memory_cores: float = 8.0
    wide: float = 2.0
    operations: tuple[tuple[str, float], ...] = field(default=tuple(EXPENSIVE.items()))
    origins: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)

    def operation_ns(self, op: str, itemsize: int, is_vector: bool, cost: int = 1) -> float:
        """One operation of the table on one element; `cost` is the weight of the table's row."""
        listed = dict(self.operations).get(op)
        simple = self.fma_ns if op == FMA else self.vector_ns
        vector = simple if listed is None else listed
        width = 1.0 if itemsize <= 4 else self.wide
        if op in NEVER_VECTOR:
            return vector
        if is_vector:
            return vector * (width if listed is not None else itemsize / 4)
        alone = self.scalar_ns * min(cost, 4)
        return max(alone, vector * width * ALONE) if listed else alone

    def moving_ns(self, level: int, read: float, written: float, threads: int = 1) -> float:
        """The ns to move this many bytes from and to a level, by several cores in parallel."""
        at_once = min(threads, self.memory_cores) if level == LEVELS.index("memory") else threads
        return (read / self.read[level] + written / self.write[level]) / at_once

    def level(self, nbytes: float) -> int:
        """The first level that holds `nbytes`."""
        return next((n for n, size in enumerate(self.cache_bytes) if nbytes <= size), 3)

    def lanes(self, itemsize: int) -> int:
        """Elements of this size in one vector."""
        return max(self.vector_bytes // itemsize, 1)

    def __str__(self) -> str:
        rows = [
            ("vectors", f"{self.registers} of {self.vector_bytes} bytes", "vector_bytes"),
            ("multiply-adds", f"{self.multiply_adds:g} vectors a cycle, each ready after "
             f"{self.latency:g}; {self.fma_ns:.4f} ns an element", "multiply_adds"),
            ("loads", f"{self.loads:g} vectors a cycle of {self.cycle_ns:.3f} ns", "loads"),
            *self._levels(),
            ("pages", f"{self.pages:,} of {self.page_bytes:,} bytes, {self.page_ways} ways",
             "page_bytes"),
            ("cores", f"{self.cores}; memory as fast as {self.memory_cores:.1f}", "cores"),
            ("operation", f"{self.vector_ns:.4f} ns in vectors, {self.scalar_ns:.3f} ns alone; "
             f"loop {self.step_ns:.2f} ns; launch {self.launch_ns:,.0f} ns", "vector_ns"),
        ]  # fmt: skip
        origins = dict(self.origins)
        wide = max(len(text) for _, text, _ in rows)
        lines = (f"{name:<14}{text:<{wide}}  {origins.get(key, '')}" for name, text, key in rows)
        functions = "  ".join(f"{name} {ns:.3f}" for name, ns in self.operations)
        return "\n".join((f"machine {self.name}", *map(str.rstrip, lines), functions))

    def _levels(self) -> list[tuple[str, str, str]]:
        """A row for each level of memory."""
        result = []
        for number, level in enumerate(LEVELS):
            cached = number < len(self.cache_bytes)
            size = f"{self.cache_bytes[number]:,} bytes, {self.ways[number]} ways" if cached else ""
            result.append((
                level, f"{size:<28}read {self.read[number]:6.1f}  write {self.write[number]:6.1f} "
                f"bytes/ns  column {self.strided[number]:5.2f} ns",
                "cache_bytes" if cached else "read",
            ))  # fmt: skip
        return result


DEFAULT = MachineModel()
