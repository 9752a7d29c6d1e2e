"""The machine-independent work of a kernel, and `estimate`: its time on a machine model.

    work    = stretches  footprints  registers
    stretch = trips  is_vector  operations  accesses       the body of one loop, or a part of it
              tasks  trip count                         the parallel split of its outermost loop
    access  = argument  bytes per element  stride  bytes until reuse

A stretch is straight-line code that runs `trips` times. It is assumed to be vectorised if its inner
loop accesses contiguous elements; strided accesses and gathers are not vectorised. A core computes
and moves data at the same time, so the stretches of one loop take as long as the busiest unit of
the core.
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

    `stride` is in elements along the inner loop: 0 for the same element, 1 for the next one, None
    if it depends on data or a division. `reused` is the reuse distance in bytes. `slot` is negative
    for scratch memory.
    """

    slot: int
    itemsize: int
    is_write: bool
    stride: int | None
    reused: int

    @property
    def is_contiguous(self) -> bool:
        """True if the next trip accesses the same element or the next one."""
        return self.stride in (0, 1)


@dataclass(frozen=True, slots=True)
class Operation:
    """`name` of the table on elements of `itemsize` bytes; `cost` is the table's weight."""

    name: str
    cost: int
    itemsize: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """The body of one loop, without inner loops, of which `begun` are started in total."""

    trips: int
    is_vector: bool
    begun: int
    operations: tuple[Operation, ...]
    accesses: tuple[Access, ...]
    axis: int | None = None
    """The number of the loop that is, or would be, vectorised."""
    tasks: int = 1
    """The number of parallel tasks of the kernel; 1 means that it is not parallel."""
    trip_count: int = 1
    """The iterations of the parallel loop."""
    block: int = 0
    """Stretches with the same number are in the body of the same loop."""
    waits: int = 0
    """The length of the dependency chain of a reduction: steps that wait for the previous one."""

    def share(self, threads: int) -> float:
        """The share of the busiest of `threads` threads, in whole iterations."""
        rounds, trips = -(-self.tasks // max(threads, 1)), -(-self.trip_count // self.tasks)
        return min(rounds * trips / max(self.trip_count, 1), 1.0)

    @property
    def in_vectors(self) -> "Stretch":
        """The same work vectorised with contiguous accesses: without divisions of indices, and with
        as many accumulators per reduction as necessary."""
        near = tuple(a if a.is_contiguous else replace(a, stride=1) for a in self.accesses)
        done = tuple(o for o in self.operations if o.name not in NEVER_VECTOR)
        return replace(self, is_vector=True, accesses=near, operations=done, waits=0)

    def busy(self, model: MachineModel) -> tuple[float, float, float]:
        """The nanoseconds of one core for operations, contiguous accesses, and other accesses.

        All data are assumed to be in the L1 cache.
        """
        # Unrolled loops have few kinds of operations and accesses, each many times.
        arithmetic = sum(
            times * model.operation_ns(o.name, o.itemsize, self.is_vector, o.cost)
            for o, times in Counter(self.operations).items()
        )
        accesses = Counter(self.accesses).items()
        near = sum(n * self._near_ns(a, model) for a, n in accesses if a.is_contiguous)
        far = sum(n * self._far_ns(a, model) for a, n in accesses if not a.is_contiguous)
        return self.trips * arithmetic, self.trips * near, self.trips * far

    def _near_ns(self, access: Access, model: MachineModel) -> float:
        """The time of a contiguous access to the L1 cache."""
        if not self.is_vector:
            return model.scalar_ns / 2
        speed = model.write if access.is_write else model.read
        return access.itemsize / speed[0] if access.stride else 0.0

    def _far_ns(self, access: Access, model: MachineModel) -> float:
        """The time of a strided or gathered access to the L1 cache: one element at a time."""
        return model.strided[0] if self.is_vector else model.scalar_ns / 2


@dataclass(frozen=True, slots=True)
class Work:
    """The work of one run of a kernel. `registers`: the most values live at once."""

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
        """The number of TLB misses."""
        key = model.pages, model.page_bytes
        if key not in self._looked_up:
            self._looked_up[key] = lookups(self.footprints, *key)
        return self._looked_up[key]

    @property
    def in_vectors(self) -> "Work":
        """The same work fully vectorised with contiguous accesses."""
        stretches = tuple(stretch.in_vectors for stretch in self.stretches)
        return replace(self, stretches=stretches,
                       footprints=tuple(each.in_order for each in self.footprints))  # fmt: skip

    @property
    def tasks(self) -> int:
        """The number of parallel tasks of the kernel, one per core if there are enough."""
        return max((stretch.tasks for stretch in self.stretches), default=1)

    @property
    def occupancy(self) -> float:
        """The vectorised share of operations and accesses, 0 … 1.

        On a CPU, idle vector lanes correspond to the unoccupied threads of a GPU.
        """
        total = vector = 0
        for stretch in self.stretches:
            count = stretch.trips * (len(stretch.operations) + len(stretch.accesses))
            total += count
            vector += count if stretch.is_vector else 0
        return vector / total if total else 0.0

    def traffic(self, capacity: float, since: Since, sets: int = 1) -> Traffic:
        """The misses of a cache of `capacity` bytes with `sets` sets."""
        key = capacity, sets, nearness(self.footprints, since, (capacity,))
        if key not in self._known:
            self._known[key] = traffic(self.footprints, capacity, since, sets)
        return self._known[key]


UNHIDDEN = 0.5
"""The share of computing or of moving data, whichever is shorter, that does not overlap with the
other. For 166 kernels of ten networks, the median error factor of estimates is 1.36 with 0, 1.32
with 0.5 and 1.27 with 1; 24, 20 and 16 of them are off by more than 2.5 (Xeon, AVX-512, two
threads, 2026-11-23)."""
LATENCY, ADDED = "latency", 5 / 6
"""The latency of a float addition as a share of that of a multiply-add: 1.2 ns in the default
model. A dependent chain of a million additions takes 0.95 to 1.0 ms (EPYC, AVX2, 2026-11-23)."""
LOOKUP_NS = 3.5
"""The nanoseconds of a TLB miss: a product with a transposed operand, which reads each element from
another page, takes 87 ms at 2000³, and 51 without misses (the same machine)."""
COLD_NS = 500.0
"""The nanoseconds to start a kernel inside a program, in addition to a repeated call of it alone:
its code and arguments are no longer in the caches. Kernels of 256 elements take 0.9 to 1.6 µs there
(the same machine)."""


def added_ns(model: MachineModel) -> float:
    """The latency of a float addition in nanoseconds."""
    return model.latency * model.cycle_ns * ADDED


def begin_ns(model: MachineModel) -> float:
    """The overhead of starting a kernel in a program, in nanoseconds."""
    return model.launch_ns + COLD_NS


def estimate(work: Work, model: MachineModel, since: Since = 0) -> float:
    """The estimated nanoseconds of a kernel: start, computing, and moving data, mostly overlapped.

    The tasks of a kernel run on as many cores as the model has. `since` has the reuse distances of
    the arguments.
    """
    times = _times(work, model, since)
    computing, _ = times.pop("computing"), times.pop(LATENCY)
    moving = sum(times.values())  # data from memory pass through every cache
    overlapped = max(computing, moving) + UNHIDDEN * min(computing, moving)
    return begin_ns(model) + overlapped


def bound(work: Work, model: MachineModel, since: Since = 0) -> str:
    """The bottleneck of the estimate: "launch", "computing", "latency" if dependency chains take
    most of the computing, or the memory level that data come from."""
    times = {"launch": begin_ns(model), **_times(work, model, since)}
    waited = times.pop(LATENCY)
    most = max(times, key=lambda name: times[name])
    return LATENCY if most == "computing" and waited > times[most] / 2 else most


def _times(work: Work, model: MachineModel, since: Since) -> dict[str, float]:
    """The nanoseconds of computing with data in the L1 cache, those of exposed latency in it, and
    those of moving data from each level."""
    threads = min(work.tasks, model.cores)
    blocks: dict[int, list[Stretch]] = {}
    for stretch in work.stretches:
        blocks.setdefault(stretch.block, []).append(stretch)
    took = [_block_ns(each, model, threads) for each in blocks.values()]
    times = {"computing": sum(ns for ns, _ in took), LATENCY: sum(waits for _, waits in took)}
    for level, capacity in enumerate(model.cache_bytes, start=1):
        sharers = 1 if level == 3 else threads  # L1 and L2 are private to a core
        sets = 1 if level == 3 else _power(capacity // (LINE * model.ways[level - 1]))
        moved = work.traffic(capacity * sharers, since, sets)
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
    """The nanoseconds of the busiest thread for the body of one loop, and the exposed latency in
    them."""
    units = zip(*(stretch.busy(model) for stretch in stretches), strict=True)
    begun = sum(stretch.begun for stretch in stretches) * model.step_ns
    busy = max(map(sum, units))
    waits = max(stretch.waits for stretch in stretches) * added_ns(model)
    share = stretches[0].share(threads)
    return (max(busy, waits) + begun) * share, max(waits - busy, 0.0) * share
