"""Small types with packed dot-product instructions."""

import pytest

from compiler.core.dtypes import parse
from compiler.ops.words import are_small, in_a_word


@pytest.mark.parametrize(("a", "b", "total", "parts"), [
    ("int8", "int8", "int32", 4), ("uint8", "int8", "int32", 4), ("int8", "uint8", "uint32", 4),
    ("int16", "int16", "int32", 2), ("bfloat16", "bfloat16", "float32", 2),
])  # fmt: skip
def test_types_that_are_words(a: str, b: str, total: str, parts: int) -> None:
    assert are_small(parse(a), parse(b), parse(total))
    assert in_a_word(parse(a)) == parts


@pytest.mark.parametrize(("a", "b", "total"), [
    ("int8", "int8", "int64"), ("int8", "int16", "int32"), ("uint16", "uint16", "int32"),
    ("uint16", "int16", "int32"), ("float16", "float16", "float32"), ("bool", "int8", "int32"),
    ("int4", "int4", "int32"), ("bfloat16", "float32", "float32"), ("int8", "int8", "float32"),
])  # fmt: skip
def test_types_that_are_not(a: str, b: str, total: str) -> None:
    assert not are_small(parse(a), parse(b), parse(total))
