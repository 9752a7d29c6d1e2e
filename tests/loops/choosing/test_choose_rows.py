"""Rows of all widths: what is kept, what is masked, and what is left to the plain loops."""

from dataclasses import replace

import pytest

from compiler.loops.axis_names import AxisName
from compiler.loops.choices import CacheRow, Choices, Prefetch, Tile, Vectorize, text
from compiler.loops.choosing.choose import choose
from compiler.loops.choosing.lanes import in_vectors
from compiler.machines.model import DEFAULT
from tests.loops.transformed import assert_close, body_of, on_machine
from tests.search.choosing import bodies, plain_loops
from tests.search.terms import program


@pytest.mark.parametrize(("trips", "expected"), [
    (10, "tile r1 16 mask; vectorize r1.1"),
    (16, "tile r1 16 peel; vectorize r1.1"),
    (17, "tile r1 16 peel; vectorize r1.1"),
    (21, "tile r1 16 peel; vectorize r1.1; tile r1.2 16 mask; vectorize r1.2.1"),
    (64, "tile r1 32 peel; tile r1.1 16 peel; unroll r1.1.0; vectorize r1.1.1"),
    (69, "tile r1 32 peel; tile r1.1 16 peel; unroll r1.1.0; vectorize r1.1.1; "
         "tile r1.2 16 mask; vectorize r1.2.1"),
    (85, "tile r1 32 peel; tile r1.1 16 peel; unroll r1.1.0; vectorize r1.1.1; "
         "tile r1.2 16 peel; vectorize r1.2.1; tile r1.2.2 16 mask; vectorize r1.2.2.1"),
])  # fmt: skip
def test_what_vectors_leave_over_is_masked(trips: int, expected: str) -> None:
    assert text(Choices(tuple(in_vectors(AxisName("r1"), trips, 16, 2, "a row")))) == expected


@pytest.mark.parametrize(("name", "n", "is_kept"), [
    ("softmax", 16, False), ("softmax", 17, True), ("softmax", 4096, True),
    ("softmax", 200_000, False), ("layernorm", 1024, False),
])  # fmt: skip
def test_a_row_is_cached_if_it_is_expensive_near_and_more_than_a_vector(
    name: str, n: int, is_kept: bool
) -> None:
    assert bool(choose(body_of(name, 20, n, 1), DEFAULT).of(CacheRow)) == is_kept


@pytest.mark.parametrize(("name", "n", "is_vector"), [
    ("row sums", 7, False), ("row sums", 9, True), ("layernorm", 8, False), ("layernorm", 9, True),
])  # fmt: skip
def test_rows_that_llvm_unrolls_whole_are_left_to_it(name: str, n: int, is_vector: bool) -> None:
    assert bool(choose(body_of(name, 20, n, 1), DEFAULT).of(Vectorize)) == is_vector


def test_every_rest_of_a_row_is_masked() -> None:
    tiles = choose(body_of("softmax", 20, 509, 1), DEFAULT).of(Tile)
    assert [t.axis for t in tiles if t.tail == "mask"] == ["i4.2.2", "r2.2.2", "r3.2.2", "i1.2.2"]


@pytest.mark.parametrize("n", [9, 10, 15, 16, 17, 24, 31, 33, 100])
@pytest.mark.parametrize("name", ["softmax", "layernorm", "row sums"])
def test_machine_code_at_awkward_widths(name: str, n: int) -> None:
    expected, found = on_machine(name, 37, n, 3, "auto")
    assert_close(found, expected)


@pytest.mark.parametrize(("name", "m", "n", "expected"), [
    ("softmax", 4096, 4096, [Prefetch(1, "i4", "i0")]),
    ("softmax", 4096, 1000, []), ("softmax", 16, 4096, []), ("layernorm", 4096, 4096, []),
])  # fmt: skip
def test_long_rows_of_dear_passes_are_fetched_ahead(
    name: str, m: int, n: int, expected: list[Prefetch]
) -> None:
    found = choose(body_of(name, m, n, 1), DEFAULT).of(Prefetch)
    assert [replace(row, because="") for row in found] == expected


@pytest.mark.parametrize(("text_of_program", "lanes", "against"), [
    ("x0 = float32[147]; x0.unfold(0, 17, 1).max(-1).sum((0,))", ["r0"], "r1 and on r0"),
    ("x0 = float32[40]; x0.unfold(0, 30, 1).max(-1).sum((0,))", ["r1"], "r0 and on r1"),
])  # fmt: skip
def test_of_folds_that_stand_in_each_other_the_longer_one_has_lanes(
    text_of_program: str, lanes: list[str], against: str
) -> None:
    (body,) = bodies(program(text_of_program))
    choices = choose(plain_loops(body), DEFAULT)
    assert list(dict.fromkeys(v.axis[:2] for v in choices.of(Vectorize))) == lanes
    why = next(r.because for r in choices.refused if r.kind == "vectorize")
    assert why == f"a value depends on {against}, which has more iterations"
