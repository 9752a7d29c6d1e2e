"""The parts of a tiled reduction are joined as vectors; their lanes are folded once."""

import pytest

from compiler.loops.placement import fused_products
from compiler.lowered.joins import folded_later
from compiler.lowered.linearize import linearize
from compiler.lowered.machine import Gep
from compiler.lowered.tiles import Tiles
from tests.loops.transformed import assert_close, body_of, on_machine, transform

TILED = (
    "tile r1 32; tile r1.1 16; unroll r1.1.0; vectorize r1.1.1; tile r1.2 16; "
    "vectorize r1.2.1; tile r1.2.2 16 mask; vectorize r1.2.2.1"
)


@pytest.mark.parametrize(("n", "choices", "count"), [
    (95, TILED, 4),  # 96 iterations: only whole tiles
    (101, TILED, 4),  # and six iterations more
    (117, TILED, 4),  # and a vector and six iterations more
])  # fmt: skip
def test_lanes_are_folded_once(n: int, choices: str, count: int) -> None:
    """A fold of 16 lanes is four halvings, each of which takes two parts of a register."""
    linear = linearize(transform(body_of("row sums", 7, n, 1), choices))
    halves = [i for i in linear.instructions if isinstance(i, Gep) and len(set(i.indices)) > 1]
    singles = [i for i in linear.instructions if isinstance(i, Gep) and len(i.indices) == 1]
    assert (len(halves), len(singles)) == (2 * (count - 1), 2)


def test_what_is_read_elsewhere_is_folded_by_itself() -> None:
    body = transform(body_of("softmax", 7, 37, 1), "tile r3 16 peel; vectorize r3.1")
    assert not folded_later(Tiles(body), fused_products(body))


@pytest.mark.parametrize("n", [16, 17, 37, 53, 100, 117])
@pytest.mark.parametrize("name", ["row sums", "row products of bools", "sum", "softmax"])
def test_machine_code(name: str, n: int) -> None:
    expected, found = on_machine(name, 19, n, 3, "auto")
    assert_close(found, expected)
