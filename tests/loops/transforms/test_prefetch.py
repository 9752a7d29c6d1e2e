"""Loads that fetch ahead."""

import pytest

from compiler.core.errors import ScheduleError
from compiler.core.node import toposort
from compiler.loops.nodes import Load
from compiler.loops.transforms import prefetch
from tests.loops.examples import EXAMPLES
from tests.loops.transformed import SIZES, assert_same, body_of, transform

FOLD = "tile r1 16; vectorize r1.1"


def test_the_example_in_the_docstring() -> None:
    assert EXAMPLES["prefetch"].text in (prefetch.__doc__ or "")


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize(("name", "choices"), [
    ("row sums", f"{FOLD}; prefetch 1 r1 i0"),
    ("row sums", "prefetch 1 r1 i0"),
    ("softmax", "tile r3 8; vectorize r3.1; parallelize i0 2; prefetch 1 r3 i0"),
    ("matmul of integers", "tile i1 16; vectorize i1.1; prefetch 2 i1 r2"),
])  # fmt: skip
def test_same_values(name: str, choices: str, n: int) -> None:
    before = body_of(name, 17, n, 7)
    assert_same(before, transform(before, choices))


def test_only_loads_along_the_axis_fetch_and_as_far_as_the_next_iteration() -> None:
    body = transform(body_of("softmax", 4, 64, 1), "prefetch 1 r3 i0")
    loads = [node for node in toposort([body]) if isinstance(node, Load)]
    assert sorted(load.ahead for load in loads) == [0, 0, 64]


@pytest.mark.parametrize(("choices", "why"), [
    ("prefetch 2 r1 i0", "no load of argument 2 along r1 depends on i0"),
    ("prefetch 1 i0 r1", ""),
    ("prefetch 1 r9 i0", "no load of argument 1 along r9"),
    ("prefetch 1 r1 i9", "there is no axis i9"),
])  # fmt: skip
def test_what_moves_nothing_is_refused(choices: str, why: str) -> None:
    body = body_of("row sums", 17, 63, 32)
    if not why:
        assert_same(body, transform(body, choices))
        return
    with pytest.raises(ScheduleError, match=why):
        transform(body, choices)
