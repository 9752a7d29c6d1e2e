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
from typing import Literal

from compiler.core.reason import Reason
from compiler.loops.choices import Form, Tail
from compiler.loops.choosing.accesses import Access, extents
from compiler.loops.choosing.panels import Worth, worth_packing
from compiler.loops.choosing.products import Product
from compiler.loops.choosing.register_tiles import VECTORS, Registers, registers
from compiler.loops.nodes import Range
from compiler.machines.model import MachineModel

FEWEST = 4
"""Lanes of the shortest vectors. 97×89×4 takes 2.8 µs with 2 or 4, 3.4 with 8 and 7.5 with 16
(EPYC, AVX2, 2026-11-23)."""
STORED = 10
"""Cycles to store a vector under a mask, where masks are dear: 253×251×249 takes 253 µs where all
vectors are stored so and 236 where those of the last panel are, 64×64×61 6.6 and 6.7 (EPYC, Zen 5,
AVX2, 2026-11-24)."""
SHARED = 0.5
"""The share of the time that bytes take from the last level which a core waits for, where all cores
read the same rows at the same time, each once for each of its panels, and no level-2 cache has room
for them; to share out rows instead, of which a core has its own, is then better. Times with columns
shared out, in those with rows: 128×784 by 512×784ᵀ 1.23, 128×784×512 1.11, 384³ 1.15, 1024³ 1.18,
2048³ 1.23, 512³ 1.0 and 1.08 across: 0.08 to 0.1 cycles a byte, of 0.13 (EPYC, Zen 3, AVX2, two
threads, medians of 40 rounds in turns, 2026-11-27)."""
AFAR = 4
"""Columns of so many parts of the last level come from memory, for each core that copies all of
them: 96×2048×2048 takes 1.16 times as long where rows are shared out (the same)."""
LAID_OUT = Worth(0, Reason("words of columns are laid out one after the other"))
"""Of columns that are words."""
Split = Literal["nothing", "batches", "columns", "rows"]


@dataclass(frozen=True, slots=True)
class Words:
    """Of a sum of products of small types: the axis whose iterations are the elements of words, how
    many a word has, how it is multiplied, and whether those of rows are next to each other."""

    fold: Range
    parts: int
    form: Form
    is_in_order: bool


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

    found: Product
    tiles: Registers
    vectors: int
    lanes: int
    tail: Tail
    worth: Worth
    whole: int
    """How many panels there are besides narrow ones."""
    left: tuple[int, ...]
    """The vectors of each narrow one."""
    trips: int
    """Iterations of the sum."""

    @property
    def is_masked(self) -> bool:
        """Whether all panels are under a mask that costs something."""
        return self.tail == "mask" and not self.tiles.model.masks

    @property
    def tallest(self) -> int:
        """The most rows of tiles: the narrow ones fit where the wide ones do, but for masks."""
        most = self.tiles.tallest(self.vectors, self.is_masked)
        most = min(most, self.tiles.tallest(1, True)) if self.left else most
        return min(most, self.found.rows.extent)

    def cycles(self, rows: int, whole: int, height: int) -> float:
        """Cycles of one iteration of the sum for so many rows of so many whole panels."""
        if not self.is_masked:
            return whole * self._column(rows, self.vectors, height, False)
        is_read = not self.worth.is_packed(-(-rows // height))
        stored = STORED * rows * whole * self.vectors / self.trips
        return whole * self._column(rows, self.vectors, height, is_read) + stored

    def narrow(self, rows: int, height: int) -> float:
        """The same for the narrow ones."""
        if not self.left:
            return 0.0
        stored = STORED * rows * len(self.left[1:]) / self.trips
        return sum(self._column(rows, n, height, True) for n in self.left) + stored

    def rows_awaited(self, whole: int) -> float:
        """Cycles of one iteration until rows are there that all cores read for so many panels."""
        nbytes, model = self._bytes_of(self.found.other, self.found.rows), self.tiles.model
        is_near = nbytes * self.trips <= model.cache_bytes[1] // 2
        return 0.0 if is_near else SHARED * whole * nbytes / (model.read[2] * model.cycle_ns)

    def columns_awaited(self) -> float:
        """The same of columns that each core copies for itself."""
        nbytes, model = self._bytes_of(self.found.panel, self.found.columns), self.tiles.model
        is_near = nbytes * self.trips <= model.cache_bytes[2] // AFAR
        return 0.0 if is_near else nbytes / (model.read[3] * model.cycle_ns)

    def _bytes_of(self, operand: Access, axis: Range) -> int:
        """Bytes that all of an axis reads for one iteration of the sum."""
        return axis.extent * operand.argument.element.itemsize

    def _column(self, rows: int, vectors: int, height: int, is_masked: bool) -> float:
        """Cycles of one iteration of the sum for all rows of one panel, and to pack or await it.

        Of an unknown number of rows about half a tile is left over, one row after the other.
        """
        of = self.tiles.cycles
        tiles, rest = divmod(rows, height)
        left = of(vectors, rest, is_masked) if rest else 0.0
        if self.found.is_open:
            left = height / 2 * of(vectors, 1, is_masked)
        awaited = self.worth.cost(-(-rows // height), vectors)
        return tiles * of(vectors, height, is_masked) + left + awaited


def plans(
    found: Product, widest: int, cores: int, model: MachineModel, words: Words | None = None
) -> Iterator[Plan]:
    """Plans for a product, in vectors of at most `widest` lanes, that fit the registers: the best
    height of each kind."""
    columns, tiles = found.columns.extent, registers(found, model)
    if words is not None:
        tiles = Registers(model, "apart", 1)
    for lanes, vectors in itertools.product(_lanes(columns, widest, model), VECTORS):
        worth = LAID_OUT if words else worth_packing(found, vectors * lanes, model)
        for tail in _tails(columns, vectors * lanes, model):
            panels = _panels(found, tiles, vectors, lanes, tail, worth)
            heights = _heights(panels)
            for split in _splits(panels, cores) if heights else ():
                cycles, negative, block = min(_longest(panels, split, cores, h) for h in heights)
                yield Plan(
                    vectors, -negative, lanes, tail, split, cores, block, worth, cycles,
                    tiles.steps, tiles.sums,
                )  # fmt: skip


def _panels(
    found: Product, tiles: Registers, vectors: int, lanes: int, tail: Tail, worth: Worth
) -> Panels:
    whole, rest = divmod(found.columns.extent, vectors * lanes)
    left = (rest // lanes, int(rest % lanes > 0)) if tail == "peel" else ()
    whole += int(rest > 0 and tail == "mask")
    narrow = tuple(n for n in left if n)
    trips = extents(found.folded)
    return Panels(found, tiles, vectors, lanes, tail, worth, whole, narrow, trips)


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


def _splits(panels: Panels, cores: int) -> list[Split]:
    """The loops that can be shared out."""
    if cores < 2:
        return ["nothing"]
    found = panels.found
    trips: dict[Split, int] = {
        "nothing": cores,
        "batches": found.outside[0].extent if found.outside else 0,
        "columns": panels.whole,
        "rows": 0 if found.is_open else found.rows.extent,
    }
    return [split for split, count in trips.items() if count >= cores]


def _heights(panels: Panels) -> list[int]:
    """The heights of tiles that fit; two of a variable number of rows leave over one iteration or
    none, which looks like no loop."""
    is_open = panels.found.is_open
    return [h for h in range(1, panels.tallest + 1) if not (is_open and h == 2)]


def _longest(panels: Panels, split: Split, cores: int, height: int) -> tuple[float, int, int]:
    """The cycles of the longest part, the height, negative, and the rows of one part.

    What is left over is the first core's, whose share of what does not come out even is the least.
    """
    found, whole = panels.found, panels.whole
    rows, batches, block = found.rows.extent, extents(found.outside), found.rows.extent
    match split:
        case "columns":
            first = panels.cycles(rows, whole // cores, height) + panels.narrow(rows, height)
            cycles = max(first, panels.cycles(rows, -(-whole // cores), height))
            cycles += panels.rows_awaited(-(-whole // cores))
        case "rows":
            cycles, block = min(
                (_rows(panels, block, cores, height), block)
                for block in _blocks(rows, cores, height)
            )
            cycles += panels.columns_awaited()
        case _:
            cycles = panels.cycles(rows, whole, height) + panels.narrow(rows, height)
            if split == "batches":
                outer = found.outside[0].extent
                batches = batches // outer * -(-outer // cores)
    return cycles * batches, -height, block


def _rows(panels: Panels, block: int, cores: int, height: int) -> float:
    """The cycles of the first core, which has what blocks of rows leave over."""
    count, left = divmod(panels.found.rows.extent, block)
    parts = [(-(-count // cores), block), (1, left)]
    return sum(
        turns * (panels.cycles(rows, panels.whole, height) + panels.narrow(rows, height))
        for turns, rows in parts if rows
    )  # fmt: skip


def _blocks(rows: int, cores: int, height: int) -> list[int]:
    """Rows of a core: as many as come out even, or whole tiles, the last ones being no block."""
    block = rows // cores
    whole = block // height * height
    is_other = 0 < whole < block and rows // whole == cores
    return [block, whole] if is_other else [block]
