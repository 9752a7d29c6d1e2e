"""Plans for products: the height and width of tiles, what they leave over, what cores share out.

    256×250 results for two cores, 16 registers: 6 rows by 2 vectors of 8, rows shared out
    columns 0 … 239 in panels of 16, 8 more in one of 8, the last 2 in one of 2

Among all tiles that fit into the registers the one is taken that needs the fewest cycles for the
sizes at hand, what is left over and how it is shared out over the cores included. Columns that
whole tiles leave over are one more tile under a mask where that costs nothing; elsewhere a mask in
the inner loop would cost as much as what it saves, and narrow panels follow the wide ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from compiler.loops.choices import Tail
from compiler.loops.choosing.accesses import extents
from compiler.loops.choosing.panels import Worth, worth_packing
from compiler.loops.choosing.products import Product
from compiler.loops.choosing.register_tiles import VECTORS, Registers, registers
from compiler.machines.model import MachineModel

FEWEST = 4
"""Lanes of the shortest vectors. 97×89×4 takes 2.8 µs with 2 or 4, 3.4 with 8 and 7.5 with 16
(EPYC, AVX2, 2026-11-23)."""
STORED = 10
"""Cycles to store a vector under a mask, where masks are dear: 253×251×249 takes 253 µs where all
vectors are stored so and 236 where those of the last panel are, 64×64×61 6.6 and 6.7 (EPYC, Zen 5,
AVX2, 2026-11-24)."""
Split = Literal["nothing", "batches", "columns", "rows"]


@dataclass(frozen=True, slots=True)
class Plan:
    """Accumulators of `height` rows by `vectors` vectors of `lanes`, and what cores share out."""

    vectors: int
    height: int
    lanes: int
    tail: Tail
    split: Split
    cores: int
    worth: Worth
    """Whether the panel is copied."""
    cycles: float
    """About how long the longest part takes, for each element that is summed up."""
    steps: int
    """Iterations of the sum side by side."""
    most: int
    """Accumulators that fit into the registers."""

    @property
    def width(self) -> int:
        """Columns of a tile."""
        return self.vectors * self.lanes


@dataclass(frozen=True, slots=True)
class Panels:
    """Panels of `vectors` of `lanes` columns, and what they leave over: by a mask, or a narrow one
    of whole vectors and one of what these leave."""

    tiles: Registers
    vectors: int
    lanes: int
    tail: Tail
    worth: Worth

    def parts(self, columns: int) -> tuple[int, tuple[int, ...]]:
        """How many whole panels there are, and the vectors of each narrow one."""
        width = self.vectors * self.lanes
        if self.tail == "mask":
            return -(-columns // width), ()
        left = columns % width
        several = (left // self.lanes, int(left % self.lanes > 0))
        return columns // width, tuple(n for n in several if n)

    def tallest(self, left: tuple[int, ...]) -> int:
        """The most rows of tiles: the narrow ones fit where the wide ones do, but for masks."""
        is_masked = self.tail == "mask" and not self.tiles.model.masks
        most = self.tiles.tallest(self.vectors, is_masked)
        return min(most, self.tiles.tallest(1, True)) if left else most

    def cycles(
        self, found: Product, rows: int, height: int, whole: int, left: tuple[int, ...]
    ) -> float:
        """Cycles of one iteration of the sum for all rows of all panels."""
        is_masked = self.tail == "mask" and not self.tiles.model.masks
        is_read = is_masked and not self.worth.is_packed(-(-rows // height))
        cycles = whole * self._column(found, rows, self.vectors, height, is_read)
        cycles += sum(self._column(found, rows, n, height, True) for n in left)
        stored = rows * (whole * self.vectors if is_masked else len(left[1:]))
        return cycles + STORED * stored / extents(found.folded)

    def _column(
        self, found: Product, rows: int, vectors: int, height: int, is_masked: bool
    ) -> float:
        """Cycles of one iteration of the sum for all rows of one panel, and to pack or await it.

        Of an unknown number of rows about half a tile is left over, one row after the other.
        """
        each = partial(self.tiles.cycles, vectors, is_masked=is_masked)
        tiles, rest = divmod(rows, height)
        left = each(rest) if rest else 0.0
        if found.is_open:
            left = height / 2 * each(1)
        return tiles * each(height) + left + self.worth.cost(-(-rows // height), vectors)


def plans(found: Product, widest: int, cores: int, model: MachineModel) -> Iterator[Plan]:
    """Every plan for a product, in vectors of at most `widest` lanes, that fits the registers."""
    lanes = min(widest, _lanes(found.columns.extent, model))
    tiles = registers(found, model)
    for vectors in VECTORS:
        worth = worth_packing(found, vectors * lanes, model)
        for tail in _tails(found.columns.extent, vectors * lanes, model):
            panels = Panels(tiles, vectors, lanes, tail, worth)
            for split in _splits(found, vectors * lanes, cores):
                for cycles, height in _best(found, panels, split, cores):
                    yield Plan(
                        vectors, height, lanes, tail, split, cores, worth, cycles, tiles.steps,
                        tiles.sums,
                    )  # fmt: skip


def _lanes(columns: int, model: MachineModel) -> int:
    """Lanes for so many columns: a power of two that is no less, or, where masks are dear, no
    more."""
    least = 1 << (columns - 1).bit_length()
    return max(least if model.masks or least == columns else least // 2,
               2 if model.takes_lanes else FEWEST)  # fmt: skip


def _tails(columns: int, width: int, model: MachineModel) -> list[Tail]:
    """What may be done with columns that whole tiles leave over."""
    if columns % width == 0:
        return ["peel"]
    return ["mask"] if model.masks or columns < width else ["peel", "mask"]


def _splits(found: Product, width: int, cores: int) -> list[Split]:
    """The loops that can be shared out."""
    if cores < 2:
        return ["nothing"]
    trips: dict[Split, int] = {
        "nothing": cores,
        "batches": found.outside[0].extent if found.outside else 0,
        "columns": -(-found.columns.extent // width),
        "rows": 0 if found.is_open else found.rows.extent,
    }
    return [split for split, count in trips.items() if count >= cores]


def _best(
    found: Product, panels: Panels, split: Split, cores: int
) -> Iterator[tuple[float, int]]:
    """The cycles of the longest part, and the height of the tiles that takes the fewest; nothing
    where no tile fits into the registers."""
    whole, left = panels.parts(found.columns.extent)
    rows, batches = found.rows.extent, extents(found.outside)
    match split:
        case "columns":
            whole = -(-whole // cores)
        case "rows":
            rows = -(-rows // cores)
        case "batches":
            first = found.outside[0].extent
            batches = batches // first * -(-first // cores)
    most = min(panels.tallest(left), rows)
    # two of a variable number leave over one iteration or none, which looks like no loop
    heights = [h for h in range(1, most + 1) if not (found.is_open and h == 2)]
    if heights:
        each = ((panels.cycles(found, rows, h, whole, left), -h) for h in heights)
        cycles, height = min(each)
        yield cycles * batches, -height
