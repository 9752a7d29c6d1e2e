"""Cache lines moved between memory levels, for loops written by hand and counted by hand."""

import pytest

from compiler.schedule.analysis.traffic import LINE, Footprint, Loop, Traffic, lookups, traffic

PAGES, PAGE = 1536, 4096
AGO = 1e9
"""A reuse distance larger than every cache."""


def reads(slot: int, size: int, *loops: Loop, write: bool = False) -> Footprint:
    return Footprint(slot, write, 4, size, loops)


def product(m: int, k: int, n: int) -> list[Footprint]:
    """Rows by columns by the sum, one element at a time: out[i, j] += a[i, r] * b[r, j]."""
    out = reads(0, 4 * m * n, Loop(0, m, n), Loop(1, n, 1), write=True)
    a = reads(1, 4 * m * k, Loop(0, m, k), Loop(1, n, 0), Loop(2, k, 1))
    b = reads(2, 4 * k * n, Loop(0, m, 0), Loop(1, n, 1), Loop(2, k, n))
    return [out, a, b]


def test_what_fits_is_read_once() -> None:
    made = product(64, 32, 16)
    assert traffic(made, 1 << 20, AGO) == Traffic(4 * (64 * 32 + 32 * 16), 4 * 64 * 16)
    assert traffic(made, 1 << 20, 0.0) == Traffic(), "and not at all where it still is"


def test_what_does_not_move_is_held_while_the_rest_passes_by() -> None:
    rows, folded = 1024, 256
    made = product(rows, folded, 64)
    matrix = 4 * folded * 64
    # b and a row of a stay; all of a passes through once
    assert traffic(made, 2 * matrix, AGO).read == 4 * rows * folded + matrix
    # one column of b, a line per row, and a row of a stay: b comes again for every row
    column = folded * LINE
    assert traffic(made, column + 8192, AGO).read == 4 * rows * folded + rows * matrix


def test_a_column_that_does_not_stay_is_a_line_for_each_element() -> None:
    made = [reads(1, 4 << 20, Loop(0, 1024, 1), Loop(1, 1024, 1024))]
    found = traffic(made, 32 * 1024, AGO)
    assert found.read == 1024 * 1024 * LINE
    assert found.waited == 1024 * 1024, "lines 4,096 bytes apart are waited for"
    assert traffic(made, 128 * 1024, AGO).read == 4 << 20


def test_windows_that_overlap_are_read_once() -> None:
    window = reads(1, 4 * 1026, Loop(0, 1024, 1), Loop(1, 3, 1))
    assert traffic([window], 256, AGO).read == pytest.approx(4 * 1026, abs=LINE)
    image = reads(1, 4 * 66 * 66, Loop(0, 64, 66), Loop(1, 64, 1), Loop(2, 3, 66), Loop(3, 3, 1))
    assert traffic([image], 2048, AGO).read == pytest.approx(4 * 66 * 66, rel=0.05)


def test_lanes_and_unrolled_rows_are_touched_at_once() -> None:
    rows = Loop(-1, 6, 1024, True)
    tile = reads(1, 1 << 22, Loop(0, 1024, 1), rows)
    assert tile.around == (Loop(0, 1024, 1),)
    assert tile.touched(1) == 6 * LINE
    assert tile.apart == 0.0, "each row is read in order"


def test_steps_that_are_a_power_of_two_crowd_few_sets() -> None:
    column = reads(1, 1 << 30, Loop(0, 64, 1), Loop(1, 512, 1024))
    near = reads(1, 1 << 30, Loop(0, 64, 1), Loop(1, 512, 1040))
    size, sets = 1 << 20, 1024
    assert traffic([near], size, AGO, sets).read == 4 * LINE * 512
    assert traffic([column], size, AGO, sets).read == 64 * 512 * LINE, "each line again"
    assert traffic([column], size, AGO).read == 4 * LINE * 512


def test_pages_met_far_apart_are_looked_up_if_they_are_many() -> None:
    def columns(rows: int) -> Footprint:
        return reads(1, 1 << 30, Loop(0, 100, 16), Loop(1, rows, 2 * PAGE // 4))

    assert lookups([columns(1000)], PAGES, PAGE) == pytest.approx(1000 * 2, rel=1)
    assert lookups([columns(4000)], PAGES, PAGE) == 100 * 4000
    assert lookups([columns(4000)], 8192, PAGE) == pytest.approx(4000 * 2, rel=1)
    assert lookups([reads(1, 1 << 30, Loop(0, 1 << 28, 1))], PAGES, PAGE) == 0.0


def test_data_that_decide_where_to_read_touch_a_line_each() -> None:
    gathered = reads(1, 1 << 26, Loop(0, 1000, None))
    assert traffic([gathered], 1 << 14, AGO) == Traffic(1000 * LINE, 0.0, 1000)
    assert gathered.touched(0) == 1000 * LINE
    small = reads(1, 4000, Loop(0, 1 << 20, None))
    assert small.touched(0) == 4032, "no more than there is"


def test_the_same_in_order() -> None:
    column = reads(1, 4 << 20, Loop(0, 1024, 1), Loop(1, 1024, 1024))
    assert traffic([column.in_order], 32 * 1024, AGO) == Traffic(4 << 20)


def test_parts_that_read_the_same_in_one_loop_read_it_once() -> None:
    first = reads(1, 4 << 20, Loop(0, 64, 1 << 14), Loop(1, 1 << 14, 1))
    again = reads(1, 4 << 20, Loop(0, 64, 1 << 14), Loop(2, 1 << 14, 1))
    elsewhere = reads(1, 4 << 20, Loop(3, 64, 1 << 14), Loop(4, 1 << 14, 1))
    assert traffic([first, again], 1 << 18, AGO).read == 4 << 20
    assert traffic([first, elsewhere], 1 << 18, AGO).read == 8 << 20, "each moves all of it"
    assert traffic([first, again], 1 << 10, AGO).read == 8 << 20


def test_no_footprints_move_nothing() -> None:
    assert traffic([], 1024, AGO) == Traffic()
