"""Simulated caches: figures that follow by reasoning, sums that agree, words."""

import numpy as np
import pytest

import compiler
from compiler import Options
from compiler.machines.model import DEFAULT
from compiler.playground.caches import Cache, CacheReport, caches_of
from compiler.playground.simulate_cache import lines_of, simulate_cache
from tests.playground.programs import TILED, padded_sums, product

FIRST = Cache("L1", 1024, 4)
"""Sixteen lines."""


def simulated(loops: str, caches: tuple[Cache, ...] = (FIRST,), limit: int = 10**8) -> CacheReport:
    (kernel,) = product(loops=loops, rows=32, columns=32, depth=32).lowered
    return simulate_cache("k0", kernel.instructions, caches, None, limit)


def test_a_column_walk_misses_every_time_and_a_row_once_a_line() -> None:
    report = simulated("plain")
    a, b = report.memories[1:]
    assert (a.accesses, b.accesses) == (32**3, 32**3)
    # a row is two lines, so a column is 32 lines in two of the four sets: none is left to come back
    assert b.found == (0, 32**3)
    # of a row of a, the line in one of these sets is lost with each column, the other one is kept:
    # for 16 columns it is the first line, then it is the second
    assert a.found[1] == 32 * (16 + 1 + 1 + 16)
    assert report.lines == 3 * 32 * 32 * 4 // 64


def test_vectors_and_tiles_bring_fewer_misses() -> None:
    plain, tiled = simulated("plain"), simulated(TILED)
    assert tiled.levels[0].misses * 10 < plain.levels[0].misses
    assert tiled.lines == plain.lines


@pytest.mark.parametrize("loops", ["plain", "auto", TILED, "tile i0 16; pack 2 i0.0"])
def test_sums_agree(loops: str) -> None:
    report = simulated(loops, (FIRST, Cache("L2", 4096, 8), Cache("L3", 65536, 16)))
    for before, after in zip(report.levels, report.levels[1:], strict=False):
        assert before.misses == after.asked
    for number, level in enumerate(report.levels):
        assert sum(m.found[number] for m in report.memories) == level.hits
    assert sum(m.accesses for m in report.memories) == report.accesses == report.total
    assert sum(m.lines for m in report.memories) == report.lines
    assert report.moved(0) == (report.levels[0].misses + report.streamed) * 64


def test_a_limit_takes_the_first_accesses_and_says_so() -> None:
    report = simulated("plain", limit=1000)
    assert (report.accesses, report.total, report.is_whole) == (1000, 2 * 32**3 + 1024, False)
    assert "1,000 accesses (the first of 66,560)" in repr(report)
    whole = simulated("plain", limit=2 * 32**3 + 1024)
    assert whole.is_whole


def test_streams_go_past_the_caches() -> None:
    value = compiler.Tensor(np.ones(1024, np.float32)) + 1.0
    loops = {"k0": "tile i0 16; vectorize i0.1; stream 0"}
    (kernel,) = compiler.compile(value, Options(loops=loops)).lowered
    report = simulate_cache("k0", kernel.instructions, (FIRST,))
    assert (report.streamed, report.levels[0].asked) == (64, 64)
    assert "past the caches       64 lines" in repr(report)


def summed_rows(loops: str, limit: int = 10**8) -> CacheReport:
    """Sums of 64 rows of 4 KiB: each is gone before the caches have seen them all."""
    value = compiler.Tensor(np.ones((64, 1024), np.float32)).sum(1)
    (kernel,) = compiler.compile(value, Options(loops={"k0": loops})).lowered
    caches = Cache("L1", 16384, 4), Cache("L2", 65536, 8)
    return simulate_cache("k0", kernel.instructions, caches, None, limit)


def test_what_is_fetched_ahead_is_found_and_counted_apart() -> None:
    lanes = "tile r1 16; vectorize r1.1"
    plain, ahead = summed_rows(lanes), summed_rows(f"{lanes}; prefetch 1 r1 i0")
    assert (plain.fetches, plain.fetched) == (0, (0, 0))
    assert (ahead.fetches, ahead.fetched) == (63 * 64, (63 * 64, 63 * 64))
    assert ahead.accesses == plain.accesses == ahead.total and ahead.lines == plain.lines
    assert plain.memories[1].found == (0, 0, 64 * 64)
    assert ahead.memories[1].found == (63 * 64, 0, 64)  # the first row had no row before it
    assert ahead.moved(0) == plain.moved(0)
    assert "fetched ahead         4,032 lines, 4,032 not in L1, 4,032 not in L2" in repr(ahead)
    assert "fetched" not in repr(plain)


def test_a_limit_counts_accesses_and_no_fetches() -> None:
    report = summed_rows("tile r1 16; vectorize r1.1; prefetch 1 r1 i0", limit=100)
    assert (report.accesses, report.total, report.is_whole) == (100, 64 * 65, False)


def test_tasks_have_caches_of_their_own() -> None:
    report = simulated("parallelize i0 2")
    assert report.tasks == 2 and "2 tasks with caches of their own" in repr(report)
    assert report.total == 2 * 32**3 + 1024


def test_predicates_leave_accesses_out() -> None:
    (kernel,) = compiler.compile(padded_sums(), Options(loops="plain")).lowered
    report = simulate_cache("k0", kernel.instructions, (FIRST,))
    assert report.is_whole and report.accesses < 7 * 3 * 11 * 2


def test_an_access_over_the_end_of_a_line_asks_for_both() -> None:
    which, line = lines_of(np.array([0, 60, 190]), np.array([4, 140, 4]))
    assert which.tolist() == [0, 1, 1, 1, 1, 2, 2]
    assert line.tolist() == [0, 0, 1, 2, 3, 2, 3]


def test_the_caches_of_a_model() -> None:
    assert [(c.name, c.sets) for c in caches_of(DEFAULT)] == [
        ("L1", 64), ("L2", 1024), ("L3", 32768)]  # fmt: skip
    assert str(caches_of(DEFAULT)[0]) == "L1 48 KiB, 12 ways"
