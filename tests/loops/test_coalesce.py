"""Coalescing keeps every element and never adds a division; loops that an index separates stay."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.loops import nodes
from compiler.loops.coalesce import coalesce
from compiler.loops.index import index as indexed
from compiler.loops.interpret import interpret
from compiler.loops.nodes import Body, Range, ScalarNode, alu, axis, index, linear
from compiler.loops.placement import Nest
from compiler.loops.simplify import simplify
from compiler.loops.split import divisions
from compiler.loops.verify import verify
from tests.loops.programs import PROGRAMS, arguments, assert_close, kernels, reference

ROWS, COLUMNS = axis(4, 0, "normal"), axis(6, 1, "normal")
SOURCE = nodes.Argument((), 1, dtypes.int64, 240, False)


def coalesced(body: Body) -> Body:
    provenance: Provenance[Any] = Provenance()
    return coalesce(simplify(body, provenance), provenance)


def loops_of(value: Callable[[ScalarNode, ScalarNode], ScalarNode]) -> list[Range]:
    """The loops left of out[i0*6 + i1] = value(i0, i1)."""
    out, place = nodes.Argument((), 0, dtypes.int64, 24, True), linear((ROWS, COLUMNS), (4, 6))
    stored = nodes.Store((out, place, value(ROWS, COLUMNS), ROWS, COLUMNS))
    return list(coalesced(Body((stored,))).sources[0].ranges)


def at(rows: int, columns: int) -> Callable[[ScalarNode, ScalarNode], ScalarNode]:
    """A load from i0*rows + i1*columns."""
    return lambda i, j: nodes.Load((SOURCE, alu(
        "add", alu("mul", i, index(rows)), alu("mul", j, index(columns)))))  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_element_stays_and_no_division_is_added(name: str) -> None:
    for kernel in kernels(PROGRAMS[name]()):
        provenance: Provenance[Any] = Provenance()
        before = simplify(indexed(kernel, provenance), provenance)
        matches: list[Match] = []
        after = coalesce(before, provenance, matches)
        verify(after)
        assert len(divisions(after)) <= len(divisions(before))
        assert (after is before) == (not matches)
        data = arguments(kernel)
        expected = reference(kernel, data)
        interpret(after, data)
        assert_close(data[0], expected)


def test_loops_that_no_index_separates_are_joined() -> None:
    (joined,) = loops_of(at(6, 1))
    assert joined.extent == 24
    (joined,) = loops_of(at(18, 3))
    assert joined.extent == 24


@pytest.mark.parametrize("steps", [(1, 4), (7, 1), (12, 1), (0, 1), (6, 0)])
def test_loops_that_an_index_separates_are_kept(steps: tuple[int, int]) -> None:
    """Another order, a row that is longer, every second row, and broadcast rows and columns."""
    assert loops_of(at(*steps)) == [ROWS, COLUMNS]


@pytest.mark.parametrize("extents", list(itertools.product((0, 1, 3), repeat=2)))
def test_an_index_that_is_one_of_the_loops_is_kept(extents: tuple[int, int]) -> None:
    """With an empty or single outer loop the index is the inner range itself."""
    loops = tuple(axis(n, number, "normal") for number, n in enumerate(extents))
    out = nodes.Argument((), 0, dtypes.int64, math.prod(extents), True)
    result = coalesced(Body((nodes.Store((out, linear(loops, extents), index(7), *loops)),)))
    elements = np.zeros(math.prod(extents), np.int64)
    interpret(result, [elements])
    assert elements.tolist() == [7] * math.prod(extents)


def test_loops_of_two_roles_are_kept() -> None:
    """A row and the sum over it are not one loop."""
    (kernel,) = kernels(PROGRAMS["sum over 2"]())
    order: list[ScalarNode] = toposort([coalesced(indexed(kernel, Provenance()))])
    roles = [{r.role for r in node.ranges} for node in order if isinstance(node, Nest)]
    assert roles == [{"reduction"}, {"normal"}]
