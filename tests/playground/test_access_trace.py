"""Traces of accesses: every element that is accessed is there, in the interval of its access."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import compiler
from compiler import Options
from compiler.playground import access_trace as module
from compiler.playground.access_trace import AccessTrace, access_trace, picture, runs
from compiler.playground.caches import Cache
from compiler.playground.sites import Region
from tests.playground.programs import TILED, product

FIRST = Cache("L1", 1024, 4)


def traced(loops: str, size: int = 40) -> AccessTrace:
    (kernel,) = product(loops=loops, rows=size, columns=size, depth=size).lowered
    return access_trace(kernel.instructions, FIRST, dict.fromkeys(range(3), (size, size)))


def cells(row: tuple[int, ...]) -> set[int]:
    pairs = zip(row[::2], row[1::2], strict=True)
    return {n for start, count in pairs for n in range(start, start + count)}


@given(st.sets(st.integers(0, 99)))
def test_runs_name_every_cell_once(wanted: set[int]) -> None:
    found = runs(np.array(sorted(wanted), np.int64))
    assert cells(found) == wanted
    assert sum(found[1::2]) == len(wanted)


@pytest.mark.parametrize("loops", ["plain", TILED, "tile i0 8; pack 2 i0.0"])
def test_intervals_have_all_accesses_and_all_cells(loops: str) -> None:
    made = traced(loops)
    assert sum(interval.accesses for interval in made.intervals) == made.accesses == made.total
    for place, each in enumerate(made.pictures[:3]):
        seen = set().union(*(cells(interval.touched[place]) for interval in made.intervals))
        assert seen == set(range(each.cells))
    for interval in made.intervals:
        pairs = zip(interval.touched, interval.missed, strict=True)
        assert all(cells(missed) <= cells(touched) for touched, missed in pairs)
        assert 0 <= interval.misses <= interval.accesses


def test_what_is_fetched_ahead_is_there_and_is_not_traced() -> None:
    x = compiler.Tensor(np.ones((8, 64), np.float32)).sum(1)
    lanes = "tile r1 16; vectorize r1.1"
    traces = []
    for loops in (lanes, f"{lanes}; prefetch 1 r1 i0"):
        (kernel,) = compiler.compile(x, Options(loops={"k0": loops})).lowered
        traces.append(access_trace(kernel.instructions, FIRST, {0: (8,), 1: (8, 64)}))
    plain, ahead = traces
    assert ahead.accesses == ahead.total == plain.accesses == 8 * 5
    misses = [[missed for site, _, missed in made.steps if not made.sites[site].is_store]
              for made in traces]  # fmt: skip
    assert misses == [[True] * 32, [True] * 4 + [False] * 28]


def test_the_plain_loops_go_through_the_whole_second_matrix_again_and_again() -> None:
    made, tiled = traced("plain"), traced(TILED)
    second = [len(cells(interval.touched[2])) for interval in made.intervals]
    assert min(second[1:-1]) > 0.2 * made.pictures[2].cells
    assert sum(interval.misses for interval in tiled.intervals) < made.accesses


def test_steps_are_the_first_accesses() -> None:
    made = traced("plain")
    assert len(made.steps) == module.STEPS
    names = [made.sites[site].region.name for site, _, _ in made.steps[:4]]
    assert names == ["in1", "in2", "in1", "in2"]
    assert [element for _, element, _ in made.steps[:6]] == [0, 0, 1, 40, 2, 80]
    assert [missed for _, _, missed in made.steps[:4]] == [True, True, False, True]


def test_a_long_run_is_traced_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", 1000)
    made = traced("plain")
    assert (made.accesses, made.total) == (1000, 2 * 40**3 + 40**2)
    assert len(made.intervals) == module.INTERVALS


@pytest.mark.parametrize(
    ("size", "shape", "grid"),
    [(1600, (40, 40), (40, 40, 2, 2)), (50, (50,), (1, 50, 1, 2)), (1, (), (1, 1, 1, 1)),
     (4096, (4096,), (64, 64, 2, 2)), (12, (2, 2, 3), (4, 3, 1, 1))],
)  # fmt: skip
def test_grids(size: int, shape: Any, grid: tuple[int, ...]) -> None:
    made = picture(Region("x", 0, 0, size, 4), shape)
    assert (made.rows, made.columns, made.tall, made.wide) == grid
    assert made.cell(np.array([size - 1]))[0] < made.cells <= module.SIDE**2
