"""cycles: loops that take a known number of cycles, as hand-written LLVM IR.

    chain     a dependent chain of integer additions and exclusive ors: a cycle each
    adds      a dependent chain of vector multiply-adds: their latency
    lanes     independent vector multiply-adds, as many as there are registers for
    loads     vector loads from the first cache, combined bitwise: the loads in a cycle

Each time is the least of many, so short interruptions do not count; another thread that always
runs on the same core would halve `lanes` and `loads`.
"""

import ctypes
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compiler.llvm import jit
from compiler.llvm.level import Level
from compiler.machines.model import MachineModel

LINKS, ROUNDS = 64, 4
"""Operations of a chain, and how often an iteration repeats all chains."""
SHARES, ALIKE = (0.5, 1.0, 2.0, 3.0, 4.0), 0.15
"""Possible issue rates per cycle, and the tolerance for a measured figure. Figures between them are
rejected: a processor may slow down for wide vectors."""
LATENCIES = range(2, 17)
BYTES = 8192
"""The size of the loaded array: it fits every first cache with room to spare."""
ITERATIONS = 400
"""Of each loop in one call: 5 to 30 µs. A choice: shorter than a slice of a busy core's time."""
LEVEL = Level(2, "few", "every loop is written by hand")


@dataclass(frozen=True, slots=True)
class Cycles:
    """A cycle in ns, measured on integers, and the issue rates; None if a figure is unclear.
    `multiply_add_ns` is the time of one vector."""

    ns: float
    multiply_add_ns: float | None
    latency: float | None
    multiply_adds: float | None
    loads: float | None


def source(lanes: int, registers: int, has_fma: bool) -> str:
    """The module: functions of a pointer to `BYTES` bytes of ones, and a count of iterations."""
    chains = registers * 3 // 4
    kernels = [_function("chain", "i64", 1, _integers()), _function("loads", f"<{lanes} x i32>",
               registers // 4, _joined(lanes, registers // 4))]  # fmt: skip
    if has_fma:
        several, one = f"<{lanes} x float>", LINKS // 4
        kernels.append(_function("adds", several, 1, _multiplied(lanes, [0] * one)))
        order = [*range(chains)] * ROUNDS
        kernels.append(_function("lanes", several, chains, _multiplied(lanes, order)))
    declared = f"declare <{lanes} x float> @llvm.fma.v{lanes}f32(" + ", ".join(
        [f"<{lanes} x float>"] * 3) + ")\n"  # fmt: skip
    return "\n".join(kernels) + f"\n{declared}{_ATTRIBUTES}"


_ATTRIBUTES = 'attributes #0 = { nounwind "prefer-vector-width"="512" }\n'
_HEAD = """define void @{name}(ptr %p, i64 %n) #0 {{
entry:
  %a = load volatile {kind}, ptr %p, align 4
  %b = load volatile {kind}, ptr %p, align 4
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
"""
_END = """  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
{stores}  ret void
}}
"""
Body = Iterator[tuple[int, str]]
"""The index of the value that an instruction updates, and the instruction; `{x}` is the old value,
`{v}` the name of the new one."""


def _function(name: str, kind: str, values: int, body: Body) -> str:
    """A loop that carries some values of a kind, all of them needed at the end."""
    rows, latest = [], [f"%x{n}" for n in range(values)]
    for number, (which, text) in enumerate(body):
        rows.append("  " + text.format(v=f"%v{number}", x=latest[which]) + "\n")
        latest[which] = f"%v{number}"
    head = _HEAD.format(name=name, kind=kind) + "".join(
        f"  %x{n} = phi {kind} [ %a, %entry ], [ {last}, %loop ]\n" for n, last in enumerate(latest)
    )
    stores = "".join(f"  store volatile {kind} {it}, ptr %p, align 4\n" for it in latest)
    return head + "".join(rows) + _END.format(stores=stores)


def _integers() -> Body:
    """Alternating additions and exclusive ors, which LLVM cannot combine."""
    for number in range(LINKS):
        yield 0, f"{{v}} = {('add', 'xor')[number % 2]} i64 {{x}}, %{'ab'[number % 2]}"


def _multiplied(lanes: int, order: Sequence[int]) -> Body:
    kind = f"<{lanes} x float>"
    for which in order:
        yield which, (
            f"{{v}} = call {kind} @llvm.fma.v{lanes}f32({kind} {{x}}, {kind} %a, {kind} %b)"
        )


def _joined(lanes: int, values: int) -> Body:
    """Loads of consecutive vectors, each combined with a value."""
    nbytes, number = 4 * lanes, 0
    kind = f"<{lanes} x i32>"
    for number in range(min(BYTES // nbytes, 64)):
        place = f"%p{number} = getelementptr i8, ptr %p, i64 {number * nbytes}"
        load = f"%l{number} = load volatile {kind}, ptr %p{number}, align {nbytes}"
        yield number % values, f"{place}\n  {load}\n  {{v}} = or {kind} {{x}}, %l{number}"


def loads_of(lanes: int) -> int:
    """The number of vectors that an iteration of `loads` loads."""
    return min(BYTES // (4 * lanes), 64)


class Loops:
    """The loops, compiled for this host, and the memory that they run on."""

    def __init__(self, stated: MachineModel, has_fma: bool) -> None:
        self.stated, self.has_fma = stated, has_fma
        self.lanes = stated.lanes(4)
        text = source(self.lanes, stated.registers, has_fma)
        code = jit.object_code(text, "chain", LEVEL)
        self._loaded = jit.load_object(code, "chain", 2)
        whole = np.zeros(BYTES + 128, np.uint8)
        start = -whole.ctypes.data % 128
        self._memory = whole[start : start + BYTES]
        self._least: dict[str, float] = {}

    def run(self, seconds: float) -> None:
        """Time all loops for about this long together. More repetitions give more certainty."""
        names = ("chain", "loads", "adds", "lanes") if self.has_fma else ("chain", "loads")
        for name in names:
            self._memory.view(np.float32)[...] = 1.0
            spent = _least(self._call(name), seconds / len(names))
            self._least[name] = min(self._least.get(name, math.inf), spent)

    def _call(self, name: str) -> Callable[[], Any]:
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
        run, place = function(self._loaded.address_of(name)), self._memory.ctypes.data
        return lambda: run(place, ITERATIONS)

    def found(self) -> Cycles:
        """The cycles and issue rates by the least times."""
        ns = self._least["chain"] / (ITERATIONS * LINKS)
        loads = self._least["loads"] / (ITERATIONS * loads_of(self.lanes))
        if not self.has_fma:
            return Cycles(ns, None, None, None, nearest(ns / loads, SHARES))
        alone = self._least["adds"] / (ITERATIONS * (LINKS // 4))
        side = self.stated.registers * 3 // 4 * ROUNDS
        many = self._least["lanes"] / (ITERATIONS * side)
        return Cycles(ns, many, nearest(alone / ns, LATENCIES), nearest(ns / many, SHARES),
                      nearest(ns / loads, SHARES))  # fmt: skip


def nearest(figure: float, candidates: Sequence[float]) -> float | None:
    """The candidate that a measured figure is close to; None if there is none."""
    near = min(candidates, key=lambda it: abs(figure / it - 1))
    return float(near) if abs(figure / near - 1) <= ALIKE else None


def _least(call: Callable[[], Any], seconds: float) -> float:
    """The least ns of one call, of as many as there is time for."""
    clock = time.perf_counter_ns
    call()
    least, end = math.inf, clock() + int(seconds * 1e9)
    while True:
        start = clock()
        call()
        now = clock()
        least = min(least, float(now - start))
        if now > end:
            return least
