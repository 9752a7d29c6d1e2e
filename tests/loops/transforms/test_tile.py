"""Cutting axes: whole tiles, rests, masks, at every size."""

import numpy as np
import pytest

from compiler.core.dtypes import float32
from compiler.core.errors import ScheduleError
from compiler.loops import nodes
from compiler.loops.interpret import interpret
from compiler.loops.nodes import Body, alu, axis, const
from compiler.loops.transforms import tile
from tests.loops.examples import EXAMPLES
from tests.loops.kernel_programs import bodies
from tests.loops.programs import forms
from tests.loops.transformed import SIZES, assert_same, body_of, printed, transform


def test_the_example_in_the_docstring() -> None:
    assert EXAMPLES["tile"].text in (tile.__doc__ or "")


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize(("name", "choices"), [
    ("elementwise", "tile i1 16"),
    ("elementwise", "tile i1 16 mask; tile i0 4 mask"),
    ("elementwise", "tile i0 5; tile i1 16; tile i1.1 4; tile i1.2 3"),
    ("row sums", "tile r1 16"),
    ("row sums", "tile r1 16 mask"),
    ("row products of bools", "tile r1 7 mask"),
    ("column maxima of integers", "tile r1 4; tile i0 16"),
    ("softmax", "tile r2 16; tile r3 8 mask; tile i1 16"),
    ("layernorm", "tile i0 4; tile i1 16"),
    ("matmul of integers", "tile i0 8; tile i1 16 mask; tile r2 4"),
    ("windows", "tile i1 16 mask"),
    ("convolution", "tile i1 16; tile r2 2"),
    ("bmm", "tile i1 8; tile i2 16; tile r3 2 mask"),
])  # fmt: skip
def test_same_values(name: str, choices: str, n: int) -> None:
    before = body_of(name, 17, n, 7)
    assert_same(before, transform(before, choices))


@pytest.mark.parametrize(("choices", "why"), [
    ("tile i1 0", "has no iterations"),
    ("tile i7 4", "no axis i7"),
    ("tile i1 16 fold", "no tail"),
    ("tile i1 48 mask; tile i1.1 32", "remainder is masked"),
])  # fmt: skip
def test_illegal_choices_are_refused(choices: str, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        transform(body_of("matmul", 17, 64, 32), choices)


def copy_of(extent: int) -> Body:
    """out[i0] = in1[i0] + 1, a loop even where it has one iteration or none."""
    i0 = axis(extent, 0, "normal")
    out, given = (
        nodes.Argument((), 0, float32, extent, True),
        nodes.Argument((), 1, float32, extent, False),
    )
    value = alu("add", nodes.Load((given, i0)), const(1.0, float32))
    return Body((nodes.Store((out, i0, value, i0)),))


@pytest.mark.parametrize("tail", ["peel", "mask"])
@pytest.mark.parametrize("size", [1, 2, 16])
@pytest.mark.parametrize("extent", [0, 1, 2, 15, 16, 17, 31])
def test_loops_of_no_iterations_and_of_one(extent: int, size: int, tail: str) -> None:
    before = copy_of(extent)
    assert_same(before, transform(before, f"tile i0 {size} {tail}; vectorize i0.1" if size > 1
                                  else f"tile i0 {size} {tail}"))  # fmt: skip


@pytest.mark.parametrize("tail", ["peel", "mask"])
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 16, 23, 24])
def test_an_extent_that_is_a_variable(n: int, tail: str) -> None:
    rows = nodes.Range((nodes.DefineVar((), "n", 1, 24),), 0, "normal")
    out, given = nodes.Argument((), 0, float32, 24, True), nodes.Argument((), 1, float32, 24, False)
    before = Body((nodes.Store((out, rows, nodes.Load((given, rows)), rows)),))
    after = transform(before, f"tile i0 8 {tail}")
    values = [np.zeros(24, np.float32), np.arange(1, 25, dtype=np.float32)]
    interpret(after, values, variables={"n": n})
    np.testing.assert_array_equal(values[0][:n], values[1][:n])
    assert not values[0][n:].any()


def test_what_is_left_of_a_variable_trip_count_is_not_cut_again() -> None:
    (body,) = bodies("variable rows", 9, 4, 1)
    before = forms(body)[-1]
    assert "n//4" in printed(transform(before, "tile i0 4"))
    assert "i0.2" not in printed(transform(before, "tile i0 1"))
    with pytest.raises(ScheduleError, match=r"i0\.2 is the remainder of an axis with a variable"):
        transform(before, "tile i0 4; tile i0.2 2")
