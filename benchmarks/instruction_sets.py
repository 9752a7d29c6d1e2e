"""Instruction sets that LLVM and every peer can be held to: `make bench ISA=avx2`.

Each library has a switch of its own, which it reads when it is loaded; the names of the variables
are those of their documentation, their effect was looked at with numpy 2.4, torch 2.13, jax 0.10,
numba 0.68 and tinygrad 0.14. A peer then says what it really uses (`Adapter.uses`), and one that
uses more is left out, with that as the reason.
"""

from collections.abc import Mapping

from compiler.machines.processors import X86

WIDTHS = {"avx2": 32, "avx512": 64}
"""Bytes of the widest vectors that the code of a set has."""


SETS: dict[str, dict[str, str]] = {
    "avx2": {
        "SVODVIZ_CPU": "haswell",
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CPU_FEATURES": ",".join(f"+{each}" for each in X86["haswell"]),
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
        "DEV": "CPU:LLVM:x86_64,haswell",
    },
}
"""The variables that hold every peer to a set."""
FOREIGN = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "MKL_ENABLE_INSTRUCTIONS", "SVODVIZ_MACHINE",
           "ONEDNN_MAX_CPU_ISA", "ATEN_CPU_CAPABILITY", "NPY_DISABLE_CPU_FEATURES")  # fmt: skip
"""Variables that would hold a peer, or ours, back where nobody asked for it."""


def held(name: str) -> dict[str, str]:
    """The variables that hold all peers to a set; of none an empty table."""
    return dict(SETS[name]) if name else {}


def without_foreign(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what holds libraries back by somebody's settings."""
    return {name: word for name, word in environment.items() if name not in FOREIGN}


def excess(name: str, used: str) -> str:
    """Why a peer that uses such an instruction set is not held to the one of that name; "" where it
    is. Both may be empty: nothing is asked for, nothing is known."""
    if not name or (used and WIDTHS.get(used, 64) <= WIDTHS[name]):
        return ""
    return f"not held to {name}: it uses {used or 'an instruction set that it does not tell'}"


def of_width(nbytes: int) -> str:
    """The instruction set whose widest vectors have so many bytes; "" where there is no name."""
    return next((name for name, width in WIDTHS.items() if width == nbytes), "")
