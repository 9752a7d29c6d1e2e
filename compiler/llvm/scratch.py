"""LLVM IR for scratch memory, on the stack, and for products of tiles in memory."""

from compiler.dtypes import DType
from compiler.errors import SizeError
from compiler.llvm.types import memory_type
from compiler.llvm.writer import SourceLine, Writer
from compiler.lowered.machine import Memory, Wmma

LIMIT = 2**21
"""Bytes of scratch memory of one kernel: a thread's stack may have no more than 512 KiB."""
ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector register."""


def allocate(writer: Writer, memory: Memory, taken: int) -> int:
    """Take a memory from the stack once, at the entry; returns the bytes `taken` with it.

    Raises `SizeError` where that is more than `LIMIT`.
    """
    need = -(-memory.size * memory.dtype.itemsize // ALIGNMENT) * ALIGNMENT
    if taken + need > LIMIT:
        raise SizeError(
            "llvm",
            f"{memory.name} does not fit on the stack",
            got=f"{memory.size:,} elements of {memory.dtype}, after {taken:,} bytes",
            expected=f"at most {LIMIT:,} bytes of scratch memory in one kernel",
        )
    t = f"[{memory.size} x {memory_type(memory.dtype)}]"
    text = f"  %{memory.name} = alloca {t}, align {ALIGNMENT}"
    writer.allocations.append(SourceLine(text, writer.instruction))
    return taken + need


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
