"""Machines whose assembly can be read without having one: each a row of `MACHINES`."""

from dataclasses import dataclass

_LINUX = "unknown-linux-gnu"


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine, as LLVM has to know it to write its assembly, and as a reader should.

    `attributes` are added to the kernel's function; `convention` is how it is called; `note` says
    what to have in mind when reading.
    """

    id: str
    title: str
    triple: str
    cpu: str
    features: str
    comment: str
    note: str
    has_avx512: bool = False
    attributes: str = ""
    convention: str = ""


MACHINES = {
    machine.id: machine
    for machine in (
        Machine(
            "x86-avx2", "x86-64, AVX2", f"x86_64-{_LINUX}", "x86-64-v3", "", "#",
            "Vectors of 256 bits (ymm): one of 512 bits takes two instructions. There are no mask "
            "registers, so what is true in each lane is kept in vectors.",
        ),
        Machine(
            "x86-avx512", "x86-64, AVX-512", f"x86_64-{_LINUX}", "x86-64-v4", "", "#",
            "Vectors of 512 bits (zmm) and masks (k0 … k7).", has_avx512=True,
        ),
        Machine(
            "arm-neon", "AArch64, NEON", f"aarch64-{_LINUX}", "generic", "+neon", "//",
            "Vectors of 128 bits (v0 … v31): one of 512 bits takes four instructions.",
        ),
        Machine(
            "arm-sve", "AArch64, SVE", f"aarch64-{_LINUX}", "a64fx", "+sve", "//",
            "Vectors whose length the processor says (z0 … z31), here taken to be 512 bits, and "
            "predicates (p0 … p15) that say which lanes take part.",
            attributes="vscale_range(4,4)",
        ),
        Machine(
            "riscv-v", "RISC-V, V", f"riscv64-{_LINUX}", "generic-rv64", "+m,+a,+f,+d,+c,+v", "#",
            "vsetvli says how many elements the following instructions work on; m4 is a group of "
            "four registers used as one.",
        ),
        Machine(
            "wasm", "WebAssembly, SIMD", "wasm32-unknown-unknown", "generic", "+simd128", "#",
            "A stack machine with vectors of 128 bits and no jumps, only blocks. It has no fused "
            "multiply-add: fmaf is called in each lane.",
        ),
        Machine(
            "nvptx", "NVIDIA PTX", "nvptx64-nvidia-cuda", "sm_80", "", "//",
            "What one thread of a graphics processor would run. The kernel is not shared out over "
            "threads here: this one would run all of it, with registers instead of vectors.",
            convention="ptx_kernel",
        ),
    )
}  # fmt: skip
