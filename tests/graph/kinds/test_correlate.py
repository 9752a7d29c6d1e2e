"""Correlations and both of their derivatives, which are correlations again, against NumPy's sums
tap by tap, against differences, and against what windows give."""

import itertools
import math
from typing import Any
from unittest import mock

import numpy as np
import pytest

import compiler
from compiler import Tensor, Variable
from compiler.core import dtypes
from compiler.core.node import toposort
from compiler.graph.differentiate import differentiated
from compiler.graph.kinds import correlate
from compiler.graph.kinds.correlate import LEAST_WORK, MOST_PHASES, Correlate, Spread
from compiler.graph.nodes import Buffer, TensorNode
from tests.differences import assert_gradients, values
from tests.evaluate import ENGINES, assert_same, every_engine

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(6)


def changes(x: Array, w: Array, g: Array, borders: Any, steps: Any, gaps: Any, groups: int) -> Any:
    """The gradients of a convolution by its image and weights, tap by tap, in float64."""
    axes = range(x.ndim - 2)
    wide = np.pad(x.astype("f8"), [(0, 0), (0, 0), *borders])
    by_image, by_weights = np.zeros_like(wide), np.zeros(w.shape)
    for tap in itertools.product(*map(range, w.shape[2:])):
        along = tuple(
            slice(tap[a] * gaps[a], tap[a] * gaps[a] + (g.shape[2 + a] - 1) * steps[a] + 1,
                  steps[a]) for a in axes
        )  # fmt: skip
        for group in range(groups):
            o = slice(group * len(w) // groups, (group + 1) * len(w) // groups)
            c = slice(group * w.shape[1], (group + 1) * w.shape[1])
            part, weight = (slice(None), c, *along), (o, slice(None), *tap)
            by_image[part] += np.einsum("no...,oc->nc...", g[:, o], w[weight])
            n = len(x), -1
            flat = g[:, o].reshape(n[0], len(w) // groups, -1), wide[part].reshape(n[0], w.shape[1],
                                                                                  -1)
            by_weights[weight] += np.einsum("not,nct->oc", *flat)
    inside = tuple(slice(a, a + n) for n, (a, _) in zip(x.shape[2:], borders, strict=True))
    return by_image[(slice(None), slice(None), *inside)], by_weights


BOTH = (Correlate, Spread)
Case = tuple[tuple[int, ...], tuple[int, ...], Any, Any, Any, int]
CASES: dict[str, Case] = {
    "1d": ((2, 4, 9), (6, 4, 3), ((1, 1),), (1,), (1,), 1),
    "1d step": ((2, 4, 9), (6, 4, 3), ((1, 0),), (2,), (1,), 1),
    "1d step and gap": ((2, 2, 17), (2, 2, 4), ((3, 2),), (4,), (2,), 1),
    "1d step and gap apart": ((1, 2, 17), (2, 2, 4), ((0, 2),), (2,), (3,), 1),
    "2d": ((2, 3, 6, 7), (4, 3, 3, 2), ((1, 1), (0, 1)), (1, 1), (1, 1), 1),
    "2d steps": ((2, 3, 7, 8), (4, 3, 3, 4), ((1, 1), (2, 0)), (2, 3), (1, 1), 1),
    "2d one step": ((2, 3, 6, 7), (4, 3, 3, 3), ((1, 1), (1, 1)), (1, 2), (2, 1), 1),
    "groups": ((2, 4, 6, 7), (6, 2, 3, 3), ((1, 1), (1, 1)), (1, 1), (1, 1), 2),
    "groups, steps": ((2, 4, 6, 7), (6, 2, 3, 3), ((1, 1), (1, 1)), (2, 2), (1, 1), 2),
    "each channel": ((1, 4, 6, 7), (4, 1, 3, 3), ((1, 1), (1, 1)), (1, 1), (1, 1), 4),
    "each channel, steps": ((1, 4, 7, 7), (4, 1, 3, 3), ((1, 1), (1, 1)), (2, 2), (1, 1), 4),
    "one for many": ((2, 1, 6, 7), (5, 1, 3, 3), ((1, 1), (1, 1)), (1, 1), (1, 1), 1),
    "1 × 1": ((2, 3, 5, 4), (4, 3, 1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1), 1),
    "1 × 1, step": ((2, 3, 5, 4), (4, 3, 1, 1), ((0, 0), (0, 0)), (2, 2), (1, 1), 1),
    "side by side": ((2, 3, 7, 8), (4, 3, 2, 3), ((0, 0), (0, 0)), (2, 3), (1, 1), 1),
    "many side by side": ((1, 2, 7, 8), (3, 2, 3, 2), ((0, 0), (0, 0)), (3, 3), (1, 1), 1),
    "no weight for some": ((1, 2, 9, 9), (2, 2, 2, 2), ((0, 0), (0, 0)), (1, 3), (1, 3), 1),
    "a border larger than windows": ((1, 2, 3, 2), (2, 2, 2, 2), ((3, 4), (4, 0)), (1, 2),
                                     (1, 1), 1),
    "windows behind the image": ((1, 2, 1), (2, 2, 3), ((3, 0),), (2,), (1,), 1),
    "one element": ((1, 1, 1, 1), (1, 1, 1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1), 1),
    "one line": ((1, 2, 1, 5), (2, 2, 1, 3), ((0, 0), (1, 1)), (1, 1), (1, 1), 1),
    "3d": ((1, 2, 4, 3, 5), (3, 2, 2, 3, 2), ((1, 0), (1, 1), (0, 1)), (1, 1, 1), (1, 1, 1), 1),
    "3d steps": ((1, 2, 4, 5, 5), (2, 2, 2, 3, 3), ((1, 0), (1, 1), (0, 1)), (1, 2, 2),
                 (1, 1, 1), 1),
}  # fmt: skip
SMALL: dict[str, Case] = {
    "step": ((1, 2, 6), (2, 2, 3), ((1, 0),), (2,), (1,), 1),
    "step and gap": ((1, 1, 9), (2, 1, 3), ((3, 2),), (4,), (2,), 1),
    "one step": ((1, 2, 3, 5), (2, 2, 2, 3), ((1, 1), (1, 1)), (1, 2), (2, 1), 1),
    "groups, steps": ((1, 4, 4), (4, 2, 3), ((1, 1),), (2,), (1,), 2),
    "each channel": ((1, 2, 3, 3), (2, 1, 2, 2), ((1, 1), (1, 0)), (1, 1), (1, 1), 2),
    "one line": ((1, 2, 1, 5), (2, 2, 1, 3), ((0, 0), (1, 1)), (1, 1), (1, 1), 1),
    "a border larger than windows": ((1, 1, 3, 2), (2, 1, 2, 2), ((3, 2), (2, 0)), (1, 2),
                                     (1, 1), 1),
    "windows behind the image": CASES["windows behind the image"],
    "1 × 1, step": ((1, 2, 3, 3), (2, 2, 1, 1), ((0, 0), (0, 0)), (2, 2), (1, 1), 1),
}  # fmt: skip


def made(shape: tuple[int, ...], dtype: str = "f8") -> Array:
    return RNG.standard_normal(shape).astype(dtype)


def convolved(x: Tensor, w: Tensor, case: Case) -> Tensor:
    _, _, borders, steps, gaps, groups = case
    result: Tensor = getattr(x, f"conv{x.ndim - 2}d")(w, None, steps, borders, gaps, groups)
    return result


@pytest.mark.parametrize(("dtype", "least"), [("f4", 0), ("f8", LEAST_WORK)],
                         ids=["in phases", "zeros between"])  # fmt: skip
@every_engine
def test_derivatives(engine: str, dtype: str, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(correlate, "LEAST_WORK", least)
    slopes: list[TensorNode] = []
    expected: list[tuple[str, Array]] = []
    for name, case in CASES.items():
        if not least and max(case[3]) == 1:
            continue  # without steps there are no phases
        x, w = made(case[0], dtype), made(case[1], dtype)
        inputs = Tensor(x), Tensor(w)
        y = convolved(*inputs, case)
        g = made(y.shape, dtype)
        slopes += [each.node for each in y.gradient(*inputs, gradient=Tensor(g))]
        expected += [(name, each.astype(dtype)) for each in changes(x, w, g, *case[2:])]
    for got, (name, right) in zip(ENGINES[engine](slopes), expected, strict=True):
        assert_same(got, right, name, rtol=2e-4 if dtype == "f4" else 1e-9)


@pytest.mark.parametrize("name", SMALL)
def test_two_orders_are_what_differences_say(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(correlate, "LEAST_WORK", 0)
    case = SMALL[name]
    x, w = made(case[0]), made(case[1])
    assert_gradients(lambda a, b: convolved(a, b, case), x, w, rtol=1e-4)


@pytest.mark.parametrize("name", ["1d", "2d steps", "groups, steps", "3d steps"])
def test_third_derivatives_are_those_by_windows(name: str) -> None:
    """A derivative of a derivative is made of correlations, whose borders may cut."""
    case = CASES[name]
    x, w = made(case[0]), made(case[1])

    def thrice() -> list[Array]:
        a, b = Tensor(x), Tensor(w)
        total = (convolved(a, b, case) ** 3).sum()
        for _ in range(2):
            total = sum((slope**2).sum() for slope in total.gradient(a, b))
        return values(*total.gradient(a, b))

    got = thrice()
    with mock.patch.object(Correlate, "has_derivative", False):
        for one, right in zip(got, thrice(), strict=True):
            np.testing.assert_allclose(one, right, rtol=1e-8, atol=1e-8 * np.abs(right).max())


def correlation(case: Case) -> Correlate:
    x, w = (Buffer((), i, case[i], dtypes.float32, "xw"[i]) for i in (0, 1))
    return Correlate((x, w), *case[2:])


def test_windows_stay_where_they_are_as_good() -> None:
    left = {name for name, case in CASES.items() if not correlation(case).has_derivative}
    assert left == {"one for many", "many side by side"}
    step = MOST_PHASES + 1
    assert not correlation(((1, 2, 3 * step), (2, 2, step + 1), ((0, 0),), (step,), (1,), 1)
                           ).has_derivative  # fmt: skip
    assert not correlation(((0, 2, 4), (2, 2, 3), *CASES["1d"][2:])).has_derivative


def slopes_of(case: Case) -> list[TensorNode]:
    x, w = Tensor(made(case[0], "f4")), Tensor(made(case[1], "f4"))
    return differentiated([each.node for each in convolved(x, w, case).gradient(
        x, w, gradient=Tensor.ones(*correlation(case).shape))])  # fmt: skip


def test_a_derivative_is_one_node_of_the_other_kind() -> None:
    by_image, by_weights = slopes_of(CASES["2d steps"])
    assert [type(n) for n in toposort([by_image]) if isinstance(n, BOTH)] == [Spread]
    assert [type(n) for n in toposort([by_weights]) if isinstance(n, BOTH)] == [Correlate]


@pytest.mark.parametrize(("steps", "count"), [((1, 1), 1), ((1, 2), 2), ((3, 2), 6), ((4, 5), 1)])
def test_a_correlation_for_each_remainder_where_there_is_work(
    steps: tuple[int, int], count: int
) -> None:
    few = math.prod(steps) <= MOST_PHASES
    y = Buffer((), 0, (8, 64, 40, 40), dtypes.float32, "y")
    w = Buffer((), 1, (64, 32, 5, 5), dtypes.float32, "w")
    image = tuple(39 * step + 5 for step in steps)
    node = Spread((y, w), ((0, 0),) * 2, steps, (1, 1), 1, image)
    found = [n for n in toposort([node.expansion()]) if isinstance(n, Correlate)]
    assert len(found) == (count if few else 1)


def test_little_work_is_one_correlation_with_zeros_between() -> None:
    by_image, _ = slopes_of(CASES["2d steps"])
    (spread,) = (n for n in toposort([by_image]) if isinstance(n, Spread))
    assert math.prod(spread.shape) * 4 * 12 < LEAST_WORK
    found = [n for n in toposort([spread.expansion()]) if isinstance(n, Correlate)]
    assert len(found) == 1 and found[0].steps == (1, 1)


def test_no_windows_are_in_memory() -> None:
    """The change of the image takes little more than the result's change and itself."""
    x, w = Tensor(made((4, 8, 32, 32), "f4")), Tensor(made((8, 8, 3, 3), "f4"))
    y = x.conv2d(w, padding=1)
    slope = compiler.compile(y.gradient(x, gradient=Tensor.ones(*y.shape)))
    assert slope.schedule.peak_bytes < 2.5 * 4 * x.size
    assert slope.check().ok


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_summed_in_float32(dtype: str) -> None:
    x, w = Tensor(np.full((1, 64, 4), 3.0), dtype=dtype), Tensor(np.full((64, 64, 3), 5.0),
                                                                 dtype=dtype)  # fmt: skip
    y = x.conv1d(w)
    by_image, by_weights = y.gradient(x, w, gradient=Tensor.ones(*y.shape, dtype=dtype))
    assert by_image.dtype == by_weights.dtype == dtype
    assert by_image.cast("float32").numpy()[0, 0].tolist() == [320, 640, 640, 320]
    assert (by_weights.cast("float32").numpy() == 6).all()


@pytest.mark.parametrize("shapes", [
    ((0, 2, 5), (3, 2, 3)), ((2, 0, 5), (3, 0, 3)), ((2, 2, 5), (0, 2, 3)), ((2, 2, 0), (3, 2, 1)),
])  # fmt: skip
def test_nothing(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x, w = (Tensor(np.ones(shape)) for shape in shapes)
    slopes = x.conv1d(w, padding=1).sum().gradient(x, w)
    for slope, shape in zip(slopes, shapes, strict=True):
        assert slope.numpy().tolist() == values(slope)[0].tolist()
        assert slope.shape == shape


def test_batches_of_any_size() -> None:
    n = Variable("n", 1, 6)
    x, w = made((3, 2, 5, 5)), made((4, 2, 3, 3))
    any_size = Tensor(x, symbolic={0: n})
    weight = Tensor(w)
    slopes = (any_size.conv2d(weight, padding=1) ** 2).sum().gradient(any_size, weight)
    fixed = Tensor(x)
    right = (fixed.conv2d(weight, padding=1) ** 2).sum().gradient(fixed, weight)
    for slope, expected in zip(slopes, right, strict=True):
        np.testing.assert_allclose(slope.numpy(), expected.numpy(), rtol=1e-10)


def test_a_border_may_cut() -> None:
    x, w = made((2, 3, 9)), made((4, 3, 2))
    node = Correlate((Tensor(x).node, Tensor(w).node), ((-2, -3),), (1,), (1,))
    right = Tensor(x[..., 2:6]).conv1d(Tensor(w))
    np.testing.assert_allclose(Tensor.from_node(node).numpy(), right.numpy())
    past = Correlate((Tensor(x).node, Tensor(w).node), ((-11, 5),), (1,), (1,))
    assert Tensor.from_node(past).numpy().tolist() == values(Tensor.from_node(past))[0].tolist()
    assert not Tensor.from_node(past).numpy().any()
