"""Machine code with marks: it does what the kernel does, and counts what it is for."""

from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Compilation, Options, Tensor
from compiler.core.errors import InternalError
from compiler.device.cpu import CpuProgram
from compiler.llvm import jit
from compiler.llvm.looking.marked import counted, marked

X86 = pytest.mark.skipif(not jit.is_x86(), reason="counters are code of x86-64")


def program(rows: int = 60, columns: int = 20_000) -> Compilation:
    """Two nested loops; the inner one is too long to be unrolled, with vectors of any width."""
    x = Tensor(np.arange(rows * columns, dtype=np.float32).reshape(rows, columns), name="x")
    return compiler.compile((x * 2.0).max(1), Options(loops="plain", threads=1))


def parts(made: Compilation) -> tuple[Any, Any, CpuProgram, list[int], np.ndarray[Any, Any]]:
    """Source, level, the program, the addresses of its arguments, and its result."""
    generated, (loaded,) = made._generated[0], made.load().values()
    assert isinstance(loaded, CpuProgram)
    (x,) = made.inputs(None, {}).values()
    out = np.zeros(60, np.float32)
    addresses = [out.ctypes.data, x.ctypes.data]
    return generated.source, generated.kernel.level, loaded, addresses, out


@X86
def test_marks_change_nothing_and_stand_in_order() -> None:
    made = program()
    source, level, loaded, addresses, out = parts(made)
    found = marked(source, level, made.assembly[0])
    again = loaded.of_code(found.code)
    again.in_turn(addresses, [])()
    assert out.tolist() == made.run()[0].tolist()
    places = [again.address_of(it) for it in found.marks]
    assert len(places) == len(made.assembly[0].rows) + 1
    assert all(places) and places == sorted(places)


@X86
def test_blocks_count_how_often_they_are_run() -> None:
    made = program()
    source, level, loaded, addresses, out = parts(made)
    flow = made.assembly[0].flow
    counts = np.zeros(len(flow.blocks), np.int64)
    again = loaded.of_code(counted(source, level, made.assembly[0], counts.ctypes.data))
    again.in_turn(addresses, [])()
    assert out.tolist() == made.run()[0].tolist()  # flags and registers are kept
    by_depth: dict[int, set[int]] = {}
    for block, runs in zip(flow.blocks, counts.tolist(), strict=True):
        by_depth.setdefault(block.depth, set()).add(runs)
    assert counts[0] == 1 and max(by_depth[1]) == 60
    assert max(by_depth[2]) > 60 and not any(runs % 60 for runs in by_depth[2])
    again.in_turn(addresses, [])()
    assert counts[0] == 2


def test_another_text_than_that_of_the_listing_is_refused() -> None:
    made = program()
    source, level, *_ = parts(made)
    with pytest.raises(InternalError, match="another text"):
        marked(source, level, program(7, 40).assembly[0])
