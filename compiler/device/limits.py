"""Kernels that run at the machine's limits, as hand-written LLVM IR.

Bandwidth, useful bytes: `read` (four streams, four accumulators each), `copy` and `triad`
(a + s·b), the last two with non-temporal stores. `fma`: independent multiply-adds in registers.
Widths are those of the host: 512 bits with AVX-512, else 256, else 128.
"""

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import llvmlite.binding as llvm

from compiler.llvm import jit
from compiler.machines import processors
from compiler.machines.system import core_count

CHAINS = {16: 24, 8: 12, 4: 24}
"""Independent multiply-adds by lanes: as many as there are registers for, to hide the latency; four
lanes are an AArch64's, which has 32 registers and, on an Apple M1, 16 multiply-adds in flight.
Measured 2026-11-23 on one core of an AMD EPYC (znver3, 8 lanes), busy with other work, GFLOP/s by
chains: 1: 9, 4: 42, 8: 68, 12: 63, 14: 78; from 16 on there are too few registers, 42."""
STREAMS, AHEAD = 4, 256
"""Parts of an array that are read concurrently, and the prefetch distance in elements. On two
cores of a Sapphire Rapids class Xeon, at a date not on record, four streams with 1 to 4 kB fetched
ahead were 10 to 40 % faster than one."""
_HEAD = 'attributes #0 = { nounwind "prefer-vector-width"="512" }\n!0 = !{i32 1}\n'


def lanes() -> int:
    """Floats in the widest vector of this host."""
    host = processors.host()
    wide = 16 if host.has("avx512f") else 8
    return wide if host.has("avx2") else 4


def _loop(name: str, pointers: int, step: str, body: str, before: str = "", after: str = "") -> str:
    """A function of `pointers` arrays and a count, its loop over %i from 0 by `step`."""
    names = ", ".join(f"ptr noalias %p{n}" for n in range(pointers))
    result = "float" if after else "void"
    return f"""
define {result} @{name}({names}{", " if pointers else ""}i64 %count) #0 {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{before}{body}
  %next = add i64 %i, {step}
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %exit
exit:
  {after or "fence seq_cst"}
  ret {"float %result" if after else "void"}
}}
"""


def _moving(name: str, inputs: int, width: int) -> str:
    """copy, or triad: one vector per input, one non-temporal store."""
    vector = f"<{width} x float>"
    lines = []
    for n in range(inputs):
        lines += [
            f"  %a{n} = getelementptr float, ptr %p{n}, i64 %i",
            f"  %v{n} = load {vector}, ptr %a{n}, align 64",
        ]
    if inputs == 2:
        scale = f"<{', '.join(['float 3.0'] * width)}>"
        lines.append(
            f"  %sum = call {vector} @llvm.fma.v{width}f32({vector} %v1, {vector} {scale},"
            f" {vector} %v0)"
        )
    value = "%sum" if inputs == 2 else "%v0"
    lines += [
        f"  %o = getelementptr float, ptr %p{inputs}, i64 %i",
        f"  store {vector} {value}, ptr %o, align 64, !nontemporal !0",
    ]
    return _loop(name, inputs + 1, str(width), "\n".join(lines))


def _accumulating(name: str, width: int) -> str:
    """read: STREAMS parts of one array, four vectors of each in an iteration, fetched ahead."""
    vector, per = f"<{width} x float>", 4
    before, body, names = [], [f"  %part = udiv i64 %count, {STREAMS}"], []
    for s in range(STREAMS):
        body += [
            f"  %s{s} = mul i64 %part, {s}",
            f"  %q{s} = udiv i64 %i, {STREAMS}",
            f"  %o{s} = add i64 %s{s}, %q{s}",
        ]
        for n in range(per):
            key = f"{s}_{n}"
            names.append(key)
            before.append(
                f"  %c{key} = phi {vector} [ zeroinitializer, %entry ], [ %d{key}, %loop ]"
            )
            body += [
                f"  %x{key} = add i64 %o{s}, {n * width}",
                f"  %a{key} = getelementptr float, ptr %p0, i64 %x{key}",
                f"  %v{key} = load {vector}, ptr %a{key}, align 64",
                f"  %g{key} = getelementptr float, ptr %a{key}, i64 {AHEAD}",
                f"  call void @llvm.prefetch.p0(ptr %g{key}, i32 0, i32 3, i32 1)",
                f"  %d{key} = fadd {vector} %c{key}, %v{key}",
            ]
    step = str(STREAMS * per * width)
    return _loop(name, 1, step, "\n".join(body), "\n".join(before) + "\n", _folded(names, width))


def _multiplying(name: str, width: int) -> str:
    """fma: CHAINS independent chains; `count` iterations."""
    vector = f"<{width} x float>"
    scale, step = (f"<{', '.join([v] * width)}>" for v in ("float 0.5", "float 1.0"))
    names = [str(n) for n in range(CHAINS[width])]
    before = [
        f"  %c{n} = phi {vector} [ {step}, %entry ], [ %d{n}, %loop ]" for n in names
    ]
    body = [
        f"  %d{n} = call {vector} @llvm.fma.v{width}f32({vector} %c{n}, {vector} {scale},"
        f" {vector} {step})"
        for n in names
    ]
    return _loop(name, 0, "1", "\n".join(body), "\n".join(before) + "\n", _folded(names, width))


def _folded(names: Sequence[str], width: int) -> str:
    """The sum of the accumulators %d…, so that none is dead code."""
    vector, lines, last = f"<{width} x float>", [], f"%d{names[0]}"
    for name in names[1:]:
        lines.append(f"%e{name} = fadd {vector} {last}, %d{name}")
        last = f"%e{name}"
    lines.append(
        f"%result = call reassoc float @llvm.vector.reduce.fadd.v{width}f32(float 0.0,"
        f" {vector} {last})"
    )
    return "\n  ".join(lines)


def source(width: int) -> str:
    """The module with all four kernels."""
    vector = f"<{width} x float>"
    return "\n".join([
        f"declare {vector} @llvm.fma.v{width}f32({vector}, {vector}, {vector})",
        f"declare float @llvm.vector.reduce.fadd.v{width}f32(float, {vector})",
        "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
        _moving("copy", 1, width), _moving("triad", 2, width),
        _accumulating("read", width), _multiplying("fma", width), _HEAD,
    ])  # fmt: skip


class Kernels:
    """The compiled kernels, each run by all threads in parallel on parts of its arrays."""

    def __init__(self, threads: int = 0) -> None:
        """`threads`: how many share the work; 0 means one for each core of this process."""
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.width = lanes()
        module = llvm.parse_assembly(source(self.width))
        module.verify()
        target = llvm.Target.from_default_triple().create_target_machine(
            cpu=jit.host_name(), features=jit.host_features(),
            opt=2, reloc="pic", codemodel="small",
        )  # fmt: skip
        self.engine = llvm.create_mcjit_compiler(module, target)
        self.engine.finalize_object()
        self.threads = threads or core_count()
        self.pool = ThreadPoolExecutor(self.threads)

    def function(self, name: str, pointers: int) -> Callable[..., Any]:
        """One kernel of `pointers` arrays and a count."""
        result = ctypes.c_float if name in ("read", "fma") else None
        kinds = [ctypes.c_void_p] * pointers + [ctypes.c_int64]
        return ctypes.CFUNCTYPE(result, *kinds)(self.engine.get_function_address(name))

    def call(self, name: str, addresses: Sequence[int], count: int) -> Callable[[], None]:
        """A function that runs the kernel once; `count` must divide into equal whole vectors."""
        function, share = self.function(name, len(addresses)), count // self.threads
        moved = [[a + 4 * share * t for a in addresses] for t in range(self.threads)]

        def run() -> None:
            list(self.pool.map(lambda mine: function(*mine, share), moved))

        return run

    def multiply_adds(self, count: int) -> Callable[[], None]:
        """A function that runs `count` iterations of the multiply-adds on every thread."""
        function = self.function("fma", 0)

        def run() -> None:
            list(self.pool.map(function, [count] * self.threads))

        return run

    def operations(self, count: int) -> int:
        """Floating-point operations of `multiply_adds(count)`."""
        return 2 * CHAINS[self.width] * self.width * count * self.threads
