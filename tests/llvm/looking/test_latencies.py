"""Latencies by LLVM's scheduling model: parsed from its output, matched to lines of assembly."""

import numpy as np
import pytest

import compiler
from compiler import Compilation, Options, Tensor
from compiler.core.errors import DataError, InternalError
from compiler.llvm import jit
from compiler.llvm.looking import latencies as looking
from compiler.llvm.looking.latencies import cycles_of, latencies, model

PRINTED = """\
SU(0):   %9:fr32 = VMOVSSrm_alt %4:gr64, 4, %14:gr64_nosp, 0, $noreg :: (load (s32) from %ir.p)
  # preds left       : 1
  Latency            : 8
    SU(1): Data Latency=8 Reg=%9
SU(1):   %11:fr32 = VDIVSSrr %9:fr32, %13:fr32, implicit $mxcsr
  Latency            : 11
SU(2):   %15:vr256 = nofpexcept contract VFMADD231PSYr %15:vr256, %11:vr256, %1, implicit $mxcsr
  Latency            : 4
SU(3):   %16:vr512 = VADDPSZrr %15:vr512, %11:vr512, implicit $mxcsr
  Latency            : 6
SU(4):   %17:vr256 = VADDPSYrr %15:vr256, %11:vr256, implicit $mxcsr
  Latency            : 3
SU(5):   %5:gr64 = COPY $rsi
  Latency            : 1
SU(6):   %6:gr64 = LEA64r %4:gr64, 1, $noreg, 8, $noreg
  Latency            : 2
ExitSU:   JCC_1 %bb.1, 12, implicit killed $eflags
  Latency            : 0
"""


@pytest.mark.parametrize(
    "row, cycles",
    [
        ("vmovss  xmm0, dword ptr [rdi + 4*rax]", 8), ("vdivss  xmm0, xmm0, xmm1", 11),
        ("vdivss  xmm0, xmm0, dword ptr [rdi]", None), ("vfmadd213ps ymm0, ymm1, ymm2", 4),
        ("vaddps  zmm0, zmm1, zmm2", 6), ("vaddps  ymm0, ymm1, ymm2", 3),
        ("jl      .LBB0_1", 0), ("jne     .LBB0_1", 0), ("jmp     .LBB0_1", None),
        ("lea     rax, [rdi + 8]", 2), (".LBB0_1:", None), ("", None), ("nop", None),
        ("mov     rsi, rdi", None),
    ],
)  # fmt: skip
def test_an_instruction_is_known_by_name_width_and_memory(row: str, cycles: int | None) -> None:
    assert cycles_of(row, model(PRINTED)) == cycles


def made() -> Compilation:
    x = Tensor(np.ones(1 << 14, np.float32), name="x")
    return compiler.compile((x / (x + 2.0)).sum(), Options(loops="plain"))


@pytest.mark.skipif(not jit.is_x86(), reason="names of instructions are those of x86")
def test_a_kernels_loops_have_the_hosts_latencies() -> None:
    program = made()
    found, (listing,) = program.latencies("k0"), program.assembly
    assert len(found.cycles) == len(listing.rows) and found.processor == jit.host_name()
    inside = [place for block in listing.flow.blocks if block.loops
              for place in range(block.first, block.end)]  # fmt: skip
    assert all(it is None for place, it in enumerate(found.cycles) if place not in inside)
    code = [place for place in inside if not listing.rows[place].endswith(":")]
    known = {listing.rows[it].split()[0]: found.cycles[it] for it in code}
    assert sum(found.cycles[it] is not None for it in code) >= 0.6 * len(code), known
    divided = [cycles for name, cycles in known.items() if "div" in name and cycles is not None]
    added = [cycles for name, cycles in known.items() if name.startswith("vadd") and cycles]
    assert divided and added and min(divided) > max(added)


def test_it_is_printed_beside_the_instructions_of_loops() -> None:
    program = made()
    found = program.latencies("k0")
    head, *lines = str(found).splitlines()
    assert head == f"k0: cycles in loops, by LLVM's scheduling model of {found.processor}"
    assert lines[0].strip() == "…", "what is before the loops"
    known = [line.split()[0] for line in lines]
    told = [first for first in known if first.isdigit() or first == "–"]
    inside = sorted(found.inside)
    cycles = [found.cycles[it] for it in inside if not found.rows[it].endswith(":")]
    assert told == ["–" if it is None else str(it) for it in cycles]
    assert all(word not in repr(found) for word in ("rows", "inside"))


def test_an_llvm_that_does_not_tell_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    program = made()
    monkeypatch.setattr(looking, "OPTION", "-stats")  # one that prints nothing of the schedule
    (generated,), (listing,) = program._generated, program.assembly
    with pytest.raises(InternalError, match="does not print its scheduling model"):
        latencies(generated.source, generated.kernel.level, listing)


def test_a_kernel_that_is_not_there_is_told_by_name() -> None:
    with pytest.raises(DataError, match="no such kernel"):
        made().latencies("k7")
