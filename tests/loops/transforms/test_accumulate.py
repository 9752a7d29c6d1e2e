"""Reductions over a strided axis in scratch memory."""

import pytest

from compiler.core.errors import ScheduleError
from compiler.loops.transforms import accumulate
from tests.loops.examples import EXAMPLES
from tests.loops.transformed import SIZES, assert_same, body_of, transform


def test_the_example_in_the_docstring() -> None:
    assert EXAMPLES["accumulate"].text in (accumulate.__doc__ or "")


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize(("name", "choices"), [
    ("column sums", "accumulate r1 4"),
    ("column sums", "accumulate r1 16"),
    ("column sums", "accumulate r1 1"),
    ("column sums", "accumulate r1 40"),
    ("column sums", "accumulate r1 99"),
    ("matmul of integers", "tile i0 2; tile i1 16; reorder i1.0 i0.0 i0.1 i0.2 i1.1; pack 2 i1.0; "
                           "accumulate r2 20 i1.0; unroll i0.1; vectorize i1.1"),
    ("column maxima of integers", "accumulate r1 5"),
    ("column maxima of integers", "tile i0 16; accumulate r1 4 i0.0; vectorize i0.1"),
    ("middle sums", "accumulate r2 3 i0"),
    ("matmul of integers", "accumulate r2 2 i0"),
    ("column sums", "tile i0 16; tile i0.1 4; accumulate r1 4; unroll i0.1.0; vectorize i0.1.1"),
])  # fmt: skip
def test_same_values(name: str, choices: str, n: int) -> None:
    before = body_of(name, 17, n, 7)
    assert_same(before, transform(before, choices))


@pytest.mark.parametrize(("choices", "why"), [
    ("accumulate i0 4", "not reduced"),
    ("accumulate r1 0", "iterations at a time"),
    ("tile r1 4; accumulate r1.0 2", "is tiled"),
    ("accumulate r1 4 i0", "no columns"),
])  # fmt: skip
def test_illegal_choices_are_refused(choices: str, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        transform(body_of("column sums", 17, 64, 32), choices)


def test_the_first_rows_and_the_others_read_packed_tiles_of_their_own() -> None:
    before = body_of("x @ w.T", 5, 7, 9)
    assert_same(before, transform(before, "tile i0 2 mask; pack 1 i0.0; accumulate r2 2 i0.0"))
    assert_same(before, transform(before, "tile i1 4 mask; pack 2; accumulate r2 2"))
