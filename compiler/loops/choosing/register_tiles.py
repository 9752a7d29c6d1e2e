"""Register tiles: which tiles of sums fit into a machine's registers, and the cycles they take.

    6 rows by 2 vectors of columns, one iteration of the sum, where there are 16 registers:
    12 sums, 2 vectors of columns, 2 of an element of a row in all lanes:   16 registers
    12 multiply-adds, 8 loads; two of each in a cycle:                       6 cycles

Every multiply-add waits for that of the iteration before, so there are sums enough to hide that.
Elements of rows are loaded into all lanes, one after the other, or stand in memory as an operand.
Where a multiply-add takes a lane of a register for all, those next to each other are one load:
along the sum, of which some iterations then stand side by side, or along the rows.
"""

from dataclasses import dataclass
from typing import Literal

from compiler.loops.choosing.products import Product
from compiler.machines.model import MachineModel

VECTORS = (4, 3, 2, 1)
"""Vectors of columns side by side: whole cache lines next to each other are best. Tiles of 2, 3 and
4 vectors were within 3 % where registers are 32 (Xeon, AVX-512, before 2026-11-22), and so on Zen 5
but for 3, 512³ 972, 988 and 1,036 µs with 4, 2 and 3; with 16 registers 6 rows by 2 and 4 by 3 take
1.91 and 2.05 ms, both packed (EPYC, Zen 5, 2026-11-24)."""
SUMS = 0.75
"""The share of the registers that may be sums. Of 32 above 25 were spilled, tiles of 24 were within
3 % of each other (Xeon, AVX-512, before 2026-11-22); 28, which leave 4 for operands, take 1.26 ms
for 512³ and 24 0.98 (EPYC, Zen 5, 2026-11-24)."""
TALLEST = 16
"""Rows side by side: as many places of memory are read at the same time. Only tiles of one vector
would be taller; not varied where they fit into registers."""
STEPS = 4
"""Iterations of the sum side by side where an element of a row is a lane: as many as a vector of
float32 has. Instructions for each multiply-add are 1.35 with 2 and 1.23 with 4 for 5 rows by 4
vectors, 1.9 without (AArch64, by LLVM 22.1's assembly, 2026-11-24). On x86 2 or 4 iterations change
nothing, 512³ takes 1.91, 2.00 and 1.98 ms with 1, 2 and 4 (EPYC, Zen 5, AVX2, 2026-11-24)."""
LINE = 64
"""Bytes of a line of a cache. Vectors of columns that are no whole lines begin inside of one."""
OTHERS = 1 / 16
"""Cycles for each operand besides those that are waited for: an estimate, which decides between
tiles that are as fast otherwise."""
SLACK = 1.0625
"""What is waited for beside the latency of a multiply-add where there are just sums enough to hide
it. The first product of an MLP, 128×784×512 with weights across, takes 1 in 2 rows by 4 vectors and
0.93 in 6 by 2 (EPYC, Zen 3, 2026-11-27)."""
ROWS = 2
"""Registers for an element of a row in all lanes: with one, LLVM's schedule for an Alder Lake
spills where 4 rows by 3 vectors leave no other (LLVM 22.1, 2026-11-24)."""
Rows = Literal["apart", "along", "across"]
"""How elements of rows are loaded: one by one, along the sum, or across the rows."""


@dataclass(frozen=True, slots=True)
class Registers:
    """What a tile of a product finds on a machine: `rows` says how its rows are loaded, `lanes` how
    many elements one such load has."""

    model: MachineModel
    rows: Rows
    lanes: int

    @property
    def sums(self) -> int:
        """Registers that may be sums."""
        return max(int(self.model.registers * SUMS), 1)

    @property
    def steps(self) -> int:
        """Iterations of the sum side by side."""
        return {"apart": 1, "along": self.lanes, "across": 2}[self.rows]

    def tallest(self, vectors: int, is_masked: bool = False) -> int:
        """The most rows by so many vectors; with masks each of these has one; 0 where none fit."""
        left = self.model.registers - vectors * (2 if is_masked else 1)
        match self.rows:
            case "apart" if self.model.broadcasts:
                most = left // vectors
            case "apart":
                most = (left - ROWS) // vectors
            case "along":
                most = left // (vectors + 1)
            case "across":
                most = (left - 1) * self.lanes // (vectors * self.lanes + 1)
        return max(min(most, self.sums // vectors, TALLEST), 0)

    def cycles(self, vectors: int, height: int, is_masked: bool = False) -> float:
        """Those of one iteration of the sum."""
        model, read = self.model, float(height)
        if self.rows == "along":
            read = height / self.lanes
        elif self.rows == "across":
            read = -(-height // self.lanes)
        masked = 2 * self.lanes if model.takes_lanes else 2
        loads = vectors * (masked if is_masked else 1) + read
        products = vectors * height / model.multiply_adds
        apart = vectors * model.vector_bytes % LINE != 0
        more = vectors + height + (2 if apart else 0)
        return max(products, loads / model.loads, model.latency * SLACK) + more * OTHERS


def registers(found: Product, model: MachineModel) -> Registers:
    """The registers that tiles of a product have."""
    lanes = min(model.lanes(found.other.argument.element.itemsize), STEPS)
    rows: Rows = "apart"
    fold = found.folded[-1]
    if model.takes_lanes and lanes > 1:
        if found.other.step(fold) == 1 and fold.extent >= 2 * lanes:
            rows = "along"
        elif found.other.step(found.rows) == 1 and fold.extent >= 4:
            rows = "across"
    return Registers(model, rows, lanes)
