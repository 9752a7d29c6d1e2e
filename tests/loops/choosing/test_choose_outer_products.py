"""Products of few rows, or of long sums: sums of all rows in scratch memory."""

from dataclasses import replace

import numpy as np
import pytest

from compiler.core.reason import Reason
from compiler.loops.choices import Accumulate, Choices, Parallelize, Tile
from compiler.loops.choosing.accesses import accesses
from compiler.loops.choosing.choose import choose
from compiler.loops.choosing.choose_outer_products import outer_products
from compiler.machines.model import DEFAULT
from tests.loops.transformed import assert_same, body_of, on_machine, transform

SMALL = replace(DEFAULT, cache_bytes=(1024, 4096, 65536))
"""A machine on which small products are large ones."""
SIZES = ((3, 61, 64), (8, 100, 37), (2, 97, 128), (5, 32, 65), (16, 33, 257))


def chosen(name: str, *sizes: int) -> Choices | Reason:
    seen = accesses(body_of(name, *sizes))
    assert seen is not None
    return outer_products(seen, SMALL)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", ["matmul", "x.T @ w", "matmul of integers"])
def test_same_values(name: str, sizes: tuple[int, int, int]) -> None:
    choices = chosen(name, *sizes)
    assert isinstance(choices, Choices) and choices.of(Accumulate)
    before = body_of(name, *sizes)
    assert_same(before, transform(before, choices))


@pytest.mark.parametrize("sizes", [(4, 1030, 600), (16, 768, 2000), (40, 41, 4000)])
def test_same_values_on_the_machine(sizes: tuple[int, int, int]) -> None:
    assert choose(body_of("matmul of integers", *sizes), DEFAULT).of(Accumulate)
    expected, found = on_machine("matmul of integers", *sizes, "auto")
    np.testing.assert_array_equal(found, expected)


def test_cores_share_out_blocks_of_columns_whose_sums_stay_near() -> None:
    choices = choose(body_of("matmul", 16, 3072, 768), DEFAULT)
    assert choices.of(Tile)[0].size == 1536
    assert choices.of(Parallelize)[0].axis == choices.of(Accumulate)[0].at == "i1.0"
    many = choose(body_of("matmul", 64, 32768, 768), DEFAULT)
    assert 64 * many.of(Tile)[0].size * 4 <= DEFAULT.cache_bytes[1] // 2


def test_a_rest_that_is_a_power_of_two_is_a_vector_without_a_mask() -> None:
    choices = choose(body_of("matmul", 16, 1000, 512), DEFAULT)
    assert all(row.tail == "peel" for row in choices.of(Tile))


@pytest.mark.parametrize(("name", "sizes"), [
    ("matmul", (512, 512, 512)), ("matmul", (16, 64, 64)), ("x @ w.T", (16, 1000, 512)),
    ("matmul", (16, 3072, 8)), ("matmul", (8, 20, 4000)),
])  # fmt: skip
def test_other_products_are_for_tiles(name: str, sizes: tuple[int, int, int]) -> None:
    seen = accesses(body_of(name, *sizes))
    assert seen is not None and isinstance(outer_products(seen, DEFAULT), Reason)
