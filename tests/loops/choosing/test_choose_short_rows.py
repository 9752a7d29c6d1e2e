"""Rows shorter than a vector: the lanes are rows if the columns are expensive."""

import pytest

from compiler.core.reason import Reason
from compiler.loops.choices import Parallelize, text
from compiler.loops.choosing.accesses import accesses
from compiler.loops.choosing.choose import choose
from compiler.loops.choosing.choose_short_rows import short_rows
from compiler.machines.model import DEFAULT
from tests.loops.transformed import PROGRAMS, assert_close, body_of, on_machine


def test_lanes_are_rows_and_columns_are_side_by_side() -> None:
    chosen = choose(body_of("softmax", 100, 7, 1), DEFAULT)
    assert text(chosen) == (
        "tile i0 16 peel; vectorize i0.1; unroll r2; unroll r3; unroll i1"
    )
    why = "rows of 7: 16 rows fill a vector, 14 expensive operations each"
    assert chosen.rows[0].because == why


@pytest.mark.parametrize(("m", "n", "is_across"), [
    (100, 4, False), (100, 5, True), (100, 8, True), (100, 15, True), (100, 16, False),
    (15, 7, False),
])  # fmt: skip
def test_widths_at_which_lanes_are_rows(m: int, n: int, is_across: bool) -> None:
    chosen = text(choose(body_of("softmax", m, n, 1), DEFAULT))
    assert ("vectorize i0.1" in chosen) == is_across


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "softmax"])
def test_what_has_no_dear_columns_is_of_another_kind(name: str) -> None:


    seen = accesses(body_of(name, 100, 7, 7))
    assert seen is not None and isinstance(short_rows(seen, DEFAULT), Reason)


def test_many_short_rows_are_shared_out() -> None:
    assert choose(body_of("softmax", 10_000, 7, 1), DEFAULT).of(Parallelize)


@pytest.mark.parametrize("m", [16, 37, 128])
@pytest.mark.parametrize("n", [5, 6, 8])
def test_machine_code(m: int, n: int) -> None:
    expected, found = on_machine("softmax", m, n, 1, "auto")
    assert_close(found, expected)
