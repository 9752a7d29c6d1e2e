"""Iterations of a sum of products of small types as the elements of words."""

from typing import Any

import numpy as np
import pytest

from compiler.core.errors import ScheduleError
from compiler.core.node import toposort
from compiler.loops.choices import parse, text
from compiler.loops.nodes import Body, Local, Range
from compiler.loops.transforms import dot
from tests.loops.examples import EXAMPLES
from tests.loops.transformed import (
    arguments_of,
    assert_close,
    assert_same,
    body_of,
    on_machine,
    result,
    transform,
)

TILED = (
    "tile i0 3; tile i1 32 mask; tile i1.1 16; tile r2 {}; "
    "reorder i1.0 i0.0 i0.1 i0.2 i1.1.0 i1.1.1; pack 2 i1.0; dot r2.1 {}; "
    "unroll i0.1; unroll i0.2; unroll i1.1.0; vectorize i1.1.1"
)
CASES = [
    ("matmul of signs", 4, "plain"), ("matmul of bytes", 4, "plain"),
    ("matmul of bytes", 4, "shifted"), ("matmul of halves", 2, "plain"),
]  # fmt: skip
SIZES = [(7, 33, 19), (3, 64, 4)]


def words(body: Body) -> list[Range]:
    """The ranges whose iterations are elements of words."""
    return [n for n in toposort([body]) if isinstance(n, Range) and n.level == "dot"]


def test_the_example_in_the_docstring() -> None:
    assert EXAMPLES["dot"].text in (dot.__doc__ or "")


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(("name", "parts", "form"), CASES)
def test_same_values(name: str, parts: int, form: str, sizes: tuple[int, int, int]) -> None:
    before = body_of(name, *sizes)
    after = transform(before, TILED.format(parts, form))
    assert words(after)
    assert_same(before, after)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(("name", "parts", "form"), CASES)
def test_machine_code(name: str, parts: int, form: str, sizes: tuple[int, int, int]) -> None:
    expected, found = on_machine(name, *sizes, {"k0": TILED.format(parts, form)})
    assert_close(found, expected)


def test_without_lanes_and_without_a_copy() -> None:
    before = body_of("matmul of signs", 5, 6, 13)
    assert_same(before, transform(before, "tile r2 4; pack 2; dot r2.1"))
    turned = body_of("matmul of signs", 1, 1, 13)
    assert_same(turned, transform(turned, "tile r0 4; dot r0.1"))
    both = body_of("matmul of bytes", 5, 6, 13)
    assert_same(both, transform(both, "tile r2 4; pack 2; dot r2.1 shifted"))
    rest = "tile i1 8; tile r2 4; pack 2; dot r2.1 shifted; vectorize i1.1"
    narrow = body_of("matmul of bytes", 5, 17, 13)  # a column that no vector has
    assert_same(narrow, transform(narrow, rest))


def test_shifted_sums_wrap() -> None:
    before = body_of("matmul of bytes", 4, 64, 64)
    values: list[Any] = [np.full_like(v, -128) for v in arguments_of(before)]
    after = transform(before, TILED.format(4, "shifted"))
    np.testing.assert_array_equal(result(after, values), np.full(256, 64 * 2**14))


def test_sums_of_columns_are_computed_once_for_all_rows() -> None:
    after = transform(body_of("matmul of bytes", 7, 64, 64), TILED.format(4, "shifted"))
    memories = {n for n in toposort([after]) if isinstance(n, Local) and n.dtype.bits == 32}
    assert [(n.element.name, n.size) for n in memories] == [("int32", 32)]


@pytest.mark.parametrize(("name", "choices", "why"), [
    ("matmul of bytes", "tile r2 4; dot r2.1", "are not contiguous"),
    ("matmul of bytes", "tile r2 4; pack 2; dot r2.0", "are not contiguous"),
    ("matmul of bytes", "tile r2 2; pack 2; dot r2.1", "not form a word"),
    ("matmul of integers", "tile r2 4; pack 2; dot r2.1", "not a converted element of memory"),
    ("matmul of halves", TILED.format(2, "shifted"), "no other sign"),
    ("matmul of bytes", "dot i0", "nothing is reduced along i0"),
    ("matmul of bytes", "dot r9", "no axis r9"),
    ("row sums", "tile r1 4; dot r1.1", "is not a product"),
    ("matmul of bytes", "tile i1 16; tile r2 4; dot r2.1; vectorize i1.1", "are not contiguous"),
])  # fmt: skip
def test_illegal_choices_are_refused(name: str, choices: str, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        transform(body_of(name, 5, 64, 32), choices)


def test_lanes_whose_words_are_apart_are_refused() -> None:
    choices = "tile i1 16; tile i0 16; tile r2 4; pack 2; dot r2.1; vectorize i0.1"
    with pytest.raises(ScheduleError, match=r"words of in1 along i0\.1 are not contiguous"):
        transform(body_of("matmul of bytes", 32, 64, 32), choices)


def test_the_text_reads_back() -> None:
    given = TILED.format(4, "shifted")
    assert parse(text(parse(given))) == parse(given)
