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

from compiler.graph.nodes import Buffer
from compiler.run.budget import refused
from compiler.schedule.analysis.footprint import Lifetime, lifetimes, peak_of
from compiler.schedule.items import ScheduleItem


def refuse(
    items: Sequence[ScheduleItem], results: Sequence[Buffer], limits: Mapping[str, int]
) -> None:
    """Refuse (`RefusedError`) a program that needs more than `limits`, bytes for each device."""
    lives: dict[str, list[Lifetime]] = {}
    for life in lifetimes(items, results):
        lives.setdefault(life.buffer.device, []).append(life)
    for device, spans in lives.items():
        limit = limits.get(device, 0)
        peak = peak_of(spans, len(items))
        if limit and peak > limit:
            where, expected = f"in the memory of worker {device}", f"at most {limit:,} bytes"
            refused(where, [life.buffer for life in spans], peak, limit, expected)
