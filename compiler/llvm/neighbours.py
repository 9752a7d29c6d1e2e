"""neighbours: merge adjacent scalar loads into one vector load; each value is a lane of it.

    %8 = load f32 %1[%5]        %9  = gep %8[0, 0, 0, 0]        one load of <2 x float>: %8 is its
    %10 = load f32 %1[%5 + 1]   %11 = gep %10[0, 0, 0, 0]       lane 0, %10 its lane 1

If a multiply-add can broadcast one lane of a register, as on AArch64, this reads the rows of a
product with half or a quarter of the loads. Other machines have broadcasting loads, which are as
fast as any load: there nothing is merged. Only elements that are broadcast are merged.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from compiler.core.dtypes import int64
from compiler.graph.bits import from_bits
from compiler.lowered import machine
from compiler.lowered.instructions import Alu, Const, Instruction, Load, reads

WIDEST = 16
"""Bytes of one load: those of a vector of AArch64."""


@dataclass(frozen=True, slots=True)
class Lane:
    """The place of a plain load: lane `number` of `count` in a row. They are read where the
    register `first` is wanted; that is its lane `begin`."""

    first: int
    number: int
    count: int
    begin: int


def neighbours(instructions: Sequence[Instruction]) -> dict[int, Lane]:
    """The lane of a wider load for each register of a scalar load that is merged."""
    places, wanted = _places(instructions), _broadcast(instructions)
    lanes: dict[int, Lane] = {}
    for loads in _together(instructions, places, wanted):
        run: list[tuple[int, int, Load]] = []
        for amount, order, load in sorted(loads, key=lambda it: it[:2]):
            if run and amount != run[-1][0] + 1:
                lanes |= _cut(run)
                run = []
            run.append((amount, order, load))
        lanes |= _cut(run)
    return lanes


def _places(instructions: Iterable[Instruction]) -> dict[int, tuple[int, int]]:
    """Each integer as a register and what is added to it."""
    constants = {
        i.out: int(from_bits(i.bits, int64))
        for i in instructions if isinstance(i, Const) and i.dtype == int64
    }  # fmt: skip
    places: dict[int, tuple[int, int]] = {}
    for each in instructions:
        if isinstance(each, Alu) and each.op == "add" and each.arguments[1] in constants:
            places[each.out] = each.arguments[0], constants[each.arguments[1]]
    return places


def _broadcast(instructions: Iterable[Instruction]) -> set[int]:
    """The registers that are only used as broadcasts."""
    wanted, others = set[int](), set[int]()
    for each in instructions:
        if isinstance(each, machine.Gep) and each.lanes > 1 and not any(each.indices):
            wanted.add(each.source)
        else:
            others.update(reads(each))
    return wanted - others


def _together(
    instructions: Iterable[Instruction], places: dict[int, tuple[int, int]], wanted: set[int]
) -> Iterator[list[tuple[int, int, Load]]]:
    """Scalar loads from the same base register with only arithmetic between them: their offsets,
    their order and the loads."""
    groups: dict[tuple[int, int], dict[int, tuple[int, int, Load]]] = {}
    for order, each in enumerate(instructions):
        if isinstance(each, Load):
            base, amount = places.get(each.index, (each.index, 0))
            is_plain = each.lanes == 1 and each.valid is None and not each.ahead
            if is_plain and each.out in wanted:
                members = groups.setdefault((each.buffer, base), {})
                members.setdefault(amount, (amount, order, each))
        elif not isinstance(each, Alu | Const | machine.Gep):
            yield from (list(group.values()) for group in groups.values())
            groups = {}
    yield from (list(group.values()) for group in groups.values())


def _cut(run: list[tuple[int, int, Load]]) -> dict[int, Lane]:
    """A run of elements split into powers of two, at most as wide as a load."""
    lanes: dict[int, Lane] = {}
    while len(run) > 1:
        count = max(WIDEST // run[0][2].dtype.itemsize, 1)
        while count > len(run):
            count //= 2
        piece, run = run[:count], run[count:]
        begin = min(range(count), key=lambda n: piece[n][1])
        if count > 1:
            first = piece[begin][2].out
            lanes |= {load.out: Lane(first, n, count, begin) for n, (_, _, load) in
                      enumerate(piece)}  # fmt: skip
    return lanes
