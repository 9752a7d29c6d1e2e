"""On the scheduler: who does the work of a worker that is gone, and which deaths do not count."""

from types import SimpleNamespace
from typing import Any

import pytest

from compiler.distributed.repair import LIBRARY, MARK, Repair


class _Scheduler:
    """As much of Dask's scheduler as the plugin asks."""

    def __init__(self, *workers: str) -> None:
        self.workers = dict.fromkeys(workers)
        self.running = [SimpleNamespace(address=at) for at in workers]
        self.tasks: dict[str, Any] = {}
        self.loop = SimpleNamespace(add_callback=lambda act: None)
        self.events: list[Any] = []

    def log_event(self, topic: str, message: Any) -> None:
        self.events.append(message)


def _plugin(*workers: str) -> tuple[Repair, _Scheduler]:
    made, scheduler = Repair(), _Scheduler(*workers)
    made.scheduler = scheduler
    return made, scheduler


@pytest.mark.parametrize(("key", "is_ours"), [(f"{LIBRARY}1", False), ("k0-1-2", True)])
def test_deaths_before_a_task_was_done_are_forgotten(key: str, is_ours: bool) -> None:
    plugin, scheduler = _plugin("a")
    task = SimpleNamespace(annotations=MARK if is_ours else None, suspicious=3)
    scheduler.tasks[key] = task
    for _ in range(2):
        plugin.transition(key, "processing", "memory")
    assert task.suspicious == 0
    assert scheduler.events == [{"again": key}] * is_ours


def test_tasks_of_others_are_left_alone() -> None:
    plugin, scheduler = _plugin("a")
    scheduler.tasks["x"] = SimpleNamespace(annotations=None, suspicious=3)
    plugin.transition("x", "processing", "memory")
    assert scheduler.tasks["x"].suspicious == 3 and not scheduler.events


def test_who_joined_takes_over_from_one_that_does_the_work_of_two() -> None:
    plugin, scheduler = _plugin("b")
    plugin.update_graph(scheduler, annotations={"svodviz": {}, "workers": {1: ["a"], 2: ["b"]}})
    assert plugin.substitute("a") == "b"
    scheduler.workers["c"] = None
    plugin.add_worker(scheduler, "c")
    assert plugin.substitute("a") == "c"


def test_nobody_is_there() -> None:
    plugin, _ = _plugin()
    assert plugin.substitute("a") is None
