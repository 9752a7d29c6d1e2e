"""Iterations as lanes."""

import pytest

from compiler.core.errors import ScheduleError
from compiler.loops.transforms import vectorize
from tests.loops.examples import EXAMPLES
from tests.loops.kernel_programs import bodies
from tests.loops.programs import forms
from tests.loops.transformed import SIZES, assert_same, body_of, transform


def test_the_example_in_the_docstring() -> None:
    assert EXAMPLES["vectorize"].text in (vectorize.__doc__ or "")


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize(("name", "choices"), [
    ("elementwise", "tile i1 16; vectorize i1.1"),
    ("elementwise", "tile i1 16 mask; vectorize i1.1"),
    ("row sums", "tile r1 8; vectorize r1.1"),
    ("row sums", "tile r1 32; tile r1.1 8; unroll r1.1.0; vectorize r1.1.1"),
    ("integers", "tile i1 8; vectorize i1.1"),
    ("softmax", "tile r2 16; tile r3 16; tile i1 16; vectorize r2.1; vectorize r3.1"),
    ("transpose", "tile i1 16; vectorize i1.1"),
    ("column maxima of integers", "tile i0 16; vectorize i0.1"),
])  # fmt: skip
def test_same_values(name: str, choices: str, n: int) -> None:
    before = body_of(name, 17, n, 7)
    assert_same(before, transform(before, choices))


@pytest.mark.parametrize(("choices", "why"), [
    ("vectorize i0", "17 iterations"),
    ("tile i0 16; vectorize i0.1; tile r2 16; vectorize r2.1", "cannot be lanes"),
    ("vectorize i9", "no axis i9"),
    ("vectorize i1; vectorize i1", "level already"),
])  # fmt: skip
def test_illegal_choices_are_refused(choices: str, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        transform(body_of("matmul", 17, 64, 32), choices)


def test_what_is_read_and_overwritten_stands_next_to_each_other() -> None:
    before = forms(bodies("written", 8, 9, 1)[-1])[-1]
    transform(before, "vectorize i1")
    with pytest.raises(ScheduleError, match="out is overwritten, and its lanes are strided"):
        transform(before, "vectorize i0")
