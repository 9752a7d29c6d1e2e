"""Tiles that fit registers, and their cycles, by the figures of a machine."""

from dataclasses import replace

import pytest

from compiler.loops.choosing.register_tiles import SLACK, Registers, Rows
from compiler.machines.model import DEFAULT
from compiler.machines.named import MACHINES

AVX2, NEON = MACHINES["x86-avx2"].model, MACHINES["arm-neon"].model


def test_three_quarters_of_the_registers_are_sums() -> None:
    tiles = Registers(DEFAULT, "apart", 4)
    assert [tiles.tallest(vectors) for vectors in (4, 3, 2, 1)] == [6, 8, 12, 16]


def test_operands_find_registers() -> None:
    tiles = Registers(AVX2, "apart", 4)
    assert [tiles.tallest(vectors) for vectors in (4, 3, 2, 1)] == [2, 3, 6, 12]
    assert [tiles.tallest(vectors, True) for vectors in (4, 3, 2, 1)] == [1, 2, 5, 12]
    assert Registers(replace(AVX2, registers=4), "apart", 4).tallest(4) == 0


@pytest.mark.parametrize(("rows", "tallest", "steps"), [
    ("apart", 6, 1), ("along", 5, 4), ("across", 6, 2),
])  # fmt: skip
def test_lanes_of_rows_hold_registers(rows: Rows, tallest: int, steps: int) -> None:
    tiles = Registers(NEON, rows, 4)
    assert (tiles.tallest(4), tiles.steps) == (tallest, steps)


def test_cycles_are_those_of_what_issues_last() -> None:
    tiles = Registers(AVX2, "apart", 4)
    assert tiles.cycles(2, 6) == 6 + 8 / 16
    assert tiles.cycles(1, 1) == 4 * SLACK + (1 + 1 + 2) / 16
    assert tiles.cycles(2, 1, True) == 4 * SLACK + 3 / 16
    assert Registers(replace(AVX2, loads=1), "apart", 4).cycles(2, 6) == 8 + 8 / 16
    assert Registers(replace(NEON, loads=0.5), "along", 4).cycles(4, 4) == 10 + 8 / 16
