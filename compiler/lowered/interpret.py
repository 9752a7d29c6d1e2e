"""The interpreter of lowered instructions: runs them with NumPy, and counts what they do.

The iterations of a normal range are independent, so they run at once: the range is an arange along
a NumPy axis, and every register is an array that broadcasts. Reduction ranges run as Python loops.
A nest of normal ranges with more than `BLOCK` iterations is divided into blocks along its outermost
ranges, which run one after the other.

In serial mode every block is one iteration: the instructions run in program order, one at a time.

The last axis of a register is its lanes. In an If the iterations where its condition is false are
masked: their accesses are predicated, and their accumulators do not change.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.errors import DataError, InternalError, SizeError
from compiler.graph.bits import as_array
from compiler.lowered import custom, machine
from compiler.lowered import instructions as lowered
from compiler.lowered.by_hand import Buffer, Special, Wmma
from compiler.lowered.instructions import LINE, Instruction, writes
from compiler.lowered.interpreted_memory import Cells, scratch
from compiler.lowered.machine import MachineInstruction
from compiler.lowered.plan import Plan
from compiler.ops import references
from compiler.ops.table import OPS


@dataclass(frozen=True, slots=True)
class Counts:
    """Loads, stores, operations of a run, each iteration counted: the same in serial and parallel.

    A predicated access counts where its predicate is true, one of n lanes as n. Scratch memory
    counts as other memory does. `flops` are operations on float data and `integer_operations` those
    on other data; a mulacc is two, in each lane; a custom operation is none.
    """

    loads: int = 0
    stores: int = 0
    flops: int = 0
    integer_operations: int = 0
    iterations: int = 0
    bytes_read: int = 0
    bytes_written: int = 0

Address: TypeAlias = tuple[int, int, bool]
Watch: TypeAlias = Callable[[int, Array], None]
"""Called with the number of an instruction and its result, or stored value, each time it runs."""

BLOCK = 2**16
"""Iterations of normal ranges that run at once: the most elements of a register. gelu of 2²⁰
takes 44, 21, 15, 18 and 45 ms with 2¹², 2¹⁴, 2¹⁶, 2¹⁸ and 2²⁰, a product of 256³ 311, 84, 25, 24
and 33 (EPYC, AVX2, 2026-11-23)."""
LIMIT = 1_000_000
"""NumPy operations after which a run is refused unless the caller allows more: after about 6 s, as
one of a few elements takes 6.4 µs (EPYC, AVX2, 2026-11-23)."""


def interpret(
    instructions: Sequence[Instruction],
    arguments: Sequence[Array],
    *,
    limit: int = LIMIT,
    is_serial: bool = False,
    addresses: list[Address] | None = None,
    variables: Mapping[str, int] | None = None,
    watch: Watch | None = None,
) -> Counts:
    """Run a kernel on flat arrays, one per slot; the written one is filled in place.

    `addresses` receives (slot, element, is_store) of each access in program order, which makes the
    run serial; `watch` receives every value. `variables` are the values of DefineVars and Specials
    by name. Raises `SizeError` if `steps` exceed `limit`, `DataError` if a variable is missing or
    out of its bounds, and `InternalError` if an access is outside its buffer or a value has the
    wrong type.
    """
    is_serial = is_serial or addresses is not None
    count = steps(instructions, is_serial, variables)
    if count > limit:
        raise SizeError(
            "lowered interpreter", f"too large to interpret: {count:,} steps; limit {limit:,}"
        )
    plan = Plan(instructions, is_serial, BLOCK, variables)
    run = _Run(plan, arguments, addresses, variables or {}, watch)
    with np.errstate(all="ignore"):
        run.span(0, len(instructions))
    return Counts(**run.counts)


def steps(
    instructions: Sequence[Instruction],
    is_serial: bool = False,
    variables: Mapping[str, int] | None = None,
) -> int:
    """The number of instructions that `interpret` executes, each on a whole block of iterations."""
    plan = Plan(instructions, is_serial, BLOCK, variables)
    total, passes = 0, [1]
    for number, instruction in enumerate(instructions):
        total += passes[-1]
        if isinstance(instruction, lowered.Range):
            blocks = -(-plan.extents[number] // plan.blocks[number])
            passes.append(passes[-1] * blocks)
        elif isinstance(instruction, lowered.EndRange):
            passes.pop()
    return total


class _Run:
    """State of one run: the registers, the counters, and the iterations that run at once."""

    def __init__(
        self,
        plan: Plan,
        arguments: Sequence[Array],
        addresses: list[Address] | None,
        variables: Mapping[str, int],
        watch: Watch | None,
    ) -> None:
        self.plan = plan
        self.watch = watch
        self.arguments = arguments
        self.addresses = addresses
        self.variables = variables
        self.values: dict[int, Array] = {}
        self.memories: dict[int, tuple[Cells, ...]] = {}
        """For each memory its cells; for a PtrCat those of each pointer."""
        self.counts = dict.fromkeys(Counts.__dataclass_fields__, 0)
        self.ones = (1,) * plan.rank
        self.shape = self.ones
        """The iterations that run at once, along each axis."""
        self.mask: Array | None = None
        """The mask of these iterations; None: all are active."""
        self.at_once = 1
        """The number of active iterations."""

    def span(self, begin: int, end: int) -> None:
        """Run the instructions number `begin` to `end`, the end not included."""
        number = begin
        while number < end:
            instruction = self.plan.instructions[number]
            if isinstance(instruction, lowered.Range):
                self._loop(number, instruction)
            elif isinstance(instruction, machine.If):
                self._branch(number, instruction)
            else:
                self._instruction(number, instruction)
                self._tell(number, instruction)
            number = self.plan.ends.get(number, number) + 1

    def _tell(self, number: int, instruction: Instruction) -> None:
        """Call `watch` with the result of the instruction."""
        if self.watch is None:
            return
        out = instruction.source if isinstance(instruction, lowered.Store) else writes(instruction)
        if out is not None and out in self.values:
            self.watch(number, self.values[out])

    def _loop(self, number: int, instruction: lowered.Range) -> None:
        """Run a loop, block after block."""
        extent, step = self.plan.extents[number], self.plan.blocks[number]
        axis, outside = self.plan.depths[number], (self.shape, self.at_once)
        for start in range(0, extent, step):
            stop = min(start + step, extent)
            along = (stop - start,)
            shape = (*self.ones[:axis], *along, *self.ones[axis + 1 :])
            self.values[instruction.out] = np.arange(start, stop, dtype=np.int64).reshape(shape)
            if instruction.role == "normal":
                self.shape = (*outside[0][:axis], *along, *outside[0][axis + 1 :])
            self.at_once = outside[1] * (stop - start)
            self.counts["iterations"] += self.at_once
            self.span(number + 1, self.plan.ends[number])
        self.shape, self.at_once = outside

    def _branch(self, number: int, instruction: machine.If) -> None:
        """Run the body of an If, with the other iterations masked."""
        outside = self.mask, self.at_once
        self.mask = self._predicate(instruction.condition)
        assert self.mask is not None
        self.at_once = self._times(1, self.mask)
        if self.at_once:
            self.span(number + 1, self.plan.ends[number])
        self.mask, self.at_once = outside

    def _predicate(self, valid: int | None) -> Array | None:
        """The mask of an access: its own predicate is true, and the iteration is active."""
        if valid is None or self.mask is None:
            return self.mask if valid is None else self.values[valid]
        return np.asarray(self.values[valid] & self.mask)

    def _times(self, lanes: int, predicate: Array | None) -> int:
        """The count of an operation of `lanes` lanes now."""
        if predicate is None:
            return self.at_once * lanes
        return math.prod(self.shape) * lanes // predicate.size * int(np.count_nonzero(predicate))

    def _instruction(self, number: int, instruction: Instruction) -> None:
        values = self.values
        match instruction:
            case lowered.Alu():
                self._alu(number, instruction)
            case lowered.Load():
                self._load(number, instruction)
            case lowered.Assign(target=target, source=source):
                self._assign(target, values[source])
            case lowered.Store():
                self._store(number, instruction)
            case lowered.Const(out=out, bits=bits, dtype=dtype):
                values[out] = as_array(bits, dtype.numpy).reshape(self.ones)
            case lowered.Acc(out=out, start=start):
                values[out] = values[start]
            case lowered.Cast(out=out, source=source, dtype=dtype):
                values[out] = references.cast(values[source], dtype)
            case lowered.Bitcast(out=out, source=source, dtype=dtype):
                values[out] = values[source].view(dtype.numpy)
            case lowered.DefineGlobal(out=out):
                self.memories[out] = (self._argument(number, instruction),)
            case lowered.EndRange() | lowered.Range():
                return
            case _:
                self._machine(number, instruction)

    def _machine(self, number: int, instruction: MachineInstruction) -> None:
        values = self.values
        match instruction:
            case machine.VConst(out=out, bits=bits, dtype=dtype):
                lanes = [as_array(b, dtype.numpy).reshape(self.ones) for b in bits]
                values[out] = np.concatenate(lanes, axis=-1)
            case machine.Vectorize(out=out, sources=sources):
                lanes = list(np.broadcast_arrays(*[values[s] for s in sources]))
                values[out] = np.concatenate(lanes, axis=-1)
            case machine.Gep(out=out, source=source, indices=indices):
                values[out] = values[source][..., list(indices)]
            case machine.Shuffle(out=out, a=a, b=b, indices=indices):
                both = np.concatenate(np.broadcast_arrays(values[a], values[b]), axis=-1)
                values[out] = both[..., list(indices)]
            case machine.DefineVar(out=out, minimum=minimum, maximum=maximum):
                values[out] = self._variable(instruction.name, minimum, maximum)
            case Special(out=out, size=size):
                values[out] = self._variable(instruction.name, 0, size - 1)
            case machine.Local(out=out) | Buffer(out=out):
                self.memories[out] = (scratch(instruction, self.shape),)
            case machine.PtrCat(out=out, pointers=pointers):
                self.memories[out] = tuple(self.memories[p][0] for p in pointers)
            case Wmma():
                self._multiply_tiles(number, instruction)
            case machine.Dot():
                self._dot(instruction)
            case machine.Custom():
                self._custom(number, instruction)

    def _variable(self, name: str, minimum: int, maximum: int) -> Array:
        value = self.variables.get(name)
        if value is None or not minimum <= value <= maximum:
            got = "nothing" if value is None else str(value)
            expected = f"{minimum} to {maximum}"
            raise DataError(f"variable {name}", "no value", got=got, expected=expected)
        return np.full(self.ones, value, np.int64)

    def _assign(self, target: int, value: Array) -> None:
        if self.mask is not None:
            value = np.where(self.mask, value, self.values[target])
        self.values[target] = value

    def _argument(self, number: int, instruction: lowered.DefineGlobal) -> Cells:
        """The array of a buffer, after its size is checked: with variables it may be smaller."""
        array = self.arguments[instruction.slot]
        fits = array.shape == (instruction.size,)
        fits |= bool(self.variables) and array.ndim == 1 and array.size < instruction.size
        if array.dtype != instruction.dtype.numpy or not fits:
            raise InternalError(
                f"lowered interpreter: instruction {number}",
                f"the array given for {instruction.name} does not fit",
                got=f"{array.dtype} {array.shape}",
                expected=f"{instruction.dtype} ({instruction.size},)",
            )
        return Cells(instruction.name, array, instruction.size, None, instruction.slot)

    def _alu(self, number: int, instruction: lowered.Alu) -> None:
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
        operations = OPS[instruction.op].counts_as
        kind = "flops" if is_float else "integer_operations"
        self.counts[kind] += self.at_once * operations * instruction.lanes

    def _load(self, number: int, instruction: lowered.Load) -> None:
        memories, index = self.memories[instruction.buffer], self.values[instruction.index]
        where = f"lowered interpreter: instruction {number}"
        predicate = self._predicate(instruction.valid)
        if len(memories) == 1:
            index = index + np.arange(instruction.lanes)
            self.values[instruction.out] = self._read(memories[0], index, predicate, where)
            return
        lanes = []
        for lane, cells in enumerate(memories):
            own = None if predicate is None else _lane(predicate, lane)
            lanes.append(self._read(cells, _lane(index, lane), own, where))
        self.values[instruction.out] = np.concatenate(np.broadcast_arrays(*lanes), axis=-1)

    def _read(self, cells: Cells, index: Array, predicate: Array | None, where: str) -> Array:
        """Elements of a memory, counted and noted."""
        value = cells.gather(index, predicate, f"{where}: load from {cells.name}")
        times = self._times(index.shape[-1], predicate)
        self.counts["loads"] += times
        self.counts["bytes_read"] += times * cells.flat.itemsize
        self._note(cells, index, predicate, False)
        return value

    def _store(self, number: int, instruction: lowered.Store) -> None:
        (cells,) = self.memories[instruction.buffer]
        index = self.values[instruction.index] + np.arange(instruction.lanes)
        where = f"lowered interpreter: instruction {number}"
        predicate = self._predicate(instruction.valid)
        size = min(instruction.lanes * cells.flat.itemsize, LINE)
        if instruction.is_streamed and np.any(index[..., 0] * cells.flat.itemsize % size):
            raise InternalError(where, f"what is streamed to {cells.name} begins inside a line")
        self._write(cells, index, self.values[instruction.source], predicate, where)

    def _write(
        self, cells: Cells, index: Array, value: Array, predicate: Array | None, where: str
    ) -> None:
        """Set elements of a memory; counted and noted."""
        cells.scatter(index, value, predicate, f"{where}: store to {cells.name}")
        times = self._times(index.shape[-1], predicate)
        self.counts["stores"] += times
        self.counts["bytes_written"] += times * cells.flat.itemsize
        self._note(cells, index, predicate, True)

    def _note(self, cells: Cells, index: Array, predicate: Array | None, is_store: bool) -> None:
        """Record the address of an access, if `addresses` is given."""
        if self.addresses is None or cells.slot is None:
            return
        if predicate is not None:
            index, predicate = np.broadcast_arrays(index, predicate)
            index = index[predicate]
        self.addresses.extend((cells.slot, int(i), is_store) for i in index.flat)

    def _multiply_tiles(self, number: int, instruction: Wmma) -> None:
        m, n, k = instruction.m, instruction.n, instruction.k
        where = f"lowered interpreter: instruction {number}"
        tiles = []
        for register, rows, columns in (
            (instruction.a, m, k), (instruction.b, k, n), (instruction.c, m, n),
        ):  # fmt: skip
            (cells,) = self.memories[register]
            index = np.arange(rows * columns).reshape(*self.ones[:-1], -1)
            tile = self._read(cells, index, self.mask, where)
            tiles.append(tile.reshape(*tile.shape[:-1], rows, columns))
        a, b, total = tiles
        for step in range(k):
            total = total + a[..., :, step : step + 1] * b[..., step : step + 1, :]
        value = total.reshape(*total.shape[:-2], m * n)
        index = np.arange(m * n).reshape(*self.ones[:-1], -1)
        self._write(self.memories[instruction.target][0], index, value, self.mask, where)
        kind = "flops" if instruction.dtype.is_float else "integer_operations"
        self.counts[kind] += self.at_once * 2 * m * n * k

    def _dot(self, instruction: machine.Dot) -> None:
        """A sum of products of the elements of words."""
        dtype, parts, lanes = instruction.dtype, instruction.parts, instruction.lanes
        words = []
        for register in (instruction.a, instruction.b):
            value = references.cast(self.values[register], dtype)
            words.append(value.reshape(*value.shape[:-1], -1, parts))
        products = words[0] * words[1]
        total = self.values[instruction.c]
        for part in range(parts):
            total = total + products[..., part]
        self.values[instruction.out] = total
        kind = "flops" if dtype.is_float else "integer_operations"
        self.counts[kind] += self.at_once * 2 * parts * lanes

    def _custom(self, number: int, instruction: machine.Custom) -> None:
        operation = custom.find(instruction.name)
        assert operation is not None, "invariant 23"
        values: list[Any] = []
        for register, operand in zip(instruction.arguments, operation.operands, strict=True):
            value = self.memories[register][0].flat if operand.is_memory else self.values[register]
            is_whole = operand.is_memory or operation.is_inline
            values.append(value if is_whole else value.reshape(())[()])
        result = operation.reference(*values)
        if instruction.out is None or operation.result is None:
            return
        value = np.asarray(result)
        if value.dtype != operation.result.numpy:
            got, expected = str(value.dtype), operation.result.name
            where = f"lowered interpreter: instruction {number}"
            problem = f"{operation.name} gave a value of the wrong type"
            raise InternalError(where, problem, got=got, expected=expected)
        self.values[instruction.out] = value if value.ndim else value.reshape(self.ones)


def _lane(value: Array, lane: int) -> Array:
    """One lane of a value, or its only one."""
    return value if value.shape[-1] == 1 else value[..., lane : lane + 1]
