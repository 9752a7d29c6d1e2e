"""LLVM IR for dot products of small types: dedicated instructions, or the equivalent code.

    x86, AVX-512 or AVX VNNI   vpdpbusd   4 of u8 · i8 in each lane     vpdpwssd  2 of i16
    x86, AVX-512 BF16          vdpbf16ps  2 of bf16
    AArch64                    sdot, udot, usdot (i8mm), bfdot (bf16)

On integers they are exact: sums wrap. vdpbf16ps adds the product of the odd elements first and then
that of the even ones, each sum rounded to nearest, as multiply-adds in float32 do: 48,000 of 48,000
sums of normal numbers (EPYC, Zen 4, 2026-11-24). So only the order of the additions differs, which
a reduction leaves open. But subnormals are flushed to zero: a factor below 2^-126, of which
bfloat16 has 127 for each sign, counts as 0, and so does a sum, an error of at most 2^-126 for each
addition. PyTorch 2.14 does the same on such processors. To keep subnormals, use a machine model
without "bf16" among its `dots`, or choices without "dot".

Elsewhere the elements of words are unpacked, converted, multiplied and added.
"""

from compiler.core.dtypes import DType, bfloat16
from compiler.llvm.conversions import cast
from compiler.llvm.types import register_type, splat, vector_type
from compiler.llvm.vectors import broadcast, lane, shuffle
from compiler.llvm.writer import Writer
from compiler.lowered.machine import Dot

WORD = "i32"
X86 = {
    ("uint8", "int8"): ("u8i8", "vpdpbusd"),
    ("int16", "int16"): ("i16", "vpdpwssd"),
    ("bfloat16", "bfloat16"): ("bf16", "dpbf16ps"),
}
ARM = {
    ("int8", "int8"): ("i8", "sdot"),
    ("uint8", "uint8"): ("u8", "udot"),
    ("uint8", "int8"): ("u8i8", "usdot"),
    ("bfloat16", "bfloat16"): ("bf16", "bfdot"),
}
WIDTHS = 128, 256, 512


def dot(
    writer: Writer, instruction: Dot, factors: tuple[str, str], dtypes: tuple[DType, DType],
    counts: tuple[int, int], total: str, name: str,
) -> str:  # fmt: skip
    """The sum of a Dot; `factors` have `dtypes` and so many elements."""
    parts, lanes = instruction.parts, instruction.lanes
    pairs = list(zip(factors, dtypes, counts, strict=True))
    for order in (pairs, pairs[::-1]):
        written = _instruction(writer, order[0][1], order[1][1], lanes)
        if written:
            words = [_words(writer, v, t, n, parts, lanes) for v, t, n in order]
            return _call(writer, written, instruction, words, dtypes[0], total, name)
    for part in range(parts):
        each = [(_part(writer, v, t, n, part, parts, lanes), t) for v, t, n in pairs]
        taken = [cast(writer, v, t, instruction.dtype, "", lanes) for v, t in each]
        total = _added(writer, instruction, taken, total, name if part == parts - 1 else "")
    return total


def _instruction(writer: Writer, a: DType, b: DType, lanes: int) -> str:
    """The name of the intrinsic for factors of these types, in this order; "" for none."""
    if lanes * 32 not in WIDTHS:
        return ""
    key, width = (a.name, b.name), lanes * 32
    if writer.is_arm:
        kind, name = ARM.get(key, ("", ""))
        types = "v4f32.v8bf16" if kind == "bf16" else "v4i32.v16i8"
        return f"llvm.aarch64.neon.{name}.{types}" if kind in writer.dots and lanes == 4 else ""
    kind, name = X86.get(key, ("", ""))
    if kind not in writer.dots:
        return ""
    family = "avx512bf16" if kind == "bf16" else "avx512"
    return f"llvm.x86.{family}.{name}.{width}"


def _call(
    writer: Writer, function: str, instruction: Dot, words: list[str], dtype: DType,
    total: str, name: str,
) -> str:  # fmt: skip
    """The intrinsic, on words as it wants them."""
    t, lanes = register_type(instruction.dtype, instruction.lanes), instruction.lanes
    element = "bfloat" if dtype == bfloat16 else f"i{dtype.bits}"
    wanted = vector_type(element, lanes * instruction.parts)
    wide = vector_type(WORD, lanes)
    is_same = writer.is_arm or dtype == bfloat16
    operands = [
        (wanted, writer.value(f"bitcast {wide} {word} to {wanted}")) if is_same else (wide, word)
        for word in words
    ]
    return writer.call(f"@{function}", t, [(t, total), *operands], name)


def _words(writer: Writer, value: str, dtype: DType, count: int, parts: int, lanes: int) -> str:
    """A factor as words of 32 bits, one in each lane."""
    operand_type, is_one = register_type(dtype, count), count == parts
    if is_one and not value.startswith("%"):
        wide = vector_type(WORD, lanes)
        everywhere = parts * lanes
        repeated = vector_type(register_type(dtype), everywhere)
        constant = _repeated(value, dtype, everywhere)
        return writer.value(f"bitcast {repeated} {constant} to {wide}")
    there = vector_type(WORD, 1 if is_one else lanes)
    words = writer.value(f"bitcast {operand_type} {value} to {there}")
    return broadcast(writer, words, WORD, lanes, "") if is_one and lanes > 1 else words


def _repeated(value: str, dtype: DType, count: int) -> str:
    """A constant that is the same in all elements, in more of them."""
    inside = value.removeprefix("splat (").removesuffix(")")
    return f"splat ({inside})" if inside != value else splat(value, register_type(dtype), count)


def _part(
    writer: Writer, value: str, dtype: DType, count: int, part: int, parts: int, lanes: int
) -> str:
    """One element of each word."""
    t = register_type(dtype)
    if count == parts:
        one = lane(writer, value, t, count, part)
        return broadcast(writer, one, t, lanes, "") if lanes > 1 else one
    order = tuple(range(part, count, parts))
    return shuffle(writer, (value, "poison"), t, count, order, "")


def _added(writer: Writer, instruction: Dot, taken: list[str], total: str, name: str) -> str:
    """A product of two values and a sum."""
    t = register_type(instruction.dtype, instruction.lanes)
    if instruction.dtype.is_float:
        product = writer.value(f"fmul contract {t} {taken[0]}, {taken[1]}")
        return writer.value(f"fadd contract {t} {total}, {product}", name)
    product = writer.value(f"mul {t} {taken[0]}, {taken[1]}")
    return writer.value(f"add {t} {total}, {product}", name)
