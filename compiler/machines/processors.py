"""Processors to generate code for on this host: a row each, with the features LLVM may use.

    SVODVIZ_CPU=haswell        LLVM writes the code that a Haswell would run: vectors of 256 bits
    SVODVIZ_CPU=skylake-avx512 vectors of 512 bits and masks, as LLVM tunes them for that processor

The rows list only features for arithmetic; instructions for operating systems and cryptography are
disabled. A processor with features that the host lacks is refused: its code would end the process
at an illegal instruction.
"""

import difflib
import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass

import llvmlite.binding as llvm

from compiler.core.errors import DeviceError

VARIABLE = "SVODVIZ_CPU"
"""The environment variable that names the processor, in every process that a run starts."""
_AVX = ("64bit", "cmov", "crc32", "cx16", "cx8", "fxsr", "mmx", "popcnt", "sahf", "sse", "sse2",
        "sse3", "sse4.1", "sse4.2", "ssse3", "avx", "f16c", "xsave")  # fmt: skip
_AVX2 = (*_AVX, "avx2", "bmi", "bmi2", "fma", "lzcnt", "movbe")
_AVX512 = (*_AVX2, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")
_LATER = ("avx512bitalg", "avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512vnni",
          "avx512vpopcntdq")  # fmt: skip
X86: dict[str, tuple[str, ...]] = {
    "ivybridge": _AVX,
    "haswell": _AVX2,
    "znver3": _AVX2,
    "skylake-avx512": _AVX512,
    "icelake-server": (*_AVX512, *_LATER),
    "znver4": (*_AVX512, *_LATER, "avx512bf16"),
}
"""Features by LLVM's name of the processor, the least able first."""
BASELINE = "generic"
"""The baseline processor of each other architecture: the features that all of them have."""


@dataclass(frozen=True, slots=True)
class Processor:
    """A processor for LLVM: its name, and its features as LLVM's feature string."""

    name: str
    features: str

    def has(self, *features: str) -> bool:
        """True if it has every one of these features."""
        return {f"+{each}" for each in features} <= set(self.features.split(","))


def named(name: str, host: Mapping[str, bool], is_x86: bool) -> Processor:
    """The processor of that name, on a host with these features (each present or not).

    Raises `DeviceError` for an unknown name, or if the host lacks a feature of it.
    """
    features = X86 if is_x86 else {BASELINE: ()}
    if name not in features:
        near = difflib.get_close_matches(name.lower(), features, 1)
        hint = f"did you mean {near[0]}?" if near else ""
        expected = ", ".join(features)
        what = "no such processor"
        raise DeviceError(VARIABLE, what, got=repr(name), expected=expected, hint=hint)
    if not is_x86:
        return Processor(name, "")
    if missing := _missing(name, host):
        raise DeviceError(
            VARIABLE, "this host cannot run code for that processor",
            got=f"{name}; the host lacks {', '.join(missing)}",
            expected=", ".join(each for each in X86 if not _missing(each, host)),
        )  # fmt: skip
    signs = ((each, "+" if each in X86[name] else "-") for each in sorted(host))
    return Processor(name, ",".join(sign + each for each, sign in signs))


def _missing(name: str, host: Mapping[str, bool]) -> list[str]:
    return [each for each in X86[name] if not host.get(each)]


def is_x86() -> bool:
    """True if this host is an x86."""
    return str(llvm.get_process_triple()).startswith(("x86", "i386", "i686"))


def is_arm() -> bool:
    """True if this host is a 64-bit ARM."""
    return str(llvm.get_process_triple()).startswith(("aarch64", "arm64"))


def has_multiply_add() -> bool:
    """True if the target processor has a fused multiply-add instruction."""
    return is_arm() or (is_x86() and host().has("fma"))


def dots(processor: Processor) -> tuple[str, ...]:
    """The dot-product instructions for small types that a processor has, by the types.

    u8i8, i8, u8: four products of 8 bits; i16, bf16: two of 16. Those of AArch64 for bfloat16 are
    left out: their rounding may differ from that of its other instructions.
    """
    if not is_x86():
        names = {"i8": "dotprod", "u8": "dotprod", "u8i8": "i8mm"} if is_arm() else {}
        return tuple(kind for kind, feature in names.items() if processor.has(feature))
    is_whole = processor.has("avx512vnni", "avx512vl") or processor.has("avxvnni")
    is_half = processor.has("avx512bf16", "avx512vl")
    return ("u8i8", "i16") * is_whole + ("bf16",) * is_half


@functools.cache
def host() -> Processor:
    """The target processor: this host's, or the one that SVODVIZ_CPU names.

    Raises `DeviceError` for an unknown name, or a processor with features that this host lacks.
    """
    features = llvm.get_host_cpu_features()
    if asked := os.environ.get(VARIABLE, ""):
        return named(asked, features, is_x86())
    return Processor(str(llvm.get_host_cpu_name()), str(features.flatten()))
