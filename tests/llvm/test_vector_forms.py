"""`Op.has_vectors` is what LLVM makes of several lanes: vector instructions, or one lane after
another; and what is written for max, min and conversions is as short as the processor allows."""

import re

import pytest

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.llvm import conversions, jit, operations
from compiler.llvm.types import register_type, splat, vector_type
from compiler.llvm.writer import Writer
from compiler.ops.row import Op
from compiler.ops.table import OPS
from tests.evaluate import NUMPYS

LANES = 16
MACHINE = [op for op in OPS.values() if op.expansion is None]
BY_LANE = re.compile(r"^\s+(call|div|idiv|vcvttss2si|vcvttsd2si|mul|mulx|imul)\s")
with_avx512 = pytest.mark.skipif(not jit.has_avx512(), reason="a processor without AVX-512")


def assembly(writer: Writer, result: str, value: str, parameters: list[str]) -> list[str]:
    """The instructions of a function of what `writer` holds, as written: no pass runs."""
    body = [line.text for line in writer.lines]
    functions = [*writer.functions.values(), *writer.declarations]
    head = f"define {result} @f({', '.join(parameters)}) #0 {{"
    flags = 'attributes #0 = { nounwind "prefer-vector-width"="512" }'
    lines = [head, "entry:", *body, f"  ret {result} {value}", "}", *functions, flags]
    with jit.borrowed_machine(2) as machine:
        text = machine.emit_assembly(jit.parse("\n".join(lines)))
    function = text.split("\nf:", 1)[1].split(".Lfunc_end", 1)[0]
    rows = [row for row in function.splitlines() if row.startswith("\t")]
    return [row for row in rows if not row.startswith(("\t.", "\t#", "\tlea\t", "\tmovabs"))]


def of_operation(op: str, dtype: DType, lanes: int, constant: int | None = None) -> list[str]:
    """The assembly of one operation; `constant` is its second operand, where it is one."""
    writer, t = Writer(), register_type(dtype, lanes)
    names = ["%a", "%b", "%c"][: OPS[op].arity]
    types = [t] * len(names)
    if OPS[op].has_condition:
        types[0] = vector_type("i1", lanes)
    parameters = [f"{t} {name}" for t, name in zip(types, names, strict=True)]
    if constant is not None:
        names[1] = splat(constant, register_type(dtype), lanes)
    value = operations.emit(writer, op, dtype, names, "%r", lanes=lanes)
    result = OPS[op].result_dtype((dtype,) * len(names))
    return assembly(writer, register_type(result, lanes), value, parameters)


def is_by_lane(rows: list[str]) -> bool:
    """True if something is done for one lane after the other."""
    return any(BY_LANE.match(row) for row in rows)


@with_avx512
@pytest.mark.parametrize("op", MACHINE, ids=lambda op: op.name)
def test_each_operation(op: Op) -> None:
    for dtype in (d for d in NUMPYS if d.kind in op.accepts):
        rows = of_operation(op.name, dtype, LANES)
        if op.name == "mod" and dtype.is_float:
            far = next(i for i, row in enumerate(rows) if row.startswith("\tkortest"))
            assert not is_by_lane(rows[:far]) and any("vdiv" in row for row in rows[:far])
            continue
        assert is_by_lane(rows) != op.has_vectors(dtype), f"{op.name} {dtype}"


@with_avx512
@pytest.mark.parametrize("divisor", (8, 7))
@pytest.mark.parametrize("op", ("idiv", "mod"))
def test_division_by_a_constant(op: str, divisor: int) -> None:
    for dtype in (d for d in NUMPYS if d.is_integer):
        rows = of_operation(op, dtype, LANES, divisor)
        expected = OPS[op].has_vectors(dtype, divisor)
        assert is_by_lane(rows) != expected, f"{op} of {dtype} by {divisor}"
        assert expected == (dtype.bits < 64 or divisor == 8)


@with_avx512
@pytest.mark.parametrize("source", NUMPYS, ids=str)
def test_each_conversion(source: DType) -> None:
    for result in NUMPYS:
        writer, t = Writer(), register_type(source, LANES)
        value = conversions.cast(writer, "%a", source, result, "%r", LANES)
        rows = assembly(writer, register_type(result, LANES), value, [f"{t} %a"])
        assert not is_by_lane(rows) and len(rows) < 40, f"{source} to {result}"


@with_avx512
@pytest.mark.parametrize("op", ("max", "min"))
def test_the_greater_and_the_lesser_take_three_instructions(op: str) -> None:
    for dtype, lanes in ((dtypes.float32, 16), (dtypes.float64, 8)):
        rows = [row for row in of_operation(op, dtype, lanes) if "ret" not in row]
        assert len([row for row in rows if "broadcast" not in row and "add\tr" not in row]) == 3


def test_nothing_of_one_processor_is_written_for_another() -> None:
    for op in ("exp", "max"):
        writer = Writer(has_avx512=False)
        operations.emit(writer, op, dtypes.float32, ["%a", "%b"][: OPS[op].arity], "%r", lanes=16)
        assert not any("x86" in line.text for line in writer.lines)
