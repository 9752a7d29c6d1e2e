"""Features of this host's processor that the text of a kernel makes use of."""

import functools

from compiler.llvm import jit


@functools.cache
def has_avx512() -> bool:
    """Whether vectors of 512 bits and of fewer have the operations of AVX-512 (F and VL)."""
    return jit.is_x86() and jit.host().has("avx512f", "avx512vl")
