"""Each invariant of lowered instructions, broken once; and no false alarm on right programs."""

from collections.abc import Sequence

import pytest

from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.lowered.instructions import (
    Acc,
    Alu,
    Assign,
    Bitcast,
    Cast,
    Const,
    DefineGlobal,
    EndRange,
    Instruction,
    Load,
    Range,
    Store,
)
from compiler.lowered.linearize import linearize
from compiler.lowered.machine import DefineVar
from compiler.lowered.verify import verify
from tests.loops.programs import PROGRAMS, forms, kernels

f32, i32, i64, bool_ = dtypes.float32, dtypes.int32, dtypes.int64, dtypes.bool_

RIGHT: tuple[Instruction, ...] = (
    DefineGlobal(0, 0, f32, 4, True),
    DefineGlobal(1, 1, f32, 4, False),
    Const(2, 4, i64),
    Const(3, 0, f32),
    Const(4, 1, bool_),
    Range(5, 2, 0, "normal"),
    Acc(6, 3, f32),
    Range(7, 2, 1, "reduction"),
    Load(8, 1, 7, 4, f32),
    Alu(9, "add", (6, 8), f32, True),
    Assign(6, 9),
    EndRange(7),
    Store(0, 5, 6, None),
    EndRange(5),
)
"""out[i0] = sum over r1 of in1[r1], with a predicate that is always true."""

Change = tuple[int, int, Sequence[Instruction]]


def put(at: int, *instructions: Instruction) -> Change:
    """New instructions before number `at`."""
    return at, at, instructions


def swap(at: int, *instructions: Instruction) -> Change:
    """Other instructions instead of number `at`."""
    return at, at + 1, instructions


WRONG: tuple[tuple[int, Change, str, str, str], ...] = (
    (1, swap(12, Store(0, 5, 99, None)), "%99 is used before", "12 (store)", "a value"),
    (1, put(6, Assign(6, 3)), "%6 is used before it is written", "6 (assign)", "a value"),
    (2, swap(12, Store(0, 7, 6, None)), "%7 is used outside its loop", "12 (store)", "inside"),
    (2, swap(12, Store(0, 5, 8, None)), "%8 is used outside its loop", "12 (store)", "inside"),
    (2, put(14, Store(0, 2, 6, None)), "%6 is used outside its loop", "14 (store)", "inside"),
    (2, put(13, Assign(6, 9)), "%9 is used outside its loop", "13 (assign)", "inside"),
    (3, swap(11, EndRange(5)), "an end closes the wrong loop", "11 (end)", "%7, opened last"),
    (3, swap(11), "an end closes the wrong loop", "12 (end)", "%7, opened last"),
    (3, put(14, EndRange(2)), "an end closes the wrong loop", "14 (end)", "no loop is open"),
    (3, swap(13), "a loop is never closed", "12 (store)", "an EndRange"),
    (4, put(6, Const(3, 1, f32)), "%3 is written again", "6 (const)", "one instruction"),
    (4, put(11, Acc(6, 3, f32)), "%6 is written again", "11 (acc)", "one instruction"),
    (5, put(11, Assign(8, 9)), "%8 is assigned", "11 (assign)", "an Acc"),
    (5, put(11, Assign(6, 7)), "the value assigned, %7, has the wrong", "11 (assign)", "float32"),
    (5, swap(6, Acc(6, 2, f32)), "the start of an accumulator, %2", "6 (acc)", "float32"),
    (6, swap(9, Alu(9, "add", (6,), f32)), "the number of operands", "9 (add)", "2"),
    (6, swap(9, Alu(9, "relu", (6,), f32)), "not a machine operation", "9 (relu)", "expansion"),
    (6, swap(9, Alu(9, "add", (6, 7), f32)), "operands differ in type", "9 (add)", "one type"),
    (6, swap(9, Alu(9, "xor", (6, 8), f32)), "does not accept", "9 (xor)", "bool int uint"),
    (6, swap(9, Alu(9, "lt", (6, 8), f32)), "the result has the wrong type", "9 (lt)", "bool"),
    (6, swap(9, Alu(9, "where", (2, 6, 8), f32)), "the condition, %2", "9 (where)", "bool"),
    (6, put(9, Bitcast(20, 8, i64)), "a bitcast changes the width", "9 (bitcast)", "32 bits"),
    (7, swap(8, Load(8, 2, 7, None, f32)), "%2 is accessed as", "8 (load)", "DefineGlobal"),
    (7, swap(8, Load(8, 0, 7, None, f32)), "the wrong access", "8 (load)", "only written"),
    (7, swap(12, Store(1, 5, 6, None)), "the wrong access", "12 (store)", "only read"),
    (7, put(13, Load(20, 0, 5, None, f32)), "the wrong access", "13 (load)", "only written"),
    (7, swap(8, Load(8, 1, 3, None, f32)), "the index, %3", "8 (load)", "int64"),
    (7, swap(8, Load(8, 1, 7, 2, f32)), "the predicate, %2", "8 (load)", "bool"),
    (7, swap(8, Load(8, 1, 7, None, i32)), "a load of another type", "8 (load)", "float32"),
    (7, swap(12, Store(0, 5, 2, None)), "the value stored, %2", "12 (store)", "float32"),
    (7, swap(12, Store(0, 5, 6, 3)), "the predicate, %3", "12 (store)", "bool"),
    (8, put(9, Cast(20, 1, f32)), "%1 is used as a value", "9 (cast)", "a value"),
    (9, put(5, DefineGlobal(20, 2, f32, 4, False)), "is not among the first", "5 (define", "2"),
    (9, swap(1, DefineGlobal(1, 0, f32, 4, True)), "slots do not ascend", "1 (define", "above 0"),
    (9, swap(1, DefineGlobal(1, 1, f32, 4, True)), "slot 0 alone", "1 (define", "slot 0"),
    (9, swap(0, DefineGlobal(0, 0, f32, 4, False)), "slot 0 alone", "0 (define", "slot 0"),
    (10, swap(7, Range(7, 5, 1, "reduction")), "the bound is wrong", "7 (range)", "an int64"),
    (10, swap(2, Const(2, 2**64 - 1, i64)), "the bound is wrong", "5 (range)", "0 or more"),
    (10, swap(2, Const(2, 4, i32)), "the bound is wrong", "5 (range)", "an int64 constant"),
    (10, swap(2, DefineVar(2, "n", -1, 4)), "the bound is wrong", "5 (range)", "a DefineVar"),
    (10, swap(7, Range(7, 2, 0, "reduction")), "two open loops", "7 (range)", "number each"),
    (11, swap(9, Alu(9, "sub", (6, 8), f32, True)), "does not combine", "9 (sub)", "max, min, mul"),
    (11, swap(9, Alu(9, "add", (8, 8), f32, True)), "goes elsewhere", "9 (add)", "an assign"),
    (11, put(10, Const(20, 0, f32)), "result goes elsewhere", "9 (add)", "an assign"),
    (12, swap(7, Range(7, 2, 1, "normal")), "%6 is carried", "10 (assign)",
     "reduction or serial loops"),
    (12, put(7, Assign(6, 3)), "%6 is carried", "7 (assign)", "reduction or serial loops"),
)  # fmt: skip


@pytest.mark.parametrize(("number", "change", "problem", "at", "expected"), WRONG)
def test_broken_invariant(
    number: int, change: Change, problem: str, at: str, expected: str
) -> None:
    begin, end, instructions = change
    with pytest.raises(InternalError) as caught:
        verify([*RIGHT[:begin], *instructions, *RIGHT[end:]])
    assert caught.value.operation == "lowered"
    assert caught.value.problem.startswith(f"invariant {number}: ")
    assert problem in caught.value.problem
    assert f"at instruction {at}" in caught.value.problem
    assert expected in caught.value.expected


def test_slot_0_is_there() -> None:
    with pytest.raises(InternalError, match="invariant 9: no slot 0"):
        verify([DefineGlobal(0, 1, f32, 4, False)])
    with pytest.raises(
        InternalError, match=r"invariant 9: no slot 0, at instruction 0 \(nothing\)"
    ):
        verify([])


def test_a_slot_may_be_missing() -> None:
    verify([RIGHT[0], DefineGlobal(1, 2, f32, 4, False), *RIGHT[2:]])


@pytest.mark.parametrize("name", PROGRAMS)
def test_right_programs_pass(name: str) -> None:
    verify(RIGHT)
    for body in kernels(PROGRAMS[name]()):
        for form in forms(body):
            verify(linearize(form).instructions)


def test_the_argument_written_is_read_in_serial_loops() -> None:
    joined = (
        Range(5, 2, 0, "serial"),
        Load(6, 0, 5, 4, f32),
        Alu(7, "add", (6, 3), f32),
        Store(0, 5, 7, 4),
        EndRange(5),
    )
    verify((*RIGHT[:5], *joined))
    with pytest.raises(InternalError, match="invariant 7: the wrong access"):
        verify((*RIGHT[:5], Range(5, 2, 0, "normal"), Load(6, 0, 2, 4, f32), *joined[2:]))


def test_the_argument_written_is_read_where_it_is_written() -> None:
    inside = (Load(6, 0, 5, None, f32), Alu(7, "add", (6, 3), f32), Store(0, 5, 7, None))
    loop = Range(5, 2, 0, "normal")
    verify((*RIGHT[:5], loop, *inside, EndRange(5)))
    twice = Store(0, 2, 7, None)
    for wrong in ((Store(0, 5, 3, None), inside[0]), (*inside, twice)):
        with pytest.raises(InternalError, match="invariant 7: "):
            verify((*RIGHT[:5], loop, *wrong, EndRange(5)))
