"""A few products of rows: lanes along the sum."""

from dataclasses import replace

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from compiler.core.reason import Reason
from compiler.loops.choices import Choices, Parallelize, Tile, Unroll, Vectorize
from compiler.loops.choosing.accesses import accesses
from compiler.loops.choosing.choose import choose
from compiler.loops.choosing.choose_dots import dots
from compiler.machines.model import DEFAULT
from tests.loops.transformed import assert_close, assert_same, body_of, on_machine, transform

SIZES = ((3, 19, 32), (2, 7, 61), (4, 4, 100), (37, 3, 48), (2, 2, 97), (4, 1021, 35))


@pytest.mark.parametrize("sizes", SIZES)
def test_same_values(sizes: tuple[int, int, int]) -> None:
    before = body_of("x @ w.T", *sizes)
    seen = accesses(before)
    assert seen is not None
    chosen = dots(seen, DEFAULT)
    assert chosen is not None and chosen.of(Vectorize)[0].axis.startswith("r2.")
    if sizes[0] * sizes[1] < 200:
        assert_same(before, transform(before, chosen))
    expected, found = on_machine("x @ w.T", *sizes, "auto")
    assert_close(found, expected)


def test_an_operand_that_fits_in_registers_stays_there() -> None:
    held, long = (choose(body_of("x @ w.T", 100, 3, k), DEFAULT) for k in (100, 1000))
    assert "r2.0" in {row.axis for row in held.of(Unroll)}
    assert "r2.0" not in {row.axis for row in long.of(Unroll)}
    assert next(row for row in held.of(Tile) if row.axis == "i0").size == 3


def test_shared_out_over_the_longer_axis() -> None:
    chosen = choose(body_of("x @ w.T", 3, 2051, 515), DEFAULT)
    assert chosen.of(Parallelize)[0].axis == "i1.0"
    expected, found = on_machine("x @ w.T", 3, 2051, 515, "auto")
    assert_close(found, expected)


def test_more_rows_go_by_in_pairs_where_weights_come_from_afar() -> None:
    before = body_of("x @ w.T", 7, 33, 100)
    seen = accesses(before)
    assert seen is not None
    chosen = dots(seen, replace(DEFAULT, cache_bytes=(1024, 4096, 65536)))
    assert isinstance(chosen, Choices)
    assert {("i0", 2), ("i1", 4)} <= {(row.axis, row.size) for row in chosen.of(Tile)}
    assert_same(before, transform(before, chosen))


@pytest.mark.parametrize(("steps", "kernels"), [(2, 1), (64, 2)])
def test_rows_of_all_steps_that_meet_the_same_weights_count(steps: int, kernels: int) -> None:
    generator = np.random.default_rng(0)
    x, w = (generator.standard_normal(s, np.float32) for s in ((8, steps, 256), (1024, 256)))
    compilation = compile(Tensor(x).transpose(0, 1) @ Tensor(w).T, Options(machine="x86-avx512"))
    # 512 rows in 64 steps take 3.8 ms in vectors along the sum, 2.4 as one product of a copy
    assert len(compilation.choices) == kernels
    is_along = any("both operands in order" in str(c) for c in compilation.choices.values())
    assert is_along == (kernels == 1)


@pytest.mark.parametrize("sizes", [(16, 1001, 515), (7, 601, 1000), (4, 4, 900)])
def test_same_values_of_more_rows_on_the_machine(sizes: tuple[int, int, int]) -> None:
    assert any(row.axis.startswith("r2.") for row in
               choose(body_of("x @ w.T", *sizes), DEFAULT).of(Vectorize))  # fmt: skip
    expected, found = on_machine("x @ w.T", *sizes, "auto")
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_a_rest_of_a_long_sum_has_a_mask_of_its_own() -> None:
    chosen = choose(body_of("x @ w.T", 3, 2051, 515), DEFAULT)
    tails = {row.axis: row.tail for row in chosen.of(Tile)}
    assert (tails["r2"], tails["r2.2"]) == ("peel", "mask")


@pytest.mark.parametrize(("name", "sizes"), [
    ("x @ w.T", (5, 19, 64)), ("x @ w.T", (3, 19, 31)), ("matmul", (3, 19, 64)),
])  # fmt: skip
def test_other_products_are_not_for_lanes_along_the_sum(
    name: str, sizes: tuple[int, int, int]
) -> None:
    seen = accesses(body_of(name, *sizes))
    assert seen is not None and isinstance(dots(seen, DEFAULT), Reason)
