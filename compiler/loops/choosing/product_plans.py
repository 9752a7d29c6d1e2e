"""Plans for products: the height and width of tiles, their remainders, and the split over cores.

    256×250 results for two cores, 16 registers: 6 rows by 2 vectors of 8, rows split over cores
    columns 0 … 239 in panels of 16, 8 more in one of 8, the last 2 in one of 2

Among all tiles that fit into the registers, the one with the fewest estimated cycles is chosen; the
estimate includes remainders and the split over cores. The remainder of the columns is one more,
masked tile where masks are free; elsewhere a mask in the inner loop would cost as much as it saves,
and narrow panels follow the wide ones.
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
"""The lanes of the shortest vectors. 97×89×4 takes 2.8 µs with 2 or 4, 3.4 with 8 and 7.5 with 16
(EPYC, AVX2, 2026-11-23)."""
STORED = 10
"""Cycles of a masked store where masks are expensive: 253×251×249 takes 253 µs with
masks on all vectors and 236 on those of the last panel, 64×64×61 6.6 and 6.7 (EPYC, Zen 5,
AVX2, 2026-11-24)."""
SHARED = 0.5
"""The exposed share of the time to transfer bytes from the last-level cache, if all cores read the
same rows at the same time, once for each of their panels, and no level-2 cache holds them. Then it
is better to split rows, so that each core has its own. Times with columns split, relative to rows:
128×784 by 512×784ᵀ 1.23, 128×784×512 1.11, 384³ 1.15, 1024³ 1.18, 2048³ 1.23, 512³ 1.0 and 1.08
strided: 0.08 to 0.1 cycles a byte, of 0.13 (EPYC, Zen 3, AVX2, two threads, medians of 40
interleaved rounds, 2026-11-27)."""
AFAR = 4
"""The fraction of the last-level cache, 1/n, from which columns come from memory, for each core
that packs all of them: 96×2048×2048 takes 1.16 times as long with rows split (the same)."""
LAID_OUT = Worth(0, Reason("words of columns are laid out one after the other"))
"""The same for columns that are words."""
Split = Literal["nothing", "batches", "columns", "rows"]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a sum of products of small types: their axis, the elements of a word, the form
    of the instruction, and whether the elements of rows are adjacent."""

    fold: Range
    parts: int
    form: Form
    is_in_order: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """Accumulators of `height` rows by `vectors` vectors of `lanes`, and the split over cores."""

    vectors: int
    height: int
    lanes: int
    tail: Tail
    split: Split
    cores: int
    block: int
    """The rows of a core."""
    worth: Worth
    """The worth of packing the panel."""
    cycles: float
    """The estimated cycles of the longest part, per iteration of the sum."""
    steps: int
    """Unrolled iterations of the sum."""
    most: int
    """Accumulators that fit into the registers."""

    @property
    def width(self) -> int:
        """The columns of a tile."""
        return self.vectors * self.lanes


@dataclass(frozen=True, slots=True)
class Panels:
    """Panels of `vectors` of `lanes` columns, and the remainder: masked, or a narrow panel of whole
    vectors and one of the remaining columns."""

    product: Product
    tiles: Registers
    vectors: int
    lanes: int
    tail: Tail
    worth: Worth
    whole: int
    """The number of panels without narrow ones."""
    left: tuple[int, ...]
    """The vectors of each narrow one."""
    trips: int
    """The iterations of the sum."""

    @property
    def is_masked(self) -> bool:
        """True if all panels have a mask that is not free."""
        return self.tail == "mask" and not self.tiles.model.masks

    @property
    def tallest(self) -> int:
        """The most rows of tiles: narrow tiles fit if wide ones do, except for masks."""
        most = self.tiles.tallest(self.vectors, self.is_masked)
        most = min(most, self.tiles.tallest(1, True)) if self.left else most
        return min(most, self.product.rows.extent)

    def cycles(self, rows: int, whole: int, height: int) -> float:
        """Cycles of one iteration of the sum for some rows of some whole panels."""
        if not self.is_masked:
            return whole * self._column(rows, self.vectors, height, False)
        is_read = not self.worth.is_packed(-(-rows // height))
        stored = STORED * rows * whole * self.vectors / self.trips
        return whole * self._column(rows, self.vectors, height, is_read) + stored

    def narrow(self, rows: int, height: int) -> float:
        """The same for the narrow panels."""
        if not self.left:
            return 0.0
        stored = STORED * rows * len(self.left[1:]) / self.trips
        return sum(self._column(rows, n, height, True) for n in self.left) + stored

    def rows_awaited(self, whole: int) -> float:
        """Cycles that one iteration waits for rows that all cores read, once for each panel."""
        nbytes, model = self._bytes_of(self.product.other, self.product.rows), self.tiles.model
        is_near = nbytes * self.trips <= model.cache_bytes[1] // 2
        return 0.0 if is_near else SHARED * whole * nbytes / (model.read[2] * model.cycle_ns)

    def columns_awaited(self) -> float:
        """The same for columns that each core packs for itself."""
        nbytes, model = self._bytes_of(self.product.panel, self.product.columns), self.tiles.model
        is_near = nbytes * self.trips <= model.cache_bytes[2] // AFAR
        return 0.0 if is_near else nbytes / (model.read[3] * model.cycle_ns)

    def _bytes_of(self, operand: Access, axis: Range) -> int:
        """The bytes that a whole axis reads in one iteration of the sum."""
        return axis.extent * operand.argument.element.itemsize

    def _column(self, rows: int, vectors: int, height: int, is_masked: bool) -> float:
        """Cycles of one iteration of the sum for all rows of one panel, and to pack it or wait for
        it.

        A variable number of rows has a remainder of about half a tile, one row at a time.
        """
        of = self.tiles.cycles
        tiles, rest = divmod(rows, height)
        left = of(vectors, rest, is_masked) if rest else 0.0
        if self.product.is_open:
            left = height / 2 * of(vectors, 1, is_masked)
        awaited = self.worth.cost(-(-rows // height), vectors)
        return tiles * of(vectors, height, is_masked) + left + awaited


def plans(
    product: Product, widest: int, cores: int, model: MachineModel, words: Words | None = None
) -> Iterator[Plan]:
    """Plans for a product that fit the registers, with vectors of at most `widest` lanes: the best
    height of each kind."""
    columns, tiles = product.columns.extent, registers(product, model)
    if words is not None:
        tiles = Registers(model, "apart", 1)
    for lanes, vectors in itertools.product(_lanes(columns, widest, model), VECTORS):
        worth = LAID_OUT if words else worth_packing(product, vectors * lanes, model)
        for tail in _tails(columns, vectors * lanes, model):
            panels = _panels(product, tiles, vectors, lanes, tail, worth)
            heights = _heights(panels)
            for split in _splits(panels, cores) if heights else ():
                cycles, negative, block = min(_longest(panels, split, cores, h) for h in heights)
                yield Plan(
                    vectors, -negative, lanes, tail, split, cores, block, worth, cycles,
                    tiles.steps, tiles.sums,
                )  # fmt: skip


def _panels(
    product: Product, tiles: Registers, vectors: int, lanes: int, tail: Tail, worth: Worth
) -> Panels:
    whole, rest = divmod(product.columns.extent, vectors * lanes)
    left = (rest // lanes, int(rest % lanes > 0)) if tail == "peel" else ()
    whole += int(rest > 0 and tail == "mask")
    narrow = tuple(n for n in left if n)
    trips = extents(product.folded)
    return Panels(product, tiles, vectors, lanes, tail, worth, whole, narrow, trips)


def _lanes(columns: int, widest: int, model: MachineModel) -> list[int]:
    """The candidate numbers of lanes for some columns: a power of two that is at least as large or,
    where masks are expensive, at most."""
    fewest = 2 if model.takes_lanes else FEWEST
    least = 1 << (columns - 1).bit_length()
    both = (least,) if model.masks else (least, least // 2)
    return list(dict.fromkeys(min(widest, max(lanes, fewest)) for lanes in both))


def _tails(columns: int, width: int, model: MachineModel) -> list[Tail]:
    """The candidate ways to compute the columns that remain after whole tiles."""
    if columns % width == 0:
        return ["peel"]
    return ["mask"] if model.masks or columns < width else ["peel", "mask"]


def _splits(panels: Panels, cores: int) -> list[Split]:
    """The loops that can be split over cores."""
    if cores < 2:
        return ["nothing"]
    product = panels.product
    trips: dict[Split, int] = {
        "nothing": cores,
        "batches": product.outside[0].extent if product.outside else 0,
        "columns": panels.whole,
        "rows": 0 if product.is_open else product.rows.extent,
    }
    return [split for split, count in trips.items() if count >= cores]


def _heights(panels: Panels) -> list[int]:
    """The heights of tiles that fit; height 2 of a variable number of rows leaves one iteration or
    none, which looks like no loop."""
    is_open = panels.product.is_open
    return [h for h in range(1, panels.tallest + 1) if not (is_open and h == 2)]


def _longest(panels: Panels, split: Split, cores: int, height: int) -> tuple[float, int, int]:
    """The cycles of the longest part, the negated height, and the rows of one part.

    The first core computes the remainder, since its share of an uneven split is the smallest.
    """
    product, whole = panels.product, panels.whole
    rows, batches, block = product.rows.extent, extents(product.outside), product.rows.extent
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
                outer = product.outside[0].extent
                batches = batches // outer * -(-outer // cores)
    return cycles * batches, -height, block


def _rows(panels: Panels, block: int, cores: int, height: int) -> float:
    """The cycles of the first core, which also computes the remainder of the blocks of rows."""
    count, left = divmod(panels.product.rows.extent, block)
    parts = [(-(-count // cores), block), (1, left)]
    return sum(
        turns * (panels.cycles(rows, panels.whole, height) + panels.narrow(rows, height))
        for turns, rows in parts if rows
    )  # fmt: skip


def _blocks(rows: int, cores: int, height: int) -> list[int]:
    """The rows of a core: an even split, or whole tiles with a remainder that is no block."""
    block = rows // cores
    whole = block // height * height
    is_other = 0 < whole < block and rows // whole == cores
    return [block, whole] if is_other else [block]
