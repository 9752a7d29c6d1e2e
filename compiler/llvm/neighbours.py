"""neighbours: elements next to each other in memory that are one load, each a lane of it.

    %8 = load f32 %1[%5]        %9  = gep %8[0, 0, 0, 0]        one load of <2 x float>: %8 is its
    %10 = load f32 %1[%5 + 1]   %11 = gep %10[0, 0, 0, 0]       lane 0, %10 its lane 1

Where a multiply-add takes a lane of a register for all, as on AArch64, a product's rows are read so
in half or a quarter of the loads. Other machines load an element into all lanes, which is as fast
as any load: there they stay apart. Only elements that are wanted in all lanes are put together.
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
    """Where a plain load is: lane `number` of the `count` that begin with the load of `first`."""

    first: int
    number: int
    count: int


def neighbours(instructions: Sequence[Instruction]) -> dict[int, Lane]:
    """For each register of a plain load that is a lane of a wider one, which."""
    places = _places(instructions)
    wanted = _broadcast(instructions)
    found: dict[int, Lane] = {}
    for run in _runs(instructions, places, wanted):
        found |= _cut(run)
    return found


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
    """The registers that are read in order to stand in all lanes, and for nothing else."""
    wanted, others = set[int](), set[int]()
    for each in instructions:
        if isinstance(each, machine.Gep) and each.lanes > 1 and not any(each.indices):
            wanted.add(each.source)
        else:
            others.update(reads(each))
    return wanted - others


def _runs(
    instructions: Iterable[Instruction], places: dict[int, tuple[int, int]], wanted: set[int]
) -> Iterator[list[Load]]:
    """Plain loads that follow one another, each of the element behind that of the one before."""
    run: list[Load] = []
    end: tuple[int, int, int] | None = None
    for each in instructions:
        if isinstance(each, Load):
            base, amount = places.get(each.index, (each.index, 0))
            is_plain = each.lanes == 1 and each.valid is None and not each.ahead
            at = (each.buffer, base, amount) if is_plain and each.out in wanted else None
            if at is None or at != end:
                yield run
                run = []
            if at is not None:
                run.append(each)
            end = None if at is None else (each.buffer, base, amount + 1)
        elif not isinstance(each, Alu | Const | machine.Gep):
            yield run
            run, end = [], None
    yield run


def _cut(run: list[Load]) -> dict[int, Lane]:
    """A run in pieces of powers of two, as wide as a load can be."""
    found: dict[int, Lane] = {}
    while len(run) > 1:
        count = WIDEST // run[0].dtype.itemsize
        while count > len(run):
            count //= 2
        piece, run = run[: max(count, 1)], run[max(count, 1) :]
        if count > 1:
            lanes = ((load.out, n) for n, load in enumerate(piece))
            found |= {out: Lane(piece[0].out, n, count) for out, n in lanes}
    return found
