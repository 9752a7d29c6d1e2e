"""Panels: the number of uses from which packing the columns that a tile reads pays.

    in2[r2*1024 + i1]   64 columns of float32: r2 in 1024 pieces of 256 bytes, 4,096 apart

A tile of rows reads the whole panel, one piece per iteration of the sum. In the original, pieces at
a stride of a power of two share few sets of a cache, so that even a small panel does not stay there
(conflict misses); many pages exceed the TLB in the same way. A packed copy is contiguous, but costs
as much as many iterations that read from a cache further away.

The constants were tuned together: 256³ went from 202 to 214 GFLOP/s, 24×1024×1024 from 105 to 211,
48×1024×1024 from 186 to 210, 128×784×512 from 213 to 224, 24×2048×2048 from 57 to 144 (EPYC,
AVX-512, two threads, medians, 2026-11-22).
"""

import math
from dataclasses import dataclass

from compiler.core.reason import Number, Reason
from compiler.loops.choosing.accesses import extents
from compiler.loops.choosing.products import Product
from compiler.loops.choosing.register_tiles import VECTORS
from compiler.machines.model import MachineModel

NEAR = 6
"""The share of a cache, 1/n, up to which a panel stays there while other data pass through. 256³
and 128×784×512 take as long with 2, 4 and 12, within 3 % (EPYC, AVX2, 2026-11-23)."""
COPY = 6.0
"""Cycles to pack one vector from a far cache or memory: an estimate. 24×512×512 takes 458, 447 and
460 µs with 2, 6 and 18 (EPYC, AVX2, 2026-11-23)."""
ACROSS = 1.0
"""Cycles to pack one element by itself, where sums are too short to transpose blocks. An estimate:
with 0.25 and 4 products from 17×7×100 to 64×12×33 take about as long (EPYC, AVX2, 2026-11-23)."""
WIDEST = max(VECTORS)
"""Vectors of the widest piece; a narrower one has no less latency."""
USES_FAR = 4
"""Tiles of rows that can read a panel from the level-3 cache in the time of packing it. In a chain
of 128×768×3072 and 128×3072×768, each with a matrix of its own, one product takes 8 ms with 40 and
2.5 with 4, of 32 rows 2.2 and 1.9 (Xeon, AVX-512, 2026-11-23). 192×600×600 alone takes as long with
5 as with 160, within 7 % (EPYC, AVX2, 2026-11-23)."""
USES_LOST = 3
"""The same, if each piece misses the TLB. 24 to 96 rows by 1024² take as long with 1, 3, 10 and 30,
within 10 %; 48×2048×2048 takes 19 ms with 1 or 3 and 24 with 10 or 30 (EPYC, AVX2, 2026-11-23)."""

USES_NEAR = 20
"""The same, if pieces stay in the level-2 cache but not in the nearest one. A useless copy costs 10
% with 8 tiles, 4 with 16 and 3 with 32 (96 and 192 by 256², EPYC, Zen 5, AVX-512, 2026-11-24);
where pieces that lie apart are slow to come from there, 256³ and 512³ take 1.5 to 2.5 times as long
without (Emerald Rapids, AVX-512, before 2026-11-22). Half as many are enough where two adjacent
vectors are one load: 98 instructions instead of 109 for 80 multiply-adds (Apple M1, by LLVM 22.1's
assembly, 2026-11-24), and where each piece is on a page of its own: 64×64 ×1024 takes 96 µs and 71
copied (EPYC, Zen 5, AVX2, 2026-11-24)."""
HELD = 2
"""The share of the nearest cache, 1/n, and of the lines of a set, up to which a panel stays there
while rows pass through: an estimate."""


@dataclass(frozen=True, slots=True)
class Worth:
    """The number of uses from which packing pays, and the reason; None: never."""

    uses: int | None
    because: Reason
    is_near: bool = False
    """True if the panel stays in the level-2 cache without packing."""
    apart: float = 0.0
    """Cycles to pack the elements of one piece one by one."""

    def is_packed(self, uses: int) -> bool:
        """True if a panel that `uses` tiles read is packed."""
        return self.uses is not None and uses >= self.uses

    def cost(self, uses: int, vectors: int) -> float:
        """Cycles per piece of `vectors` until `uses` tiles have read it, packed or not."""
        if self.uses is None or self.is_near:
            return 0.0
        waiting = WIDEST * uses / self.uses if self.uses else math.inf
        return self.apart or COPY * (vectors if self.is_packed(uses) else waiting)


def worth_packing(product: Product, width: int, model: MachineModel) -> Worth:
    """The number of uses from which packing a panel of `width` columns pays."""
    itemsize, cache = product.panel.argument.element.itemsize, model.cache_bytes[1]
    moving = sum(bool(product.panel.step(r)) for r in product.folded)
    if not moving:
        needed = Number("loops of the sum that move the panel", moving, "", "at least", 1)
        return Worth(None, Reason("each column is one element for the whole sum", needed))
    if not product.is_panel_in_order:
        is_square = extents(product.folded) * itemsize >= model.vector_bytes
        each = 0.0 if is_square else width * ACROSS
        step = product.panel.step(product.columns)
        seen = () if step is None else (
            Number(f"step of {product.columns.name} in the panel", step, "", "contiguous", 1),
        )
        return Worth(0, Reason("the panel lies across the columns", *seen), apart=each)
    steps = {r: abs(product.panel.step(r) or 0) for r in product.folded}
    along = [r for r in product.folded if steps[r] and r.extent > 1]
    trips, piece = extents(along), width * itemsize
    apart = steps[max(along, key=lambda r: r.extent)] * itemsize if along else piece
    where = f"{trips:,} pieces of {piece} bytes, {apart:,} apart"
    entries, lines = model.page_ways, model.ways[1]
    table = model.pages // entries * model.page_bytes
    pages = share_of_place(trips, apart, model.page_bytes, table)
    sets = share_of_place(trips, apart, piece, cache // lines)
    looked_up = Number("pages that share an entry", pages, "", "entries", entries)
    size = Number(f"panel, times {NEAR}", trips * piece * NEAR, "bytes", "level-2 cache", cache)
    shared = Number("pieces that share a set", sets, "", "lines of a set", lines)
    if pages > entries:
        words = f"{where}: the addresses of so many pages are not kept"
        return Worth(USES_LOST, Reason(words, looked_up))
    if trips * piece * NEAR > cache or sets > lines:
        return Worth(USES_FAR, Reason(f"{where}, do not stay in the level-2 cache", size, shared))
    return _near(f"{where}, stay in", trips, apart, piece, model)


def _near(where: str, trips: int, apart: int, piece: int, model: MachineModel) -> Worth:
    """The worth of packing a panel that stays in the level-2 cache: none if it stays in the
    nearest, unless two adjacent vectors become one load."""
    cache, lines = model.cache_bytes[0] // HELD, model.ways[0] // HELD
    sets = share_of_place(trips, apart, piece, model.cache_bytes[0] // model.ways[0])
    size = Number("panel", trips * piece, "bytes", f"1/{HELD} of the nearest cache", cache)
    shared = Number("pieces that share a set", sets, "", f"1/{HELD} of its lines", lines)
    if trips * piece <= cache and sets <= lines and not model.takes_lanes:
        return Worth(None, Reason(f"{where} the nearest cache", size, shared), True)
    is_each_looked_up = apart >= model.page_bytes
    uses = USES_NEAR // (2 if model.takes_lanes or is_each_looked_up else 1)
    return Worth(uses, Reason(f"{where} the level-2 cache", size, shared), True)


def share_of_place(trips: int, apart: int, piece: int, way: int) -> float:
    """The number of pieces, of `trips`, that share a set; sets repeat every `way` bytes."""
    places = min(way // math.gcd(apart, way), max(way // piece, 1))
    return trips / places
