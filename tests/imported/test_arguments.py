"""Values of arguments and their defaults."""

from typing import Any

import numpy as np
import pytest

from compiler.core.errors import DataError
from compiler.imported.arguments import REQUIRED, Unread, is_same, reason, refusal


@pytest.mark.parametrize(("value", "default"), [
    (1, 1.0), ("mean", "mean"), ([1, 2], (1, 2)), (np.array([1, 2]), [1, 2]), (None, None),
    ([], ()), (True, 1), ([[1], [2]], ((1,), (2,))),
])  # fmt: skip
def test_equal_values(value: Any, default: Any) -> None:
    assert is_same(value, default)


@pytest.mark.parametrize(("value", "default"), [
    (0.5, 0), ("sum", "mean"), ([1], [1, 1]), (1, [1]), ([1], 1), (object(), None), (1, REQUIRED),
    ([], None), (0, None),
])  # fmt: skip
def test_other_values(value: Any, default: Any) -> None:
    assert not is_same(value, default)


def test_none_is_left_out() -> None:
    assert Unread("side", None, "left").is_default
    assert not Unread("side", "right", "left").is_default
    assert not Unread("side", "left").is_default  # there is no default


def test_a_long_value_is_shortened() -> None:
    assert Unread("weights", list(range(100)), ()).got.endswith("…")


def test_reasons_are_of_an_argument_everywhere_or_of_one_operator() -> None:
    table = {"device": "a", "expand.implicit": "b", "checked.*": "c"}
    assert reason(table, "zeros", "device") == "a"
    assert reason(table, "expand", "implicit") == "b"
    assert reason(table, "repeat", "implicit") == ""
    assert reason(table, "checked", "anything") == "c"


class Node:
    def refused(self, problem: str, got: object, expected: str) -> DataError:
        return DataError("here", problem, got=str(got), expected=expected)


def test_the_refusal_says_what_was_given_and_what_is_expected() -> None:
    error = refusal(Node(), Unread("invert", True, False))
    assert str(error).splitlines() == [
        "here: the argument invert is not supported with this value", "  got:      invert=True",
        "  expected: invert=False",
    ]  # fmt: skip
