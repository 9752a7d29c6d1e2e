"""Stores past the caches."""

import pytest

from compiler.core.errors import ScheduleError
from compiler.loops.transforms import stream
from tests.loops.examples import EXAMPLES
from tests.loops.transformed import SIZES, assert_same, body_of, transform


def test_the_example_in_the_docstring() -> None:
    assert EXAMPLES["stream"].text in (stream.__doc__ or "")


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize(("name", "choices"), [
    ("elementwise", "tile i1 16; vectorize i1.1; stream 0"),
    ("elementwise", "stream 0"),
    ("matmul of integers", "tile i1 16; vectorize i1.1; stream 0"),
])  # fmt: skip
def test_same_values(name: str, choices: str, n: int) -> None:
    before = body_of(name, 17, n, 7)
    assert_same(before, transform(before, choices))


@pytest.mark.parametrize(("choices", "why"), [
    ("stream 1", "nothing is stored"),
])  # fmt: skip
def test_illegal_choices_are_refused(choices: str, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        transform(body_of("matmul", 17, 64, 32), choices)
