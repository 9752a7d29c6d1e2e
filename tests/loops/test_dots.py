"""The parts of sums of words, and the reasons why a value has no words."""

import pytest

from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.loops import nodes
from compiler.loops.dots import against_words, converted_in_words, dot_range, factors
from compiler.loops.nodes import Body, Cast, Load, Reduce, ScalarNode, Store, alu, index
from compiler.loops.placement import dependencies
from compiler.loops.verify import verify
from tests.loops.bodies import axis, plus, times

i8, i32 = dtypes.int8, dtypes.int32


def product(step: int = 1, trips: int = 4) -> tuple[Body, Reduce, nodes.Range]:
    """One sum of words of two arguments, the second read in steps."""
    out = nodes.Argument((), 0, i32, 8, True)
    a, b = nodes.Argument((), 1, i8, 64, False), nodes.Argument((), 2, i8, 256, False)
    row, word = axis(8, 0), axis(trips, 1, (1,), "dot", "reduction")
    first = Load((a, plus(times(row, 4), word)))
    second = Load((b, times(word, step)))
    value = alu("mul", Cast((first,), i32), Cast((second,), i32))
    fold = Reduce((value, word), "sum")
    return Body((Store((out, row, fold, row)),)), fold, word


def test_the_parts_of_a_sum() -> None:
    body, fold, word = product()
    verify(body)
    assert dot_range(fold) is word and dot_range(fold.sources[0]) is None
    found = factors(fold.sources[0])
    assert found is not None and [each.dtype for each in found] == [i8, i8]
    assert converted_in_words(body) == set(fold.sources[0].sources)


def test_other_values_have_no_factors() -> None:
    _, fold, _ = product()
    assert factors(fold) is None
    assert factors(alu("mul", index(1), index(2))) is None


@pytest.mark.parametrize(("step", "trips", "got"), [
    (2, 4, "are not contiguous"), (1, 2, "not form a word"),
])  # fmt: skip
def test_what_is_no_word_is_refused(step: int, trips: int, got: str) -> None:
    body, _, _ = product(step, trips)
    with pytest.raises(InternalError, match=f"invariant 15.*{got}"):
        verify(body)


def test_lanes_are_words_apart() -> None:
    body, fold, word = product()
    row = next(iter(body.sources[0].sources[3:]))
    assert isinstance(row, nodes.Range)
    load: ScalarNode = fold.sources[0].sources[0].sources[0]
    needs = dependencies(body)
    assert against_words(load, word, needs, [row]) == ""
    assert "a store depends on" in against_words(body.sources[0], word, needs)
