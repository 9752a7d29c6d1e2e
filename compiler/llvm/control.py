"""Control flow as LLVM IR: loops and Ifs, with the accumulators that they carry as phi nodes."""

from dataclasses import dataclass, field

from compiler.core.dtypes import DType, int64
from compiler.llvm.types import register_type
from compiler.llvm.writer import SourceLine, Writer
from compiler.lowered.instructions import Acc, Assign, EndRange, Instruction, Range, register_lanes

FIRST_METADATA = 1_000_000
"""The numbers below are left to the debug locations that `llvm/looking/listing.py` adds."""


@dataclass(slots=True)
class _Loop:
    """An open loop: where its phis stand, and what they carry."""

    range: Range
    stem: str
    before: str
    carried: list[int]
    phis: dict[int, tuple[int, str, str]] = field(default_factory=dict)
    """For each accumulator: index of its phi line, its name, and its value on entry."""
    head: int = 0
    unroll: int = 0
    """The factor by which the loop is unrolled; 0 leaves it to LLVM."""
    is_explicit: bool = False
    """True if there are vectors inside: then LLVM need not look for any."""
    is_certain: bool = False
    """True if it runs at least once: then its test is at the bottom."""


@dataclass(slots=True)
class _Branch:
    """An open If: the block before it, and the values of the accumulators there."""

    stem: str
    before: str
    held: dict[int, str]


class Control:
    """The LLVM value of each register, and the loops and Ifs that are open."""

    def __init__(self, instructions: tuple[Instruction, ...]) -> None:
        self.writer = Writer()
        self.values: dict[int, str] = {}
        self.dtypes: dict[int, DType] = {}
        self.lanes: dict[int, int] = {}
        self.made_by: dict[int, int | None] = {}
        """For each register the instruction that its value comes from."""
        self.accumulators: list[int] = []
        self.unroll = 0
        """The factor by which the next loop is unrolled; 0 leaves it to LLVM."""
        self._loops: list[_Loop] = []
        self._branches: list[_Branch] = []
        self.constants: dict[int, int] = {}
        """The registers that hold a constant integer."""
        self._assigned = _assigned_in_loops(instructions)
        self._explicit = _with_vectors(instructions)

    def set(self, register: int, value: str, dtype: DType, lanes: int = 1) -> None:
        """Set the value of a register, defined by the current instruction."""
        self.values[register] = value
        self.dtypes[register] = dtype
        self.lanes[register] = lanes
        self.made_by[register] = self.writer.instruction

    def begin_loop(self, number: int, instruction: Range) -> None:
        """The head of a loop: its counter, its accumulators, its test."""
        writer = self.writer
        stem = f"{instruction.name}.{number}"
        loop = _Loop(instruction, stem, writer.block, self._assigned.get(number, []))
        loop.unroll, self.unroll = self.unroll, 0
        loop.is_explicit = number in self._explicit
        loop.is_certain = self.constants.get(instruction.bound, 0) > 0
        top = "body" if loop.is_certain else "head"
        writer.line(f"br label %{stem}.{top}")
        writer.label(f"{stem}.{top}")
        counter = f"%{stem}"
        loop.head = len(writer.lines)
        writer.line(f"{counter} = phi i64 [ 0, %{loop.before} ], [ {counter}.next, @LATCH ]")
        for register in loop.carried:
            phi = f"%acc{register}.{number}"
            entry = self.values[register]
            loop.phis[register] = (len(writer.lines), phi, entry)
            writer.line("")  # completed by `end_loop`, which knows the value carried around
            self.values[register] = phi
        if not loop.is_certain:
            self._test(loop, counter)
            writer.label(f"{stem}.body")
        self.set(instruction.out, counter, int64)
        self._loops.append(loop)

    def end_loop(self) -> None:
        """The end of the innermost loop: count, jump back, complete the phis."""
        writer, loop = self.writer, self._loops.pop()
        counter, latch = f"%{loop.stem}", writer.block
        writer.line(f"{counter}.next = add nuw nsw i64 {counter}, 1")
        if loop.is_certain:
            self._test(loop, f"{counter}.next", self._loop_metadata(loop))
        else:
            writer.line(f"br label %{loop.stem}.head{self._loop_metadata(loop)}")
        text = f"  {counter} = phi i64 [ 0, %{loop.before} ], [ {counter}.next, %{latch} ]"
        self._complete(loop.head, text, self.made_by[loop.range.out])
        for register, (line, phi, entry) in loop.phis.items():
            t = register_type(self.dtypes[register], self.lanes[register])
            around = self.values[register]
            text = f"  {phi} = phi {t} [ {entry}, %{loop.before} ], [ {around}, %{latch} ]"
            self._complete(line, text, self.made_by[register])
            self.values[register] = around if loop.is_certain else phi
        writer.label(f"{loop.stem}.exit")

    def _test(self, loop: _Loop, counter: str, metadata: str = "") -> None:
        """Branch to the body of a loop, or to its exit."""
        stem, bound = loop.stem, self.values[loop.range.bound]
        test = self.writer.value(f"icmp slt i64 {counter}, {bound}", f"%{stem}.more")
        target = f"label %{stem}.body, label %{stem}.exit"
        self.writer.line(f"br i1 {test}, {target}{metadata}")

    def _complete(self, line: int, text: str, instruction: int | None) -> None:
        """Fill in a line that was reserved before its text and its instruction were known."""
        self.writer.lines[line] = SourceLine(text, instruction)

    def _loop_metadata(self, loop: _Loop) -> str:
        """The metadata of the back edge: the unroll factor, and no further vectorisation."""
        notes = []
        if loop.unroll:
            notes.append(f'!"llvm.loop.unroll.count", i32 {loop.unroll}')
        elif loop.is_explicit:
            notes.append('!"llvm.loop.unroll.disable"')
        if loop.is_explicit:
            notes.append('!"llvm.loop.vectorize.enable", i1 false')
        if not notes:
            return ""
        metadata = self.writer.metadata
        number = FIRST_METADATA + len(metadata)
        parts = ", ".join(f"!{number + 1 + place}" for place in range(len(notes)))
        metadata.append(f"!{number} = distinct !{{!{number}, {parts}}}")
        metadata += [f"!{number + n} = !{{{note}}}" for n, note in enumerate(notes, start=1)]
        return f", !llvm.loop !{number}"

    def begin_if(self, number: int, condition: str) -> None:
        """The head of an If."""
        writer, stem = self.writer, f"if.{number}"
        held = {register: self.values[register] for register in self.accumulators}
        self._branches.append(_Branch(stem, writer.block, held))
        writer.line(f"br i1 {condition}, label %{stem}.in, label %{stem}.out")
        writer.label(f"{stem}.in")

    def end_if(self) -> None:
        """The end of an If: an accumulator assigned inside is a phi."""
        writer, branch = self.writer, self._branches.pop()
        inside = writer.block
        writer.line(f"br label %{branch.stem}.out")
        writer.label(f"{branch.stem}.out")
        for register, held in branch.held.items():
            value = self.values[register]
            if value == held:
                continue
            t = register_type(self.dtypes[register], self.lanes[register])
            phi = f"phi {t} [ {held}, %{branch.before} ], [ {value}, %{inside} ]"
            name = f"%acc{register}.{branch.stem}"
            self.values[register] = writer.value(phi, name)
            self.made_by[register] = writer.instruction


def _with_vectors(instructions: tuple[Instruction, ...]) -> set[int]:
    """The loops (by the index of their Range) with an instruction of several lanes inside."""
    numbers: set[int] = set()
    open_loops: list[int] = []
    for number, instruction in enumerate(instructions):
        match instruction:
            case Range():
                open_loops.append(number)
            case EndRange():
                open_loops.pop()
            case _ if register_lanes(instruction) > 1:
                numbers.update(open_loops)
    return numbers


def _assigned_in_loops(instructions: tuple[Instruction, ...]) -> dict[int, list[int]]:
    """For each loop (by the index of its Range) the outer accumulators it assigns."""
    result: dict[int, list[int]] = {}
    open_loops: list[int] = []
    made_in: dict[int, int] = {}
    for number, instruction in enumerate(instructions):
        match instruction:
            case Range():
                open_loops.append(number)
                result[number] = []
            case EndRange():
                open_loops.pop()
            case Acc(out=out):
                made_in[out] = len(open_loops)
            case Assign(target=target):
                for loop in open_loops[made_in[target] :]:
                    if target not in result[loop]:
                        result[loop].append(target)
    return result
