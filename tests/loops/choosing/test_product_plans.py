"""Plans for products on several machines: never refused, never wrong, whatever the sizes are."""

import random
from dataclasses import replace

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.loops.choices import Choices, Pack, Parallelize, Tile, Vectorize, text
from compiler.loops.choosing.accesses import accesses
from compiler.loops.choosing.choose import choose
from compiler.loops.choosing.product_plans import plans
from compiler.loops.choosing.products import product_of
from compiler.loops.verify import verify
from compiler.machines.model import MachineModel
from compiler.machines.named import MACHINES
from tests.loops.transformed import assert_same, body_of, transform

NAMES = ("matmul", "matmul of integers", "x @ w.T", "x.T @ w", "bmm")
NAMED = ("x86-avx2", "intel-alderlake", "arm-neon", "apple-m1", "amd-zen5")
USUAL = (1, 2, 3, 4, 5, 7, 8, 10, 12, 13, 15, 16, 17, 23, 24, 31, 32, 33, 48, 61)
LARGE = (64, 97, 100, 127, 128, 250, 256, 384, 509, 512, 1000, 1021)


def model(name: str, cores: int = 0) -> MachineModel:
    """A named machine, all of whose kernels are worth all cores where there are several."""
    found = replace(MACHINES[name].model, cores=max(cores, 1))
    return replace(found, vector_ns=1e4, scalar_ns=1e4, fma_ns=1e4) if cores else found


def chosen(name: str, m: int, n: int, k: int, machine: str) -> Choices:
    """The choices for a machine."""
    return choose(body_of(name, m, n, k), model(machine))


def test_tiles_are_as_registers_and_issue_have_them() -> None:
    def tile(machine: str) -> str:
        return str(chosen("matmul", 1020, 1024, 1024, machine))

    for machine in ("x86-avx512", "amd-zen5", "intel-spr"):
        assert "6 rows by 4 vectors of 16" in tile(machine)
    for machine in ("x86-avx2", "intel-alderlake"):
        assert "6 rows by 2 vectors of 8" in tile(machine)
    for machine in ("arm-neon", "apple-m1"):
        assert "5 rows by 4 vectors of 4" in tile(machine)


@pytest.mark.parametrize(("name", "sizes", "axis"), [
    ("x @ w.T", (128, 512, 784), "i0.0"),  # half of the rows is near a core, all are not
    ("matmul", (1024, 1024, 1024), "i0.0"),
    ("matmul", (256, 256, 256), "i1.0"),  # all rows are
    ("matmul", (96, 2048, 2048), "i1.0"),  # each core would have all columns from memory
])  # fmt: skip
def test_what_is_read_by_all_cores(name: str, sizes: tuple[int, int, int], axis: str) -> None:
    choices = choose(body_of(name, *sizes), replace(MACHINES["amd-zen3"].model, cores=2))
    assert choices.of(Parallelize)[0].axis == axis


def test_narrow_panels_are_copied_together() -> None:
    def cuts(n: int, machine: str, m: int = 240) -> list[int]:
        target = replace(MACHINES[machine].model, cores=1)
        choices = choose(body_of("matmul", m, n, 1024), target)
        return [cut.size for cut in choices.of(Tile) if cut.axis.startswith("i1")]

    assert cuts(1024, "x86-avx2") == [64, 16, 8] and cuts(1024, "x86-avx512") == [64, 16]
    assert cuts(48, "x86-avx2") == [48, 16, 8] and cuts(16 * 61, "x86-avx2") == [16, 8]
    assert cuts(1028, "x86-avx2") == [64, 16, 8]
    assert cuts(1024, "x86-avx2", m=1020) == [16, 8]  # read so often that copying no longer counts
    across = chosen("x @ w.T", 256, 256, 256, "x86-avx2")
    assert [cut.size for cut in across.of(Tile) if cut.axis == "i1"] == [16]


def test_several_iterations_of_the_sum_where_a_multiply_add_takes_a_lane() -> None:
    assert "tile r2 4 peel" in text(chosen("matmul", 256, 256, 256, "arm-neon"))
    assert "tile r2 2 peel" in text(chosen("x.T @ w", 256, 256, 256, "arm-neon"))
    assert "tile r2" not in text(chosen("matmul", 256, 256, 256, "x86-avx2"))


def test_what_panels_leave_over_is_narrow_where_masks_are_dear() -> None:
    choices = chosen("matmul", 250, 253, 250, "x86-avx2")
    cuts = [(cut.axis, cut.size, cut.tail) for cut in choices.of(Tile) if cut.axis[:2] == "i1"]
    assert cuts == [("i1", 16, "peel"), ("i1.1", 8, "peel"), ("i1.2", 8, "peel"),
                    ("i1.2.2", 8, "mask")]  # fmt: skip
    assert {"i1.2.1", "i1.2.2.1"} <= {choice.axis for choice in choices.of(Vectorize)}
    across = chosen("x @ w.T", 250, 253, 250, "x86-avx2")
    assert [pack.at for pack in across.of(Pack)] == ["i1.0", ""]


@pytest.mark.parametrize("machine", NAMED)
def test_every_plan_fits_the_registers(machine: str) -> None:
    for m, n, k in ((256, 256, 256), (97, 61, 33), (1000, 10, 64), (5, 300, 20)):
        for name in ("matmul", "x.T @ w"):
            found = product_of(_accesses(name, m, n, k))
            assert found is not None
            target = MACHINES[machine].model
            for plan in plans(found, target.lanes(4), 1, target):
                assert plan.height * plan.vectors + plan.vectors < target.registers
                assert plan.height * plan.vectors <= plan.most


@pytest.mark.parametrize("machine", NAMED)
@pytest.mark.parametrize("seed", range(3))
def test_loops_compute_the_same_at_any_size(machine: str, seed: int) -> None:
    draw = random.Random(f"{machine} {seed}")
    for _ in range(12):
        name = draw.choice(NAMES)
        m, n, k = (draw.choice(USUAL) for _ in range(3))
        before = body_of(name, m, n, max(k, 2))
        choices = choose(before, model(machine, draw.choice((0, 2, 3))))
        assert_same(before, transform(before, choices))


@pytest.mark.parametrize("machine", NAMED)
@pytest.mark.parametrize("seed", range(2))
def test_no_choice_is_refused_at_any_size(machine: str, seed: int) -> None:
    draw = random.Random(f"large {machine} {seed}")
    for _ in range(40):
        name = draw.choice(NAMES)
        m, n, k = (draw.choice((*USUAL, *LARGE)) for _ in range(3))
        before = body_of(name, m, n, max(k, 2))
        verify(transform(before, choose(before, model(machine, draw.choice((0, 2, 3))))))


@pytest.mark.parametrize("machine", NAMED)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_machine_code_of_other_machines_loops(machine: str, dtype: type) -> None:
    draw = random.Random(f"code {machine}")
    for _ in range(4):
        m, n, k = (draw.choice((*USUAL[4:], *LARGE[:6])) for _ in range(3))
        a = np.random.default_rng(0).random((m, k)).astype(dtype)
        b = np.random.default_rng(1).random((k, n)).astype(dtype)
        for x, y in ((Tensor(a), Tensor(b)),
                     (Tensor(a), Tensor(np.ascontiguousarray(b.T)).permute(1, 0)),
                     (Tensor(np.ascontiguousarray(a.T)).permute(1, 0), Tensor(b))):  # fmt: skip
            result = compiler.compile(x @ y, Options(machine=machine)).run()[0]
            np.testing.assert_allclose(result, a @ b, rtol=1e-4)


@pytest.mark.parametrize(("rows", "cores"), [
    (256, 2), (251, 2), (256, 3), (251, 6), (1013, 3), (1000, 6), (1000, 16), (1013, 16),
])  # fmt: skip
def test_no_core_waits_long(rows: int, cores: int) -> None:
    for columns in (64, 250, 1024):
        found = product_of(_accesses("matmul", rows, columns, 256))
        assert found is not None
        target = replace(MACHINES["x86-avx2"].model, cores=cores)
        one = min(plan.cycles for plan in plans(found, 8, 1, target))
        best = min(plans(found, 8, cores, target), key=lambda plan: plan.cycles)
        assert best.cycles < 1.35 * one / cores


def _accesses(name: str, m: int, n: int, k: int):  # type: ignore[no-untyped-def]
    found = accesses(body_of(name, m, n, k))
    assert found is not None
    return found
