"""Operations on floats, counted without running: as the interpreter counts them."""

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.lowered.instructions import DefineGlobal
from compiler.lowered.interpret import interpret
from compiler.playground.count_flops import count_flops
from tests.lowered.test_instructions import COUNTED, PROGRAMS
from tests.playground.programs import TILED, padded_sums, product


@pytest.mark.parametrize("loops", ["plain", TILED, "tile i0 16; pack 2 i0.0"])
def test_a_product_is_two_operations_for_each_pair(loops: str) -> None:
    (kernel,) = product(loops=loops, rows=32, columns=32, depth=24).lowered
    assert count_flops(kernel.instructions) == 2 * 32 * 32 * 24


def test_whole_numbers_are_no_floats() -> None:
    value = Tensor(np.arange(8, dtype=np.int32)) * 3
    (kernel,) = compiler.compile(value, Options(loops="plain")).lowered
    assert count_flops(kernel.instructions) == 0


@pytest.mark.parametrize("value", [padded_sums(), Tensor(np.ones((4, 9), np.float32)).softmax()])
def test_as_the_interpreter(value: Tensor) -> None:
    for kernel in compiler.compile(value, Options(loops="plain")).lowered:
        rows = [i for i in kernel.instructions if isinstance(i, DefineGlobal)]
        arrays = [np.ones(i.size, i.dtype.numpy) for i in rows]
        assert count_flops(kernel.instructions) == interpret(kernel.instructions, arrays).flops


@pytest.mark.parametrize("name", [n for n in COUNTED if "if" not in n and "predicate" not in n])
def test_programs_by_hand(name: str) -> None:
    assert count_flops(PROGRAMS[name]().instructions) >= COUNTED[name].flops
