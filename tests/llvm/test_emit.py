"""The text that is emitted: LLVM takes it, every line knows its instruction, loops may be empty."""

import ctypes
import math
import re

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.device.buffers import data
from compiler.graph.nodes import Buffer, Const
from compiler.llvm import jit
from compiler.llvm.emit import emit
from compiler.llvm.source import Source
from compiler.llvm.types import constant, float_constant, memory_type, register_type
from compiler.lowered.instructions import (
    Acc,
    Alu,
    Assign,
    DefineGlobal,
    EndRange,
    Instruction,
    Load,
    Range,
    Store,
)
from compiler.lowered.instructions import Const as ConstInstruction
from compiler.program.compilation import Compilation, compile
from compiler.settings.options import Options
from compiler.tensor import Tensor
from tests.llvm.programs import PROGRAMS

i64, f32 = dtypes.int64, dtypes.float32
FLOATS = (dtypes.float16, dtypes.float32, dtypes.float64)


@pytest.fixture(scope="module", params=PROGRAMS)
def compilation(request: pytest.FixtureRequest) -> Compilation:
    return compile(PROGRAMS[request.param](), name=request.param)


def test_llvm_accepts_the_text(compilation: Compilation) -> None:
    for source in compilation.source:
        module = jit.parse(source.text)
        names = [f.name for f in module.functions if not f.is_declaration]
        assert names[0].split("_")[0] == source.name  # the symbol goes on to say what it does


def test_every_line_that_computes_has_a_parent(compilation: Compilation) -> None:
    for number, source in enumerate(compilation.source):
        count = len(compilation.lowered[number].instructions)
        known = {f"lowered:{number}:{i}" for i in range(count)}
        for position, line in enumerate(source.lines, start=1):
            assert line.entity == f"llvm:{number}:{position}"
            assert set(line.parents) <= known
            computes = line.text.startswith("  ") and line.text.strip() != "ret void"
            assert line.parents or not computes, line.text


def test_every_instruction_that_computes_has_a_line(compilation: Compilation) -> None:
    for lowered, source in zip(compilation.lowered, compilation.source, strict=True):
        found = {parent for line in source.lines for parent in line.parents}
        for number, instruction in enumerate(lowered.instructions):
            if isinstance(instruction, Load | Store | Range | EndRange | Alu):
                assert lowered.entity(number) in found, lowered.text(instruction)


def test_the_control_flow_has_one_entry_and_is_connected(compilation: Compilation) -> None:
    import networkx as nx

    for source in compilation.source:
        graph = source.to_networkx()
        entries = [n for n in graph if not graph.in_degree(n)]
        assert [graph.nodes[n]["op"] for n in entries] == ["entry"]
        assert nx.is_weakly_connected(graph)
        assert set(nx.descendants(graph, entries[0])) | set(entries) == set(graph)
        exits = [n for n in graph if not graph.out_degree(n)]
        assert len(exits) == 1 and "ret void" in graph.nodes[exits[0]]["text"]


def run(instructions: list[Instruction], *arrays: np.ndarray) -> None:  # type: ignore[type-arg]
    """Compile the instructions and run them on the arrays."""
    text = "\n".join(row.text for row in emit("kernel", tuple(instructions)))
    loaded = jit.load(text, "kernel", len(arrays))
    loaded.entry(*[ctypes.c_void_p(a.ctypes.data) for a in arrays])


VALUES = (0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 5e-324, 1e-45, 6e-8, 1e300, 65504.0)


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda d: d.short)
def test_constants_read_back_to_the_same_bits(dtype: DType) -> None:
    """Machine code stores each constant: infinities, NaN, -0.0, the least and greatest numbers."""
    limits = [dtype.minimum, dtype.maximum, 0, 1]
    with np.errstate(over="ignore"):
        values = np.array(VALUES if dtype.is_float else limits, np.float64 if dtype.is_float
                          else dtype.numpy).astype(dtype.numpy)  # fmt: skip
    if dtype.is_float:
        info = dtypes.float_limits(dtype.numpy)
        extra = [info.smallest_subnormal, -info.smallest_subnormal, info.tiny, info.max, info.min]
        values = np.concatenate([values, np.array(extra, dtype.numpy)])
    count = len(values)
    patterns = [int.from_bytes(v.tobytes(), "little") for v in values]
    instructions: list[Instruction] = [DefineGlobal(0, 0, dtype, count, True)]
    for i, bits in enumerate(patterns):
        instructions += [
            ConstInstruction(1 + 2 * i, bits, dtype),
            ConstInstruction(2 + 2 * i, i, i64),
            Store(0, 2 + 2 * i, 1 + 2 * i, None),
        ]
    got = np.full(count, 1, dtype.numpy)
    run(instructions, got)
    assert got.tobytes() == values.tobytes(), f"{got} instead of {values}"


def test_the_text_of_constants() -> None:
    assert constant(0x7FC00000, f32) == "0x7FF8000000000000"
    assert constant(0x8000, dtypes.float16) == "0xH8000"
    assert constant(1, dtypes.float64) == "0x0000000000000001"
    assert constant(1, f32) == "0x36A0000000000000", "the least float is a normal double"
    assert constant(2**64 - 1, i64) == "-1" and constant(1, dtypes.bool_) == "true"
    assert constant(255, dtypes.uint8) == "255" and constant(255, dtypes.int8) == "-1"
    assert [float_constant(0.5, d) for d in FLOATS] == [
        "0xH3800", "0x3FE0000000000000", "0x3FE0000000000000",
    ]  # fmt: skip
    assert (register_type(dtypes.bool_), memory_type(dtypes.bool_)) == ("i1", "i8")
    assert (register_type(dtypes.uint16), memory_type(dtypes.float16)) == ("i16", "half")


@pytest.mark.parametrize("payload", (0x7FC00001, 0xFFC12345, 0x7FFFFFFF), ids=hex)
def test_a_nan_keeps_its_payload(payload: int) -> None:
    value = Tensor(np.ones(2, "float32"))._new(Const((), payload, f32, (2,)))
    got = value.numpy()
    assert [int(bits) for bits in got.view(np.uint32)] == [payload, payload]


@pytest.mark.parametrize("extent", (0, 1, 5))
def test_a_loop_runs_as_often_as_its_range(extent: int) -> None:
    """An accumulator around a loop that may not run keeps what it began with."""
    out, source = np.full(1, -1, np.int64), np.arange(10, 15)
    run(
        [
            DefineGlobal(0, 0, i64, 1, True),
            DefineGlobal(1, 1, i64, 5, False),
            ConstInstruction(2, 0, i64),
            ConstInstruction(3, extent, i64),
            Acc(4, 2, i64),
            Range(5, 3, 0, "reduction"),
            Load(6, 1, 5, None, i64),
            Alu(7, "add", (4, 6), i64, True),
            Assign(4, 7),
            EndRange(5),
            Store(0, 2, 4, None),
        ],
        out,
        source,
    )
    assert out[0] == source[:extent].sum()


def test_predicates_keep_memory_untouched() -> None:
    """A load or store with a false predicate touches no memory, though its address is invalid."""
    predicate = Alu(9, "lt", (4, 3), dtypes.bool_)
    out = np.full(4, 7, np.int64)
    run(
        [
            DefineGlobal(0, 0, i64, 4, True),
            DefineGlobal(1, 1, i64, 2, False),
            ConstInstruction(2, 4, i64),
            ConstInstruction(3, 2, i64),
            ConstInstruction(8, 2**50, i64),
            Range(4, 2, 0, "normal"),
            predicate,
            Alu(10, "where", (9, 4, 8), i64),
            Load(5, 1, 10, 9, i64),
            Store(0, 10, 5, 9),
            EndRange(4),
        ],
        out,
        np.array([40, 41]),
    )
    assert out.tolist() == [40, 41, 7, 7]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)], ids=str)
def test_tensors_without_elements_on_machine_code(shape: tuple[int, ...]) -> None:
    x = Tensor(np.ones(shape, "float32"))
    for tensor, expected in (
        (x.exp() + 1, np.ones(shape, "float32")),
        (x.sum(), np.float32(0)),
        (x.sum(0), np.ones(shape, "float32").sum(0)),
        (x.flatten().cat(Tensor(np.ones(2, "float32"))), np.ones(2, "float32")),
    ):
        (got,) = Compilation([tensor.node], Options(), "test").run()
        np.testing.assert_array_equal(got, expected, strict=True)


def test_fast_math_is_what_the_ruling_allows() -> None:
    """`contract` anywhere, `reassoc` only where a reduction combines; nothing else, ever."""
    for name, make in PROGRAMS.items():
        for source in compile(make(), name=name).source:
            text = source.text
            assert not re.search(r"\b(fast|nnan|ninf|nsz|arcp|afn)\b", text)
            for line in text.splitlines():
                if "reassoc" in line:
                    assert "%acc" in line, line


def test_a_source_stage_prints_its_text() -> None:
    (source,) = compile(PROGRAMS["scalar"]()).source
    assert isinstance(source, Source)
    assert str(source) == source.text
    assert source.text.startswith(f"define void @{source.name}_mul_sqrt(")


def test_no_kernel_writes_an_input() -> None:
    x = Tensor(np.arange(6.0))
    node = x.node
    assert isinstance(node, Buffer)
    before = data(node).copy()
    (x + 1).realize()
    np.testing.assert_array_equal(data(node), before)
