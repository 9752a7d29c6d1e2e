"""noted: the record of one run, for its timeline: the plan, and the activities of the client.

It holds no data, only the keys of arrays.
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
"""Runs whose records are kept: a choice."""
Kind: TypeAlias = Literal["kernel", "send", "submit", "gather"]


@dataclass(frozen=True, slots=True)
class Here:
    """One activity of the client from `begin` to `end`, in nanoseconds: an item, data sent or
    fetched, or the numbers of tasks submitted to Dask.

    `key` is the key of the data that were sent, alone or with a task.
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
    """A recorded run. `inputs` and `library` are keys."""

    name: str
    plan: TaskPlan
    items: Mapping[int, ScheduleItem]
    inputs: list[str] = field(default_factory=list)
    """For each input of the program its key; "" if no worker holds it."""
    library: str = ""
    begin: int = 0
    end: int = 0
    here: list[Here] = field(default_factory=list)
    gone: Sequence[str] = ()
    """The workers that were lost during the run."""
    lost_before: int = 0
    """The number of workers that were lost before it."""

    def sent_input(self, form: object, begin: int, end: int, nbytes: int) -> None:
        """Record an input; `form` is its form in tasks: an array, a key, a part of a file."""
        key = form.key if isinstance(form, Parent) else ""
        self.inputs.append(key)
        if str(key).startswith(f"data-{self.name}-"):
            self.here.append(Here("send", None, begin, end, nbytes, key))

    def acted(self, action: Action, begin: int, end: int) -> None:
        """Record an action of the client."""
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
        """The key of an operand of a task; "" if it was sent with the task."""
        if isinstance(source, FromTask):
            task = self.plan.tasks[source.task]
            is_alone = len(task.outputs) == 1 or source.register in task.apart
            return key_of(self, source) if is_alone else task_key(self, task)
        if isinstance(source, FromHere):
            return f"data-{self.name}-{source.number}"
        assert isinstance(source, FromInput)
        return self.inputs[source.number] if source.number < len(self.inputs) else ""


def _bytes(buffer: Buffer, region: Region | None) -> int:
    """The size in bytes of a region of a buffer; of all of it if None."""
    size = region.size if region else buffer.size
    return size * buffer.dtype.numpy.itemsize
