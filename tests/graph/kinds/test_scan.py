"""Scans: edge cases on every engine, and their expansion into log2(n) steps."""

import numpy as np
import pytest

from compiler import Tensor, Variable, compile
from compiler.core.errors import InternalError
from compiler.core.node import toposort
from compiler.graph.builder import GraphBuilder
from compiler.graph.kinds.scan import Scan, running, stepped
from compiler.graph.nodes import TensorNode
from compiler.graph.verify import verify
from compiler.loops import nodes as loops
from tests.evaluate import assert_same, evaluate, every_engine

METHODS = {"sum": "cumsum", "prod": "cumprod", "max": "cummax", "min": "cummin"}
EDGES = np.array(
    [[-0.0, 1.5, np.nan, 2.0, -np.inf], [np.inf, -0.0, 0.0, -np.inf, 7.0],
     [-0.0, -0.0, -3.0, 1e30, 1e38]], np.float32,
)  # fmt: skip


@every_engine
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("op", METHODS)
def test_nan_infinity_and_zeros_with_a_sign(op: str, axis: int, engine: str) -> None:
    x = EDGES if op in ("sum", "prod") else EDGES + 0.0  # which zero is the less is left open
    with np.errstate(all="ignore"):
        expected = running(op, x, axis)
    assert_same(evaluate(getattr(Tensor(x), METHODS[op])(axis), engine), expected)


@every_engine
def test_integers_wrap(engine: str) -> None:
    x = np.array([2**62, 2**62, 2**62, -5, 7], np.int64)
    assert_same(evaluate(Tensor(x).cumsum(), engine), np.cumsum(x))
    assert_same(evaluate(Tensor(x).cumprod(), engine), np.cumprod(x))


@every_engine
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (1, 5), (5, 1), (2, 3, 33), (3, 33, 2)])
def test_shapes(shape: tuple[int, ...], engine: str) -> None:
    x = np.random.default_rng(3).integers(-9, 9, shape)
    for axis in range(len(shape)):
        assert_same(evaluate(Tensor(x).cumsum(axis), engine), x.cumsum(axis))


@every_engine
def test_what_is_around_a_scan(engine: str) -> None:
    x = np.random.default_rng(4).standard_normal((6, 20)).astype(np.float32)
    y = Tensor(x)
    got = evaluate((y.exp().T.cumsum(0) * 2.0).flip(0).sum(1), engine)
    assert_same(got, (np.exp(x).T.cumsum(0) * 2)[::-1].sum(1), rtol=1e-5)
    assert_same(evaluate(y.sum(1).cumsum(0), engine), x.sum(1).cumsum(), rtol=1e-4)
    assert_same(evaluate(Tensor.ones(3, 4).cumsum(1), engine), np.ones((3, 4)).cumsum(1))


@pytest.mark.parametrize("op", METHODS)
def test_steps_are_the_same(op: str) -> None:
    x = Tensor(np.random.default_rng(5).integers(-4, 5, (3, 21)))
    for axis in (0, 1):
        assert_same(evaluate(x._of(stepped(x.node, op, axis))), running(op, x.numpy(), axis))


def test_inside_a_kernel_of_the_users_it_is_steps() -> None:
    x = Tensor(np.arange(12.0).reshape(3, 4))
    made = Tensor.kernel("totals", lambda t: t.cumsum(1), x)
    np.testing.assert_array_equal(made.numpy(), x.numpy().cumsum(1))


def test_an_axis_whose_extent_is_a_variable() -> None:
    n = Variable("n", 1, 9)
    data = np.arange(14.0).reshape(7, 2)
    x = Tensor(data, symbolic={0: n})
    np.testing.assert_array_equal(x.cumsum(0).numpy(), data.cumsum(0))


def test_it_is_one_loop_that_keeps_its_total() -> None:
    made = compile(Tensor(np.ones((40, 1000), np.float32)).cumsum(1))
    (body,) = made.loops if isinstance(made.loops, tuple) else made.loops.values()
    order = toposort([body.body])
    (scan,) = {node.axis.name for node in order if isinstance(node, loops.Scan)}
    assert "scan sum(%" in str(body) and f"along {scan}" in str(body)


@pytest.mark.parametrize(("op", "axis"), [("sum", 2), ("sum", -1)])
def test_a_wrong_axis_is_refused(op: str, axis: int) -> None:
    node: TensorNode = Scan((Tensor(np.ones((2, 3))).node,), op, axis)
    with pytest.raises(InternalError, match="invariant 23: the axis is out of range"):
        verify(node)


def test_the_builder_makes_one() -> None:
    build = GraphBuilder()
    x = Tensor(np.arange(5.0))
    assert_same(evaluate(x._of(build.scan(x.node, "max", 0))), np.arange(5.0))
