"""LLVM IR for scratch memory, on the stack or behind an argument, and for products of tiles.

A little scratch memory is on the stack. If a kernel needs more, all of it is in memory that the
caller passes as the last argument, `%scratch`, each part at a separate address.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from compiler.core.dtypes import DType
from compiler.llvm.types import memory_type
from compiler.llvm.writer import SourceLine, Writer
from compiler.lowered.by_hand import Wmma
from compiler.lowered.instructions import Instruction
from compiler.lowered.machine import Memory

STACK = 2**15
"""Bytes of scratch memory that a kernel takes from the stack: as much as a first cache holds. A
choice, no measurement."""
ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector register."""


@dataclass(frozen=True, slots=True)
class ScratchLayout:
    """The bytes that the caller has to pass (0: none), and each part's offset by register."""

    size: int
    offsets: dict[int, int]


def layout(instructions: Sequence[Instruction]) -> ScratchLayout:
    """The layout of a kernel's scratch memory."""
    offsets: dict[int, int] = {}
    size = 0
    for each in instructions:
        if isinstance(each, Memory):
            offsets[each.out] = size
            size += -(-each.size * each.dtype.itemsize // ALIGNMENT) * ALIGNMENT
    return ScratchLayout(size, offsets) if size > STACK else ScratchLayout(0, {})


def allocate(writer: Writer, memory: Memory, where: ScratchLayout) -> None:
    """Allocate a memory once, at the entry."""
    t = f"[{memory.size} x {memory_type(memory.dtype)}]"
    text = f"alloca {t}, align {ALIGNMENT}"
    if where.size:
        text = f"getelementptr inbounds i8, ptr %scratch, i64 {where.offsets[memory.out]}"
    line = SourceLine(f"  %{memory.name} = {text}", writer.instruction)
    writer.allocations.append(line)


def multiply(writer: Writer, instruction: Wmma, pointers: tuple[str, str, str, str]) -> None:
    """target := a · b + c, as three loops; `pointers` are those of target, a, b and c."""
    target, a, b, c = pointers
    m, n, k, dtype = instruction.m, instruction.n, instruction.k, instruction.dtype
    stem = writer.fresh("tile")
    i = _begin(writer, f"{stem}.i")
    j = _begin(writer, f"{stem}.j")
    row = writer.value(f"mul i64 {i}, {n}")
    place = writer.value(f"add i64 {row}, {j}")
    start = _load(writer, dtype, c, place)
    before = writer.block
    step = _begin(writer, f"{stem}.k")
    t, total = memory_type(dtype), f"%{stem}.sum"
    phi = len(writer.lines)
    writer.line("")  # completed below: a phi stands before what computes its operand
    left = writer.value(f"mul i64 {i}, {k}")
    left = writer.value(f"add i64 {left}, {step}")
    right = writer.value(f"mul i64 {step}, {n}")
    right = writer.value(f"add i64 {right}, {j}")
    x, y = _load(writer, dtype, a, left), _load(writer, dtype, b, right)
    product = writer.value(f"{'fmul contract' if dtype.is_float else 'mul'} {t} {x}, {y}")
    add = "fadd reassoc contract" if dtype.is_float else "add"
    writer.line(f"{total}.next = {add} {t} {total}, {product}")
    text = f"  {total} = phi {t} [ {start}, %{before} ], [ {total}.next, %{stem}.k.latch ]"
    writer.lines[phi] = SourceLine(text, writer.instruction)
    _end(writer, f"{stem}.k", k)
    writer.line(f"store {t} {total}.next, ptr {_address(writer, dtype, target, place)}")
    _end(writer, f"{stem}.j", n)
    _end(writer, f"{stem}.i", m)


def _begin(writer: Writer, stem: str) -> str:
    """The head of a loop that runs once or more; returns its counter."""
    before, counter = writer.block, f"%{stem}.n"
    writer.line(f"br label %{stem}")
    writer.label(stem)
    latch = f"%{stem}.latch"
    writer.line(f"{counter} = phi i64 [ 0, %{before} ], [ {counter}ext, {latch} ]")
    return counter


def _end(writer: Writer, stem: str, count: int) -> None:
    """Count, and jump back while there is more to do."""
    counter = f"%{stem}.n"
    writer.line(f"br label %{stem}.latch")
    writer.label(f"{stem}.latch")
    writer.line(f"{counter}ext = add nuw nsw i64 {counter}, 1")
    more = writer.value(f"icmp slt i64 {counter}ext, {count}")
    writer.line(f"br i1 {more}, label %{stem}, label %{stem}.exit")
    writer.label(f"{stem}.exit")


def _address(writer: Writer, dtype: DType, pointer: str, index: str) -> str:
    return writer.value(f"getelementptr inbounds {memory_type(dtype)}, ptr {pointer}, i64 {index}")


def _load(writer: Writer, dtype: DType, pointer: str, index: str) -> str:
    address = _address(writer, dtype, pointer, index)
    return writer.value(f"load {memory_type(dtype)}, ptr {address}")
