"""An index that is simplified under its predicate is the same wherever the predicate holds."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Tensor, compile
from compiler.core.node import toposort
from compiler.core.trace import Provenance
from compiler.graph.rewrite import rewrite
from compiler.loops import nodes
from compiler.loops.nodes import ScalarNode, alu, index
from compiler.loops.predicated import bounded, intervals, under
from compiler.loops.simplify import INDICES
from compiler.loops.symbolic import conditions
from tests.loops.test_simplify import EXTENTS, I0, I1, I2, RANGES, add, expressions, times, values

limits = st.builds(
    lambda axis, shift, op, by: alu(op, add(axis, index(shift)), index(by)),
    st.sampled_from(RANGES), st.integers(-3, 3), st.sampled_from(["lt", "ge"]), st.integers(-2, 7),
)  # fmt: skip
predicates = st.lists(limits, min_size=1, max_size=4)


def joined(found: list[ScalarNode]) -> ScalarNode:
    predicate = found[0]
    for each in found[1:]:
        predicate = alu("and", predicate, each)
    return predicate


def simplest(where: ScalarNode) -> ScalarNode:
    return rewrite(where, INDICES, Provenance())


@settings(max_examples=300)
@given(predicates, expressions(True))
def test_the_value_is_the_same_where_the_predicate_holds(
    found: list[ScalarNode], where: ScalarNode
) -> None:
    predicate = joined(found)
    made = under(predicate, where, simplest)
    if made is None:
        return
    holds = values(alu("where", predicate, index(1), index(0))).astype(bool)
    np.testing.assert_array_equal(values(made)[holds], values(where)[holds])
    assert len(toposort([made])) < len(toposort([where]))
    assert {n for n in toposort([made]) if isinstance(n, nodes.Range)} <= set(RANGES)


def test_a_predicate_is_read_as_intervals() -> None:
    predicate = joined([
        alu("ge", I0, index(1)), alu("lt", add(I1, index(-2)), index(2)),
        alu("lt", add(I0, I1), index(3)), alu("ge", times(I2, 2), index(4)), alu("lt", I2, I0),
    ])  # fmt: skip
    assert len(conditions(predicate)) == 5
    assert intervals(predicate) == {I0: (1, EXTENTS[0] - 1), I1: (0, 3)}
    assert bounded(alu("lt", I2, I0)) is None, "no constant"
    assert intervals(alu("ge", I0, index(0))) == {}, "that is no restriction"


def test_a_predicate_that_never_holds_is_left() -> None:
    predicate = joined([alu("ge", I0, index(2)), alu("lt", I0, index(2))])
    assert under(predicate, alu("mod", I0, index(3)), simplest) is None


def test_what_is_padded_and_reshaped_is_read_without_divisions() -> None:
    """Each half of a joined vector is read where it stands, not at a remainder."""
    x, y = Tensor(np.arange(6.0)), Tensor(np.arange(6.0))
    made = compile(Tensor.cat(x, y).reshape(6, 2)[:, 1] * 2)
    loads = [n for loop in made.loops for n in toposort([loop.body]) if isinstance(n, nodes.Load)]
    ops = {n.op for load in loads for n in toposort([load.sources[1]]) if isinstance(n, nodes.Alu)}
    assert len(loads) == 2
    assert not ops & {"idiv", "mod"}
    np.testing.assert_array_equal(made.run()[0], [2, 6, 10, 2, 6, 10])


def test_a_position_that_is_read_under_a_predicate_keeps_its_own() -> None:
    """Both parts read positions at rows that only their own half has."""
    x, rows = Tensor(np.arange(12.0).reshape(6, 2)), Tensor(np.array([5, 0, 3]))
    compilation = compile(Tensor.cat(x[rows], x[rows]) + Tensor(np.ones((1, 2))))
    assert compilation.check().ok
    expected = np.arange(12.0).reshape(6, 2)[[5, 0, 3, 5, 0, 3]] + 1
    np.testing.assert_array_equal(compilation.run()[0], expected)
