"""Sites: the instructions of a kernel that access memory, and where that memory is.

    region = name  slot (None: scratch memory)  start  elements  bytes of one
    site   = instruction  region  lanes  is_store  is_streamed  is_fetch

A load that fetches ahead has a site more, in front of its own: the one element whose line it asks
for. Nothing waits for that, so it is no access. Regions stand one after the other, each from a page
on, as arrays do that were allocated so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from compiler.core.errors import DataError
from compiler.lowered.by_hand import Buffer, Wmma
from compiler.lowered.instructions import (
    DefineGlobal,
    EndRange,
    Instruction,
    Load,
    Range,
    Store,
    register_lanes,
    writes,
)
from compiler.lowered.machine import Custom, Local, PtrCat
from compiler.lowered.plan import Plan

PAGE = 4096


@dataclass(frozen=True, slots=True)
class Region:
    """The place of one memory of the kernel, in bytes from the first."""

    name: str
    slot: int | None
    start: int
    size: int
    itemsize: int

    @property
    def nbytes(self) -> int:
        """The size of the whole memory in bytes."""
        return self.size * self.itemsize


@dataclass(frozen=True, slots=True)
class Site:
    """An instruction that accesses `lanes` elements of a region, one after the other.

    `is_fetch`: its line is asked for, and nothing is read.
    """

    number: int
    region: Region
    lanes: int
    is_store: bool
    is_streamed: bool = False
    is_fetch: bool = False

    @property
    def nbytes(self) -> int:
        """The size of one access in bytes."""
        return self.lanes * self.region.itemsize


def refused(why: str) -> DataError:
    """The error for a kernel whose accesses cannot be known before it runs."""
    return DataError("accesses", f"they cannot be known without the data: {why}")


@dataclass(slots=True)
class Sites:
    """All sites of a kernel; `of` has those of each instruction, as positions in `rows`.

    `lengths` says for each Range how many accesses and prefetches one of its iterations has if all
    predicates are true; `total` counts accesses alone.
    """

    rows: list[Site] = field(default_factory=list)
    regions: dict[int, Region] = field(default_factory=dict)
    pointers: dict[int, tuple[Region, ...]] = field(default_factory=dict)
    of: dict[int, range] = field(default_factory=dict)
    lengths: dict[int, int] = field(default_factory=dict)
    total: int = 0
    deepest: int = 0
    lanes: dict[int, int] = field(default_factory=dict)
    """The number of lanes of each register."""

    def place(self, out: int, name: str, slot: int | None, size: int, itemsize: int) -> None:
        """One memory more, behind the others."""
        end = max((r.start + r.nbytes for r in self.regions.values()), default=0)
        self.regions[out] = Region(name, slot, -(-end // PAGE) * PAGE, size, itemsize)

    def add(self, number: int, instruction: Instruction) -> int:
        """The sites of one instruction, noted; how many there are."""
        site = self._made(number, instruction)
        self.of[number] = range(len(self.rows), len(self.rows) + len(site))
        self.rows += site
        return len(site)

    def _made(self, number: int, instruction: Instruction) -> list[Site]:
        match instruction:
            case Load(buffer=buffer) if buffer in self.pointers:
                return [Site(number, region, 1, False) for region in self.pointers[buffer]]
            case Load(buffer=buffer, valid=valid, lanes=lanes):
                count, each = self._apart(valid, lanes)
                read = [Site(number, self.regions[buffer], each, False)] * count
                return [*self._fetched(number, instruction), *read]
            case Store(buffer=buffer, valid=valid, lanes=lanes, is_streamed=streamed):
                count, each = self._apart(valid, lanes)
                return [Site(number, self.regions[buffer], each, True, streamed)] * count
            case Wmma(m=m, n=n, k=k):
                tiles = (
                    (instruction.a, m * k), (instruction.b, k * n), (instruction.c, m * n),
                )  # fmt: skip
                read = [Site(number, self.regions[r], size, False) for r, size in tiles]
                return [*read, Site(number, self.regions[instruction.target], m * n, True)]
            case Custom(name=name):
                raise refused(f"the kernel calls {name}, which may touch anything")
            case _:
                return []

    def _fetched(self, number: int, load: Load) -> list[Site]:
        """The sites of what a load asks for further on."""
        ahead = Site(number, self.regions[load.buffer], 1, False, is_fetch=True)
        return [ahead] if load.ahead else []

    def _apart(self, valid: int | None, lanes: int) -> tuple[int, int]:
        """The number of accesses and the lanes of each: 1 lane if each has its own predicate."""
        is_apart = valid is not None and self.lanes.get(valid, 1) > 1
        return (lanes, 1) if is_apart else (1, lanes)


def sites(instructions: Sequence[Instruction], plan: Plan) -> Sites:
    """The sites of a kernel, by one walk over its instructions."""
    sites_of, counts, asked, opened = Sites(), [0], [0], list[int]()
    for number, instruction in enumerate(instructions):
        out = writes(instruction)
        if out is not None:
            sites_of.lanes[out] = register_lanes(instruction)
        match instruction:
            case DefineGlobal(slot=slot, size=size, dtype=dtype):
                sites_of.place(instruction.out, instruction.name, slot, size, dtype.itemsize)
            case Local(size=size, dtype=dtype) | Buffer(size=size, dtype=dtype):
                sites_of.place(instruction.out, instruction.name, None, size, dtype.itemsize)
            case PtrCat(pointers=pointers):
                sites_of.pointers[instruction.out] = tuple(sites_of.regions[p] for p in pointers)
            case Range():
                opened.append(number)
                counts.append(0)
                asked.append(0)
                sites_of.deepest = max(sites_of.deepest, len(opened))
            case EndRange():
                begin = opened.pop()
                sites_of.lengths[begin] = counts.pop()
                counts[-1] += sites_of.lengths[begin] * plan.extents[begin]
                identity = asked.pop()
                asked[-1] += identity * plan.extents[begin]
            case _:
                counts[-1] += sites_of.add(number, instruction)
                asked[-1] += sum(not sites_of.rows[each].is_fetch for each in sites_of.of[number])
    sites_of.total = asked[0]
    return sites_of
