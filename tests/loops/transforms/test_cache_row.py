"""Values kept in scratch memory between passes over a row."""

import pytest

from compiler.core.errors import ScheduleError
from compiler.loops.transforms import cache_row
from tests.loops.examples import EXAMPLES
from tests.loops.transformed import SIZES, assert_same, body_of, printed, transform


def test_the_example_in_the_docstring() -> None:
    assert EXAMPLES["cache_row"].text in (cache_row.__doc__ or "")


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize(("name", "choices"), [
    ("softmax", "cache_row r3 i1"),
    ("softmax", "cache_row r3 i1; tile i4 16; vectorize i4.1; tile r3 16; vectorize r3.1"),
    ("layernorm", "cache_row r3 i1"),
])  # fmt: skip
def test_same_values(name: str, choices: str, n: int) -> None:
    before = body_of(name, 17, n, 7)
    assert_same(before, transform(before, choices))


@pytest.mark.parametrize(("choices", "why"), [
    ("cache_row r2 i1", "nothing is computed"),
    ("cache_row i0 i1", "not two axes"),
    ("cache_row r9 i1", "no axis r9"),
    ("cache_row r3 i1; unroll i0", "fills scratch"),
])  # fmt: skip
def test_illegal_choices_are_refused(choices: str, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        transform(body_of("softmax", 17, 64, 32), choices)


def test_rows_that_are_left_over_keep_theirs_in_memory_of_their_own() -> None:
    before = body_of("softmax", 5, 32, 1)
    after = transform(before, "cache_row r3 i1; tile i0 2")
    assert_same(before, after)
    assert printed(after).count("scratch") == 2
