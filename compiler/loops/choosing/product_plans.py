"""Plans for products: the height and width of tiles, what they leave over, what cores share out.

    256×250 results for two cores, 16 registers: 6 rows by 2 vectors of 8, rows shared out
    columns 0 … 239 in panels of 16, 8 more in one of 8, the last 2 in one of 2

Among all tiles that fit into the registers the one is taken that needs the fewest cycles for the
sizes at hand, what is left over and how it is shared out over the cores included. Columns that
whole tiles leave over are one more tile under a mask where that costs nothing; elsewhere a mask in
the inner loop would cost as much as what it saves, and narrow panels follow the wide ones.
"""

import itertools
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
    block: int
    """Rows of a core."""
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

    def tallest(self, columns: int) -> int:
        """The most rows of tiles: the narrow ones fit where the wide ones do, but for masks."""
        is_masked = self.tail == "mask" and not self.tiles.model.masks
        most = self.tiles.tallest(self.vectors, is_masked)
        return min(most, self.tiles.tallest(1, True)) if self.parts(columns)[1] else most

    def cycles(self, found: Product, rows: int, whole: int, height: int) -> float:
        """Cycles of one iteration of the sum for so many rows of so many whole panels."""
        is_masked = self.tail == "mask" and not self.tiles.model.masks
        is_read = is_masked and not self.worth.is_packed(-(-rows // height))
        stored = STORED * rows * whole * self.vectors if is_masked else 0
        each = self._column(found, rows, self.vectors, height, is_read)
        return whole * each + stored / extents(found.folded)

    def narrow(self, found: Product, rows: int, height: int) -> float:
        """The same for the narrow ones."""
        _, left = self.parts(found.columns.extent)
        stored = STORED * rows * len(left[1:])
        each = (self._column(found, rows, n, height, True) for n in left)
        return sum(each) + stored / extents(found.folded)

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
    columns, tiles = found.columns.extent, registers(found, model)
    for lanes, vectors in itertools.product(_lanes(columns, widest, model), VECTORS):
        width = vectors * lanes
        worth = worth_packing(found, width, model)
        for tail in _tails(columns, width, model):
            panels = Panels(tiles, vectors, lanes, tail, worth)
            for split, height in itertools.product(
                _splits(found, panels, cores), _heights(found, panels)
            ):
                cycles, block = _longest(found, panels, split, cores, height)
                yield Plan(
                    vectors, height, lanes, tail, split, cores, block, worth, cycles, tiles.steps,
                    tiles.sums,
                )  # fmt: skip


def _lanes(columns: int, widest: int, model: MachineModel) -> list[int]:
    """What may be the lanes for so many columns: a power of two that is no less or, where masks are
    dear, no more."""
    fewest = 2 if model.takes_lanes else FEWEST
    least = 1 << (columns - 1).bit_length()
    both = (least,) if model.masks else (least, least // 2)
    return list(dict.fromkeys(min(widest, max(lanes, fewest)) for lanes in both))


def _tails(columns: int, width: int, model: MachineModel) -> list[Tail]:
    """What may be done with columns that whole tiles leave over."""
    if columns % width == 0:
        return ["peel"]
    return ["mask"] if model.masks or columns < width else ["peel", "mask"]


def _splits(found: Product, panels: Panels, cores: int) -> list[Split]:
    """The loops that can be shared out."""
    if cores < 2:
        return ["nothing"]
    trips: dict[Split, int] = {
        "nothing": cores,
        "batches": found.outside[0].extent if found.outside else 0,
        "columns": panels.parts(found.columns.extent)[0],
        "rows": 0 if found.is_open else found.rows.extent,
    }
    return [split for split, count in trips.items() if count >= cores]


def _heights(found: Product, panels: Panels) -> Iterator[int]:
    """The heights of tiles that fit; two of a variable number of rows leave over one iteration or
    none, which looks like no loop."""
    most = min(panels.tallest(found.columns.extent), found.rows.extent)
    yield from (h for h in range(most, 0, -1) if not (found.is_open and h == 2))


def _longest(
    found: Product, panels: Panels, split: Split, cores: int, height: int
) -> tuple[float, int]:
    """The cycles of the longest part, and the rows of one; what is left over is the first core's,
    whose share of what does not come out even is the smaller one."""
    rows, batches = found.rows.extent, extents(found.outside)
    whole, _ = panels.parts(found.columns.extent)
    of = partial(panels.cycles, found, height=height)
    left = partial(panels.narrow, found, height=height)
    match split:
        case "columns":
            first, most = whole // cores, -(-whole // cores)
            return max(of(rows, first) + left(rows), of(rows, most)) * batches, rows
        case "rows":
            return min(
                (sum(of(n, whole) + left(n) for n in (*[block] * turns, rows % block) if n)
                 * batches, block)
                for block in _blocks(rows, cores, height)
                for turns in (-(-(rows // block) // cores),)
            )  # fmt: skip
        case "batches":
            outer = found.outside[0].extent
            batches = batches // outer * -(-outer // cores)
    return (of(rows, whole) + left(rows)) * batches, rows


def _blocks(rows: int, cores: int, height: int) -> list[int]:
    """Rows of a core: as many as come out even, or whole tiles, the last ones being no block."""
    block = rows // cores
    whole = block // height * height
    return [block, whole] if whole and rows % whole == rows - whole * cores else [block]
