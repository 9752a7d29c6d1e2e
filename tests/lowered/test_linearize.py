"""Bodies with tagged ranges as instructions: on the interpreter, and as machine code."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from compiler.llvm import jit
from compiler.llvm.emit import emit
from compiler.loops.nodes import Body, Range
from compiler.loops.verify import verify as verify_loops
from compiler.lowered.instructions import Instruction
from compiler.lowered.interpret import interpret
from compiler.lowered.linearize import linearize
from compiler.lowered.machine import DefineVar
from compiler.lowered.verify import verify
from compiler.node import toposort
from tests.loops.bodies import BODIES, Example

Array = np.ndarray[Any, Any]


def rows_of(body: Body) -> tuple[Instruction, ...]:
    """The verified instructions of a body."""
    linear = linearize(body)
    assert len(linear.origins) == len(linear.instructions)
    verify(linear.instructions)
    return tuple(linear.instructions)


def runs(rows: Sequence[Instruction], variables: dict[str, int]) -> list[dict[str, int]]:
    """The values of all variables in each run of a kernel."""
    cores = [i.maximum for i in rows if isinstance(i, DefineVar) and i.name == "core_id"]
    if not cores:
        return [variables]
    return [variables | {"core_id": core} for core in range(cores[0] + 1)]


def interpreted(rows: Sequence[Instruction], arrays: list[Array], variables: dict[str, int]) -> Array:
    for values in runs(rows, variables):
        interpret(rows, arrays, variables=values)
    return arrays[0]


def run_machine(rows: tuple[Instruction, ...], arrays: list[Array], variables: dict[str, int]) -> Array:
    text = "\n".join(line.text for line in emit("k", rows))
    names = [i.name for i in rows if isinstance(i, DefineVar)]
    loaded = jit.load(text, "k", len(arrays) + len(names))
    for values in runs(rows, variables):
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
        loaded.entry(*pointers, *(values[name] for name in names))
    return arrays[0]


@pytest.mark.parametrize("name", BODIES)
def test_examples(name: str) -> None:
    example: Example = BODIES[name]()
    rows = rows_of(example.body)
    expected = example.result(example.arguments())
    for run in (interpreted, run_machine):
        got = run(rows, example.arguments(), dict(example.variables))
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6, err_msg=run.__name__)
