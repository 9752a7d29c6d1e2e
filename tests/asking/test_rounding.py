"""How far rounding may go: never less than what the engines do, far less than real errors."""

from typing import Any

import numpy as np
import pytest

from compiler import Tensor, compile
from compiler.asking.rounding import BOTH, ULPS, rounding
from compiler.bindings import graph_inputs
from compiler.check import differences
from compiler.graph.interpret import interpret

rng = np.random.default_rng(3)
EPS = float(np.finfo(np.float32).eps)


def random(*shape: int) -> Tensor:
    return Tensor(rng.standard_normal(shape).astype(np.float32))


def bounds(tensor: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The reference result of a program, and the bounds on its rounding."""
    made = compile(tensor)
    inputs = graph_inputs(made.written, {})
    found = rounding(made.written, inputs)
    assert found is not None
    return interpret(made.written.sources, inputs)[0], found[0]


PROGRAMS: dict[str, Any] = {
    "copies": lambda x: x.T.reshape(-1).flip(0),
    "softmax": lambda x: x.softmax(1),
    "matmul": lambda x: x @ x.T,
    "variance": lambda x: (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True) + 1e-5).sqrt(),
    "gelu": lambda x: x.gelu(),
    "sums of sums": lambda x: (x.cumsum(1) * 3.0).sum(),
    "product": lambda x: (x * 0.1 + 1.0).prod(1),
    "cancellation": lambda x: (x + 1000.0) - 1000.0,
    "positions": lambda x: x.argmax(1),
    "comparison": lambda x: (x.exp() > 1.0).where(x, -x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_machine_code_stays_within_bounds(name: str) -> None:
    tensor = PROGRAMS[name](random(48, 80))
    want, bound = bounds(tensor)
    (have,) = compile(tensor).run()
    assert not differences(want, have, bound).wrong.any()


def test_what_is_only_copied_may_not_differ_at_all() -> None:
    _, bound = bounds(random(4, 6).T.reshape(-1))
    assert not bound.any()


def test_one_operation_may_be_off_by_its_units() -> None:
    x = Tensor(np.array([1.0, 2.0, 4.0], np.float32))
    for word, made in {"exp": x.exp(), "sqrt": x.sqrt(), "add": x + x}.items():
        want, bound = bounds(made)
        expected = BOTH * ULPS[word] * EPS * np.abs(want)
        np.testing.assert_allclose(bound, expected, rtol=1e-5)


def test_a_difference_of_close_numbers_may_be_off_by_what_they_are() -> None:
    want, bound = bounds((random(100) + 1000.0) - 1000.0)
    assert np.all(bound >= 1000 * EPS) and np.all(bound <= 3000 * EPS)
    assert np.abs(want).max() < 10


def test_a_result_that_turns_on_a_comparison_may_be_either() -> None:
    x = Tensor(np.array([0.0, 1.0], np.float32))
    near = (x.exp() <= 1.0).where(Tensor(np.float32(5.0)), 7.0)
    want, bound = bounds(near)
    assert want.tolist() == [5.0, 7.0]
    assert bound[0] >= 2.0 and bound[1] < 1e-30


def test_real_errors_are_larger() -> None:
    x = random(64, 128)
    want, bound = bounds((x @ x.T).softmax(1))
    wrong = differences(want, want * np.float32(1.02), bound).wrong
    assert wrong[want > 0.5].all()
    assert not differences(want, np.nextafter(want, np.float32(2)), bound).wrong[want > 0.5].any()


def test_values_too_large_are_not_followed() -> None:
    made = compile(Tensor(np.ones((1, 1), np.float32)).expand(4096, 4096).sum())
    assert rounding(made.written, graph_inputs(made.written, {})) is None
