"""The contents and cost of an iteration of the inner loop: from assembly, with costs by hand."""

from dataclasses import replace

import pytest

from compiler.llvm.level import Level
from compiler.llvm.looking.inner_loop import InnerLoop, inner_loop, timed
from compiler.llvm.looking.listing import Listing
from compiler.llvm.looking.scheduling_model import Cost, SchedulingModel
from compiler.machines.model import DEFAULT

MACHINE = replace(DEFAULT, vector_bytes=16, multiply_adds=2.0)
ARM = ("f:", ".LBB0_1:", "  ldr     q2, [x0], #16", "  fmla    v0.4s, v2.4s, v2.4s",
       "  fmla    v1.4s, v2.4s, v2.s[1]", "  str     q2, [sp, #16]", "  subs    x3, x3, #1",
       "  b.ne    .LBB0_1", "  ret")  # fmt: skip
OPCODES = ("", "", "LDRQpost", "FMLAv4f32", "FMLAv4i32_indexed", "STRQui", "SUBSXri", "Bcc", "RET")
COSTS = {
    "LDRQpost": Cost(5, 2, {"L": 0.5}), "FMLAv4f32": Cost(4, 1, {"V": 0.5}),
    "FMLAv4i32_indexed": Cost(4, 1, {"V": 0.5}), "STRQui": Cost(1, 1, {"L": 0.5}),
    "SUBSXri": Cost(1, 1, {"I": 0.25}),
}  # fmt: skip


def found(*rows: str, vector_bytes: int = 16) -> InnerLoop:
    """The inner loop of these rows."""
    made = Listing(title="", rows=rows, sources=((),) * len(rows), kernel=0, prefix="asm",
                   level=Level(2, "few", "asked"))  # fmt: skip
    inner = inner_loop(rows, made.flow, vector_bytes)
    assert inner is not None
    return inner


def test_what_an_iteration_has() -> None:
    inner = found(*ARM)
    assert (inner.label, inner.first, inner.end) == (".LBB0_1", 1, 8)
    assert (inner.instructions, inner.multiply_adds, inner.flops) == (6, 2, 16)
    assert (inner.nbytes, inner.stack, inner.per_multiply_add) == (32, 1, 3.0)
    assert inner.words[0] == (
        "loop .LBB0_1: 6 instructions, 2 multiply-adds (16 flops), 3.00 instructions for each; "
        "the stack is touched by 1 instruction"
    )


def loop(row: str) -> tuple[str, ...]:
    return "f:", ".LBB0_1:", f"  {row}", "  jne     .LBB0_1", "  ret"


@pytest.mark.parametrize(
    "row, flops",
    [
        ("vfmadd231ps zmm0, zmm1, zmm2", 32), ("vfnmadd213pd ymm0, ymm1, ymm2", 8),
        ("vfmadd132ss xmm0, xmm1, xmm2", 2), ("vmulps zmm0, zmm1, zmm2", 0),
        ("fmla.4s v0, v1, v2[1]", 8), ("fmls v0.2d, v1.2d, v2.2d", 4), ("fmla s0, s1, v2.s[0]", 2),
        ("fmadd d0, d1, d2, d3", 2), ("fmla z0.s, p0/m, z1.s, z2.s", 8),
        ("fmad z0.d, p0/m, z1.d, z2.d", 4), ("fma.rn.f32 %r1, %r2, %r3, %r1", 2),
        ("fmadd.s fa0, fa1, fa2, fa3", 2), ("vfmacc.vf v8, fa0, v9", 2),
    ],
)  # fmt: skip
def test_multiply_adds_of_every_machine(row: str, flops: int) -> None:
    assert found(*loop(row)).flops == flops


@pytest.mark.parametrize(
    "length, flops", [("4, e32, m1", 8), ("16, e32, m4", 32), ("8, e64, mf2", 2)]
)
def test_the_last_vsetvli_sets_the_vector_length(length: str, flops: int) -> None:
    head, *rest = loop("vfmacc.vf v8, fa0, v9")
    assert found(head, f"  vsetivli zero, {length}, ta, ma", *rest).flops == flops


def test_the_busiest_unit_says_the_cycles() -> None:
    inner = timed(found(*ARM), ARM, OPCODES, SchedulingModel(COSTS, 8), MACHINE)
    assert (inner.cycles, inner.because) == (4, inner.words[1].rpartition(": ")[2])
    assert inner.share == 32 / (2 * 16 * 4)
    assert inner.words[1] == (
        "4 cycles an iteration by LLVM's scheduling model, 25 % of the peak: "
        "an accumulator waits for its previous value"
    )
    costs = {**COSTS, "FMLAv4f32": Cost(1, 1, {"V": 3.0}), "FMLAv4i32_indexed": Cost(1, 1, {})}
    inner = timed(found(*ARM), ARM, OPCODES, SchedulingModel(costs, 8), MACHINE)
    assert (inner.cycles, inner.because) == (3, "V is busy in every cycle")
    inner = timed(found(*ARM), ARM, OPCODES, SchedulingModel(costs, 2), MACHINE)
    assert (inner.cycles, inner.because) == (3.5, "7 micro-operations, of which 2 issue in a cycle")


def test_a_value_that_is_made_anew_waits_for_nothing() -> None:
    rows = (*ARM[:2], "  movi    v0.4s, #0", "  movi    v1.4s, #0", *ARM[2:])
    opcodes = (*OPCODES[:2], "SUBSXri", "SUBSXri", *OPCODES[2:])
    inner = timed(found(*rows), rows, opcodes, SchedulingModel(COSTS, 8), MACHINE)
    assert "accumulator" not in inner.because


def test_what_llvm_did_not_schedule() -> None:
    costs = {name: cost for name, cost in COSTS.items() if name != "LDRQpost"}
    inner = timed(found(*ARM), ARM, OPCODES, SchedulingModel(costs, 8), MACHINE)
    assert inner.cycles is None and inner.share is None
    assert inner.words[1] == "cycles are not known: LLVM's model has no cost for LDRQpost"
