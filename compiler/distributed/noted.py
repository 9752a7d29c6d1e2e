"""noted: what is kept of a run so that its timeline can be drawn: its plan, and what was done here.

It keeps no data: arrays that were sent are known by their keys.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from compiler.distributed.graphs import key_of, task_key
from compiler.distributed.held import Parent
from compiler.distributed.tasks import (
    Action,
    FromHere,
    FromInput,
    FromTask,
    Gather,
    Local,
    Send,
    Source,
    Submit,
    TaskPlan,
)
from compiler.graph.nodes import Buffer
from compiler.schedule.items import ScheduleItem
from compiler.schedule.kinds import Region

KEPT = 16
"""Runs of which this is kept: a choice."""
Kind: TypeAlias = Literal["kernel", "send", "submit", "gather"]


@dataclass(frozen=True, slots=True)
class Here:
    """The activity of this process from `begin` to `end`, nanoseconds: an item, data sent or
    fetched, or tasks given to Dask, by their numbers.

    `key` is that of data that were sent, by themselves or with a task.
    """

    kind: Kind
    item: int | None
    begin: int
    end: int
    nbytes: int = 0
    key: str = ""
    tasks: tuple[int, ...] = ()


@dataclass(eq=False)
class Noted:
    """A run; see the module docstring. `inputs` and `library` are keys."""

    name: str
    plan: TaskPlan
    items: Mapping[int, ScheduleItem]
    inputs: list[str] = field(default_factory=list)
    """For each input of the program its key; "" where none of the cluster holds it."""
    library: str = ""
    begin: int = 0
    end: int = 0
    here: list[Here] = field(default_factory=list)
    gone: Sequence[str] = ()
    """The workers that were lost meanwhile."""
    lost_before: int = 0
    """How many were lost before it."""

    def sent_input(self, given: object, begin: int, end: int, nbytes: int) -> None:
        """An input is known: `given` is what tasks read of it."""
        key = given.key if isinstance(given, Parent) else ""
        self.inputs.append(key)
        if str(key).startswith(f"data-{self.name}-"):
            self.here.append(Here("send", None, begin, end, nbytes, key))

    def acted(self, action: Action, begin: int, end: int) -> None:
        """This process did a part of the plan."""
        if isinstance(action, Local):
            self.here.append(Here("kernel", action.item.item_id, begin, end))
        elif isinstance(action, Send):
            key = self.key(FromHere(action.number))
            nbytes = _bytes(action.buffer, action.region)
            self.here.append(Here("send", action.item, begin, end, nbytes, key))
        elif isinstance(action, Submit):
            tasks = tuple(task.number for task in action.tasks)
            self.here.append(Here("submit", None, begin, end, tasks=tasks))
        elif isinstance(action, Gather):
            nbytes = _bytes(action.buffer, action.region)
            self.here.append(Here("gather", action.item, begin, end, nbytes))

    def key(self, source: Source) -> str:
        """The key of what a task reads; "" of what went with the task."""
        if isinstance(source, FromTask):
            made = self.plan.tasks[source.task]
            is_alone = len(made.outputs) == 1 or source.register in made.apart
            return key_of(self, source) if is_alone else task_key(self, made)
        if isinstance(source, FromHere):
            return f"data-{self.name}-{source.number}"
        assert isinstance(source, FromInput)
        return self.inputs[source.number] if source.number < len(self.inputs) else ""


def _bytes(buffer: Buffer, region: Region | None) -> int:
    """The region that is read from a buffer, or written into it."""
    size = region.size if region else buffer.size
    return size * buffer.dtype.numpy.itemsize
