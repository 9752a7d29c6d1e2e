"""Long sums of floats as sums of short ones: the values, and how many one accumulator takes."""

import math
from typing import Any, Literal

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.loops.nodes import Body, Range, Reduce, ScalarNode, Update
from compiler.loops.transforms.cascade import LONG, LONGER, STRIDED, cascade
from tests.loops.transformed import assert_same, body_of, transform

LENGTHS = (1, 63, 64, 65, 100, 127, 1_000, 4_096, 4_099, 10_007, 65_536, 65_537, 262_144)
"""Powers of two, primes, and both sides of what is short."""
LoopOptions = Literal["auto", "plain"]
HOW: tuple[LoopOptions, ...] = ("auto", "plain")


def in_order(body: Body) -> list[int]:
    """For each sum, how many values one accumulator or one place of memory takes in order."""
    order: list[ScalarNode] = toposort([body])
    folds = [n for n in order if isinstance(n, Reduce) and n.op == "sum" and n.dtype.is_float]
    sums = [[r for r in fold.ranges if r.level == "loop"] for fold in folds]
    lots = [[r for r in n.ranges if _is_lot(n, r)] for n in order if isinstance(n, Update)]
    return [math.prod(r.extent for r in loops) for loops in (*sums, *lots)]


def _is_lot(update: Update, loop: Range) -> bool:
    """True if an update hits the same element in each iteration of a loop."""
    return loop not in toposort([update.sources[1]])


def bodies(value: Tensor, loops: LoopOptions) -> list[Body]:
    """The loops of the kernels."""
    return [stage.body for stage in compile(value, Options(loops=loops)).loops]


def run(value: Tensor, loops: LoopOptions) -> np.ndarray[Any, Any]:
    """The values of a program, its loops chosen or not."""
    return np.asarray(compile(value, Options(loops=loops)).run()[0])


@pytest.mark.parametrize("loops", HOW)
@pytest.mark.parametrize("n", LENGTHS)
def test_equal_values_round_as_in_pairs(n: int, loops: LoopOptions) -> None:
    """Pairwise summation rounds once for each halving, and NumPy's adds 16 in order first."""
    part = np.float32(0.1)
    bound = max(math.log2(n) + 1, 20) * 2.0**-24
    row = np.full(n, part)
    rows, columns = np.full((3, n), part), np.full((n, 5), part)
    product = Tensor(row) * Tensor(np.full(n, np.float32(0.3)))
    exact, of_products = float(part) * n, float(part) * float(np.float32(0.3)) * n
    for value, wanted, roundings in (
        (Tensor(row).sum(), exact, 0), (Tensor(rows).sum(1), exact, 0),
        (Tensor(columns).sum(0), exact, 0), (Tensor(row).mean(), exact / n, 1),
        (product.sum(), of_products, 1),
    ):  # fmt: skip
        found = run(value, loops)
        error = np.abs(found.astype(np.float64) - wanted).max() / wanted
        assert error <= bound + roundings * 2.0**-24, (value, error, bound)


@pytest.mark.parametrize("loops", HOW)
@pytest.mark.parametrize("shape", [
    (4_096, 64), (4_096, 300), (65_537, 16), (3, 9_973), (200, 4_096), (1_048_576,), (1_000_003,),
    (40, 200, 64),
])  # fmt: skip
def test_no_accumulator_takes_many_values(shape: tuple[int, ...], loops: LoopOptions) -> None:
    x = Tensor(np.broadcast_to(np.float32(0.1), shape))
    for axis in (*range(len(shape)), None):
        for value in (x.sum(axis), (x * x).sum(axis), x.var(axis)):
            for body in bodies(value, loops):
                has_lanes = any(isinstance(n, Range) and n.level == "vector"
                                for n in toposort([body]))  # fmt: skip
                assert max(in_order(body), default=0) <= (LONG if has_lanes else LONGER)


@pytest.mark.parametrize("value", [
    Tensor(np.full((4_096, 5), np.float32(0.1))).sum(0),
    Tensor(np.full((7, 9_973, 2), np.float32(0.1))).sum(1),
    Tensor(np.full(20_000, np.float32(0.1)))[::2].sum(),
    Tensor(np.full(9_999, np.float32(0.1)))[::-1].sum(),
    Tensor(np.full(50, np.float32(0.1)))[Tensor(np.arange(9_999) % 50)].sum(),
], ids=["columns", "middle", "every second", "reversed", "gathered"])  # fmt: skip
def test_values_out_of_order_have_short_sums(value: Tensor) -> None:
    """LLVM does not vectorise reads out of order on every processor."""
    for body in (*bodies(value, "plain"), *bodies(value, "auto")):
        assert max(in_order(body), default=0) <= STRIDED


@pytest.mark.parametrize("n", [100, 4_096, 10_007])
def test_tiles_and_polynomials_leave_no_registers_for_short_sums(n: int) -> None:
    a, b = (Tensor(np.broadcast_to(np.float32(0.1), s)) for s in ((90, n), (n, 90)))
    programs = a @ b, Tensor(np.broadcast_to(np.float32(0.1), (90, n))).exp().sum(1)
    for value in programs:
        for body in bodies(value, "auto"):
            assert max(in_order(body), default=0) <= LONGER


@pytest.mark.parametrize(("name", "sizes"), [
    ("row sums", (5, 4_095, 1)), ("row sums", (3, 10_007, 1)), ("column sums", (400, 9, 1)),
    ("sum", (70, 70, 1)), ("middle sums", (3, 5, 1_000)), ("matmul", (4, 5, 700)),
    ("convolution", (3, 4, 1)), ("layernorm", (3, 500, 1)), ("normalised columns", (3, 500, 1)),
])  # fmt: skip
@pytest.mark.parametrize("choices", [
    "", "tile r1 8; unroll r1.1", "tile r2 8 mask; vectorize r2.1",
])  # fmt: skip
def test_same_values(name: str, sizes: tuple[int, int, int], choices: str) -> None:
    body = body_of(name, *sizes)
    axis = choices.split()[1] if choices else ""
    if axis and axis not in {n.name for n in toposort([body]) if isinstance(n, Range)}:
        pytest.skip(f"no axis {axis}")
    chosen = transform(body, choices) if choices else body
    assert_same(body, cascade(chosen, Provenance()))


@pytest.mark.parametrize("value", [
    Tensor(np.arange(10_000)).sum(), Tensor(np.ones(10_000, np.float32)).max(),
    Tensor(np.ones(10_000, np.float32)).prod(), Tensor(np.ones(1_024, np.float32)).sum(),
    Tensor(np.ones(10_000, np.uint8)).sum(),
], ids=["whole numbers", "greatest", "product", "short", "bytes"])  # fmt: skip
def test_what_order_does_not_better_stays(value: Tensor) -> None:
    for body in bodies(value, "plain"):
        matches: list[Match] = []
        assert cascade(body, Provenance(), matches) is body
        assert not matches


def test_once_is_enough() -> None:
    (body,) = bodies(Tensor(np.ones(5_000, np.float32)).sum(), "plain")
    assert cascade(body, Provenance()) is body


def test_the_pass_is_recorded() -> None:
    made = compile(Tensor(np.ones(5_000, np.float32)).sum(), Options(trace=True, loops="plain"))
    (record,) = [r for r in made.passes if r.name == "cascade"]
    assert [m.rule for m in record.rewrites if m.rule == "cascade"] == ["cascade"]
