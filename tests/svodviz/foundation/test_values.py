"""Previews of arrays: right numbers, no surprises with odd ones."""

import json

import numpy as np
import pytest

from svodviz.foundation.values import SIDE, preview


def test_numbers_of_a_matrix() -> None:
    facts = preview(np.array([[1.0, 2.0], [3.0, 6.0]], dtype=np.float32))
    assert (facts["min"], facts["max"], facts["mean"]) == ("1", "6", "3")
    assert facts["first"] == ["1", "2", "3", "6"]
    assert facts["shape"] == "2×2"
    assert facts["picture"] == ["0033", "66ff"]


def test_odd_values_are_counted_not_averaged() -> None:
    facts = preview(np.array([np.nan, np.inf, -np.inf, 2.0, 4.0]))
    assert (facts["nan"], facts["inf"], facts["mean"]) == (1, 2, "3")
    assert facts["picture"] == ["xxxxxx00ff"]


@pytest.mark.parametrize("array", [
    np.zeros(()), np.zeros((0,)), np.zeros((3, 0)), np.full((2, 2), np.nan), np.arange(5) > 2,
    np.array(2**63 - 1), np.array([1 + 2j]), np.ones((2, 3, 4, 5)), np.arange(100_000),
    np.float16([1e-7, 6e4]), np.ones((1, 70)), np.ones((500, 3)),
])  # fmt: skip
def test_every_array_has_a_preview(array: np.ndarray) -> None:
    facts = preview(array)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    rows = facts.get("picture", [])
    assert len(rows) <= SIDE
    assert all(len(row) <= 2 * SIDE for row in rows)
    assert len({len(row) for row in rows}) <= 1


def test_integers_and_booleans_keep_their_words() -> None:
    assert preview(np.array([3, -4]))["first"] == ["3", "-4"]
    assert preview(np.array([True, False]))["first"] == ["true", "false"]


def test_extremes_of_integers_are_exact() -> None:
    ends = np.iinfo(np.int64)
    facts = preview(np.array([ends.min, 1234567, ends.max]))
    assert (facts["min"], facts["max"]) == (str(ends.min), str(ends.max))
    assert preview(np.array([True, False]))["max"] == "true"


def test_floats_at_the_ends_of_their_type() -> None:
    end = np.finfo(np.float64).max
    facts = preview(np.array([end, -end, end, end]))
    assert facts["mean"] == f"{end / 2:.5g}"
    assert facts["picture"] == ["ff00ffff"]


def test_zeros_are_counted_and_bars_add_up() -> None:
    facts = preview(np.array([0.0, -0.0, 1.0, 24.0, np.nan, np.inf]))
    assert facts["zeros"] == 2
    assert len(facts["bars"]) == 24 and sum(facts["bars"]) == 4
    assert facts["bars"][0] == 2 and facts["bars"][1] == 1 and facts["bars"][-1] == 1
    end = np.finfo(np.float64).max
    assert preview(np.array([-end, 0.0, end]))["bars"][::12] == [1, 1]
    assert "bars" not in preview(np.full(3, 7.0)) and "bars" not in preview(np.array([True, False]))
    ends = np.iinfo(np.int64)
    assert sum(preview(np.array([ends.min, 0, ends.max]))["bars"]) == 3
    assert "bars" not in preview(np.array([0.0, 5e-324])) and "bars" not in preview(np.float16([]))
    assert sum(preview(np.array([0, 6e-8], np.float16))["bars"]) == 2
