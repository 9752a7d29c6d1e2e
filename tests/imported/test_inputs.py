"""Inputs by place and by name, and their types and extents."""

from typing import Any

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.errors import DataError
from compiler.imported.inputs import Described, by_name, check_fits, signature

X: Described = (dtypes.float32, (2, "n"))


def test_place_and_name() -> None:
    assert by_name("P", ["x", "y"], [1], {"y": 2}) == {"x": 1, "y": 2}
    assert signature({"x": X, "y": (dtypes.int64, ())}) == "x: f32[2,n], y: i64[]"


@pytest.mark.parametrize(("values", "named", "lines"), [
    ([1, 2, 3], {}, ["P: there is no such input", "  got:      3 inputs", "  expected: x, y"]),
    ([1], {"z": 2}, ["P: there is no such input", "  got:      z", "  expected: x, y"]),
    ([], {"y": 2}, ["P: an input is missing", "  got:      y", "  expected: x"]),
    ([], {}, ["P: an input is missing", "  got:      none", "  expected: x, y"]),
])  # fmt: skip
def test_other_inputs_are_refused(values: Any, named: Any, lines: list[str]) -> None:
    with pytest.raises(DataError) as caught:
        by_name("P", ["x", "y"], values, named)
    assert str(caught.value).splitlines()[:3] == lines


def test_a_named_extent_fits_all_numbers() -> None:
    for n in (0, 3):
        check_fits("P", "x", np.zeros((2, n), np.float32), X)
    for other in (np.zeros((3, 3), np.float32), np.zeros(2, np.float32), np.zeros((2, 3))):
        with pytest.raises(DataError, match="P: input x does not fit"):
            check_fits("P", "x", other, X)
