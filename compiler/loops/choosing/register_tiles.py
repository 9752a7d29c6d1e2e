"""Register tiles: the tiles of sums that fit into a machine's registers, and their cycles.

    6 rows by 2 vectors of columns, one iteration of the sum, where there are 16 registers:
    12 sums, 2 vectors of columns, 2 of an element of a row in all lanes:   16 registers
    12 multiply-adds, 8 loads; two of each in a cycle:                       6 cycles

Every multiply-add depends on that of the iteration before, so a tile needs enough sums to hide its
latency. Elements of rows are broadcast to all lanes by a load, or are memory operands. If a
multiply-add can take one lane of a register as a scalar, adjacent elements are one load: along the
sum, some iterations of which are then unrolled, or along the rows.
"""

from dataclasses import dataclass
from typing import Literal

from compiler.loops.choosing.products import Product
from compiler.machines.model import MachineModel

VECTORS = (4, 3, 2, 1)
"""The vectors of columns in a tile: adjacent whole cache lines are best. Tiles of 2, 3 and
4 vectors were within 3 % where registers are 32 (Xeon, AVX-512, before 2026-11-22), and so on Zen 5
but for 3, 512³ 972, 988 and 1,036 µs with 4, 2 and 3; with 16 registers 6 rows by 2 and 4 by 3 take
1.91 and 2.05 ms, both packed (EPYC, Zen 5, 2026-11-24)."""
SUMS = 0.75
"""The share of the registers that may be sums. Of 32 above 25 were spilled, tiles of 24 were within
3 % of each other (Xeon, AVX-512, before 2026-11-22); 28, which leave 4 for operands, take 1.26 ms
for 512³ and 24 0.98 (EPYC, Zen 5, 2026-11-24)."""
TALLEST = 16
"""The most rows of a tile: each is a separate stream of memory. Only tiles of one vector
would be taller; not varied where they fit into registers."""
STEPS = 4
"""Unrolled iterations of the sum if an element of a row is a lane: the lanes of a vector of
float32. Instructions for each multiply-add are 1.35 with 2 and 1.23 with 4 for 5 rows by 4
vectors, 1.9 without (AArch64, by LLVM 22.1's assembly, 2026-11-24). On x86 2 or 4 iterations change
nothing, 512³ takes 1.91, 2.00 and 1.98 ms with 1, 2 and 4 (EPYC, Zen 5, AVX2, 2026-11-24)."""
LINE = 64
"""Bytes of a cache line. Vectors of columns that are no whole lines begin inside of one."""
OTHERS = 1 / 16
"""Cycles per operand in addition to the latency: an estimate, which decides between tiles that are
otherwise equally fast."""
SLACK = 1.0625
"""Cycles in addition to the latency of a multiply-add if there are just enough sums to hide it. The
first product of an MLP, 128×784×512 with strided weights, takes 1 in 2 rows by 4 vectors and 0.93
in 6 by 2 (EPYC, Zen 3, 2026-11-27)."""
ROWS = 2
"""Registers for a broadcast element of a row: with one, LLVM's schedule for an Alder Lake
spills where 4 rows by 3 vectors leave no other (LLVM 22.1, 2026-11-24)."""
Rows = Literal["apart", "along", "across"]
"""The way that elements of rows are loaded: one by one, along the sum, or across the rows."""


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers of a machine for the tile of a product. `rows` is the way that its rows are
    loaded, `lanes` the elements of one such load."""

    model: MachineModel
    rows: Rows
    lanes: int

    @property
    def sums(self) -> int:
        """The registers that may be sums."""
        return max(int(self.model.registers * SUMS), 1)

    @property
    def steps(self) -> int:
        """The unrolled iterations of the sum."""
        return {"apart": 1, "along": self.lanes, "across": 2}[self.rows]

    def tallest(self, vectors: int, is_masked: bool = False) -> int:
        """The most rows of a tile of `vectors`, with a mask for each if masked; 0 if none fit."""
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
        """The cycles of one iteration of the sum."""
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


def registers(product: Product, model: MachineModel) -> Registers:
    """The registers for tiles of a product."""
    lanes = min(model.lanes(product.other.argument.element.itemsize), STEPS)
    rows: Rows = "apart"
    fold = product.folded[-1]
    if model.takes_lanes and lanes > 1:
        if product.other.step(fold) == 1 and fold.extent >= 2 * lanes:
            rows = "along"
        elif product.other.step(product.rows) == 1 and fold.extent >= 4:
            rows = "across"
    return Registers(model, rows, lanes)
