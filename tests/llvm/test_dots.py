"""Sums of products of small types: the instructions of each machine, and what they do elsewhere."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from compiler.core.dtypes import bfloat16
from compiler.device.device import CPU
from compiler.llvm import jit
from compiler.llvm.emit import emit
from compiler.llvm.source import Source
from compiler.machines import processors
from compiler.machines.named import MACHINES
from compiler.machines.processors import Processor
from compiler.pipeline.kernels import CompiledKernel, compile_kernel, program_spec
from tests.loops.programs import kernels
from tests.loops.transformed import PROGRAMS, arguments_of, assert_close, result

Array = np.ndarray[Any, Any]
SIZES = 7, 50, 39
NAMES = "matmul of bytes", "matmul of signs", "matmul of halves"


@pytest.mark.parametrize(("machine", "types", "instruction"), [
    ("intel-alderlake", "Bb", "vpdpbusd"), ("arm-neoverse-n1", "bb", "sdot"),
])  # fmt: skip
def test_assembly_of_machines(machine: str, types: str, instruction: str) -> None:
    a, b = (Tensor(np.ones((32, 32), t)).cast("int32") for t in types)
    (listing,) = compile(a @ b).assembly_for(machine)
    assert any(instruction in row.split()[:2] for row in listing.rows)


@pytest.mark.parametrize(("machine", "name", "instruction"), [
    ("amd-zen4", "matmul of bytes", "x86.avx512.vpdpbusd.512"),
    ("amd-zen4", "matmul of halves", "x86.avx512bf16.dpbf16ps.512"),
    ("intel-alderlake", "matmul of signs", "x86.avx512.vpdpbusd.256"),
    ("arm-neoverse-n1", "matmul of bytes", "aarch64.neon.sdot.v4i32.v16i8"),
    ("arm-neoverse-n1", "matmul of signs", "aarch64.neon.sdot.v4i32.v16i8"),
    ("arm-neoverse-v1", "matmul of signs", "aarch64.neon.usdot.v4i32.v16i8"),
    ("arm-neoverse-v1", "matmul of halves", "aarch64.neon.bfdot.v4f32.v8bf16"),
])  # fmt: skip
def test_instructions_of_machines(machine: str, name: str, instruction: str) -> None:
    body, model = kernels(PROGRAMS[name](*SIZES))[-1], MACHINES[machine].model
    made = compile_kernel("k0", body, Options(machine=machine), 0)
    rows = emit(
        "k0", made.linear.instructions, MACHINES[machine].has_avx512, model.takes_lanes, model.dots
    )
    assert any(f"@llvm.{instruction}(" in row.text for row in rows)


def kernel_of(name: str) -> CompiledKernel:
    """A kernel whose loops are chosen for a machine that has all instructions."""
    options = Options(machine="amd-zen4")
    body = kernels(PROGRAMS[name](*SIZES))[-1]
    made = compile_kernel("k0", body, options, 0)
    assert made.choices.has("dot")
    return made


def run(kernel: CompiledKernel, dots: Collection[str] | None) -> tuple[Array, Array, str]:
    """The results of machine code with these instructions, the results of loops, and the text."""
    rows = tuple(emit("k0", kernel.linear.instructions, dots=dots))
    made = replace(kernel, source=rows)
    values = arguments_of(kernel.loops)
    program = CPU.load(CPU.compile(program_spec(made, CPU), 2))
    expected = result(kernel.loops, values)
    program.execute([v.ctypes.data for v in values], [0 for _ in program.variables])
    text = Source(title="", name="k0", rows=rows, kernel=0).text
    return values[0], expected, text


@pytest.mark.parametrize("name", NAMES)
def test_machines_without_the_instructions(name: str) -> None:
    found, expected, text = run(kernel_of(name), ())
    assert "vpdp" not in text and "dpbf16" not in text
    assert_close(found, expected)


@pytest.mark.parametrize("name", NAMES)
def test_the_machine_at_hand(name: str) -> None:
    found, expected, text = run(kernel_of(name), None)
    kind = "bf16" if "halves" in name else "u8i8"
    assert ("dpb" in text) == (kind in jit.dots() and processors.is_x86())
    assert_close(found, expected)


def test_what_bfloat16_instructions_take_for_nothing() -> None:
    """As the file's docstring says: sums differ by no more than the flushed factors would give."""
    a = np.full((8, 32), 1e-39).astype(bfloat16.numpy)
    b = np.ones((32, 16), bfloat16.numpy)
    options = Options(machine="amd-zen4")
    compilation = compile(Tensor(a).cast("float32") @ Tensor(b).cast("float32"), options)
    assert compilation.choices["k0"].has("dot")
    found = compilation.run()[0]
    exact = 32 * float(a[0, 0])
    assert np.all((found == 0) | np.isclose(found, exact, 1e-6, 0))
    none = replace(MACHINES["amd-zen4"].model, dots=())
    kept = compile(Tensor(a).cast("float32") @ Tensor(b).cast("float32"), Options(machine=none))
    np.testing.assert_allclose(kept.run()[0], exact, 1e-6)


def test_not_a_number_and_infinity_go_through() -> None:
    a, b = np.ones((8, 32), bfloat16.numpy), np.ones((32, 16), bfloat16.numpy)
    a[0, 0], a[1, 5], a[2, 7], a[2, 8] = np.nan, np.inf, np.inf, -np.inf
    compilation = compile(Tensor(a) @ Tensor(b), Options(machine="amd-zen4"))
    assert compilation.choices["k0"].has("dot")
    found = compilation.run()[0].astype(np.float32)[:4, 0]
    np.testing.assert_array_equal(found, np.array([np.nan, np.inf, np.nan, 32], np.float32))


@pytest.mark.parametrize(("features", "expected"), [
    ("+avx512vnni,+avx512vl,+avx512bf16", ("u8i8", "i16", "bf16")), ("+avxvnni", ("u8i8", "i16")),
    ("+avx512vnni", ()), ("+avx2", ()), ("-avxvnni", ()),
])  # fmt: skip
def test_instructions_by_features(
    features: str, expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processors, "is_x86", lambda: True)
    assert processors.dots(Processor("any", features)) == expected


def test_instructions_of_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "is_x86", lambda: False)
    monkeypatch.setattr(processors, "is_arm", lambda: True)
    found = processors.dots(Processor("any", "+dotprod,+bf16"))
    assert found == ("i8", "u8")
