"""Loops in another order."""

import pytest

from compiler.core.errors import ScheduleError
from compiler.loops.transforms import reorder
from tests.loops.examples import EXAMPLES
from tests.loops.transformed import SIZES, assert_same, body_of, transform


def test_the_example_in_the_docstring() -> None:
    assert EXAMPLES["reorder"].text in (reorder.__doc__ or "")


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize(("name", "choices"), [
    ("elementwise", "reorder i1 i0"),
    ("matmul", "tile i0 8; tile i1 16; reorder i1.0 i0.0 i0.1 i1.1"),
    ("matmul of integers", "tile i0 8; tile i1 16; tile r2 2; reorder i1.0 i0.0 r2.1 r2.0"),
    ("bmm", "reorder i2 i1 i0"),
    ("middle sums", "reorder i1 i0"),
])  # fmt: skip
def test_same_values(name: str, choices: str, n: int) -> None:
    before = body_of(name, 17, n, 7)
    assert_same(before, transform(before, choices))


@pytest.mark.parametrize(("choices", "why"), [
    ("reorder i0 i0", "named twice"),
    ("reorder i0 i9", "no axis i9"),
])  # fmt: skip
def test_illegal_choices_are_refused(choices: str, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        transform(body_of("matmul", 17, 64, 32), choices)
