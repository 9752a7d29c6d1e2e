"""Tiles of arguments copied to scratch memory."""

import pytest

from compiler.errors import ScheduleError
from compiler.loops import pack
from tests.loops.examples import EXAMPLES
from tests.loops.transformed import SIZES, assert_same, body_of, transform


def test_the_example_in_the_docstring() -> None:
    assert EXAMPLES["pack"].text in (pack.__doc__ or "")


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize(("name", "choices"), [
    ("matmul", "pack 2"),
    ("matmul", "tile i1 16; reorder i1.0 i0; pack 2 i1.0"),
    ("matmul of integers",
     "tile i1 16 mask; tile i0 8; reorder i1.0 i0.0; pack 2 i1.0; pack 1 i0.0"),
    ("x @ w.T", "tile i1 16 mask; reorder i1.0 i0; pack 2 i1.0; vectorize i1.1"),
    ("x.T @ w", "tile i0 8; pack 1 i0.0"),
    ("bmm", "pack 2 i0"),
    ("matmul", "tile i0 8; tile i1 16; reorder i0.0 i1.0; pack 2 i0.0; unroll i0.1"),
    ("matmul", "tile i0 16; tile i0.1 4; pack 2 i0.0; parallelize i0.0 2"),
    ("convolution", "pack 1 i0"),
])  # fmt: skip
def test_same_values(name: str, choices: str, n: int) -> None:
    before = body_of(name, 17, n, 7)
    assert_same(before, transform(before, choices))


@pytest.mark.parametrize(("choices", "why"), [
    ("pack 0", "not read"),
    ("pack 3", "not read"),
    ("pack 2 i8", "no axis i8"),
])  # fmt: skip
def test_illegal_choices_are_refused(choices: str, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        transform(body_of("matmul", 17, 64, 32), choices)
