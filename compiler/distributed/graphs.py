"""graphs: the tasks of a run as nodes of Dask's graph, in a layer for each worker.

    k0-1a2b3c4d7-3        the result of task 3: an array, or a tuple of several
    k0-1a2b3c4d7-3-12     the array of register 12 in it

Dask's dashboard shows the part of a key before the first dash: the kernel that takes longest.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from dask._task_spec import Task as Node
from dask._task_spec import TaskRef
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

from compiler.distributed.held import Layers, Parent, Submitted
from compiler.distributed.repair import MARK
from compiler.distributed.tasks import (
    FromHere,
    FromInput,
    FromTask,
    Source,
    Submit,
    Task,
    TaskPlan,
    work_of,
)
from compiler.distributed.work import packed, perform, pick, release_here


class Planned(Protocol):
    """A run by its name, and its plan."""

    name: str
    plan: TaskPlan


def layers_of(submit: Submit, run: Submitted) -> tuple[Layers, list[str]]:
    """The nodes of tasks, by device, and the keys that the client requests."""
    layers: Layers = {}
    wanted: list[str] = []
    for task in submit.tasks:
        layers.setdefault(task.device, {}).update(_nodes(task, run))
        wanted += [key_of(run, FromTask(task.number, register)) for register in sorted(task.wanted)]
    return layers, wanted


def graph_of(run: Submitted, layers: Layers, address: Callable[[str], str]) -> Any:
    """Dask's graph: each layer is restricted to the worker of its device."""
    layer_of = {
        f"{run.name}-{name}": MaterializedLayer(
            layer, annotations={"workers": [address(name)], **MARK}
        )
        for name, layer in layers.items()
    }
    return HighLevelGraph(layer_of, {name: set() for name in layer_of})


def key_of(run: Planned, source: FromTask) -> str:
    """The key of a result of a task."""
    task = run.plan.tasks[source.task]
    key = task_key(run, task)
    return key if len(task.outputs) == 1 else f"{key}-{source.register}"


def task_key(run: Planned, task: Task) -> str:
    """The key of a task."""
    return f"{task.name}-{run.name}-{task.number}"


def _nodes(task: Task, run: Submitted) -> Mapping[str, Any]:
    """The node of the task, and one for each array of several that is sent separately."""
    name = task_key(run, task)
    operands = [argument_of(source, run) for source in task.inputs.values()]
    arguments = [argument for argument, _ in operands]
    contents = run.plan.contents
    if task.number not in contents:
        places = {r: place for r, (_, place) in zip(task.inputs, operands, strict=True)}
        contents[task.number] = packed(work_of(task, run.plan, places))
    content = contents[task.number]
    library = None if run.library is None else TaskRef(run.library.key)
    values = dict(run.values)
    release = release_here()
    rows = {name: Node(name, perform, content, run.name, release, values, library, *arguments)}
    if len(task.outputs) > 1:
        for register in sorted(task.apart):
            key = f"{name}-{register}"
            rows[key] = Node(key, pick, TaskRef(name), task.outputs.index(register))
    return rows


def argument_of(source: Source, run: Submitted) -> tuple[Any, int | None]:
    """The key of an operand of a task, and its position if the key holds several arrays."""
    if isinstance(source, FromTask):
        maker = run.plan.tasks[source.task]
        if len(maker.outputs) == 1 or source.register in maker.apart:
            return TaskRef(key_of(run, source)), None
        return TaskRef(task_key(run, maker)), maker.outputs.index(source.register)
    if isinstance(source, FromHere):
        sent = run.inline[source.number]
        return (TaskRef(sent) if isinstance(sent, str) else sent), None
    assert isinstance(source, FromInput)
    operand = run.inputs[source.number]
    return (TaskRef(operand.key) if isinstance(operand, Parent) else operand), None
