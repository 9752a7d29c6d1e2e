"""The interpreter of lowered instructions: runs them with NumPy, and counts what they do.

The iterations of a normal range do not depend on each other, so they run at once: the range is
an arange along a NumPy axis, and every register is an array that broadcasts. Reduction ranges
run as Python loops. A nest of normal ranges with more than `BLOCK` iterations is cut into blocks
along its outermost ranges, which then run one after the other.

In serial mode every block is one iteration: the instructions run in program order, one at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from compiler import references
from compiler.dtypes import DType, int64
from compiler.errors import InternalError, SizeError
from compiler.graph.nodes import from_bits
from compiler.loops.interpret import constant, gather, scatter
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
from compiler.ops import OPS

Array: TypeAlias = np.ndarray[Any, Any]
Address: TypeAlias = tuple[int, int, bool]

BLOCK = 2**16
"""Iterations of normal ranges that run at once, and so the most elements of a register."""
LIMIT = 1_000_000
"""NumPy operations after which a run is refused unless the caller allows more."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a run did, each iteration counted: the same in serial and in parallel mode.

    A gated access counts where its gate is true. `flops` are operations on float data and
    `integer_operations` those on other data; a mulacc is two.
    """

    loads: int = 0
    stores: int = 0
    flops: int = 0
    integer_operations: int = 0
    iterations: int = 0
    bytes_read: int = 0
    bytes_written: int = 0


def interpret(
    instructions: Sequence[Instruction],
    arguments: Sequence[Array],
    *,
    limit: int = LIMIT,
    is_serial: bool = False,
    addresses: list[Address] | None = None,
) -> Counts:
    """Run a kernel on flat arrays, one per slot; the written one is filled in place.

    `addresses` receives (slot, element, is_store) of each access in program order; it makes the
    run serial. Raises `SizeError` where `steps` exceed `limit`, and `InternalError` where an
    access is outside its buffer or a value has the wrong type.
    """
    is_serial = is_serial or addresses is not None
    count = steps(instructions, is_serial)
    if count > limit:
        raise SizeError(
            "lowered interpreter", f"too large to interpret: {count:,} steps; limit {limit:,}"
        )
    run = _Run(_Plan(instructions, is_serial), arguments, addresses)
    with np.errstate(all="ignore"):
        run.span(0, len(instructions))
    return Counts(**run.counts)


def steps(instructions: Sequence[Instruction], is_serial: bool = False) -> int:
    """How many instructions `interpret` executes, each over a whole block of iterations."""
    plan = _Plan(instructions, is_serial)
    total, passes = 0, [1]
    for number, instruction in enumerate(instructions):
        total += passes[-1]
        if isinstance(instruction, Range):
            blocks = -(-plan.extents[number] // plan.blocks[number])
            passes.append(passes[-1] * blocks)
        elif isinstance(instruction, EndRange):
            passes.pop()
    return total


class _Plan:
    """What is known before a run: loops by number of their Range, types by register."""

    def __init__(self, instructions: Sequence[Instruction], is_serial: bool) -> None:
        self.instructions = instructions
        self.ends: dict[int, int] = {}
        self.extents: dict[int, int] = {}
        self.depths: dict[int, int] = {}
        self.parents: dict[int, int | None] = {}
        self.dtypes: dict[int, DType] = {}
        self._read()
        self.rank = max(self.depths.values(), default=0) + 1
        self.blocks = dict.fromkeys(self.extents, 1) if is_serial else self._blocks()

    def _read(self) -> None:
        """One walk over the instructions, with the open loops on a stack."""
        constants: dict[int, int] = {}
        open_loops: list[int] = []
        for number, instruction in enumerate(self.instructions):
            match instruction:
                case Const(out=out, bits=bits, dtype=dtype) if dtype == int64:
                    constants[out] = int(from_bits(bits, dtype))
                case Range():
                    self.extents[number] = _extent(number, instruction, constants)
                    self.parents[number] = open_loops[-1] if open_loops else None
                    self.depths[number] = sum(map(self._is_normal, open_loops))
                    open_loops.append(number)
                case EndRange():
                    self.ends[open_loops.pop()] = number
            if isinstance(instruction, DefineGlobal | Const | Acc | Load | Alu | Cast | Bitcast):
                self.dtypes[instruction.out] = instruction.dtype
            elif isinstance(instruction, Range):
                self.dtypes[instruction.out] = int64

    def _is_normal(self, number: int) -> bool:
        instruction = self.instructions[number]
        return isinstance(instruction, Range) and instruction.role == "normal"

    def _blocks(self) -> dict[int, int]:
        """Iterations of each range that run at once; those of its inner ranges fit in as well."""
        inside = dict.fromkeys(self.extents, 1)
        blocks = {}
        for number, extent in reversed(self.extents.items()):
            is_normal, parent = self._is_normal(number), self.parents[number]
            blocks[number] = max(1, min(extent, BLOCK // inside[number])) if is_normal else 1
            if parent is not None:
                whole = inside[number] * (max(extent, 1) if is_normal else 1)
                inside[parent] = max(inside[parent], whole)
        return blocks


def _extent(number: int, instruction: Range, constants: dict[int, int]) -> int:
    if instruction.bound not in constants:
        raise InternalError(
            "lowered interpreter", f"instruction {number}: {instruction.name} has no constant bound"
        )
    return max(constants[instruction.bound], 0)


class _Run:
    """State of one run: the registers, the counters, and the iterations that run at once."""

    def __init__(
        self, plan: _Plan, arguments: Sequence[Array], addresses: list[Address] | None
    ) -> None:
        self.plan = plan
        self.arguments = arguments
        self.addresses = addresses
        self.values: dict[int, Array] = {}
        self.buffers: dict[int, DefineGlobal] = {}
        self.counts = dict.fromkeys(Counts.__dataclass_fields__, 0)
        self.at_once = 1
        self.ones = (1,) * plan.rank

    def span(self, begin: int, end: int) -> None:
        """Run the instructions number `begin` to `end`, the end not included."""
        number = begin
        while number < end:
            instruction = self.plan.instructions[number]
            if isinstance(instruction, Range):
                self._loop(number, instruction)
                number = self.plan.ends[number]
            else:
                self._instruction(number, instruction)
            number += 1

    def _loop(self, number: int, instruction: Range) -> None:
        """Run a loop, block after block."""
        extent, step = self.plan.extents[number], self.plan.blocks[number]
        shape = list(self.ones)
        outside = self.at_once
        for start in range(0, extent, step):
            stop = min(start + step, extent)
            shape[self.plan.depths[number]] = stop - start
            self.values[instruction.out] = np.arange(start, stop, dtype=np.int64).reshape(shape)
            self.at_once = outside * (stop - start)
            self.counts["iterations"] += self.at_once
            self.span(number + 1, self.plan.ends[number])
        self.at_once = outside

    def _instruction(self, number: int, instruction: Instruction) -> None:
        values = self.values
        match instruction:
            case Alu():
                self._alu(number, instruction)
            case Load():
                self._load(number, instruction)
            case Assign(target=target, source=source):
                values[target] = values[source]
            case Store():
                self._store(number, instruction)
            case Const(out=out, bits=bits, dtype=dtype):
                values[out] = constant(bits, dtype.numpy).reshape(self.ones)
            case Acc(out=out, start=start):
                values[out] = values[start]
            case Cast(out=out, source=source, dtype=dtype):
                values[out] = references.cast(values[source], dtype)
            case Bitcast(out=out, source=source, dtype=dtype):
                values[out] = values[source].view(dtype.numpy)
            case DefineGlobal(out=out):
                self.buffers[out] = self._argument(number, instruction)

    def _argument(self, number: int, instruction: DefineGlobal) -> DefineGlobal:
        """The definition itself, once the array given for it is seen to fit."""
        array = self.arguments[instruction.slot]
        if array.dtype != instruction.dtype.numpy or array.shape != (instruction.size,):
            raise InternalError(
                f"lowered interpreter: instruction {number}",
                f"the array given for {instruction.name} does not fit",
                got=f"{array.dtype} {array.shape}",
                expected=f"{instruction.dtype} ({instruction.size},)",
            )
        return instruction

    def _alu(self, number: int, instruction: Alu) -> None:
        arguments = instruction.arguments
        value = np.asarray(OPS[instruction.op].reference(*[self.values[r] for r in arguments]))
        if value.dtype != instruction.dtype.numpy:
            raise InternalError(
                f"lowered interpreter: instruction {number}",
                f"{instruction.op} gave a value of the wrong type",
                got=str(value.dtype),
                expected=instruction.dtype.name,
            )
        self.values[instruction.out] = value
        is_float = self.plan.dtypes[arguments[-1]].is_float
        operations = 2 if instruction.op == "mulacc" else 1
        kind = "flops" if is_float else "integer_operations"
        self.counts[kind] += self.at_once * operations

    def _load(self, number: int, instruction: Load) -> None:
        buffer, index = self.buffers[instruction.buffer], self.values[instruction.index]
        gate = None if instruction.valid is None else self.values[instruction.valid]
        name = f"lowered interpreter: instruction {number}: load from {buffer.name}"
        self.values[instruction.out] = gather(self.arguments[buffer.slot], index, gate, name)
        self._count("loads", "bytes_read", buffer, gate)
        self._note(buffer, index, gate, False)

    def _store(self, number: int, instruction: Store) -> None:
        buffer, index = self.buffers[instruction.buffer], self.values[instruction.index]
        gate = None if instruction.valid is None else self.values[instruction.valid]
        name = f"lowered interpreter: instruction {number}: store to {buffer.name}"
        source = self.values[instruction.source]
        scatter(self.arguments[buffer.slot], index, source, gate, name)
        self._count("stores", "bytes_written", buffer, gate)
        self._note(buffer, index, gate, True)

    def _count(self, what: str, nbytes: str, buffer: DefineGlobal, gate: Array | None) -> None:
        """Count an access in all iterations that run at once and in which the gate is true."""
        times = self.at_once
        if gate is not None:
            times = times // gate.size * int(np.count_nonzero(gate))
        self.counts[what] += times
        self.counts[nbytes] += times * buffer.dtype.itemsize

    def _note(self, buffer: DefineGlobal, index: Array, gate: Array | None, is_store: bool) -> None:
        """Note the address of an access, if anybody asked."""
        if self.addresses is not None and (gate is None or gate.all()):
            self.addresses.append((buffer.slot, index.item(), is_store))
