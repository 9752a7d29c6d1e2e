"""The instruction interpreter: all at once or one by one, it agrees with the graph."""

from dataclasses import replace

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.errors import CompileError, InternalError, SizeError
from compiler.graph.bits import to_bits
from compiler.graph.nodes import Reduce
from compiler.loops.nodes import Body
from compiler.lowered import interpret as interpreter
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
)
from compiler.lowered.interpret import Counts, interpret, steps
from compiler.lowered.linearize import linearize
from tests.loops.programs import (
    PROGRAMS,
    Array,
    arguments,
    assert_close,
    data,
    f32,
    forms,
    i64,
    kernels,
    matmul,
    reference,
)


def lowered(form: Body) -> tuple[Instruction, ...]:
    return tuple(linearize(form).instructions)


def row_sums(rows: int, columns: int) -> tuple[Instruction, ...]:
    """out[i] = sum over r of in1[i * columns + r], written by hand."""
    return (
        DefineGlobal(0, 0, f32, rows, True),
        DefineGlobal(1, 1, f32, rows * columns, False),
        Const(2, rows, i64),
        Const(3, columns, i64),
        Const(4, 0, f32),
        Range(5, 2, 0, "normal"),
        Alu(6, "mul", (5, 3), i64),
        Acc(7, 4, f32),
        Range(8, 3, 1, "reduction"),
        Alu(9, "add", (6, 8), i64),
        Load(10, 1, 9, None, f32),
        Alu(11, "add", (7, 10), f32, True),
        Assign(7, 11),
        EndRange(8),
        Store(0, 5, 7, None),
        EndRange(5),
    )


def copies(values: list[Array]) -> list[Array]:
    return [v.copy() for v in values]


@pytest.mark.parametrize("block", (2**16, 5))
@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_the_graph(name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "BLOCK", block)
    for body in kernels(PROGRAMS[name]()):
        values = arguments(body)
        for form in forms(body):
            at_once = copies(values)
            interpret(lowered(form), at_once)
            assert_close(at_once[0], reference(body, values))


@pytest.mark.parametrize("name", PROGRAMS)
def test_serial_and_parallel_are_the_same_to_the_bit(name: str) -> None:
    for body in kernels(PROGRAMS[name]()):
        values = arguments(body)
        instructions = lowered(forms(body)[-1])
        at_once, one_by_one = copies(values), copies(values)
        counts = interpret(instructions, at_once)
        assert interpret(instructions, one_by_one, is_serial=True) == counts
        assert [v.tobytes() for v in at_once] == [v.tobytes() for v in one_by_one]


@pytest.mark.parametrize("op", ("max", "min"))
def test_nan_is_kept(op: str) -> None:
    (body,) = kernels(Reduce((data(3, 4),), op, (1,)))
    values = arguments(body)
    values[1][5] = np.nan
    for form in forms(body):
        interpret(lowered(form), values)
        assert np.isnan(values[0]).tolist() == [False, True, False]


def test_counts() -> None:
    values = [np.zeros(3, np.float32), np.arange(12, dtype=np.float32)]
    counts = interpret(row_sums(3, 4), values)
    assert values[0].tolist() == [6, 22, 38]
    assert counts == Counts(
        loads=12,
        stores=3,
        flops=12,
        integer_operations=3 + 12,
        iterations=3 + 12,
        bytes_read=48,
        bytes_written=12,
    )


def test_a_mulacc_is_two_operations() -> None:
    (body,) = kernels(matmul(data(3, 5), data(5, 4)))
    counts = interpret(lowered(forms(body)[-1]), arguments(body))
    assert counts.flops == 2 * 3 * 5 * 4
    assert (counts.loads, counts.stores) == (2 * 3 * 5 * 4, 3 * 4)


@pytest.mark.parametrize("is_serial", (False, True))
def test_a_predicated_access_counts_where_it_happens(is_serial: bool) -> None:
    (body,) = kernels(PROGRAMS["joined"]())
    counts = interpret(lowered(forms(body)[0]), arguments(body), is_serial=is_serial)
    assert (counts.loads, counts.bytes_read) == (6 + 12, 4 * 18)


def test_addresses_come_in_program_order() -> None:
    addresses: list[tuple[int, int, bool]] = []
    values = [np.zeros(2, np.float32), np.ones(6, np.float32)]
    interpret(row_sums(2, 3), values, addresses=addresses)
    assert addresses == [
        (1, 0, False), (1, 1, False), (1, 2, False), (0, 0, True),
        (1, 3, False), (1, 4, False), (1, 5, False), (0, 1, True),
    ]  # fmt: skip


def test_addresses_leave_out_what_a_predicate_stops() -> None:
    (body,) = kernels(PROGRAMS["joined"]())
    addresses: list[tuple[int, int, bool]] = []
    counts = interpret(lowered(forms(body)[-1]), arguments(body), addresses=addresses)
    assert sum(not is_store for *_, is_store in addresses) == counts.loads
    stored = [element for slot, element, is_store in addresses if is_store and slot == 0]
    assert stored == list(range(18))


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    (
        # 6 before the loops and 5 in the outer one; 5 in the inner one, per column.
        (3, 4, 6 + 5 + 5 * 4),
        (3, 0, 6 + 5),
        (2**16, 4, 6 + 5 + 5 * 4),
        (2**16 + 1, 4, 6 + 2 * (5 + 5 * 4)),
        (0, 4, 6),
    ),
)
def test_steps(rows: int, columns: int, expected: int) -> None:
    assert steps(row_sums(rows, columns)) == expected


def test_steps_one_by_one() -> None:
    assert steps(row_sums(3, 4), is_serial=True) == 6 + 3 * (5 + 5 * 4)


def test_too_large_is_refused_before_it_starts() -> None:
    values = [np.zeros(3, np.float32), np.ones(300_000 * 3, np.float32)]
    with pytest.raises(SizeError) as caught:
        interpret(row_sums(3, 300_000), values)
    assert isinstance(caught.value, CompileError)
    assert caught.value.problem == ("too large to interpret: 1,500,011 steps; limit 1,000,000")
    assert values[0].tolist() == [0, 0, 0]
    with pytest.raises(SizeError, match="31 steps; limit 30"):
        interpret(row_sums(3, 4), values, limit=30)


@pytest.mark.parametrize("is_serial", (False, True))
@pytest.mark.parametrize(
    ("change", "where", "index", "size"),
    (
        ({1: DefineGlobal(1, 1, f32, 11, False)}, "instruction 10: load from in1", 11, 11),
        ({9: Alu(9, "sub", (6, 8), i64)}, "instruction 10: load from in1", -1, 12),
        ({14: Store(0, 6, 7, None)}, "instruction 14: store to out", 4, 3),
    ),
)
def test_access_outside_is_refused(
    change: dict[int, Instruction], where: str, index: int, size: int, is_serial: bool
) -> None:
    program = [change.get(n, instruction) for n, instruction in enumerate(row_sums(3, 4))]
    buffers = [i for i in program if isinstance(i, DefineGlobal)]
    values = [np.zeros(b.size, np.float32) for b in buffers]
    with pytest.raises(InternalError, match=f"{where}: an access is outside") as caught:
        interpret(program, values, is_serial=is_serial)
    assert caught.value.got == f"index {index}"
    assert caught.value.expected == f"0 … {size - 1}, for the {size} elements"


@pytest.mark.parametrize(
    ("wrong", "got"),
    ((np.zeros(11, np.float32), "float32 (11,)"), (np.zeros(12), "float64 (12,)")),
)
def test_array_that_does_not_fit_is_refused(wrong: Array, got: str) -> None:
    with pytest.raises(InternalError, match="given for in1 does not fit") as caught:
        interpret(row_sums(3, 4), [np.zeros(3, np.float32), wrong])
    assert (caught.value.got, caught.value.expected) == (got, "float32 (12,)")


def test_value_of_another_type_is_refused() -> None:
    program = list(row_sums(3, 4))
    program[6] = replace(program[6], dtype=dtypes.int32)  # type: ignore[type-var]
    values = [np.zeros(3, np.float32), np.zeros(12, np.float32)]
    with pytest.raises(InternalError, match="instruction 6: mul gave a value of the wrong type"):
        interpret(program, values)


def test_bound_that_is_no_constant_is_refused() -> None:
    program = list(row_sums(3, 4))
    program[8] = Range(8, 5, 1, "reduction")
    with pytest.raises(InternalError, match="instruction 8: r1 has no constant bound"):
        steps(program)


def test_constants_keep_their_bits() -> None:
    nan = 0x7FC0_1234
    program = (
        DefineGlobal(0, 0, f32, 2, True),
        Const(1, 0, i64),
        Const(2, 1, i64),
        Const(3, nan, f32),
        Const(4, to_bits(-0.0, f32), f32),
        Store(0, 1, 3, None),
        Store(0, 2, 4, None),
    )
    values = [np.ones(2, np.float32)]
    interpret(program, values)
    assert values[0].view(np.uint32).tolist() == [nan, 0x8000_0000]
