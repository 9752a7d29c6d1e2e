"""Kernels whose loops are shared out over tasks, from loops to threads."""

import ctypes
from typing import Any

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.device import cpu, device
from compiler.device.program import Program
from compiler.lowered.linearize import linearize
from compiler.threads.launch import steps_of, stride_of
from tests.loops.bodies import BODIES, Example
from tests.threads import thunks

Array = np.ndarray[Any, Any]


def loaded(example: Example) -> Program:
    spec = cpu.LlvmRenderer().render(linearize(example.body).instructions, "k")
    return device.CPU.load(device.CPU.compile(spec, 2))


def aligned(arrays: list[Array]) -> list[Array]:
    """The same in memory of the allocator, as a run has it."""
    made = [cpu.MEMORY.allocate(each.size, dtypes.parse(each.dtype)) for each in arrays]
    for new, each in zip(made, arrays, strict=True):
        new[...] = each
    return made


@pytest.mark.parametrize("name", BODIES)
def test_the_tasks_of_a_kernel_compute_it(name: str) -> None:
    example = BODIES[name]()
    program = loaded(example)
    arrays = aligned(example.arguments())
    expected = example.result(arrays)
    values = [0 if v == "core_id" else example.variables[v] for v in program.variables]
    places = [arrays[slot].ctypes.data for slot in program.slots]
    program.execute(places, values)
    np.testing.assert_allclose(arrays[0][: expected.size], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ("matmul in tiles", "packed panel"))
def test_its_thunk_does_what_it_does(name: str) -> None:
    example = BODIES[name]()
    program = loaded(example)
    assert program.task is not None and program.tasks == 2
    arrays = aligned(example.arguments())
    expected = example.result(arrays)
    words = [arrays[slot].ctypes.data for slot in program.slots]
    words += [example.variables[v] for v in program.task.parameters]
    stride = stride_of(program.task.scratch)
    memory = np.zeros(stride * 2, np.uint8)
    steps = steps_of(program.task.address, 0, program.tasks, 2)
    for _ in range(50):
        arrays[0][...] = 77
        thunks.run(steps, np.array(words, np.int64), 2, memory, stride)
        np.testing.assert_allclose(arrays[0][: expected.size], expected, rtol=1e-4, atol=1e-5)


def test_one_task_does_its_share_alone() -> None:
    example = BODIES["matmul in tiles"]()
    program = loaded(example)
    assert program.task is not None
    arrays = aligned(example.arguments())
    expected = example.result(arrays)
    words = np.array([arrays[slot].ctypes.data for slot in program.slots], np.int64)
    thunk = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3)(program.task.address)
    thunk(words.ctypes.data, 1, 0)
    half = expected.size // 2
    assert (arrays[0][:half] == 77).all()
    np.testing.assert_allclose(arrays[0][half:], expected[half:], rtol=1e-4, atol=1e-5)
