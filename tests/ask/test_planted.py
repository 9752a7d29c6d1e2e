"""Faults planted where users' programs are made and run: each is seen, and the right place blamed.

The compiler is changed under a test, so nothing that it makes meanwhile is kept for others.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from compiler import Options, Tensor, bisect, check_passes, compile
from compiler.ask.as_run import NAMES
from compiler.core.errors import InternalError
from compiler.pipeline import kernels
from compiler.run import assemble, plans
from compiler.run.bindings import hold
from compiler.run.execution_plan import ExecutionPlan
from compiler.run.launch import Launch
from compiler.schedule import host, pitch
from compiler.schedule.analysis.share import MemoryPlan, share
from tests.faults import unflip
from tests.rows import replace_row

rng = np.random.default_rng(5)
OPTIONS = Options(cache=False, trace=True)


def random(*shape: int, name: str = "") -> Tensor:
    return Tensor(rng.standard_normal(shape).astype(np.float32), name=name)


@pytest.fixture(autouse=True)
def nothing_is_kept() -> Iterator[None]:
    plans.STRUCTURES.clear()
    kernels.PROGRAMS.clear()
    yield
    plans.STRUCTURES.clear()
    kernels.PROGRAMS.clear()


def blamed(tensor: Tensor, options: Options = OPTIONS) -> tuple[str, str]:
    """The stage that `check` and `bisect` blame, which has to be the same, and why."""
    made = compile(tensor, options)
    report, found = made.check(), bisect(made)
    first = report.first_difference
    assert not report.ok and not report and first is not None and found.row is not None
    assert found.record is None and found.row.stage == first.stage, (str(report), str(found))
    assert f"no pass is at fault, but {first.stage}" in str(found)
    return first.stage, first.note


def chain() -> Tensor:
    """Several kernels, with values between them that share memory."""
    x = random(64, 64, name="x")
    return x @ (x @ (x @ x.softmax(1)).softmax(1)).softmax(1)


def wide() -> Tensor:
    """A kernel of several tasks."""
    return random(1500, 700, name="x").exp() * 2.0


def test_what_users_run_is_checked() -> None:
    report = compile(chain(), OPTIONS).check()
    assert report.ok and tuple(row.stage for row in report.rows[-len(NAMES):]) == NAMES


def test_an_overlap_in_the_memory_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    def overlapping(items: Any, results: Any, waves: Any) -> MemoryPlan:
        made = share(items, results, waves)
        places = tuple(p if p.offset is None else replace(p, offset=0) for p in made.places)
        return replace(made, places=places)

    monkeypatch.setattr(plans, "share", overlapping)
    stage, note = blamed(chain())
    assert stage == "memory plan"
    assert "share 16,384 bytes, and both are needed in level" in note


def test_a_last_task_that_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = assemble.steps_of

    def short(thunk: int, offset: int, tasks: int, threads: int) -> Any:
        return usual(thunk, offset, tasks - (tasks > 1), threads)

    monkeypatch.setattr(assemble, "steps_of", short)
    stage, note = blamed(wide())
    assert stage == "native steps"
    assert "item 0 (k0) leaves elements" in note and note.endswith("different")


def test_a_last_task_that_is_lost_on_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = assemble.steps_of

    def short(thunk: int, offset: int, tasks: int, threads: int) -> Any:
        return usual(thunk, offset, tasks - (threads > 1 < tasks), threads)

    monkeypatch.setattr(assemble, "steps_of", short)
    stage, note = blamed(wide(), replace(OPTIONS, threads=2))
    assert stage == "threads" and "item 0 (k0) leaves elements" in note


def test_inputs_that_are_swapped_for_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = assemble._Assembly.name

    def swapped(self: Any, inputs: Any, items: Any, memory: Any) -> None:
        usual(self, inputs, items, memory)
        one, other = inputs[:2]
        self.places[one], self.places[other] = self.places[other], self.places[one]

    monkeypatch.setattr(assemble._Assembly, "name", swapped)
    stage, note = blamed(random(40, 30, name="x") - random(40, 30, name="y"))
    assert stage == "native steps"
    assert "it is right with inputs 0 (x) and 1 (y) exchanged" in note


def test_inputs_that_a_plan_swaps(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = ExecutionPlan._directly

    def swapped(self: Any, inputs: Any, direct: Any) -> Any:
        return usual(self, inputs and inputs[::-1], direct)

    monkeypatch.setattr(ExecutionPlan, "_directly", swapped)
    stage, note = blamed(random(40, 30, name="x") - random(40, 30, name="y"))
    assert stage == "prepare().run(inputs)"
    assert "inputs 0 (x) and 1 (y)" in note


def test_what_a_second_run_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = ExecutionPlan.run

    def forgetful(self: Any, inputs: Any = (), variables: Any = None) -> Any:
        found = usual(self, inputs, variables)
        arrays = self._launch.arrays[::-1]
        self.__dict__["_launch"] = Launch.of(self.structure, arrays, shapes=self._shapes)
        self.__dict__.pop("_direct")
        return found

    monkeypatch.setattr(ExecutionPlan, "run", forgetful)
    assert blamed(random(40, 30) - random(40, 30))[0] == "prepare().run()"


def test_a_value_that_is_held_wrongly(monkeypatch: pytest.MonkeyPatch) -> None:
    backwards = lambda flat, *rest: hold(flat[::-1].copy(), *rest)  # noqa: E731
    monkeypatch.setattr("compiler.run.realize.hold", backwards)
    assert blamed(random(40, 30) - random(40, 30))[0] == "numpy()"


def test_a_fault_in_index_is_not_blamed_on_the_passes_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unflip(monkeypatch)
    made = compile((random(40, 33).flip(1) * 1.0 + 0.0).exp(), OPTIONS)
    found = bisect(made)
    assert found.record is None and found.row is not None
    assert found.row.stage == "loops k0: index" and found.step == 0
    marks = dict(zip(made.passes, check_passes(made), strict=True))
    of_loops = [mark for record, mark in marks.items() if record.stage == "loops"]
    assert of_loops and all(mark.ok is None for mark in of_loops)
    assert "the loops were wrong before" in of_loops[0].note
    first = made.check().first_difference
    assert first is not None and first.stage == "loops"


def copied() -> Tensor:
    return (random(12, 9).exp().flip(1).to("CPU:1") * 2.0).to("CPU") + 1.0


def test_a_transfer_that_loses_an_element(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = host.copy

    def short(region: Any, destination: Any, source: Any) -> None:
        last = destination[-1].copy()
        usual(region, destination, source)
        destination[-1] = last

    monkeypatch.setattr(host, "copy", short)
    stage, note = blamed(copied())
    assert stage == "transfers"
    assert "CPU → CPU:1) leaves nan at element 107 instead of" in note


def test_a_transfer_of_the_wrong_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = pitch.moved

    def unflipped(node: Any, strides: Any, offset: int) -> Any:
        return (strides, offset) if type(node).__name__ == "Flip" else usual(node, strides, offset)

    monkeypatch.setattr(pitch, "moved", unflipped)
    stage, note = blamed(copied())
    assert stage == "transfers"
    assert "brings other elements of its source than the graph copies" in note


def test_transfers_that_are_right_have_a_row() -> None:
    report = compile(copied(), OPTIONS).check()
    assert report.ok and "transfers" in [row.stage for row in report.rows]
    assert "transfers" not in [row.stage for row in compile(wide(), OPTIONS).check().rows]


def test_realize_verifies_what_it_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage that breaks an invariant was run by `.numpy()`, whatever it did to memory."""
    def broken(instructions: Any) -> None:
        raise InternalError("lowered", "invariant 3 does not hold")

    replace_row(monkeypatch, "lowered.verify", broken)
    with pytest.raises(InternalError, match="invariant 3"):
        (random(7, 11) * 3.0).numpy()
