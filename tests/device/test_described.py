"""Programs loaded again from what is known of them and their machine code."""

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.device.described import Described, described, loaded
from compiler.device.program import Program
from tests.programs_of_tasks import streaming


def programs() -> list[Program]:
    """A kernel of one task, one of two, and one with a variable."""
    x, n = np.ones((512, 512), np.float32), compiler.Variable("n", 1, 64)
    tensors = Tensor(x) + 1.0, Tensor(x) @ Tensor(x), Tensor(x[:64], symbolic={0: n}).sum(1)
    made = [compiler.prepare(t, options=Options(cache=False, threads=2)) for t in tensors]
    return [program for plan in made for program in plan.structure.programs.values()]


def parts(program: Program) -> tuple[Described, bytes, bytes]:
    found = described(program)
    assert found is not None
    return found


def never() -> Program:
    raise AssertionError("this needs no other code")


def test_a_loaded_program_takes_the_same() -> None:
    found = programs()
    assert {program.tasks > 1 for program in found} == {True, False}
    assert any(program.variables == ("n",) for program in found)
    for program in found:
        what, _, code = parts(program)
        again = loaded(what, code, never)
        for name in ("name", "slots", "variables", "tasks", "aligned"):
            assert getattr(again, name) == getattr(program, name), name
        assert again.task is not None and program.task is not None
        assert again.task.parameters == program.task.parameters
        assert again.task.scratch == program.task.scratch
        assert again.unstreamed() is again


def test_what_was_loaded_so_is_not_described_again() -> None:
    """Its source is gone, and so is the key of its code."""
    what, _, code = parts(programs()[0])
    assert described(loaded(what, code, never)) is None


def test_what_the_interpreter_runs_is_not_described() -> None:
    plan = compiler.prepare(Tensor(np.ones(4)) + 1.0, options=Options(device="INTERPRET"))
    assert [described(it) for it in plan.structure.programs.values()] == [None]


@pytest.mark.parametrize("start", (0, 1, 15))
def test_where_lines_cannot_be_streamed_to_it_is_compiled_again(start: int) -> None:
    program = streaming()
    what, _, code = parts(program)
    again = loaded(what, code, lambda: program)
    assert again.aligned == (0,) and again.unstreamed() is program.unstreamed()
    block = np.zeros(64 + 128, np.float32)
    first = -block.ctypes.data % 64 // 4 + start
    target, data = block[first : first + 64], np.arange(64, dtype=np.float32)
    again.execute([target.ctypes.data, data.ctypes.data])
    np.testing.assert_array_equal(target, data)
