"""Calls that record what is read of them, and tables of functions."""

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from compiler.core.errors import DataError
from compiler.imported.call import AttributeCall, adding_to, unsupported


class Node(AttributeCall):
    importer: ClassVar[str] = "here"

    @property
    def where(self) -> str:
        return self.op


def test_attributes_that_were_read() -> None:
    node = Node("Pad", {"axis": 1, "mode": "wrap"})
    assert (node["axis"], node.get("value", 7)) == (1, 7)
    assert node.reads.names == {"axis", "value"}


def test_an_attribute_that_must_be_there() -> None:
    with pytest.raises(DataError) as caught:
        Node("Pad", {"mode": "wrap"})["axis"]
    assert str(caught.value).splitlines()[:3] == [
        "here: Pad: there is no attribute axis", "  got:      mode", "  expected: axis",
    ]  # fmt: skip


def test_one_function_by_several_names() -> None:
    table: dict[str, Callable[..., Any]] = {}

    @adding_to(table)("max", "amax")
    def most(*numbers: int) -> int:
        return max(numbers)

    assert table == {"max": most, "amax": most}
    error = unsupported("here", "operators", "2 × min", len(table))
    assert str(error).splitlines() == [
        "here: operators are not supported", "  got:      2 × min",
        "  expected: some of 2 operators",
    ]  # fmt: skip
