"""Sums and products of symbolic extents: every rule against integers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.graph.extent import Extent, Number, highest, less, lowest, product, quotient, total

N, M = Extent("n", 1, 9), Extent("m", 2, 5)
VALUES = st.fixed_dictionaries({"n": st.integers(1, 9), "m": st.integers(2, 5)})


def _value(number: Number, values: dict[str, int]) -> int:
    return number if isinstance(number, int) else number.value(values)


NUMBERS = st.recursive(
    st.sampled_from([N, M, 0, 1, 2, 3, 12]),
    lambda inner: st.builds(lambda a, b, f: f(a, b), inner, inner, st.sampled_from(
        [lambda a, b: total((a, b)), less, lambda a, b: product((a, b))])),
    max_leaves=6,
)  # fmt: skip


@given(NUMBERS, NUMBERS, VALUES)
def test_arithmetic_is_that_of_whole_numbers(a: Number, b: Number, values: dict[str, int]) -> None:
    x, y = _value(a, values), _value(b, values)
    assert _value(total((a, b)), values) == x + y
    assert _value(less(a, b), values) == x - y
    assert _value(product((a, b)), values) == x * y
    found = quotient(a, b)
    assert found is None or _value(found, values) * y == x


@given(NUMBERS, VALUES)
def test_bounds_hold(number: Number, values: dict[str, int]) -> None:
    assert lowest(number) <= _value(number, values) <= highest(number)


@given(NUMBERS, NUMBERS)
def test_equal_sums_are_equal_objects(a: Number, b: Number) -> None:
    assert total((a, b)) == total((b, a))
    assert less(total((a, b)), b) == a
    assert product((a, b)) == product((b, a))


def test_what_is_written() -> None:
    assert str(product((N, 12))) == "12*n" and str(less(N, 1)) == "n-1"
    assert str(less(product((N, M, 4)), 1)) == "4*m*n-1" and str(less(3, N)) == "-n+3"
    assert less(N, N) == 0 and product((N, 0)) == 0 and total((less(N, 1), 1)) is N


@pytest.mark.parametrize(("number", "divisor", "found"), [
    (product((N, 12)), 4, "3*n"), (product((N, M)), N, "m"), (less(N, 1), less(N, 1), None),
    (N, 2, None), (total((product((N, 4)), 2)), 4, None), (product((N, 12)), 0, None),
    (less(product((N, 6)), 12), 6, "n-2"), (total((N, 1)), total((N, 1)), "1"),
])  # fmt: skip
def test_quotients(number: Number, divisor: Number, found: str | None) -> None:
    """A divisor that may be 0 divides nothing; n - 1 is 0 where n is 1."""
    made = quotient(number, divisor)
    assert (None if made is None else str(made)) == found
