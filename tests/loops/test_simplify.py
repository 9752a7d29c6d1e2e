"""Index arithmetic keeps its value for every value of the ranges, and becomes what it should."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Tensor, compile
from compiler.core import dtypes
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.loops import nodes
from compiler.loops.interpret import interpret
from compiler.loops.nodes import Body, ScalarNode, alu, axis, const, index, linear
from compiler.loops.simplify import simplify
from compiler.loops.symbolic import as_sum
from tests.loops.programs import PROGRAMS, forms, kernels

i64 = dtypes.int64
EXTENTS = (4, 6, 5)
RANGES = tuple(axis(n, number, "normal") for number, n in enumerate(EXTENTS))
I0, I1, I2 = RANGES
Expression = st.SearchStrategy[ScalarNode]


def body_of(value: ScalarNode) -> Body:
    """out[i0, i1, i2] = value."""
    out = nodes.Argument((), 0, value.dtype, math.prod(EXTENTS), True)
    return Body((nodes.Store((out, linear(RANGES, EXTENTS), value, *RANGES)),))


def value_of(body: Body) -> ScalarNode:
    return body.sources[0].sources[2]


def simplified(value: ScalarNode) -> ScalarNode:
    return value_of(simplify(body_of(value), Provenance()))


def values(value: ScalarNode) -> Any:
    """The value for each value of the ranges."""
    values = np.zeros(math.prod(EXTENTS), value.dtype.numpy)
    interpret(body_of(value), [values])
    return values


def expressions(divides_negative: bool) -> Expression:
    """Sums, multiples, quotients and remainders over the three ranges."""
    leaves = st.sampled_from(RANGES) | st.integers(-3 if divides_negative else 0, 12).map(index)

    def extend(inner: Expression) -> Expression:
        factor, divisor = st.integers(0, 12).map(index), st.integers(1, 24).map(index)
        ops = ["add", "sub"] if divides_negative else ["add"]
        return st.one_of(
            st.builds(alu, st.sampled_from(ops), inner, inner),
            st.builds(alu, st.just("mul"), inner, factor),
            st.builds(alu, st.sampled_from(["idiv", "mod"]), inner, divisor),
        )

    return st.recursive(leaves, extend, max_leaves=8)


@settings(max_examples=300)
@given(expressions(False))
def test_index_expressions_keep_their_values(value: ScalarNode) -> None:
    np.testing.assert_array_equal(values(simplified(value)), values(value))


@settings(max_examples=200)
@given(expressions(True))
def test_negative_values_keep_their_values(value: ScalarNode) -> None:
    """Division truncates: rules that hold only for what is not negative must not be applied."""
    np.testing.assert_array_equal(values(simplified(value)), values(value))


@settings(max_examples=100)
@given(expressions(True))
def test_bounds_hold(value: ScalarNode) -> None:
    found, bounds = values(value), value.bounds
    if bounds is not None:
        assert bounds[0] <= found.min()
        assert found.max() <= bounds[1]


@settings(max_examples=100)
@given(expressions(True), expressions(True), st.sampled_from(["lt", "ge"]))
def test_conditions_keep_their_values(a: ScalarNode, b: ScalarNode, op: str) -> None:
    value = alu("where", alu(op, a, b), a, b)
    np.testing.assert_array_equal(values(simplified(value)), values(value))


@settings(max_examples=100)
@given(expressions(True))
def test_sums_keep_their_values(value: ScalarNode) -> None:
    np.testing.assert_array_equal(values(as_sum(value).node()), values(value))


@settings(max_examples=100)
@given(expressions(True), st.integers(1, 12))
def test_a_sum_is_its_whole_part_and_the_rest(value: ScalarNode, divisor: int) -> None:
    whole, rest = as_sum(value).divisible_by(divisor)
    again = alu("add", alu("mul", whole.node(), index(divisor)), rest.node())
    np.testing.assert_array_equal(values(again), values(value))
    assert 0 <= rest.constant < divisor
    assert all(c % divisor for c in rest.terms.values())


def add(*parts: ScalarNode) -> ScalarNode:
    result = parts[0]
    for part in parts[1:]:
        result = alu("add", result, part)
    return result


def times(value: ScalarNode, by: int) -> ScalarNode:
    return alu("mul", value, index(by))


def over(value: ScalarNode, by: int) -> ScalarNode:
    return alu("idiv", value, index(by))


def rest(value: ScalarNode, by: int) -> ScalarNode:
    return alu("mod", value, index(by))


FLAT = add(times(I0, 30), times(I1, 5), I2)
TRUE, FALSE = const(True, dtypes.bool_), const(False, dtypes.bool_)
IN = nodes.Argument((), 1, i64, 120, False)

BECOMES: dict[str, tuple[ScalarNode, ScalarNode]] = {
    "decided_by_bounds": (alu("lt", I0, index(4)), TRUE),
    "collect_terms": (add(times(add(times(I0, 2), I1), 5), I0), add(times(I0, 11), times(I1, 5))),
    "collect_terms, nothing left": (alu("sub", I0, I0), index(0)),
    "rejoin": (add(times(over(FLAT, 7), 7), rest(FLAT, 7)), FLAT),
    "rejoin three": (
        add(times(over(I1, 4), 4), add(times(rest(over(I1, 2), 2), 2), rest(I1, 2))), I1,
    ),
    "rejoin remainders": (add(times(rest(over(I1, 2), 2), 2), rest(I1, 2)), rest(I1, 4)),
    "divide_terms": (over(FLAT, 30), I0),
    "divide_terms, some": (over(add(times(I0, 8), I1), 4), add(times(I0, 2), over(I1, 4))),
    "divide_terms, all": (over(times(I0, 8), 4), times(I0, 2)),
    "divide_terms, by 1": (over(I0, 1), I0),
    "drop_multiples": (rest(FLAT, 30), add(times(I1, 5), I2)),
    "drop_multiples, small": (rest(I2, 5), I2),
    "drop_multiples, by 1": (rest(I2, 1), index(0)),
    "cancel_factor": (over(add(times(I1, 6), index(3)), 4), over(add(times(I1, 3), index(1)), 2)),
    "cancel_factor, rest": (rest(times(I1, 6), 4), times(rest(times(I1, 3), 2), 2)),
    "divide_twice": (over(over(FLAT, 7), 2), over(FLAT, 14)),
    "divide_twice, rest": (over(rest(FLAT, 14), 7), rest(over(FLAT, 7), 2)),
    "remainder_twice": (rest(rest(FLAT, 14), 7), rest(FLAT, 7)),
    "compare_without_constant": (alu("lt", add(I0, I1, index(-2)), index(3)),
                                 alu("lt", add(I0, I1), index(5))),
    "decided_by_others": (
        alu("and", alu("and", alu("ge", I0, index(1)), alu("lt", I1, I2)), alu("ge", I0, index(2))),
        alu("and", alu("lt", I1, I2), alu("ge", I0, index(2)))),
    "under_its_predicate": (
        nodes.Load((IN, rest(add(I0, index(3)), 4), alu("ge", I0, index(1)))),
        nodes.Load((IN, add(I0, index(-1)), alu("ge", I0, index(1))))),
    "under_its_predicate, one value": (
        nodes.Load((IN, rest(add(I0, index(3)), 4), alu("ge", I0, index(3)))),
        nodes.Load((IN, index(2), alu("ge", I0, index(3))))),
    "always_true": (alu("and", alu("lt", I0, I1), TRUE), alu("lt", I0, I1)),
    "always_true, left": (alu("and", TRUE, alu("lt", I0, I1)), alu("lt", I0, I1)),
    "decided_choice": (alu("where", TRUE, I0, I1), I0),
    "decided_choice, false": (alu("where", FALSE, I0, I1), I1),
    "constant_predicate": (nodes.Load((IN, FLAT, TRUE)), nodes.Load((IN, FLAT))),
    "constant_predicate, false": (nodes.Load((IN, FLAT, FALSE)), index(0)),
}


@pytest.mark.parametrize("rule", BECOMES)
def test_becomes(rule: str) -> None:
    before, after = BECOMES[rule]
    assert before is not after
    assert simplified(before) is after


def test_each_rule_says_what_it_did() -> None:
    matches: list[Match] = []
    simplify(body_of(over(FLAT, 30)), Provenance(), matches)
    assert "divide_terms" in [m.rule for m in matches]
    assert all(m.algebra and ".py:" in m.source for m in matches)


def test_a_negative_dividend_is_left() -> None:
    """-3 / 4 truncates to 0, so (i*4 - 3) / 4 is not i - 1."""
    value = over(add(times(I0, 4), index(-3)), 4)
    assert simplified(value) is value
    assert sorted(set(values(value))) == [0, 1, 2]


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_new_divisions(name: str) -> None:
    for body in kernels(PROGRAMS[name]()):
        counts = [sum(getattr(n, "op", "") in ("idiv", "mod") for n in toposort([form]))
                  for form in forms(body)]  # fmt: skip
        assert counts == sorted(counts, reverse=True)


def test_axes_of_one_element_cost_nothing_under_a_predicate() -> None:
    """A padded picture is read at rows and columns, though its index may be outside."""
    picture = Tensor(np.zeros((6, 5), "float32"))
    weight = Tensor(np.ones((1, 1, 3, 3), "float32"))
    compilation = compile(picture.reshape(1, 1, 6, 5).conv2d(weight, padding=1))
    operations = {getattr(node, "op", "") for node in toposort([compilation.loops[0].body])}
    assert "add" in operations and not operations & {"idiv", "mod"}
