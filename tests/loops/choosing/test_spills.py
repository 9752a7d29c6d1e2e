"""The inner loops of products have no spills in the assembly of every named machine.

Loops are chosen for a machine, LLVM writes its assembly, and the instructions of the innermost
loops of each product are read: one that uses a stack address is a spill or a reload.
"""

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pytest

import compiler
from benchmarks.peers.on_svodviz import result
from benchmarks.workloads import WORKLOADS
from compiler import Compilation, Options
from compiler.core.node import toposort
from compiler.loops.nodes import Alu, Body, Reduce, ScalarNode
from compiler.machines.named import MACHINES
from tests.loops.assembled import Listings, assembled

NAMES = (
    "matmul_256", "matmul_512", "matmul_1024", "matmul_2048", "matmul_bias_relu", "bmm",
    "attention", "mlp_forward",
)  # fmt: skip
ARM = tuple(name for name in MACHINES if name.startswith(("arm-neo", "apple")))
X86 = tuple(name for name in MACHINES if name.startswith(("x86", "intel", "amd")))
_LABEL = re.compile(r"^(\.?L\w+):")
_JUMP = re.compile(r"^(?:j\w+|b|b\.\w+|cbn?z|tbn?z)\s+(?:.*\s)?(\.?L\w+)$")
_PRODUCT = re.compile(r"^(?:vfmadd|fmla)")
MOST = 1.35
"""Instructions for each multiply-add of a vector, where they are the most that issue in a cycle."""


@dataclass(frozen=True)
class Loop:
    """The instructions between the label of an innermost loop and its jump back."""

    kernel: str
    rows: tuple[str, ...]

    @property
    def products(self) -> int:
        """Multiply-adds."""
        return sum(bool(_PRODUCT.match(row)) for row in self.rows)

    def spilled(self, base: re.Pattern[str]) -> list[str]:
        """The instructions that touch the stack."""
        return [row for row in self.rows if base.search(row)]


def inner_loops(name: str, text: Sequence[str]) -> list[Loop]:
    """Those of one kernel that have no other inside."""
    rows = [row.split("//")[0].strip() for row in text]
    labels = {m[1]: n for n, row in enumerate(rows) if (m := _LABEL.match(row))}
    jumps = [(labels.get(m[1], len(rows)), n) for n, row in enumerate(rows)
             if (m := _JUMP.match(row))]  # fmt: skip
    back = [(first, last) for first, last in jumps if first <= last]
    inner = [
        (first, last) for first, last in back
        if not any((a, b) != (first, last) and first <= a and b <= last for a, b in back)
    ]  # fmt: skip
    return [
        Loop(name, tuple(
            row for row in rows[first : last + 1] if row and not row.startswith(".")
            and not _LABEL.match(row)
        ))
        for first, last in inner
    ]  # fmt: skip


def stack(rows: Sequence[str]) -> re.Pattern[str]:
    """The pattern of a stack address: relative to the stack pointer, or to a frame pointer."""
    text = "\n".join(rows)
    bases = ["rsp", "sp"]
    bases += ["rbp"] if re.search(r"mov\s+rbp, rsp", text) else []
    bases += ["x29"] if re.search(r"(?:mov|add)\s+x29, sp", text) else []
    return re.compile(rf"\[(?:{'|'.join(bases)})\b")


def is_product(body: Body) -> bool:
    """True if a kernel sums products, and nothing else."""
    order: list[ScalarNode] = toposort([body])
    folds = [n for n in order if isinstance(n, Reduce) and not isinstance(n.sources[0], Reduce)]
    return bool(folds) and all(
        n.op == "sum" and isinstance(n.sources[0], Alu) and n.sources[0].op == "mul" for n in folds
    )


Products: TypeAlias = dict[str, list[tuple[Loop, list[str]]]]


@functools.cache
def product_loops(machine: str, names: tuple[str, ...] = NAMES) -> Products:
    """The innermost loops that multiply of each program's products, and what is spilled in each."""
    programs = {name: program(name, machine) for name in names}
    listings = assembled(programs, machine)
    return {name: list(_products(made, listings[name])) for name, made in programs.items()}


def program(name: str, machine: str) -> Compilation:
    """A program of the benchmark."""
    workload = WORKLOADS[name]
    return compiler.compile(result(workload, workload.data()), Options(machine=machine))


def _products(made: Compilation, listings: Listings) -> Iterator[tuple[Loop, list[str]]]:
    products = {each.name for each in made.loops if is_product(each.body)}
    for listing in listings:
        if listing.name in products:
            base = stack(listing.rows)
            loops = inner_loops(listing.name, listing.rows)
            yield from ((loop, loop.spilled(base)) for loop in loops if loop.products >= 4)


@pytest.mark.parametrize("machine", [*X86, *ARM])
def test_no_product_of_the_benchmark_spills(machine: str) -> None:
    for name, found in product_loops(machine).items():
        assert found, name
        for loop, spilled in found:
            assert not spilled, (name, loop)


@pytest.mark.parametrize("machine", ["x86-avx2", "intel-alderlake", "arm-neoverse-n1"])
def test_a_product_does_not_spill(machine: str) -> None:
    found = product_loops(machine, ("matmul_256",))["matmul_256"]
    assert found and not any(spilled for _, spilled in found)


@pytest.mark.parametrize("machine", ARM)
def test_few_instructions_for_each_multiply_add(machine: str) -> None:
    for name, found in product_loops(machine).items():
        loops = [loop for loop, _ in found]
        for kernel in {loop.kernel for loop in loops}:
            # the loop of whole tiles: what these leave over has fewer multiply-adds for its loads
            tile = max((it for it in loops if it.kernel == kernel), key=lambda it: it.products)
            few = 1.5 if (name, kernel) == ("mlp_forward", "k1") else MOST  # 10 columns
            assert len(tile.rows) <= few * tile.products, (name, tile)


def test_a_spill_is_seen() -> None:
    rows = ("f:", "mov rbp, rsp", ".LBB0_1:", "vfmadd231ps ymm0, ymm1, ymm2",
            "vmovups ymm1, ymmword ptr [rsp + 32]", "vmovups ymm2, ymmword ptr [rbp - 64]",
            "jl .LBB0_1", "vmovups ymm1, ymmword ptr [rsp + 64]", "ret")  # fmt: skip
    (loop,) = inner_loops("f", rows)
    assert (loop.products, len(loop.rows), len(loop.spilled(stack(rows)))) == (1, 4, 2)
    assert len(loop.spilled(stack(rows[2:]))) == 1
