"""Iterations shared out over runs of the kernel."""

import pytest

from compiler.core.errors import ScheduleError
from compiler.loops.transforms import parallelize
from tests.loops.examples import EXAMPLES
from tests.loops.transformed import SIZES, assert_same, body_of, transform


def test_the_example_in_the_docstring() -> None:
    assert EXAMPLES["parallelize"].text in (parallelize.__doc__ or "")


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize(("name", "choices"), [
    ("elementwise", "parallelize i0 2"),
    ("elementwise", "tile i1 16; reorder i1.0 i0; parallelize i1.0 3"),
    ("softmax", "parallelize i0 2"),
    ("matmul of integers",
     "tile i0 8; tile i1 16; reorder i0.0 i1.0; pack 2 i1.0; parallelize i0.0 2"),
])  # fmt: skip
def test_same_values(name: str, choices: str, n: int) -> None:
    before = body_of(name, 17, n, 7)
    assert_same(before, transform(before, choices))


@pytest.mark.parametrize(("choices", "why"), [
    ("parallelize i0 1", "1 tasks"),
    ("parallelize i1 2", "inside i0"),
    ("parallelize r2 2", "depend on one another"),
    ("tile i0 6; parallelize i0.0 2; parallelize i0.2 3", "has 2 tasks"),
])  # fmt: skip
def test_illegal_choices_are_refused(choices: str, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        transform(body_of("matmul", 17, 64, 32), choices)
