"""worker_rounds: a program for the workers of a cluster is run a few times, whole, and timed there.

Workers note what they do; so each run is one as `run()` makes it, with all that they wait for. An
item's time is that of its kernels, copies and transfers, the median over the runs. Kernels are
compiled in the first run, which counts only where there is no time for others.

The timeline that is kept is that of the run that took the median of all.
"""

import statistics
import time
from collections.abc import Mapping, Sequence

import numpy as np

from compiler.ask.measurement import ItemTime
from compiler.core.dtypes import Array
from compiler.core.text import counted
from compiler.device import dask
from compiler.device.remote import Data
from compiler.graph.nodes import Buffer
from compiler.run import execution
from compiler.run.allocation import with_copies
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.items import ScheduleItem, Synchronization

MOST_RUNS = 12
"""Runs at most: workers, and the client, remember somewhat more. A choice."""
clock = time.perf_counter_ns


class WorkerRounds:
    """A stand-in for `execution.run`: whole runs on a cluster, until the time is up."""

    is_cut = False
    """All items are run in each."""

    def __init__(self, originals: Mapping[Buffer, Array], seconds: float) -> None:
        self.originals = originals
        self.timeline: dask.Timed | None = None
        """The run in the middle."""
        self._seconds = seconds
        self._items: Sequence[ScheduleItem] = ()
        self._took: list[int] = []
        self._seen: Sequence[dask.Timed] = ()

    def run(
        self,
        items: Sequence[ScheduleItem],
        results: Sequence[Buffer],
        inputs: Mapping[Buffer, Array],
        programs: execution.Programs,
        values: Mapping[str, int],
        plan: MemoryPlan | None = None,
    ) -> list[Array]:
        """Run the items, again and again; the results of the last run, flat."""
        self._items, engine, end = items, dask.engine(), clock() + round(self._seconds * 1e9)
        outputs: list[Data] = []
        while len(self._took) < MOST_RUNS:
            if self._took and clock() + self._took[-1] > end:
                break
            sources = with_copies(inputs, items)
            begin = clock()
            outputs = engine.run(items, results, sources, programs, values)
            self._took.append(clock() - begin)
        seen = engine.timelines(len(self._took))
        self._seen = seen[1:] if len(seen) > 1 else seen
        order = sorted(self._seen, key=lambda it: it.ns)
        self.timeline = order[(len(order) - 1) // 2] if order else None
        return [each if isinstance(each, np.ndarray) else each.fetch() for each in outputs]

    def times(self) -> tuple[ItemTime, ...]:
        """The median of each item that was seen, and its quartiles."""
        timings = []
        for item in self._items:
            took = sorted(it.by_item[item.item_id] for it in self._seen
                          if item.item_id in it.by_item)  # fmt: skip
            if took:
                low, high = took[len(took) // 4], took[(3 * len(took)) // 4]
                middle = statistics.median(took)
                timings.append(ItemTime(item.item_id, middle, low, high, len(took)))
        return tuple(timings)

    def whole(self) -> float | None:
        """The median of whole runs."""
        return statistics.median(self._took[1:] or self._took) if self._took else None

    def notes(self, kind: str) -> list[str]:
        """Sentences on what is otherwise than on one machine."""
        seen = {it.item_id for it in self.times()}
        unseen = [it for it in self._items if it.item_id not in seen
                  and not isinstance(it.operation, Synchronization)]  # fmt: skip
        sentences = {
            "run on a cluster: an item's time is that of its kernels, copies and transfers, "
            "without waiting": True,
            f"{counted(len(unseen), 'item')} took no time of their own": bool(unseen),
            "there was time for the first run only, in which kernels are compiled":
                len(self._took) == 1,
        }  # fmt: skip
        return [words for words, is_so in sentences.items() if is_so]
