"""LLVM IR for vectors: insert and extract lanes, contiguous loads and stores, gathers.

Contiguous elements need no more alignment than one of them. A predicate with one lane is a branch,
which `llvm/emit.py` writes; one with several lanes is the mask of an intrinsic.
"""

from collections.abc import Callable, Sequence

from compiler.core.dtypes import DType, bool_
from compiler.llvm.types import memory_type, splat, suffix, vector_type
from compiler.llvm.writer import Writer


def join(writer: Writer, values: Sequence[str], t: str, name: str) -> str:
    """A vector of `values` of type `t`."""
    whole, result = vector_type(t, len(values)), "poison"
    for lane, value in enumerate(values):
        final = name if lane == len(values) - 1 else ""
        result = writer.value(f"insertelement {whole} {result}, {t} {value}, i64 {lane}", final)
    return result


def lane(writer: Writer, value: str, t: str, lanes: int, number: int, name: str = "") -> str:
    """One lane of a vector of `lanes` values of type `t`; of a plain value itself."""
    if lanes == 1:
        return value
    return writer.value(f"extractelement {vector_type(t, lanes)} {value}, i64 {number}", name)


def take(
    writer: Writer, value: str, t: str, lanes: int, indices: tuple[int, ...], name: str
) -> str:
    """The lanes `indices` of a vector; one of them is a plain value."""
    if len(indices) == 1:
        return lane(writer, value, t, lanes, indices[0], name)
    if lanes == 1:
        return broadcast(writer, value, t, len(indices), name)
    return shuffle(writer, (value, "poison"), t, lanes, indices, name)


def shuffle(
    writer: Writer, pair: tuple[str, str], t: str, lanes: int, indices: tuple[int, ...], name: str
) -> str:
    """The lanes `indices` of two vectors of `lanes` each."""
    whole = vector_type(t, lanes)
    order = ", ".join(f"i32 {i}" for i in indices)
    expression = (
        f"shufflevector {whole} {pair[0]}, {whole} {pair[1]}, <{len(indices)} x i32> <{order}>"
    )
    return writer.value(expression, name)


def broadcast(writer: Writer, value: str, t: str, lanes: int, name: str) -> str:
    """A plain value in each of `lanes` lanes; a constant stays one."""
    if not value.startswith("%"):
        return splat(value, t, lanes)
    whole = vector_type(t, lanes)
    first = writer.value(f"insertelement {whole} poison, {t} {value}, i64 0")
    order = f"<{lanes} x i32> zeroinitializer"
    return writer.value(f"shufflevector {whole} {first}, {whole} poison, {order}", name)


def per_lane(
    writer: Writer,
    operands: list[tuple[str, str]],
    result: str,
    lanes: int,
    name: str,
    scalar: Callable[[list[str], str], str],
) -> str:
    """The text of `scalar(operands, name)`, in each lane; operands as (scalar type, value)."""
    if lanes == 1:
        return scalar([value for _, value in operands], name)
    results = []
    for number in range(lanes):
        operands_of_lane = [lane(writer, value, t, lanes, number) for t, value in operands]
        results.append(scalar(operands_of_lane, ""))
    return join(writer, results, result, name)


def load(
    writer: Writer, dtype: DType, lanes: int, address: str, predicate: str | None, name: str
) -> str:
    """`lanes` elements from `address` on; 0, and no access, in lanes where `predicate` is false."""
    t = memory_type(dtype, lanes)
    if predicate is None:
        expression = f"load {t}, ptr {address}{_alignment(dtype, lanes)}"
        return _in_register(writer, dtype, lanes, name, lambda n: writer.value(expression, n))
    operands = [("ptr", address), ("i32", str(dtype.itemsize))]
    operands += [(vector_type("i1", lanes), predicate), (t, "zeroinitializer")]
    function = f"@llvm.masked.load.{_memory_suffix(dtype, lanes)}.p0"
    return _in_register(writer, dtype, lanes, name, lambda n: writer.call(function, t, operands, n))


def gather(
    writer: Writer, dtype: DType, lanes: int, addresses: str, predicate: str | None, name: str
) -> str:
    """An element from each of the `addresses`; 0, and no access, where `predicate` is false."""
    t = memory_type(dtype, lanes)
    mask = splat("true", "i1", lanes) if predicate is None else predicate
    operands = [(vector_type("ptr", lanes), addresses), ("i32", str(dtype.itemsize))]
    operands += [(vector_type("i1", lanes), mask), (t, "zeroinitializer")]
    function = f"@llvm.masked.gather.{_memory_suffix(dtype, lanes)}.v{lanes}p0"
    return _in_register(writer, dtype, lanes, name, lambda n: writer.call(function, t, operands, n))


def store(
    writer: Writer, dtype: DType, lanes: int, value: str, address: str, predicate: str | None
) -> None:
    """Write `lanes` elements from `address` on, except where `predicate` is false."""
    t, truth = memory_type(dtype, lanes), vector_type("i1", lanes)
    if dtype == bool_:
        value = writer.value(f"zext {truth} {value} to {t}")
    if predicate is None:
        writer.line(f"store {t} {value}, ptr {address}{_alignment(dtype, lanes)}")
        return
    function = f"@llvm.masked.store.{_memory_suffix(dtype, lanes)}.p0"
    writer.declarations[f"declare void {function}({t}, ptr, i32, {truth})"] = None
    operands = f"{t} {value}, ptr {address}, i32 {dtype.itemsize}, {truth} {predicate}"
    writer.line(f"call void {function}({operands})")


def stream(writer: Writer, dtype: DType, lanes: int, value: str, address: str) -> None:
    """Write with non-temporal stores; `address` is aligned to a cache line."""
    t, align = memory_type(dtype, lanes), min(lanes * dtype.itemsize, 64)
    if dtype == bool_:
        value = writer.value(f"zext {vector_type('i1', lanes)} {value} to {t}")
    writer.line(f"store {t} {value}, ptr {address}, align {align}, !nontemporal {writer.one()}")


def prefetch(writer: Writer, dtype: DType, address: str, ahead: int) -> None:
    """Prefetch the cache line of the element `ahead` of an address, which need not exist."""
    t = memory_type(dtype)
    place = writer.value(f"getelementptr {t}, ptr {address}, i64 {ahead}")
    writer.declarations["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"] = None
    writer.line(f"call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 3, i32 1)")


def _alignment(dtype: DType, lanes: int) -> str:
    """The alignment of one element; without it LLVM assumes that of the vector."""
    return "" if lanes == 1 else f", align {dtype.itemsize}"


def _memory_suffix(dtype: DType, lanes: int) -> str:
    return f"v{lanes}i8" if dtype == bool_ else suffix(dtype, lanes)


def _in_register(
    writer: Writer, dtype: DType, lanes: int, name: str, write: Callable[[str], str]
) -> str:
    """A value `write(name)` has read from memory, as a register holds it: bools are bytes there."""
    if dtype != bool_:
        return write(name)
    zero = splat(0, "i8", lanes)
    return writer.value(f"icmp ne {memory_type(dtype, lanes)} {write('')}, {zero}", name)


def addresses(
    writer: Writer, dtype: DType, lanes: int, joined: str, index: str, index_lanes: int
) -> str:
    """The addresses of element `index` of each of the `joined` pointers."""
    t, offset = memory_type(dtype), vector_type("i64", index_lanes)
    return writer.value(
        f"getelementptr inbounds {t}, {vector_type('ptr', lanes)} {joined}, {offset} {index}"
    )
