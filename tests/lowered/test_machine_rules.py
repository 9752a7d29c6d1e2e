"""Each invariant of the instructions in `lowered/machine.py`, broken once or more."""

from collections.abc import Sequence

import pytest

from compiler.core.dtypes import int8 as i8
from compiler.core.errors import InternalError
from compiler.lowered.by_hand import Barrier, Block, Buffer, Noop, Special, Wmma
from compiler.lowered.instructions import (
    Acc,
    Alu,
    Assign,
    Cast,
    Const,
    DefineGlobal,
    EndRange,
    Instruction,
    Load,
    Range,
    Store,
)
from compiler.lowered.machine import (
    Custom,
    DefineVar,
    Dot,
    EndIf,
    Gep,
    If,
    Local,
    PtrCat,
    Shuffle,
    Unroll,
    VConst,
    Vectorize,
)
from compiler.lowered.verify import verify
from tests.lowered.hand_written import bool_, f32, i32, i64
from tests.lowered.machine_programs import PROGRAMS

RIGHT: tuple[Instruction, ...] = (
    DefineGlobal(0, 0, f32, 4, True),
    DefineGlobal(1, 1, f32, 4, False),
    Const(2, 4, i64),
    Const(3, 0, f32),
    Const(4, 1, bool_),
    Local(5, f32, 4),
    Local(6, i32, 4),
    VConst(7, (0, 0, 0, 0), f32),
    VConst(8, (1, 1), bool_),
    VConst(9, (1, 1), i64),
    PtrCat(10, (1, 5), f32),
    Acc(11, 3, f32),
)
"""Registers of every sort, for what follows to misuse."""

WORDS: tuple[Instruction, ...] = (
    VConst(20, (1,) * 16, i8), VConst(21, (1,) * 4, i8), VConst(22, (1,) * 4, i32),
    VConst(24, (1,) * 2, i32),
)  # fmt: skip
LOOP = Range(20, 2, 0, "normal")
Rows = Sequence[Instruction]

WRONG: tuple[tuple[int, Rows, str, str], ...] = (
    (2, [If(4), Local(20, f32, 1), EndIf(), Load(21, 20, 2, None, f32)], "outside its loop", "ins"),
    (2, [LOOP, PtrCat(21, (1, 5), f32), EndRange(20), Load(22, 21, 2, None, f32, 2)],
     "%21 is used outside its loop", "a use inside"),
    (3, [LOOP, If(4), EndRange(20)], "an end closes the wrong loop", "an If, opened last"),
    (4, [Custom(3, "copysign", (3, 3), f32)], "%3 is written again", "one instruction"),
    (8, [Cast(20, 10, f32)], "%10 is used as a value", "a value"),
    (8, [Vectorize(20, (3, 5), f32)], "%5 is used as a value", "a value"),
    (12, [LOOP, If(4), Assign(11, 3)], "%11 is carried", "reduction or serial loops or Ifs"),
    (12, [Assign(11, 3)], "%11 is carried", "reduction or serial loops or Ifs"),
    (13, [Alu(20, "add", (3, 7), f32)], "an operand, %7, has the wrong number of lanes", "1"),
    (13, [Alu(20, "add", (7, 3), f32, False, 4)], "an operand, %3", "4"),
    (13, [Cast(20, 7, f32, 2)], "the operand, %7, has the wrong number of lanes", "2"),
    (13, [Acc(20, 7, f32)], "the start of an accumulator, %7", "1"),
    (13, [If(4), Assign(11, 7)], "the value assigned, %7", "1"),
    (13, [If(8)], "the condition, %8", "1"),
    (13, [Vectorize(20, (3, 7), f32)], "a lane, %7", "1"),
    (13, [Load(20, 1, 9, None, f32, 2)], "the index, %9", "1"),
    (13, [Load(20, 1, 2, 8, f32, 4)], "the predicate, %8", "1 or 4"),
    (13, [Load(20, 1, 2, None, f32, 0)], "the number of lanes is wrong", "1 or more"),
    (13, [Store(0, 2, 7, None)], "the value stored, %7", "1"),
    (13, [Store(0, 2, 3, None, 4)], "the value stored, %3", "4"),
    (13, [Custom(20, "copysign", (7, 3), f32)], "an operand, %7", "1"),
    (14, [VConst(20, (0,), f32)], "it is no vector", "2 or more"),
    (14, [Vectorize(20, (3,), f32)], "it is no vector", "2 or more"),
    (14, [Vectorize(20, (3, 2), f32)], "a lane, %2, has the wrong type", "float32"),
    (14, [Gep(20, 7, (4,), f32)], "there is no such lane", "one of 4 lanes"),
    (14, [Gep(20, 7, (0, -1), f32)], "there is no such lane", "one of 4 lanes"),
    (14, [Gep(20, 7, (), f32)], "there is no such lane", "one of 4 lanes"),
    (14, [Gep(20, 7, (0,), i32)], "the vector, %7, has the wrong type", "int32"),
    (14, [Shuffle(20, 7, 7, (0, 8), f32)], "there is no such lane", "one of 8 lanes"),
    (14, [Shuffle(20, 7, 7, (), f32)], "there is no such lane", "one of 8 lanes"),
    (14, [Shuffle(20, 7, 9, (0, 1), f32)], "the vector, %9, has the wrong type", "float32"),
    (13, [Shuffle(20, 7, 3, (0, 4), f32)], "the second vector, %3", "4"),
    (24, [Store(0, 2, 7, 4, 4, True)], "it cannot be streamed", "whole lines"),
    (15, [Local(20, f32, 0)], "a memory without elements", "1 or more"),
    (15, [LOOP, Buffer(21, f32, 1)], "the kernel's memory is made twice", "outside them"),
    (15, [If(4), Buffer(21, f32, 1)], "the kernel's memory is made twice", "outside them"),
    (16, [LOOP, DefineVar(21, "n", 0, 1)], "an argument is read late", "outside them"),
    (16, [If(4), Special(21, "local", 0, 2)], "an argument is read late", "outside them"),
    (16, [DefineVar(20, "n", 0, 1), DefineVar(21, "n", 0, 1)], "does not tell it", "another"),
    (16, [Special(20, "local", 0, 2), Special(21, "local", 0, 2)], "does not tell it", "another"),
    (16, [DefineVar(20, "n.1", 0, 1)], "does not tell it", "identifier"),
    (16, [DefineVar(20, "n", 2, 1)], "no value is inside the bounds", "an int64"),
    (16, [DefineVar(20, "n", 0, 2**63)], "no value is inside the bounds", "an int64"),
    (16, [Special(20, "global", 3, 2)], "no such launch axis", "axis 0, 1 or 2"),
    (16, [Special(20, "workgroup", 0, 0)], "no such launch axis", "size 1 or more"),
    (17, [If(2)], "the condition, %2, has the wrong type", "bool"),
    (17, [EndIf()], "an end closes no If", "an If"),
    (17, [If(4), LOOP, EndIf()], "an end closes no If", "an If"),
    (17, [If(4)], "an If is never closed", "an EndIf"),
    (18, [Block(1, False)], "an end closes the wrong block", "no block is open"),
    (18, [Block(1, True), Block(2, True), Block(1, False)], "closes the wrong block", "2, opened"),
    (18, [Block(1, True), Block(1, True)], "two open blocks have one number", "a number each"),
    (18, [Block(1, True), Noop()], "a block is never closed", "its end"),
    (19, [If(4), LOOP, Barrier()], "not every thread gets here", "outside"),
    (20, [Unroll(0), LOOP], "the count is wrong", "1 or more"),
    (20, [Unroll(4), Noop(), LOOP], "nothing to unroll", "a Range"),
    (20, [Unroll(4)], "nothing to unroll", "a Range"),
    (21, [PtrCat(20, (1,), f32)], "they are no vector", "2 or more"),
    (21, [PtrCat(20, (1, 6), f32)], "pointer %6 is to another type", "float32"),
    (21, [PtrCat(20, (1, 0), f32)], "%0 is read", "readable"),
    (21, [PtrCat(20, (1, 3), f32)], "%3 is read as a memory", "a memory"),
    (21, [Load(20, 10, 2, None, f32)], "pointers are used wrongly", "a load of 2 lanes"),
    (21, [Store(10, 2, 3, None)], "pointers are used wrongly", "a load of 2 lanes"),
    (22, [Wmma(0, 1, 1, 1, 2, 2, 0, f32)], "it is no product", "1 or more, of numbers"),
    (22, [Wmma(0, 1, 1, 1, 2, 2, 2, bool_)], "it is no product", "1 or more, of numbers"),
    (22, [Wmma(1, 1, 1, 1, 2, 2, 2, f32)], "%1 is written", "writable"),
    (22, [Wmma(3, 1, 1, 1, 2, 2, 2, f32)], "%3 is written as a memory", "a memory"),
    (22, [Wmma(5, 1, 0, 1, 2, 2, 2, f32)], "%0 is read", "readable"),
    (22, [Wmma(5, 1, 3, 1, 2, 2, 2, f32)], "%3 is read as a memory", "a memory"),
    (22, [Wmma(5, 1, 5, 1, 2, 2, 2, f32)], "a factor is overwritten", "another memory"),
    (22, [Wmma(0, 1, 1, 1, 2, 2, 3, f32)], "tile %1 does not fit", "float32[6]"),
    (22, [Wmma(0, 1, 6, 1, 2, 2, 2, f32)], "tile %6 does not fit", "float32[4]"),
    (23, [Custom(20, "unheard", (), f32)], "no such operation", "registered"),
    (23, [Custom(20, "copysign", (3,), f32)], "the number of operands is wrong", "2"),
    (23, [Custom(20, "copysign", (3, 3), i32)], "the result is another", "float32"),
    (23, [Custom(None, "copysign", (3, 3), f32)], "the result is another", "float32"),
    (23, [Custom(20, "copysign", (3, 2), f32)], "an operand, %2, has the wrong type", "float32"),
    (23, [Custom(20, "mark", (5, 2, 3), i32)], "operand %5 is another", "memory of int32"),
    (23, [Custom(20, "mark", (2, 2, 3), i32)], "operand %2 is another", "memory of int32"),
    (13, [*WORDS, Dot(23, 20, 21, 22, i32, 4, 2)], "a factor, %20, has the wrong number", "4 or 8"),
    (13, [*WORDS, Dot(23, 21, 21, 22, i32, 4, 1)], "what is added to, %22, has", "1"),
    (25, [*WORDS, Dot(23, 21, 21, 24, i32, 2, 2)], "no such sum of products", "4 of 8 bits"),
    (25, [*WORDS, Dot(23, 20, 21, 22, f32, 4, 4)], "what is added to, %22, has the", "float32"),
)  # fmt: skip


@pytest.mark.parametrize(("number", "rows", "problem", "expected"), WRONG)
def test_broken_invariant(number: int, rows: Rows, problem: str, expected: str) -> None:
    with pytest.raises(InternalError) as caught:
        verify([*RIGHT, *rows])
    assert caught.value.operation == "lowered"
    assert caught.value.problem.startswith(f"invariant {number}: ")
    assert problem in caught.value.problem
    assert expected in caught.value.expected


def test_the_program_before_is_right() -> None:
    verify(RIGHT)
    assert {number for number, *_ in WRONG} >= {*range(13, 24), 25}


def test_no_false_alarm() -> None:
    for program in PROGRAMS.values():
        verify(program().instructions)
