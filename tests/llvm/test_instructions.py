"""Machine code for the instructions of `lowered/machine.py`: run, and compared with NumPy."""

import ctypes

import numpy as np
import pytest

from compiler.core.dtypes import DType
from compiler.llvm import jit
from compiler.llvm.emit import emit
from compiler.llvm.level import Level
from compiler.llvm.looking.listing import assembly, optimized
from compiler.llvm.scratch import ScratchLayout, layout
from compiler.llvm.source import Source
from compiler.lowered.by_hand import Buffer, Special
from compiler.lowered.instructions import (
    Acc,
    Alu,
    Assign,
    Const,
    DefineGlobal,
    EndRange,
    Instruction,
    Load,
    Range,
    Store,
    register_lanes,
)
from compiler.lowered.interpret import interpret
from compiler.lowered.machine import DefineVar, Local, Unroll
from compiler.lowered.verify import verify
from compiler.ops.table import OPS
from tests.evaluate import NUMPYS
from tests.lowered.hand_written import Array, f32, i64
from tests.lowered.machine_programs import PROGRAMS

LITTLE = Level(1, "pipeline", "a test")


def text(instructions: tuple[Instruction, ...]) -> str:
    """The module, once its instructions are verified."""
    verify(instructions)
    return "\n".join(line.text for line in emit("kernel", instructions))


def run(
    instructions: tuple[Instruction, ...], buffers: list[Array], variables: list[int], level: int
) -> None:
    """Compile and call: pointers, then the int64 arguments."""
    loaded = jit.load(text(instructions), "kernel", len(buffers), level)
    types = [ctypes.c_void_p] * len(buffers) + [ctypes.c_int64] * len(variables)
    entry = ctypes.CFUNCTYPE(None, *types)(loaded.address)
    entry(*[b.ctypes.data for b in buffers], *variables)


@pytest.mark.parametrize("level", (0, 3))
@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_numpy(name: str, level: int) -> None:
    program = PROGRAMS[name]()
    buffers = program.buffers()
    named = [i.name for i in program.instructions if isinstance(i, DefineVar | Special)]
    run(program.instructions, buffers, [program.variables[each] for each in named], level)
    program.check(buffers[0])
    for given, after in zip(program.inputs, buffers[1:], strict=True):
        assert given.tobytes() == after.tobytes(), "an input was written"


@pytest.mark.parametrize(
    ("name", "expected"),
    (
        ("local_in_a_loop", "%local5 = alloca [3 x i32], align 64"),
        ("variables", "i64 %var.n, i64 %var.gidx1)"),
        ("if_carries_accumulators", "%acc8.if.14 = phi float"),
        ("vector_constants", "fmul contract <4 x float> %v7, <float 0x3FF"),
        ("vector_accumulator", '!1000001 = !{!"llvm.loop.unroll.count", i32 2}'),
        ("masked_vectors", "call <4 x i32> @llvm.masked.load.v4i32.p0"),
        ("masked_vectors", "call void @llvm.masked.store.v4i32.p0"),
        ("gather_through_pointers", "@llvm.masked.gather.v2i32.v2p0(<2 x ptr>"),
        ("lanes_joined_and_taken", "shufflevector <2 x i32>"),
        ("markers", "fence seq_cst"),
        ("custom_statement", "call i32 @sv.custom.mark(ptr %buffer5, i64 0, i32 %v7)"),
        ("custom_inline", "%v7 = call float @llvm.copysign.f32(float %v5, float %v6)"),
    ),
)
def test_the_text_has_it(name: str, expected: str) -> None:
    assert expected in text(PROGRAMS[name]().instructions)


def test_scratch_is_taken_once_at_the_entry() -> None:
    lines = text(PROGRAMS["product_in_scratch"]().instructions).splitlines()
    taken = [n for n, line in enumerate(lines) if "alloca" in line]
    entry = lines.index("entry:")
    assert taken == [entry + 1, entry + 2, entry + 3]


@pytest.mark.parametrize("name", PROGRAMS)
def test_listings_lead_back_to_the_instructions(name: str) -> None:
    """Debug locations agree with what else the module holds; every line knows its source."""
    rows = tuple(emit("kernel", PROGRAMS[name]().instructions))
    source = Source(title="LLVM IR", rows=rows, kernel=0)
    assert len(source.to_networkx()) >= 1
    for listing in (optimized(source, LITTLE), assembly(source, LITTLE)):
        assert any(line.parents for line in listing.lines)


def reductions_unrolled(count: int) -> str:
    """Optimised IR of a sum of 1000 floats, its loop unrolled `count` times; 0: unmarked."""
    rows: tuple[Instruction, ...] = (
        DefineGlobal(0, 0, f32, 1, True), DefineGlobal(1, 1, f32, 1000, False),
        Const(2, 1000, i64), Const(3, 0, f32), Const(4, 0, i64),
        Acc(5, 3, f32),
        *([Unroll(count)] if count else []),
        Range(6, 2, 0, "reduction"),
        Load(7, 1, 6, None, f32), Alu(8, "mul", (5, 7), f32), Alu(9, "add", (8, 7), f32),
        Assign(5, 9),
        EndRange(6),
        Store(0, 4, 5, None),
    )  # fmt: skip
    verify(rows)
    source = Source(title="LLVM IR", rows=tuple(emit("kernel", rows)), kernel=0)
    return "\n".join(optimized(source, Level(2, "pipeline", "a test")).rows)


def test_unrolling_is_what_llvm_does() -> None:
    assert [reductions_unrolled(count).count("load float") for count in (1, 2, 5)] == [1, 2, 5]
    assert "!llvm.loop" not in reductions_unrolled(0)


@pytest.mark.parametrize("kind", (Local, Buffer))
def test_much_scratch_is_behind_an_argument(kind: type[Local] | type[Buffer]) -> None:
    rows = (
        DefineGlobal(0, 0, f32, 1, True),
        kind(1, f32, 2**12),
        kind(2, f32, 2**12 - 3),
    )
    assert text(rows).count("alloca") == 2
    assert "%scratch" not in text(rows)
    assert layout(rows) == ScratchLayout(0, {})
    more = (*rows, kind(3, f32, 1))
    assert layout(more) == ScratchLayout(2**15 + 64, {1: 0, 2: 2**14, 3: 2**15})
    assert "alloca" not in text(more)
    assert "ptr noalias nocapture align 64 %scratch)" in text(more)


def _operands(op: str, dtype: DType, rng: np.random.Generator) -> list[Array]:
    """Four lanes for each operand, with awkward values among them."""
    row = OPS[op]
    values = []
    for position in range(row.arity):
        if op == "where" and position == 0:
            values.append(np.array([True, False, True, False]))
        elif dtype.kind == "bool":
            values.append(rng.integers(0, 2, 4).astype(bool))
        elif dtype.is_float:
            values.append(np.abs(rng.standard_normal(4)).astype(dtype.numpy) + dtype.numpy.type(1))
        else:
            limits = np.iinfo(dtype.numpy)
            awkward = [limits.min, limits.max, 0, -1 if limits.min else 70]
            values.append(np.array(awkward, dtype.numpy)[rng.permutation(4)])
    return values


CASES = [
    (name, dtype)
    for name, row in OPS.items()
    if row.expansion is None
    for dtype in NUMPYS
    if dtype.kind in row.accepts
]


@pytest.mark.parametrize(("op", "dtype"), CASES, ids=lambda it: str(it))
def test_every_operation_on_lanes(op: str, dtype: DType) -> None:
    """Four lanes give what the interpreter gives, which the table's NumPy functions define."""
    values = _operands(op, dtype, np.random.default_rng(3))
    element = [dtype_of(value) for value in values]
    result = OPS[op].result_dtype(tuple(element[1:] if op == "where" else element))
    count = len(values)
    rows: tuple[Instruction, ...] = (
        DefineGlobal(0, 0, result, 4, True),
        *[DefineGlobal(n + 1, n + 1, t, 4, False) for n, t in enumerate(element)],
        Const(10, 0, i64),
        *[Load(20 + n, n + 1, 10, None, t, 4) for n, t in enumerate(element)],
        Alu(30, op, tuple(range(20, 20 + count)), result, False, 4),
        Store(0, 10, 30, None, 4),
    )
    expected, got = np.zeros(4, result.numpy), np.zeros(4, result.numpy)
    interpret(rows, [expected, *values])
    run(rows, [got, *values], [], 1)
    tolerance = {16: 2e-3, 32: 2e-6, 64: 1e-14}[dtype.bits] if dtype.is_float else 0.0
    np.testing.assert_allclose(got, expected, rtol=tolerance)


def dtype_of(value: Array) -> DType:
    return next(t for t in NUMPYS if t.numpy == value.dtype)


def test_elementary_functions_are_written_in_place() -> None:
    rows = (
        DefineGlobal(0, 0, f32, 4, True),
        DefineGlobal(1, 1, f32, 4, False),
        Const(2, 0, i64),
        Load(3, 1, 2, None, f32, 4),
        Alu(4, "exp", (3,), f32, False, 4),
        Store(0, 2, 4, None, 4),
    )
    lines = text(rows).splitlines()
    assert "define" not in "".join(lines[1:])
    assert any(line.startswith("  %v4 = ") for line in lines)
    of_exp = [row for row in emit("kernel", rows) if row.instruction == 4]
    assert len(of_exp) > 15 and not any(" @sv." in row.text for row in of_exp)
    assert register_lanes(rows[3]) == 4
