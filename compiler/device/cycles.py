"""cycles: loops whose time is a known number of cycles, as LLVM IR written by hand.

    chain     additions and exclusive ors of integers, each of the one before: a cycle each
    adds      multiply-adds of vectors, each of the one before: their latency
    lanes     multiply-adds of vectors, as many side by side as there are registers for
    loads     vectors of the first cache, joined bit by bit: as many as are loaded in a cycle

The least of many times, so whoever else is on the core meanwhile does not count; another thread on
the same core, all the time, would halve `lanes` and `loads`.
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
"""Links of a chain, and how often all chains are joined by one more in an iteration."""
SHARES, ALIKE = (0.5, 1.0, 2.0, 3.0, 4.0), 0.15
"""Instructions issued per cycle, and how far from it a measured figure may be. Figures in between
are not used: a processor may slow down for wide vectors."""
LATENCIES = range(2, 17)
BYTES = 8192
"""Of the array that is loaded: every L1 cache holds it and much else."""
ITERATIONS = 400
"""Of each loop in one call: 5 to 30 µs. A choice: shorter than a slice of a busy core's time."""
LEVEL = Level(2, "few", "every loop is written by hand")


@dataclass(frozen=True, slots=True)
class Cycles:
    """A cycle in ns, that of integers, and what is done in one; None where no figure stands out.
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
"""Which of the values an instruction gives anew, and the instruction; `{x}` is that value, `{v}`
the name of the new one."""


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
    """Additions and exclusive ors by turns, which nothing joins."""
    for number in range(LINKS):
        yield 0, f"{{v}} = {('add', 'xor')[number % 2]} i64 {{x}}, %{'ab'[number % 2]}"


def _multiplied(lanes: int, order: Sequence[int]) -> Body:
    kind = f"<{lanes} x float>"
    for which in order:
        yield which, (
            f"{{v}} = call {kind} @llvm.fma.v{lanes}f32({kind} {{x}}, {kind} %a, {kind} %b)"
        )


def _joined(lanes: int, values: int) -> Body:
    """Loads of one vector after the other, each joined to a value."""
    nbytes, number = 4 * lanes, 0
    kind = f"<{lanes} x i32>"
    for number in range(min(BYTES // nbytes, 64)):
        place = f"%p{number} = getelementptr i8, ptr %p, i64 {number * nbytes}"
        load = f"%l{number} = load volatile {kind}, ptr %p{number}, align {nbytes}"
        yield number % values, f"{place}\n  {load}\n  {{v}} = or {kind} {{x}}, %l{number}"


def loads_of(lanes: int) -> int:
    """How many vectors an iteration of `loads` loads."""
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
        """Time all loops for about so long together. More often is more certain."""
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
        """The figures that follow from the least times."""
        ns = self._least["chain"] / (ITERATIONS * LINKS)
        loads = self._least["loads"] / (ITERATIONS * loads_of(self.lanes))
        if not self.has_fma:
            return Cycles(ns, None, None, None, nearest(ns / loads, SHARES))
        alone = self._least["adds"] / (ITERATIONS * (LINKS // 4))
        side = self.stated.registers * 3 // 4 * ROUNDS
        many = self._least["lanes"] / (ITERATIONS * side)
        return Cycles(ns, many, nearest(alone / ns, LATENCIES), nearest(ns / many, SHARES),
                      nearest(ns / loads, SHARES))  # fmt: skip


def nearest(found: float, known: Sequence[float]) -> float | None:
    """The one of some figures that a measured one is; None where it is none of them."""
    near = min(known, key=lambda it: abs(found / it - 1))
    return float(near) if abs(found / near - 1) <= ALIKE else None


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
