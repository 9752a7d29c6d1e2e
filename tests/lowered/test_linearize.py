"""Bodies with tagged ranges as instructions: on the interpreter, and as machine code."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from compiler.llvm import jit
from compiler.llvm.emit import emit
from compiler.llvm.scratch import layout
from compiler.loops.interpret import interpret as interpret_loops
from compiler.loops.nodes import Body
from compiler.loops.verify import verify as verify_loops
from compiler.lowered.instructions import Instruction
from compiler.lowered.interpret import interpret
from compiler.lowered.linearize import linearize
from compiler.lowered.machine import DefineVar
from compiler.lowered.verify import verify
from tests.loops.bodies import BODIES, Example
from tests.lowered.tiled_bodies import CASES

Array = np.ndarray[Any, Any]


def rows_of(body: Body) -> tuple[Instruction, ...]:
    """The verified instructions of a body."""
    linear = linearize(body)
    assert len(linear.origins) == len(linear.instructions)
    verify(linear.instructions)
    return tuple(linear.instructions)


def aligned(size: int) -> Array:
    """Bytes that begin at a cache line."""
    memory = np.empty(size + 64, np.uint8)
    begin = -memory.ctypes.data % 64
    return memory[begin : begin + size]


def runs(rows: Sequence[Instruction], variables: dict[str, int]) -> list[dict[str, int]]:
    """The values of all variables in each run of a kernel."""
    cores = [i.maximum for i in rows if isinstance(i, DefineVar) and i.name == "core_id"]
    if not cores:
        return [variables]
    return [variables | {"core_id": core} for core in range(cores[0] + 1)]


def interpreted(
    rows: tuple[Instruction, ...], arrays: list[Array], variables: dict[str, int]
) -> Array:
    """The result on the lowered interpreter."""
    for values in runs(rows, variables):
        interpret(rows, arrays, variables=values)
    return arrays[0]


def run_machine(
    rows: tuple[Instruction, ...], arrays: list[Array], variables: dict[str, int]
) -> Array:
    """The result as machine code."""
    text = "\n".join(line.text for line in emit("k", rows))
    names = [i.name for i in rows if isinstance(i, DefineVar)]
    size = layout(rows).size
    scratch = aligned(size)
    loaded = jit.load(text, "k", len(arrays) + len(names) + bool(size))
    last = [scratch.ctypes.data] if size else []
    for values in runs(rows, variables):
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
        loaded.entry(*pointers, *(values[name] for name in names), *last)
    return arrays[0]


@pytest.mark.parametrize("name", BODIES)
def test_examples(name: str) -> None:
    example: Example = BODIES[name]()
    rows = rows_of(example.body)
    expected = example.result(example.arguments())
    for run in (interpreted, run_machine):
        got = run(rows, example.arguments(), dict(example.variables))
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6, err_msg=run.__name__)


@pytest.mark.parametrize("name", CASES)
def test_tiled_bodies(name: str) -> None:
    case = CASES[name]()
    verify_loops(case.body)
    rows = rows_of(case.body)
    arrays = case.arguments()
    interpret_loops(case.body, arrays, variables=case.variables)
    case.check(arrays[0])
    for run in (interpreted, run_machine):
        case.check(run(rows, case.arguments(), dict(case.variables)))
