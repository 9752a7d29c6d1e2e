"""The analysis of a kernel before it is interpreted: loops, extents, independent iterations.

The iterations of a normal range run at once unless they share memory that they write: scratch
memory that is allocated outside the range and stored to inside, or anything in a custom statement.
Such a range runs one iteration after the other.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from compiler.core.dtypes import DType, int64
from compiler.core.errors import InternalError
from compiler.graph.bits import from_bits
from compiler.lowered import custom
from compiler.lowered import instructions as lowered
from compiler.lowered.by_hand import Buffer, Wmma
from compiler.lowered.instructions import Instruction, register_dtype, register_lanes, writes
from compiler.lowered.machine import Custom, DefineVar, EndIf, If, Local
from compiler.ops.table import OPS


class Plan:
    """Loops by number of their Range, types by register; `rank` axes, the last one for lanes.

    A block of iterations that run at once has registers and scratch memories of at most `block`
    elements, unless a single iteration needs more.
    """

    def __init__(
        self,
        instructions: Sequence[Instruction],
        is_serial: bool,
        block: int,
        variables: Mapping[str, int] | None = None,
    ) -> None:
        self.instructions = instructions
        self.variables = variables or {}
        """The values of variables by name; one without a value counts as its maximum."""
        self.ends: dict[int, int] = {}
        """The number of the end for the number of each Range or If."""
        self.extents: dict[int, int] = {}
        self.depths: dict[int, int] = {}
        self.parents: dict[int, int | None] = {}
        self.dtypes: dict[int, DType] = {}
        self.widest: dict[int, int] = {}
        """For each loop the most elements that an instruction directly in it needs."""
        self.sequential: set[int] = set()
        """Loops whose iterations share memory that they write."""
        self._read()
        self.rank = max(self.depths.values(), default=0) + 2
        self.blocks = dict.fromkeys(self.extents, 1) if is_serial else self._blocks(block)

    def is_normal(self, number: int) -> bool:
        """True if instruction `number` begins a normal range."""
        instruction = self.instructions[number]
        return isinstance(instruction, lowered.Range) and instruction.role == "normal"

    def _read(self) -> None:
        """One walk over the instructions, with the open loops on a stack."""
        constants: dict[int, int] = {}
        open_loops: list[int] = []
        open_ifs: list[int] = []
        made_in: dict[int, int] = {}
        for number, instruction in enumerate(self.instructions):
            match instruction:
                case lowered.Const(out=out, bits=bits, dtype=dtype) if dtype == int64:
                    constants[out] = int(from_bits(bits, dtype))
                case DefineVar(out=out, name=name, maximum=maximum):
                    constants[out] = self.variables.get(name, maximum)
                case lowered.Alu(out=out, op=op, arguments=arguments, dtype=dtype) if (
                    dtype == int64
                ):
                    if not open_loops and all(a in constants for a in arguments):
                        constants[out] = _computed(op, [constants[a] for a in arguments])
                case lowered.Range():
                    self._begin(number, _extent(number, instruction, constants), open_loops)
                case lowered.EndRange():
                    self.ends[open_loops.pop()] = number
                case If():
                    open_ifs.append(number)
                case EndIf():
                    self.ends[open_ifs.pop()] = number
                case Local(out=out) | Buffer(out=out):
                    made_in[out] = len(open_loops)
            self._note(instruction, open_loops, made_in)

    def _begin(self, number: int, extent: int, open_loops: list[int]) -> None:
        self.extents[number] = extent
        self.parents[number] = open_loops[-1] if open_loops else None
        self.depths[number] = sum(map(self.is_normal, open_loops))
        self.widest[number] = 1
        open_loops.append(number)

    def _note(
        self, instruction: Instruction, open_loops: list[int], made_in: dict[int, int]
    ) -> None:
        """Record the type of the register, the elements needed, and loops that become
        sequential."""
        out, dtype = writes(instruction), register_dtype(instruction)
        if out is not None and dtype is not None:
            self.dtypes[out] = dtype
        if open_loops:
            inner = open_loops[-1]
            self.widest[inner] = max(self.widest[inner], _elements(instruction))
        self.sequential.update(open_loops[_shared_from(instruction, made_in, len(open_loops)) :])

    def _blocks(self, block: int) -> dict[int, int]:
        """The iterations of each range that run at once, together with those of its inner
        ranges."""
        inside = dict(self.widest)
        blocks = {}
        for number, extent in reversed(self.extents.items()):
            is_at_once = self.is_normal(number) and number not in self.sequential
            parent = self.parents[number]
            blocks[number] = max(1, min(extent, block // inside[number])) if is_at_once else 1
            if parent is not None:
                whole = inside[number] * (max(extent, 1) if is_at_once else 1)
                inside[parent] = max(inside[parent], whole)
        return blocks


def _extent(number: int, instruction: lowered.Range, constants: dict[int, int]) -> int:
    if instruction.bound not in constants:
        raise InternalError(
            "lowered interpreter", f"instruction {number}: {instruction.name} has no constant bound"
        )
    return max(constants[instruction.bound], 0)


def _computed(op: str, operands: list[int]) -> int:
    """The result of an operation on known integers."""
    return int(OPS[op].reference(*(np.array([operand]) for operand in operands))[0])


def _elements(instruction: Instruction) -> int:
    """The elements that one iteration needs for an instruction."""
    match instruction:
        case Local(size=size) | Buffer(size=size):
            return size
        case Wmma(m=m, n=n, k=k):
            return max(m * k, k * n, m * n)
        case _:
            return register_lanes(instruction)


def _shared_from(instruction: Instruction, made_in: dict[int, int], depth: int) -> int:
    """The depth from which open loops share the memory that is written; `depth`: none do."""
    match instruction:
        case lowered.Store(buffer=memory) | Wmma(target=memory):
            return made_in.get(memory, depth)
        case Custom(name=name):
            operation = custom.find(name)
            return depth if operation and operation.is_inline else 0
        case _:
            return depth
