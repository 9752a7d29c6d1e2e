"""room: programs that do not fit in the memory of a worker are refused before anything is sent.

    allocate: the tensors of the program do not fit in the memory of worker DASK:1 together
      got:      3 tensors, 3,221,225,472 bytes; the largest is f32[16384,16384], 1,073,741,824 bytes
      expected: at most 2,147,483,648 bytes
      line:     model.py:12  hidden = (x @ w).relu()

Counted is what is alive while an item runs: inputs that the worker has, what items before made for
items to come, results. A worker that has more to hold is stopped by Dask at 80 % of its memory, and
ended at 95 %, again and again.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate

from compiler.graph.nodes import Buffer
from compiler.graph.words import short
from compiler.run.budget import RefusedError
from compiler.schedule.analysis.footprint import Lifetime, lifetimes
from compiler.schedule.items import ScheduleItem


def refuse(
    items: Sequence[ScheduleItem], results: Sequence[Buffer], limits: Mapping[str, int]
) -> None:
    """Refuse (`RefusedError`) a program that needs more than `limits`, bytes for each device."""
    lives: dict[str, list[Lifetime]] = {}
    for life in lifetimes(items, results):
        lives.setdefault(life.buffer.device, []).append(life)
    for device, found in lives.items():
        limit = limits.get(device, 0)
        peak = peak_bytes(found, len(items))
        if limit and peak > limit:
            _refuse(device, [life.buffer for life in found], peak, limit)


def peak_bytes(lives: Sequence[Lifetime], count: int) -> int:
    """The most bytes alive while any one of `count` items runs."""
    change = [0] * (count + 2)
    for life in lives:
        change[life.first] += life.buffer.nbytes
        change[life.last + 1] -= life.buffer.nbytes
    return max(accumulate(change))


def _refuse(device: str, held: Sequence[Buffer], peak: int, limit: int) -> None:
    largest = max(held, key=lambda buffer: buffer.nbytes)
    name = f"{short(largest)}, {largest.nbytes:,} bytes"
    where, expected = f"in the memory of worker {device}", f"at most {limit:,} bytes"
    if largest.nbytes > limit:
        what = f"a tensor of the program does not fit {where}"
        raise RefusedError(what, name, expected, largest)
    got = f"{len(held)} tensors, {peak:,} bytes; the largest is {name}"
    what = f"the tensors of the program do not fit {where} together"
    raise RefusedError(what, got, expected, largest)
