"""Named machines, rows of `MACHINES`: a target for LLVM, and a model by which loops are chosen.

    Options(machine="apple-m1")                  loops as they are chosen for an Apple M1
    compilation.assembly_for("arm-neoverse-n1")  its assembly, for reading

Sizes, widths, latencies and issue rates are those of the makers' manuals and of public tables of
measurements. Only the times of x86-avx512 are measured; those of other machines are scaled by their
cycle, vectors and loads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compiler.machines.model import DEFAULT, PRINTED, MachineModel

_LINUX = "unknown-linux-gnu"
_K, _M = 1024, 1024 * 1024
_VNNI, _BF16, _DOTPROD = ("u8i8", "i16"), ("bf16",), ("i8", "u8")
"""Dot-product instructions for small types, by the extension that has them."""
_YMMS, _ZMMS, _NEONS = (32, 16), (64, 32), (16, 32)
"""Bytes of a vector, and the number of vector registers."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine: its target for LLVM, and notes for readers of its assembly.

    `attributes` are added to the kernel's function; `convention` is its calling convention; `note`
    explains the assembly to readers; `model` is the machine model for choosing loops.
    """

    id: str
    title: str
    triple: str
    cpu: str
    features: str
    comment: str
    note: str
    model: MachineModel
    has_avx512: bool = False
    attributes: str = ""
    convention: str = ""


def _model(
    name: str, vectors: tuple[int, int], issue: tuple[float, float, float], cycle_ns: float,
    caches: tuple[tuple[int, int], tuple[int, int], tuple[int, int]],
    pages: tuple[int, int, int], memory: tuple[float, float], cores: int, masks: bool = False,
    dots: tuple[str, ...] = (),
) -> MachineModel:  # fmt: skip
    """A model whose times are `DEFAULT`'s, scaled.

    `vectors`: bytes and number; `issue`: multiply-adds and loads in a cycle, and cycles until a
    multiply-add is ready; `caches`: bytes and ways; `pages`: bytes, entries and ways; `memory`:
    bytes per ns read from the last cache and from memory; `masks`: those of AVX-512, with which an
    operand may be one element of memory; `dots`: as the model has them.
    """
    slower = _speed(DEFAULT) / (issue[0] * vectors[0] / cycle_ns)
    loaded = issue[1] * vectors[0] / cycle_ns / (DEFAULT.loads * DEFAULT.vector_bytes)
    near = [speed * loaded * DEFAULT.cycle_ns for speed in DEFAULT.read[:2]]
    read = near[0], near[1], memory[0], memory[1]
    share = [w / r for w, r in zip(DEFAULT.write, DEFAULT.read, strict=True)]
    (first, first_ways), (second, second_ways), (third, third_ways) = caches
    write = tuple(speed * part for speed, part in zip(read, share, strict=True))
    return replace(
        DEFAULT, name=name, vector_bytes=vectors[0], registers=vectors[1], multiply_adds=issue[0],
        loads=issue[1], latency=issue[2], broadcasts=masks, masks=masks, dots=dots,
        cycle_ns=cycle_ns,
        cache_bytes=(first, second, third), ways=(first_ways, second_ways, third_ways),
        page_bytes=pages[0], pages=pages[1], page_ways=pages[2],
        read=descending(read), write=descending(write),
        vector_ns=DEFAULT.vector_ns * slower, fma_ns=DEFAULT.fma_ns * slower,
        scalar_ns=DEFAULT.scalar_ns * cycle_ns / DEFAULT.cycle_ns,
        operations=tuple((op, ns * slower) for op, ns in DEFAULT.operations), cores=cores,
    )  # fmt: skip


def descending(speeds: Sequence[float]) -> tuple[float, float, float, float]:
    """Speeds of the four levels, none faster than the one before it."""
    result = [min(speeds[: n + 1]) for n in range(4)]
    return result[0], result[1], result[2], result[3]


def _speed(model: MachineModel) -> float:
    """Bytes of multiply-adds in a ns."""
    return model.multiply_adds * model.vector_bytes / model.cycle_ns


_X86 = f"x86_64-{_LINUX}"
_ARM = f"aarch64-{_LINUX}"
_YMM = (
    "Vectors of 256 bits (ymm0 … ymm15). There are no mask registers, so what is true in each lane "
    "is kept in vectors."
)
_ZMM = "Vectors of 512 bits (zmm0 … zmm31) and masks (k0 … k7)."
_NEON = "Vectors of 128 bits (v0 … v31); a multiply-add takes one lane of a register for all."


def _x86(
    id: str, title: str, cpu: str, model: MachineModel, note: str = "", has_avx512: bool = False
) -> Machine:
    words = (_ZMM if has_avx512 else _YMM) + note
    return Machine(id, title, _X86, cpu, "", "#", words, model, has_avx512)


def _arm(id: str, title: str, cpu: str, model: MachineModel, triple: str = _ARM) -> Machine:
    comment = ";" if "darwin" in triple else "//"
    arm = replace(model, takes_lanes=True)
    return Machine(id, title, triple, cpu, "+neon", comment, _NEON, arm)


def _with_origin(machine: Machine) -> Machine:
    """The machine, with this table as the origin of its figures."""
    origins = dict.fromkeys(PRINTED, f"the table's row {machine.id}")
    return replace(machine, model=replace(machine.model, origins=tuple(origins.items())))


MACHINES = {
    machine.id: _with_origin(machine)
    for machine in (
        _x86("x86-avx2", "x86-64, AVX2", "x86-64-v3", _model(
            "x86-avx2", _YMMS, (2, 2, 4), 0.3, ((32 * _K, 8), (512 * _K, 8), (16 * _M, 16)),
            (4096, 1536, 12), (25, 15), cores=2)),
        _x86("x86-avx512", "x86-64, AVX-512", "x86-64-v4", DEFAULT, has_avx512=True),
        _x86("intel-alderlake", "Intel Alder Lake, AVX2", "alderlake", _model(
            "intel-alderlake", _YMMS, (2, 3, 4), 0.24,
            ((48 * _K, 12), (1280 * _K, 10), (24 * _M, 12)), (4096, 2048, 16), (25, 20), cores=6,
            dots=_VNNI)),
        _x86("intel-skx", "Intel Skylake-SP, AVX-512", "skylake-avx512", _model(
            "intel-skx", _ZMMS, (2, 2, 4), 0.36, ((32 * _K, 8), (1 * _M, 16), (22 * _M, 11)),
            (4096, 1536, 12), (15, 12), cores=16, masks=True), has_avx512=True),
        _x86("intel-spr", "Intel Sapphire Rapids, AVX-512", "sapphirerapids", _model(
            "intel-spr", _ZMMS, (2, 2, 4), 0.33, ((48 * _K, 12), (2 * _M, 16), (45 * _M, 15)),
            (4096, 2048, 16), (28, 15), cores=16, masks=True, dots=_VNNI + _BF16),
            has_avx512=True),
        _x86("amd-zen3", "AMD Zen 3, AVX2", "znver3", _model(
            "amd-zen3", _YMMS, (2, 2, 4), 0.28, ((32 * _K, 8), (512 * _K, 8), (32 * _M, 16)),
            (4096, 2048, 8), (28, 20), cores=8)),
        _x86("amd-zen4", "AMD Zen 4, AVX-512", "znver4", _model(
            "amd-zen4", _ZMMS, (1, 1, 4), 0.27, ((32 * _K, 8), (1 * _M, 8), (32 * _M, 16)),
            (4096, 3072, 12), (30, 20), cores=8, masks=True, dots=_VNNI + _BF16),
            " One of 512 bits takes its units two cycles.", has_avx512=True),
        _x86("amd-zen5", "AMD Zen 5, AVX-512", "znver5", _model(
            "amd-zen5", _ZMMS, (2, 2, 4), 0.27, ((48 * _K, 12), (1 * _M, 16), (32 * _M, 16)),
            (4096, 4096, 16), (40, 25), cores=8, masks=True, dots=_VNNI + _BF16),
            has_avx512=True),
        _arm("arm-neon", "AArch64, NEON", "generic", _model(
            "arm-neon", _NEONS, (2, 2, 4), 0.4, ((64 * _K, 4), (1 * _M, 8), (16 * _M, 16)),
            (4096, 1024, 4), (20, 12), cores=4)),
        _arm("arm-neoverse-n1", "Arm Neoverse N1, NEON", "neoverse-n1", _model(
            "arm-neoverse-n1", _NEONS, (2, 2, 4), 0.4, ((64 * _K, 4), (1 * _M, 8), (32 * _M, 16)),
            (4096, 1280, 5), (20, 12), cores=16, dots=_DOTPROD)),
        _arm("arm-neoverse-v1", "Arm Neoverse V1, as NEON", "neoverse-v1", _model(
            "arm-neoverse-v1", _NEONS, (4, 3, 4), 0.385, ((64 * _K, 4), (1 * _M, 8), (32 * _M, 16)),
            (4096, 2048, 8), (25, 15), cores=16,
            dots=(*_DOTPROD, "u8i8", *_BF16))),
        _arm("apple-m1", "Apple M1, NEON", "apple-m1", _model(
            "apple-m1", _NEONS, (4, 3, 4), 0.3125, ((128 * _K, 8), (12 * _M, 12), (16 * _M, 16)),
            (16384, 3072, 12), (60, 50), cores=4, dots=_DOTPROD), "arm64-apple-darwin"),
        Machine(
            "arm-sve", "AArch64, SVE", _ARM, "a64fx", "+sve", "//",
            "Vectors whose length the processor says (z0 … z31), here taken to be 512 bits, and "
            "predicates (p0 … p15) that say which lanes take part.",
            _model("arm-sve", _ZMMS, (2, 2, 9), 0.45,
                   ((64 * _K, 4), (8 * _M, 16), (8 * _M, 16)), (65536, 1024, 4), (100, 40),
                   cores=12),
            attributes="vscale_range(4,4)",
        ),
        Machine(
            "riscv-v", "RISC-V, V", f"riscv64-{_LINUX}", "generic-rv64", "+m,+a,+f,+d,+c,+v", "#",
            "vsetvli says how many elements the following instructions work on: those of 128 bits "
            "in v0 … v31, here.",
            _model("riscv-v", _NEONS, (1, 1, 5), 0.6,
                   ((32 * _K, 8), (512 * _K, 8), (2 * _M, 16)), (4096, 512, 4), (8, 4), cores=4),
        ),
        Machine(
            "wasm", "WebAssembly, SIMD", "wasm32-unknown-unknown", "generic", "+simd128", "#",
            "A stack machine with vectors of 128 bits and no jumps, only blocks. It has no fused "
            "multiply-add: fmaf is called in each lane.",
            _model("wasm", (16, 16), (2, 2, 8), 0.3,
                   ((32 * _K, 8), (512 * _K, 8), (16 * _M, 16)), (4096, 1536, 12), (20, 12),
                   cores=1),
        ),
        Machine(
            "nvptx", "NVIDIA PTX", "nvptx64-nvidia-cuda", "sm_80", "", "//",
            "What one thread of a graphics processor would run. The kernel is not shared out over "
            "threads here: this one would run all of it, with registers instead of vectors.",
            _model("nvptx", (16, 60), (0.25, 0.25, 4), 0.7,
                   ((128 * _K, 4), (40 * _M, 16), (40 * _M, 16)), (2 * _M, 4096, 16), (10, 10),
                   cores=1),
            convention="ptx_kernel",
        ),
    )
}  # fmt: skip
"""Every machine by its name, the instruction sets first."""


def named(name: str) -> MachineModel | None:
    """The model of that name."""
    return MACHINES[name].model if name in MACHINES else None
