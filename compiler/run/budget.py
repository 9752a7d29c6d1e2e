"""Programs that do not fit in memory are refused before any allocation, with their largest tensor.

There are two bounds: `Options.memory_limit` for one program (None: the machine's memory), and the
budget of a device's memory (`device.memory.budget`) for everything in use there. The first does
not count inputs, which exist already. On the workers of a cluster a program has the memory of each.

    allocate: the tensors of the program do not fit in the memory budget
      got:      3 tensors, 3,072 bytes; the largest is f64[16,8], 1,024 bytes
      expected: at most 2,048 bytes, of which 0 are in use
      line:     model.py:12  hidden = (x @ w).relu()
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from compiler.core.errors import Mistake, SizeError
from compiler.core.origin import Origin
from compiler.device import cpu, device
from compiler.device.allocator import Allocator, block_size
from compiler.graph.devices import is_remote
from compiler.graph.nodes import Buffer
from compiler.graph.words import short
from compiler.schedule.analysis import footprint
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.items import ScheduleItem


class AtBuffer(Mistake):
    """An error about a buffer; `at` returns it with the buffer's line in the user's code."""

    buffer: Buffer

    def at(self, origin: Origin | None) -> "AtBuffer":
        """The same error with a line of the user's code."""
        raise NotImplementedError


class RefusedError(AtBuffer, SizeError):
    """A program does not fit; `buffer` is its largest tensor."""

    def __init__(
        self, problem: str, got: str, expected: str, buffer: Buffer, origin: Origin | None = None
    ) -> None:
        self.buffer = buffer
        super().__init__("allocate", problem, got=got, expected=expected, origin=origin)

    def at(self, origin: Origin | None) -> "RefusedError":
        """The same error with the user's line that creates the tensor."""
        return RefusedError(self.problem, self.got, self.expected, self.buffer, origin)


@dataclass(slots=True)
class located:
    """A context in which errors about a buffer get its line, which `origin_of` finds."""

    origin_of: Callable[[Buffer], Origin | None]

    def __enter__(self) -> None:
        """Does nothing, because every run passes here."""

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if isinstance(error, AtBuffer):
            raise error.at(self.origin_of(error.buffer)) from None


def refuse(
    items: Sequence[ScheduleItem], limit: int | None, plan: MemoryPlan | None = None
) -> None:
    """Refuse (`RefusedError`) a run that exceeds `limit` or the budget of a device's memory."""
    refuse_too_large(items, limit, plan)
    refuse_over_budget(items, plan)


def refuse_too_large(
    items: Sequence[ScheduleItem], limit: int | None, plan: MemoryPlan | None = None
) -> None:
    """Refuse (`RefusedError`) a program whose tensors take more than `limit` bytes."""
    limit = cpu.physical_memory() if limit is None else limit
    touched = footprint.made_buffers(items)
    buffers = [buffer for buffer in touched if not is_remote(buffer.device)]
    is_shared = plan is not None and len(buffers) == len(touched)
    total = plan.peak if plan and is_shared else sum(buffer.nbytes for buffer in buffers)
    largest = max(buffers, key=lambda buffer: buffer.nbytes, default=None)
    if largest is not None and max(largest.nbytes, total) > limit:
        refused("in memory", buffers, total, limit, f"at most {limit:,} bytes")


def refuse_over_budget(items: Sequence[ScheduleItem], plan: MemoryPlan | None = None) -> None:
    """Refuse (`RefusedError`) a run that exceeds the rest of the budget of a device's memory."""
    memories = (device.get(b.device).memory for b in footprint.made_buffers(items))
    for each in {id(m): m for m in memories if m is not None}.values():
        if each.budget is not None:
            _within(each, each.budget, items, plan)


def _within(
    allocator: Allocator, budget: int, items: Sequence[ScheduleItem], plan: MemoryPlan | None
) -> None:
    """Refuse tensors that do not fit in the unused part of a memory's budget."""
    buffers = [b for b in footprint.made_buffers(items) if device.get(b.device).memory is allocator]
    shared = {p.buffer for p in plan.places if p.offset is not None} if plan else set()
    total = sum(block_size(b.nbytes) for b in buffers if b not in shared)
    if plan is not None and plan.arena and device.CPU.memory is allocator:
        total += block_size(plan.arena)
    live = allocator.use.live
    largest = max(buffers, key=lambda buffer: buffer.nbytes, default=None)
    if largest is not None and live + total > budget:
        expected = f"at most {budget:,} bytes, of which {live:,} are in use"
        refused("in the memory budget", buffers, total, budget - live, expected)


def refuse_on_workers(
    items: Sequence[ScheduleItem], results: Sequence[Buffer], limits: Mapping[str, int]
) -> None:
    """Refuse (`RefusedError`) a program that needs more than `limits`, bytes for each worker.

    Counted is what is alive while an item runs: inputs that the worker has, what items before made
    for items to come, results. A worker that has more to hold is stopped by Dask at 80 % of its
    memory, and ended at 95 %, again and again.
    """
    lives: dict[str, list[footprint.Lifetime]] = {}
    for life in footprint.lifetimes(items, results):
        lives.setdefault(life.buffer.device, []).append(life)
    for worker, spans in lives.items():
        limit = limits.get(worker, 0)
        peak = footprint.peak_of(spans, len(items))
        if limit and peak > limit:
            where, expected = f"in the memory of worker {worker}", f"at most {limit:,} bytes"
            refused(where, [life.buffer for life in spans], peak, limit, expected)


def refused(
    where: str, buffers: Sequence[Buffer], total: int, left: int, expected: str
) -> NoReturn:  # fmt: skip
    """Raise the error: of one tensor that is too large alone, or of all together, `total` bytes."""
    largest = max(buffers, key=lambda buffer: buffer.nbytes)
    name = f"{short(largest)}, {largest.nbytes:,} bytes"
    if largest.nbytes > left or len(buffers) == 1:
        raise RefusedError(f"a tensor of the program does not fit {where}", name, expected, largest)
    got = f"{len(buffers)} tensors, {total:,} bytes; the largest is {name}"
    what = f"the tensors of the program do not fit {where} together"
    raise RefusedError(what, got, expected, largest)
