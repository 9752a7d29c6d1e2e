"""How far rounding may go: never less than what the engines do, far less than real errors."""

from typing import Any

import numpy as np
import pytest

from compiler import Options, Tensor, compile, repeat
from compiler.ask import checking
from compiler.ask.checking import Expected, differences
from compiler.ask.rounding import BOTH, rounding
from compiler.graph.interpret import interpret
from compiler.ops.table import OPS
from compiler.run.bindings import graph_inputs

rng = np.random.default_rng(3)
EPS = float(np.finfo(np.float32).eps)


def random(*shape: int) -> Tensor:
    return Tensor(rng.standard_normal(shape).astype(np.float32))


def bounds(tensor: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The reference result of a program, and the bounds on its rounding."""
    made = compile(tensor)
    inputs = graph_inputs(made.written, {})
    found = rounding(made.written, inputs)
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


def _mixed(x: Tensor) -> Any:
    """Iterations that compute in another type than their state."""
    first = Tensor(np.zeros(48))
    return repeat(20, lambda i, h: (x[i] @ x.T * 0.01 + h * 0.5).tanh().cast("float64"), first)


PROGRAMS["iterations in two types"] = _mixed


@pytest.mark.parametrize("name", PROGRAMS)
def test_machine_code_stays_within_bounds(name: str) -> None:
    tensor = PROGRAMS[name](random(48, 80))
    want, bound = bounds(tensor)
    (have,) = compile(tensor).run()
    assert not differences(want, have, bound).wrong.any()


@pytest.mark.parametrize(("have", "words"), [
    (np.ones((2, 3)), "float64(2, 3)"), (np.ones((3, 2), np.float32), "float32(3, 2)"),
    (np.ones((1, 3), np.float32), "float32(1, 3)"),
])  # fmt: skip
def test_results_of_another_type_or_shape_are_wrong(have: np.ndarray, words: str) -> None:
    expected = Expected([np.ones((2, 3), np.float32)], [np.zeros((2, 3))])
    row = checking._compare("asm", expected, [have])
    assert row.ok is False and row.note == words
    assert checking._compare("asm", expected, expected.results).ok


def test_what_is_only_copied_may_not_differ_at_all() -> None:
    _, bound = bounds(random(4, 6).T.reshape(-1))
    assert not bound.any()


def test_one_operation_may_be_off_by_its_units() -> None:
    x = Tensor(np.array([1.0, 2.0, 4.0], np.float32))
    for word, made in {"exp": x.exp(), "sqrt": x.sqrt(), "add": x + x}.items():
        want, bound = bounds(made)
        expected = BOTH * OPS[word].rounding * np.spacing(want)
        np.testing.assert_allclose(bound, expected, rtol=1e-5)


def test_a_difference_of_close_numbers_may_be_off_by_what_they_are() -> None:
    want, bound = bounds((random(100) + 1000.0) - 1000.0)
    assert np.all(bound >= np.spacing(np.float32(1000))) and np.all(bound <= 1001 * EPS)
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


LINKS: tuple[Any, ...] = (
    lambda x, c: x * c, lambda x, c: x + c, lambda x, c: x / (c + 0.5), lambda x, c: c - x,
    lambda x, c: (x * x + c).sqrt(), lambda x, c: (x * 0.25).exp(), lambda x, c: x.sin(),
    lambda x, c: (x.abs() + c).log(), lambda x, c: x.maximum(c * 0.5), lambda x, c: x.tanh() + c,
)  # fmt: skip


def chained(seed: int, length: int = 20) -> Tensor:
    """So many operations drawn at random, one on the result of the other."""
    source = np.random.default_rng(seed)
    value, other = (Tensor(source.uniform(0.5, 1.5, 64).astype(np.float32)) for _ in range(2))
    for link in source.integers(len(LINKS), size=length):
        value = LINKS[link](value, other)
    return value


@pytest.mark.parametrize("seed", range(12))
def test_chains_stay_within_bounds_and_a_small_error_is_found(seed: int) -> None:
    tensor = chained(seed)
    want, bound = bounds(tensor)
    (have,) = compile(tensor).run()
    assert not differences(want, have, bound).wrong.any()
    usual = np.abs(want) > 0.01
    assert differences(want, want * np.float32(1 + 1e-4), bound).wrong[usual].all()


ORDERED: dict[str, Any] = {
    "all equal": np.full(50_000, 0.1, np.float32),
    "few different": np.resize(np.array([0.1, 0.7, 0.0], np.float32), 50_000),
    "rising through zero": np.linspace(-2, 2, 50_000, dtype=np.float32),
    "a sine": np.sin(np.linspace(0, 6.2831853, 50_000)).astype(np.float32),
    "small after large": np.float32(1) / np.arange(1, 50_000, dtype=np.float32),
}


@pytest.mark.parametrize("loops", ["plain", "auto"])
@pytest.mark.parametrize("name", ORDERED)
def test_sums_in_the_worst_of_orders_are_within_bounds(name: str, loops: Any) -> None:
    values = ORDERED[name]
    want, bound = bounds(Tensor(values).sum())
    (have,) = compile(Tensor(values).sum(), Options(loops=loops)).run()
    in_order = np.cumsum(values, dtype=np.float32)[-1]
    for found in (have, in_order, np.cumsum(values[::-1], dtype=np.float32)[-1]):
        assert not differences(want, np.asarray(found), bound).wrong.any()


def test_sums_of_many_different_numbers_have_the_bounds_of_chance() -> None:
    want, bound = bounds(random(1000, 1000).abs().sum(1))
    assert np.all(bound < 1e-5 * want)


def test_what_is_not_a_number_has_to_be_none_on_both_sides() -> None:
    x = Tensor(np.array([-1.0, 2.0], np.float32))
    want, bound = bounds(x.log())
    assert np.isnan(want[0])
    assert differences(want, np.array([3.0, want[1]], np.float32), bound).wrong.tolist() == [
        True, False]  # fmt: skip


def test_what_is_gathered_is_only_copied() -> None:
    x, where = random(40), Tensor(np.array([3, 1, 39, 0]))
    assert not bounds(x[where])[1].any()
    want, bound = bounds(x.exp()[where])
    np.testing.assert_allclose(bound, BOTH * OPS["exp"].rounding * np.spacing(want), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_other_types_have_units_of_their_own(dtype: Any) -> None:
    x = Tensor(rng.standard_normal((24, 40)).astype(dtype))
    tensor = ((x * 0.5 + 1.0) / 3.0 - x).tanh().sum(1) * 0.1
    want, bound = bounds(tensor)
    (have,) = compile(tensor).run()
    assert not differences(want, have, bound).wrong.any()
    eps = float(np.finfo(dtype).eps)
    assert np.all(bound < 100 * eps * (1 + np.abs(want)))


def test_large_values_are_followed_as_well() -> None:
    want, bound = bounds(Tensor(np.ones((1, 1), np.float32)).expand(4096, 4096).exp().sum(1))
    assert want.shape == (4096,) and np.all(bound < 1e-3 * want)
