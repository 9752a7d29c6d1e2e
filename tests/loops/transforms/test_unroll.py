"""Full unrolling of an axis."""

import pytest

from compiler.core.errors import ScheduleError
from compiler.loops.transforms import unroll
from tests.loops.examples import EXAMPLES
from tests.loops.transformed import SIZES, assert_same, body_of, transform


def test_the_example_in_the_docstring() -> None:
    assert EXAMPLES["unroll"].text in (unroll.__doc__ or "")


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize(("name", "choices"), [
    ("elementwise", "tile i1 4; unroll i1.1"),
    ("row sums", "tile r1 8; unroll r1.1; unroll r1.2"),
    ("matmul of integers", "tile i0 4; tile i1 3; unroll i0.1; unroll i1.1; unroll i0.2"),
    ("softmax", "tile r3 4 mask; unroll r3.1"),
])  # fmt: skip
def test_same_values(name: str, choices: str, n: int) -> None:
    before = body_of(name, 17, n, 7)
    assert_same(before, transform(before, choices))


@pytest.mark.parametrize(("choices", "why"), [
    ("tile i0 2; unroll i0.1; unroll i0.1", "level already"),
    ("unroll i5", "no axis i5"),
    ("tile r2 16; unroll r2", "no axis r2"),
    ("tile r2 32; unroll i1; unroll i1", "level already"),
])  # fmt: skip
def test_illegal_choices_are_refused(choices: str, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        transform(body_of("matmul", 17, 64, 32), choices)


def test_too_many_copies_of_a_value_are_refused() -> None:
    body = body_of("elementwise", 32, 32, 1)
    with pytest.raises(ScheduleError, match="1024 copies of a value"):
        transform(body, "unroll i0; unroll i1")
