"""Work: what running one kernel takes, whatever the machine, and `estimate`: how long on a model.

    work    = stretches  footprints  registers
    stretch = trips  is_vector  operations  accesses       the inside of one loop, or a part of it
              tasks  trip count                         by whom its outermost loop is shared out
    access  = argument  bytes per element  stride  bytes until it comes again

A stretch is straight code that runs `trips` times. It is taken to be vectorised where its inner
loop reads and writes one element after the other; a column walk and a gather are not. A core
computes and moves data at the same time, so the stretches of one loop take as long as the unit of
the core that they keep busy longest.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

from compiler.machines.model import LEVELS, NEVER_VECTOR, MachineModel
from compiler.schedule.analysis.traffic import (
    LINE,
    Footprint,
    Since,
    Traffic,
    lookups,
    nearness,
    traffic,
)


@dataclass(frozen=True, slots=True)
class Access:
    """One element of an argument, read or written once per trip.

    `stride` is in elements along the inner loop: 0 the same element, 1 the next one, None one
    that data or a division decide. `reused` are the bytes met before the same ones come again.
    `slot` is negative for scratch memory.
    """

    slot: int
    itemsize: int
    is_write: bool
    stride: int | None
    reused: int

    @property
    def is_contiguous(self) -> bool:
        """Whether the next trip has the same element or the next one."""
        return self.stride in (0, 1)


@dataclass(frozen=True, slots=True)
class Operation:
    """`name` of the table on elements of `itemsize` bytes; `cost` is the table's weight."""

    name: str
    cost: int
    itemsize: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """The inside of one loop, without the loops in it; of those, `begun` are begun in all."""

    trips: int
    is_vector: bool
    begun: int
    operations: tuple[Operation, ...]
    accesses: tuple[Access, ...]
    axis: int | None = None
    """The number of the loop whose iterations become lanes, or would."""
    tasks: int = 1
    """Runs of the kernel that share out what it does; 1: one run does all of it."""
    trip_count: int = 1
    """Iterations of the loop that is shared out."""
    block: int = 0
    """Stretches with the same number are the inside of the same loop."""
    waits: int = 0
    """Steps that each wait for the result of the last one: those of a fold."""

    def share(self, threads: int) -> float:
        """The part of it that the busiest of so many threads does, in whole iterations."""
        rounds, trips = -(-self.tasks // max(threads, 1)), -(-self.trip_count // self.tasks)
        return min(rounds * trips / max(self.trip_count, 1), 1.0)

    @property
    def in_vectors(self) -> "Stretch":
        """The same in vectors, the next element always behind the last: no index is divided, and
        folds have as many accumulators as it takes."""
        near = tuple(a if a.is_contiguous else replace(a, stride=1) for a in self.accesses)
        done = tuple(o for o in self.operations if o.name not in NEVER_VECTOR)
        return replace(self, is_vector=True, accesses=near, operations=done, waits=0)

    def busy(self, model: MachineModel) -> tuple[float, float, float]:
        """Nanoseconds of one core for the operations, for what is near, and for what is not.

        All data are in the first cache.
        """
        # Written-out loops have few kinds of operations and accesses, each many times.
        arithmetic = sum(
            times * model.operation_ns(o.name, o.itemsize, self.is_vector, o.cost)
            for o, times in Counter(self.operations).items()
        )
        accesses = Counter(self.accesses).items()
        near = sum(n * self._near_ns(a, model) for a, n in accesses if a.is_contiguous)
        far = sum(n * self._far_ns(a, model) for a, n in accesses if not a.is_contiguous)
        return self.trips * arithmetic, self.trips * near, self.trips * far

    def _near_ns(self, access: Access, model: MachineModel) -> float:
        """The same element or the next one, from the first cache."""
        if not self.is_vector:
            return model.scalar_ns / 2
        speed = model.write if access.is_write else model.read
        return access.itemsize / speed[0] if access.stride else 0.0

    def _far_ns(self, access: Access, model: MachineModel) -> float:
        """An element elsewhere, from the first cache: one by one, also where lanes gather it."""
        return model.strided[0] if self.is_vector else model.scalar_ns / 2


@dataclass(frozen=True, slots=True)
class Work:
    """The work of running one kernel. `registers`: the most values alive at once."""

    stretches: tuple[Stretch, ...]
    footprints: tuple[Footprint, ...]
    registers: int
    _known: dict[tuple[object, ...], Traffic] = field(
        init=False, compare=False, repr=False, default_factory=dict
    )
    _looked_up: dict[tuple[int, int], float] = field(
        init=False, compare=False, repr=False, default_factory=dict
    )

    def lookups(self, model: MachineModel) -> float:
        """Pages whose addresses are looked up again and again."""
        key = model.pages, model.page_bytes
        if key not in self._looked_up:
            self._looked_up[key] = lookups(self.footprints, *key)
        return self._looked_up[key]

    @property
    def in_vectors(self) -> "Work":
        """The same work, all of it in vectors and with elements one after the other."""
        stretches = tuple(stretch.in_vectors for stretch in self.stretches)
        return replace(self, stretches=stretches,
                       footprints=tuple(each.in_order for each in self.footprints))  # fmt: skip

    @property
    def tasks(self) -> int:
        """How many runs of the kernel share out what it does, each on a core if there are enough.
        """
        return max((stretch.tasks for stretch in self.stretches), default=1)

    @property
    def occupancy(self) -> float:
        """The share of operations and accesses, 0 … 1, that run in vectors.

        A core has no other threads to fill: what is left idle is lanes of its vector units.
        """
        total = vector = 0
        for stretch in self.stretches:
            count = stretch.trips * (len(stretch.operations) + len(stretch.accesses))
            total += count
            vector += count if stretch.is_vector else 0
        return vector / total if total else 0.0

    def traffic(self, capacity: float, since: Since, sets: int = 1) -> Traffic:
        """What does not come from a cache of `capacity` bytes, in so many sets."""
        key = capacity, sets, nearness(self.footprints, since, (capacity,))
        if key not in self._known:
            self._known[key] = traffic(self.footprints, capacity, since, sets)
        return self._known[key]


UNHIDDEN = 0.5
"""The share of computing or moving data, whichever is shorter, that the other does not hide. Of 166
kernels of ten networks estimates are off by a median of 1.36 with 0, 1.32 with 0.5 and 1.27 with 1,
by over 2.5 times 24, 20 and 16 (Xeon, AVX-512, two threads, 2026-11-23)."""
LATENCY, ADDED = "latency", 5 / 6
"""How long the sum of two floats takes, before another can be added to it, as a share of what a
multiply-add does: 1.2 ns in the default model. A million, each waiting for the last one, take 0.95
to 1.0 ms (EPYC, AVX2, 2026-11-23)."""
LOOKUP_NS = 3.5
"""Nanoseconds to look up the address of a page that is not kept: transposing while multiplying,
which meets a page for each element, takes 87 ms at 2000³, with pages kept 51 (the same machine)."""
COLD_NS = 500.0
"""Nanoseconds that a kernel takes to begin in a program, beyond a call of it alone: its code, and
what it was told, were not used since the last run. Kernels of 256 elements take 0.9 to 1.6 µs there
(the same machine)."""


def added_ns(model: MachineModel) -> float:
    """Nanoseconds until a sum of floats can be added to."""
    return model.latency * model.cycle_ns * ADDED


def begin_ns(model: MachineModel) -> float:
    """Nanoseconds before a kernel of a program does anything."""
    return model.launch_ns + COLD_NS


def estimate(work: Work, model: MachineModel, since: Since = 0) -> float:
    """Nanoseconds: to begin, to compute and to move data; these two for the most part at once.

    The tasks of a kernel run on as many cores as the model has, as they do in a program. `since`
    says how long ago what it reads and writes was touched.
    """
    times = _times(work, model, since)
    computing, _ = times.pop("computing"), times.pop(LATENCY)
    moving = sum(times.values())  # what comes from memory passes through every cache
    overlapped = max(computing, moving) + UNHIDDEN * min(computing, moving)
    return begin_ns(model) + overlapped


def bound(work: Work, model: MachineModel, since: Since = 0) -> str:
    """Most of the estimate: "launch", "computing", of that "latency" where most of it is waiting,
    or the level that data come from."""
    times = {"launch": begin_ns(model), **_times(work, model, since)}
    waited = times.pop(LATENCY)
    most = max(times, key=lambda name: times[name])
    return LATENCY if most == "computing" and waited > times[most] / 2 else most


def _times(work: Work, model: MachineModel, since: Since) -> dict[str, float]:
    """Nanoseconds of computing with data in the first cache, those of it spent waiting, and of
    moving data from each level."""
    threads = min(work.tasks, model.cores)
    blocks: dict[int, list[Stretch]] = {}
    for stretch in work.stretches:
        blocks.setdefault(stretch.block, []).append(stretch)
    took = [_block_ns(each, model, threads) for each in blocks.values()]
    times = {"computing": sum(ns for ns, _ in took), LATENCY: sum(waits for _, waits in took)}
    for level, capacity in enumerate(model.cache_bytes, start=1):
        own = 1 if level == 3 else threads  # each core has the first two caches of its own
        sets = 1 if level == 3 else _power(capacity // (LINE * model.ways[level - 1]))
        moved = work.traffic(capacity * own, since, sets)
        waited = moved.waited * model.strided[level] / threads
        in_order = 1 - LINE * moved.waited / max(moved.read + moved.written, 1.0)
        read, written = moved.read * in_order, moved.written * in_order
        times[LEVELS[level]] = model.moving_ns(level, read, written, threads) + waited
    times[LEVELS[1]] += work.lookups(model) * LOOKUP_NS / threads
    return times


def _power(count: int) -> int:
    """The greatest power of two up to `count`, at least 1."""
    return 1 << max(count.bit_length() - 1, 0)


def _block_ns(
    stretches: list[Stretch], model: MachineModel, threads: int
) -> tuple[float, float]:
    """Nanoseconds of the busiest thread for the inside of one loop; and of those, how many it
    waits for results with nothing else to do."""
    units = zip(*(stretch.busy(model) for stretch in stretches), strict=True)
    begun = sum(stretch.begun for stretch in stretches) * model.step_ns
    busy = max(map(sum, units))
    waits = max(stretch.waits for stretch in stretches) * added_ns(model)
    share = stretches[0].share(threads)
    return (max(busy, waits) + begun) * share, max(waits - busy, 0.0) * share
