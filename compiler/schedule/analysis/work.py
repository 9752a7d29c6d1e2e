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
from dataclasses import dataclass, replace

from compiler.settings.machine import LEVELS, NEVER_VECTOR, MachineModel

LINE = 64
"""Bytes: what moves between caches at once."""


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

    def share(self, threads: int) -> float:
        """The part of it that the busiest of so many threads does, in whole iterations."""
        rounds, trips = -(-self.tasks // max(threads, 1)), -(-self.trip_count // self.tasks)
        return min(rounds * trips / max(self.trip_count, 1), 1.0)

    @property
    def in_vectors(self) -> "Stretch":
        """The same in vectors, the next element always behind the last: no index is divided."""
        near = tuple(a if a.is_contiguous else replace(a, stride=1) for a in self.accesses)
        done = tuple(o for o in self.operations if o.name not in NEVER_VECTOR)
        return replace(self, is_vector=True, accesses=near, operations=done)

    def busy(self, model: MachineModel) -> tuple[float, float, float]:
        """Nanoseconds of one core for the operations, for what is near, and for what is not.

        All data are in the first cache, but for columns, which are where they are.
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
        """An element elsewhere, from where the array is; within a cache line often the last one."""
        full = model.strided[model.level(access.reused)]
        is_near = access.stride is not None and abs(access.stride) * access.itemsize < LINE
        return min(full, model.scalar_ns / 2) if is_near else full


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes of one argument that the loops inside the outermost 0, 1, … output loops touch.

    `repeats` says for each how often the outer loops run them.
    """

    slot: int
    is_write: bool
    nbytes: tuple[int, ...]
    repeats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """The work of running one kernel. `registers`: the most values alive at once."""

    stretches: tuple[Stretch, ...]
    footprints: tuple[Footprint, ...]
    registers: int

    @property
    def in_vectors(self) -> "Work":
        """The same work, all of it in vectors and with elements one after the other."""
        return replace(self, stretches=tuple(stretch.in_vectors for stretch in self.stretches))

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

    def traffic(self, capacity: int, resident: int) -> tuple[float, float]:
        """Bytes read and written that do not come from a cache of `capacity` bytes.

        `resident` are the bytes of the whole program, which runs again and again.
        """
        read = written = 0.0
        depth = self._fitting_depth(capacity, resident)
        if depth is None:
            return 0.0, 0.0
        for each in self.footprints:
            moved = each.nbytes[depth] * each.repeats[depth]
            read += 0 if each.is_write else moved
            written += moved if each.is_write else 0
        return read, written

    def _fitting_depth(self, capacity: int, resident: int) -> int | None:
        """The outermost loop whose inside stays in the cache; None if the whole program does."""
        if not self.footprints or max(resident, self._total(0)) <= capacity:
            return None
        depths = range(len(self.footprints[0].nbytes))
        return next((d for d in depths if self._total(d) <= capacity), depths[-1])

    def _total(self, depth: int) -> int:
        return sum(each.nbytes[depth] for each in self.footprints)


def estimate(work: Work, model: MachineModel, resident: int = 0) -> float:
    """Nanoseconds: the launch, and the greatest of computing and of moving data at each level.

    The tasks of a kernel run on as many cores as the model has, as they do in a program.
    """
    return model.launch_ns + max(_times(work, model, resident).values())


def bound(work: Work, model: MachineModel, resident: int = 0) -> str:
    """Most of the estimate: "launch", "computing", or the level that data come from."""
    times = {"launch": model.launch_ns, **_times(work, model, resident)}
    return max(times, key=lambda name: times[name])


def _times(work: Work, model: MachineModel, resident: int) -> dict[str, float]:
    """Nanoseconds of computing with data in the first cache, and of moving them from each level."""
    threads = min(work.tasks, model.cores)
    blocks: dict[int, list[Stretch]] = {}
    for stretch in work.stretches:
        blocks.setdefault(stretch.block, []).append(stretch)
    times = {"computing": sum(_block_ns(each, model, threads) for each in blocks.values())}
    for level, capacity in enumerate(model.cache_bytes, start=1):
        read, written = work.traffic(capacity, resident)
        times[LEVELS[level]] = model.moving_ns(level, read, written, threads)
    return times


def _block_ns(stretches: list[Stretch], model: MachineModel, threads: int) -> float:
    """Nanoseconds of the busiest thread for the inside of one loop."""
    units = zip(*(stretch.busy(model) for stretch in stretches), strict=True)
    begun = sum(stretch.begun for stretch in stretches) * model.step_ns
    return (max(map(sum, units)) + begun) * stretches[0].share(threads)
