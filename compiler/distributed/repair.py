"""repair: a plugin of Dask's scheduler: another worker takes over the tasks of a lost one.

Each task is restricted to the worker that has its data. Dask recomputes results that were lost with
a worker, but waits for a worker of that address. The plugin replaces the address by that of another
worker: one that joined later if there is any, else the one that took over the fewest. It publishes
events:

    topic svodviz   {"gone": address}           a worker was lost, or left
                    {"again": key}              a task was computed a second time
"""

from collections import Counter
from typing import Any

from distributed import SchedulerPlugin

TOPIC = "svodviz"
LIBRARY = "library-"
"""The prefix of the keys of programs' kernels."""
COUNTED = 100_000
"""Tasks whose computations are counted: a bound on memory. A choice."""
MARK = {"svodviz": True}
"""The annotation of this package's tasks."""


class Repair(SchedulerPlugin):  # type: ignore[misc]  # distributed has no types for mypy here
    """See the module docstring."""

    name = "svodviz-repair"
    idempotent = True

    def __init__(self) -> None:
        self.instead: dict[str, str] = {}
        """For each lost worker, the one that took over."""
        self.done: Counter[Any] = Counter()
        """The number of computations of each task, resubmissions included."""
        self.named: set[str] = set()
        """The workers that tasks are restricted to."""
        self.scheduler: Any = None

    async def start(self, scheduler: Any) -> None:
        """Dask calls this once."""
        self.scheduler = scheduler

    def transition(self, key: Any, start: str, finish: str, *args: Any, **more: Any) -> None:
        """Dask calls this for each task whose state changes."""
        if finish == "no-worker":
            self.scheduler.loop.add_callback(self.mend)
        elif finish == "memory" and start == "processing":
            self._finished(key)

    def _finished(self, key: Any) -> None:
        """Reset a finished task's count of lost workers. Otherwise Dask refuses long-lived data,
        such as a program's kernels, after four lost workers."""
        if str(key).startswith(LIBRARY) or self._is_ours(key):
            self.scheduler.tasks[key].suspicious = 0
        if self._is_ours(key):
            if len(self.done) > COUNTED:
                self.done.clear()
            self.done[key] += 1
            if self.done[key] > 1:
                self.scheduler.log_event(TOPIC, {"again": str(key)})

    def update_graph(self, scheduler: Any, *, annotations: Any = None, **more: Any) -> None:
        """Dask calls this for each graph: records the workers of the tasks in it."""
        marks = annotations or {}
        if "svodviz" in marks:
            self.named.update(*marks.get("workers", {}).values())

    def add_worker(self, scheduler: Any, worker: str) -> None:
        """A worker joined: it relieves one that took over from another."""
        doubled = Counter(self.instead.values())
        for gone, other in self.instead.items():
            if doubled[other] + (other in self.named) > 1 or other not in scheduler.workers:
                self.instead[gone] = worker
                break
        scheduler.loop.add_callback(self.mend)

    def remove_worker(self, scheduler: Any, worker: str, **more: Any) -> None:
        """A worker is gone."""
        scheduler.log_event(TOPIC, {"gone": worker})
        scheduler.loop.add_callback(self.mend)

    def mend(self) -> None:
        """Restrict tasks of lost workers to their substitutes."""
        scheduler = self.scheduler
        moved: dict[Any, str] = {}
        for task in list(scheduler.unrunnable):
            named = task.worker_restrictions
            if not self._is_ours(task.key) or not named or named & scheduler.workers.keys():
                continue
            other = self.substitute(next(iter(named)))
            if other is None:
                continue
            scheduler.set_restrictions({task.key: [other]})
            moved[task.key] = "processing"
        if moved:
            scheduler.transitions(moved, stimulus_id="svodviz-repair")

    def substitute(self, gone: str) -> str | None:
        """The worker that takes over from a lost one; None if there is no worker."""
        substitute_before = self.instead.get(gone)
        if substitute_before is not None and substitute_before in self.scheduler.workers:
            return substitute_before
        running: list[str] = [worker.address for worker in self.scheduler.running]
        if not running:
            return None
        doubled = Counter(self.instead.values())
        chosen = min(running, key=lambda at: (doubled[at] + (at in self.named), at))
        self.instead[gone] = chosen
        return chosen

    def _is_ours(self, key: Any) -> bool:
        task = self.scheduler.tasks.get(key)
        return task is not None and bool((task.annotations or {}).get("svodviz"))
