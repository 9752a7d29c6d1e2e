"""Innermost loops have no spills in the assembly of every named x86 and ARM machine.

Windows, rows, elementwise chains, sums and transposes of the benchmark, at its sizes.
"""

import functools
import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from compiler.machines.named import MACHINES
from tests.loops.assembled import Listings, assembled

NAMES = [name for name in MACHINES if re.match("x86|intel|amd|arm|apple", name)]
POLYNOMIALS, SHARED = ("softmax", "sigmoid"), 2
"""Where there are 16 registers: what has many constants, and how many operands that all iterations
share it reads from the stack at most, never written there: the largest element, and a constant."""
SHUFFLED = "transpose", "arm-sve"
"""LLVM 22.1 exchanges lanes of the vectors that are written here on the stack, for SVE."""
STACK = re.compile(r"\[rsp(?: [+-] \d+)?\]|\[sp(?:, #-?\d+)?\]!?")
"""A place on the stack; with an index it is an array of the kernel's, scratch memory."""
LABEL = re.compile(r"^\s*(\.?L\w+):")
JUMP = re.compile(r"^\s*(j\w+|b\.\w+|b|cbn?z|tbn?z)\s+(?:.*,\s*)?(\.?L\w+)\s*$")
WRITES = re.compile(r"^\s*(?:v?mov\w*\s+(?:\w+ ptr )?\[|st[rpu]\w*\s)")


def data(*shape: int) -> Tensor:
    return Tensor(np.zeros(shape, np.float32))


def chain() -> Tensor:
    a, b, c = (data(2**24) for _ in range(3))
    return (a * b + c).relu() * 0.5


PROGRAMS: dict[str, Callable[[], Tensor]] = {
    "conv2d": lambda: data(8, 64, 32, 32).conv2d(data(64, 64, 3, 3), padding=1),
    "conv2d_awkward": lambda: data(8, 61, 27, 29).conv2d(data(67, 61, 3, 3), padding=1),
    "softmax": lambda: data(4096, 4096).softmax(-1),
    "layernorm": lambda: data(4096, 1024).layernorm(-1),
    "gelu": lambda: data(2**24).gelu(),
    "sigmoid": lambda: data(2**20).sigmoid(),
    "ew_chain": chain,
    "sum_all": lambda: data(2**26).sum(),
    "row_sum": lambda: data(8192, 8192).sum(1),
    "col_sum": lambda: data(8192, 8192).sum(0),
    "transpose": lambda: data(4096, 4096).permute(1, 0).contiguous(),
}


def innermost(rows: Sequence[str]) -> Iterator[list[str]]:
    """The rows of each loop that holds no other one: of a cycle of blocks without its head."""
    blocks, after = _blocks(rows)
    stack = _cycles(set(after), after)
    while stack:
        cycle = stack.pop()
        heads = {to for at, found in after.items() if at not in cycle for to in found} & cycle
        inner = _cycles(cycle - (heads or {min(cycle)}), after)
        stack += inner
        if not inner:
            yield [row for block in sorted(cycle) for row in blocks[block]]


def _blocks(rows: Sequence[str]) -> tuple[list[list[str]], dict[int, set[int]]]:
    """The blocks of straight code, and those that may come next."""
    blocks: list[list[str]] = [[]]
    names: dict[str, int] = {}
    for row in rows:
        if label := LABEL.match(row):
            blocks.append([])
            names[label[1]] = len(blocks) - 1
        blocks[-1].append(row)
        if JUMP.match(row):
            blocks.append([])
    after: dict[int, set[int]] = {}
    for number, block in enumerate(blocks):
        jump = JUMP.match(block[-1]) if block else None
        ends = bool(block) and bool(re.match(r"\s*(ret|jmp|b)\b(?!\.)", block[-1]))
        after[number] = {number + 1} if number + 1 < len(blocks) and not ends else set()
        if jump and jump[2] in names:
            after[number].add(names[jump[2]])
    return blocks, after


def _cycles(among: set[int], after: dict[int, set[int]]) -> list[set[int]]:
    """The largest sets of blocks in which each leads to each."""
    reach = {at: _reached(at, among, after) for at in among}
    found = {frozenset(b for b in reach[a] if a in reach[b]) for a in among if a in reach[a]}
    return [set(each) for each in found]


def _reached(begin: int, among: set[int], after: dict[int, set[int]]) -> set[int]:
    seen: set[int] = set()
    stack = [to for to in after[begin] if to in among]
    while stack:
        at = stack.pop()
        if at not in seen:
            seen.add(at)
            stack += [to for to in after[at] if to in among]
    return seen


@functools.cache
def assembly(machine: str) -> dict[str, Listings]:
    """The kernels of all programs."""
    options = Options(machine=machine, threads=1)
    return assembled({name: compile(make(), options) for name, make in PROGRAMS.items()}, machine)


@pytest.mark.parametrize("machine", NAMES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_loop_makes_stays_in_registers(name: str, machine: str) -> None:
    if (name, machine) == SHUFFLED:
        pytest.skip(SHUFFLED[0])
    few = MACHINES[machine].model.registers < 32
    most = SHARED if few and name in POLYNOMIALS else 0
    listings = assembly(machine)[name]
    loops = [loop for listing in listings for loop in innermost(listing.rows)]
    assert loops, "a program without a loop"
    for loop in loops:
        found = [row for row in loop if STACK.search(row)]
        assert not any(map(WRITES.match, found)), "\n".join(loop)
        assert len(found) <= most, "\n".join(loop)


def test_loops_are_found() -> None:
    rows = """
f:
  xor eax, eax
.L1:
  mov ecx, 0
.L2:
  vaddps ymm0, ymm0, ymmword ptr [rsp + 32]
  vmovups ymmword ptr [rsp - 8], ymm0
  cmp ecx, 3
  jl .L2
  mov qword ptr [rsp], rax
  jmp .L4
.L3:
  inc eax
  jl .L1
  ret
.L4:
  vmovups ymmword ptr [rsp + 8*rax + 64], ymm0
  jmp .L3""".splitlines()
    (loop,) = innermost(rows)
    assert loop[0] == ".L2:" and len(loop) == 5
    assert [bool(WRITES.match(row)) for row in loop if STACK.search(row)] == [False, True]
    assert not STACK.search(rows[-2])
