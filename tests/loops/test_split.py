"""Splitting an axis keeps every element; it leaves fewer divisions, or changes nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.core import dtypes
from compiler.core.trace import Match, Provenance
from compiler.loops import nodes
from compiler.loops.index import index as indexed
from compiler.loops.interpret import interpret
from compiler.loops.nodes import Body, Range, ScalarNode, alu, axis, index
from compiler.loops.simplify import simplify
from compiler.loops.split import NARROWEST, divisions, split
from compiler.loops.verify import verify
from tests.loops.programs import PROGRAMS, arguments, assert_close, kernels, reference

SOURCE = 2**14
"""Elements of the input: more than the greatest index below."""


def body_of(extent: int, place: Callable[[Range], ScalarNode]) -> Body:
    """out[i0] = in1[place(i0)], for i0 in `extent`."""
    each = axis(extent, 0, "normal")
    out = nodes.Argument((), 0, dtypes.int64, extent, True)
    source = nodes.Argument((), 1, dtypes.int64, SOURCE, False)
    stored = nodes.Store((out, each, nodes.Load((source, place(each))), each))
    return simplify(Body((stored,)), Provenance())


def extents_of(body: Body) -> list[int]:
    """The extents of the loops of the store."""
    return [each.extent for each in body.sources[0].ranges]


def by(divisor: int, step: int = 1) -> Callable[[ScalarNode], ScalarNode]:
    """i0 // divisor * step + i0 % divisor: a matrix of which rows are `step` apart."""
    return lambda i: alu("add", alu("mul", alu("idiv", i, index(divisor)), index(step)),
                         alu("mod", i, index(divisor)))  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_element_stays_and_divisions_become_fewer(name: str) -> None:
    for kernel in kernels(PROGRAMS[name]()):
        provenance: Provenance[Any] = Provenance()
        before = simplify(indexed(kernel, provenance), provenance)
        matches: list[Match] = []
        after = split(before, provenance, matches)
        verify(after)
        assert (after is before) == (not matches)
        assert after is before or len(divisions(after)) < len(divisions(before))
        data = arguments(kernel)
        expected = reference(kernel, data)
        interpret(after, data)
        assert_close(data[0], expected)


def test_an_axis_is_split_at_the_divisor() -> None:
    after = split(body_of(480, by(24, 16)), Provenance())
    assert extents_of(after) == [20, 24] and not divisions(after)


def test_an_axis_is_split_at_each_divisor_of_a_chain() -> None:
    def place(i: Range) -> ScalarNode:
        return alu("add", by(24, 64)(i), alu("idiv", alu("mod", i, index(24)), index(6)))

    after = split(body_of(480, place), Provenance())
    assert extents_of(after) == [20, 4, 6] and not divisions(after)


def test_a_divisor_that_leaves_a_rest_splits_nothing() -> None:
    before = body_of(100, by(24, 16))
    assert split(before, Provenance()) is before


def test_an_inner_loop_too_short_for_vectors_is_not_made() -> None:
    before = body_of(480, by(NARROWEST - 1, 16))
    assert split(before, Provenance()) is before
    assert extents_of(split(body_of(480, by(NARROWEST, 16)), Provenance())) == [120, NARROWEST]


def test_a_reversed_axis_is_left_alone() -> None:
    """The index falls as the axis rises: the divisor says nothing about the axis."""
    def place(i: Range) -> ScalarNode:
        return alu("idiv", alu("sub", index(479), i), index(24))

    before = body_of(480, place)
    assert split(before, Provenance()) is before


@settings(max_examples=150)
@given(st.sampled_from([6, 12, 48, 60, 100]), st.integers(1, 30), st.integers(1, 40),
       st.integers(1, 3), st.integers(0, 7))  # fmt: skip
def test_values_stay(extent: int, divisor: int, step: int, scale: int, offset: int) -> None:
    def place(i: Range) -> ScalarNode:
        return by(divisor, step)(alu("add", alu("mul", i, index(scale)), index(offset)))

    before = body_of(extent, place)
    source = np.arange(SOURCE, dtype=np.int64)
    wanted, got = np.zeros(extent, np.int64), np.zeros(extent, np.int64)
    interpret(before, [wanted, source])
    interpret(split(before, Provenance()), [got, source])
    np.testing.assert_array_equal(got, wanted)
    at = np.arange(extent) * scale + offset
    np.testing.assert_array_equal(wanted, at // divisor * step + at % divisor)
