"""Items of a schedule as tasks: what joins, what leaves, in which order."""

from typing import Any

import numpy as np
import pytest

from compiler import Tensor
from compiler.device import buffers
from compiler.distributed.tasks import (
    FromTask,
    Gather,
    Local,
    Send,
    Submit,
    TaskPlan,
    plan,
    work_of,
)
from compiler.distributed.work import Library, Move, packed, perform, release_here
from compiler.graph.kinds.effects import Assign
from compiler.graph.nodes import elementwise
from compiler.run import plans
from compiler.settings.options import Options

A = np.arange(48, dtype="float32").reshape(8, 6)
W = ("DASK", "DASK:1")


def _planned(*tensors: Tensor, joined_ns: int = 5_000_000) -> TaskPlan:
    made, _ = plans.structure_of([tensor.node for tensor in tensors], Options())
    return plan(made.items, made.results, made.inputs, made.programs, joined_ns)


def _kinds(made: TaskPlan) -> list[str]:
    return [type(action).__name__ for action in made.actions]


def test_short_items_of_a_worker_are_one_task() -> None:
    x = Tensor(A).to("DASK")
    made = _planned((x @ x.T).softmax(1) @ x)
    assert len(made.tasks) == 1 and len(made.tasks[0].steps) > 2
    each = _planned((x @ x.T).softmax(1) @ x, joined_ns=0)
    assert len(each.tasks) > 1
    assert sum(len(task.steps) for task in each.tasks) == len(made.tasks[0].steps)


def test_what_comes_back_begins_a_task_of_a_higher_rank() -> None:
    x = Tensor(A).to("DASK").exp()
    there = x.to("DASK:1") + 1
    made = _planned(x * there.to("DASK"))
    ranks = [(task.device, task.rank) for task in made.tasks]
    assert ranks == [("DASK", 0), ("DASK:1", 1), ("DASK", 2)]


@pytest.mark.parametrize("joined_ns", [0, 5_000_000])
def test_tasks_form_no_circle(joined_ns: int) -> None:
    x = Tensor(A).shard(W, 0)
    for _ in range(4):
        x = (x - x.sum(0)).shard(W, 1) * 2
        x = x.shard(W, 0)
    made = _planned(x, joined_ns=joined_ns)
    for task in made.tasks:
        sources = [s for s in task.inputs.values() if isinstance(s, FromTask)]
        assert all(made.tasks[source.task].rank < task.rank for source in sources)


def test_only_the_part_that_moves_leaves_a_worker() -> None:
    x = Tensor(A).to("DASK").exp().contiguous()
    made = _planned(x[2:4].to("DASK:1") + 1)
    (first,) = (task for task in made.tasks if task.device == "DASK")
    (register,) = first.outputs
    assert made.sizes[register][0] == 2 * 6


def test_what_is_done_here_stands_between_tasks() -> None:
    x = Tensor(A).to("DASK").exp()
    made = _planned((x.sum(0).to("CPU") * 2).to("DASK:1") + 1)
    assert _kinds(made) == ["Send", "Submit", "Gather", "Local", "Send", "Submit"]
    kinds = {Send, Submit, Gather, Local}
    assert {type(action) for action in made.actions} == kinds


def test_inputs_that_are_written_are_told() -> None:
    node = buffers.new_buffer(A.copy(), device="DASK")
    target = Assign((node, elementwise("neg", node)))
    made, _ = plans.structure_of([target], Options())
    planned = plan(made.items, made.results, made.inputs, made.programs)
    assert [type(end) for end in planned.written.values()] == [FromTask]


def _inputs(made: TaskPlan, number: int) -> list[Any]:
    sends = [action for action in made.actions if isinstance(action, Send)]
    assert len(sends) == len(made.tasks[number].inputs)
    return [A.reshape(-1).copy()]


def test_a_task_runs_as_it_travels() -> None:
    made, _ = plans.structure_of([(Tensor(A).to("DASK") * 2).node], Options())
    planned = plan(made.items, made.results, made.inputs, made.programs)
    (task,) = planned.tasks
    from compiler.distributed.engine import code_of

    library = Library.of([code_of(made.programs[key]) for key in planned.codes])
    content = packed(work_of(task, planned, {}))
    (given,) = _inputs(planned, 0)
    before = given.copy()
    found = perform(content, "run", release_here(), {}, library, given)
    np.testing.assert_array_equal(found, A.reshape(-1) * 2)
    np.testing.assert_array_equal(given, before)
    assert any(isinstance(step, Move) for step in task.steps)
