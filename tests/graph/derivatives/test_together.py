"""Softmax and its logarithm: one rule for all their operations, and graphs that do not match."""

from collections.abc import Callable

import numpy as np
import pytest

from compiler import Tensor, compile
from compiler.graph.nodes import Elementwise
from tests.differences import assert_gradients

CASES: dict[str, Callable[[Tensor], Tensor]] = {
    "softmax": lambda x: x.softmax(-1) ** 2,
    "over columns": lambda x: x.softmax(0) * x,
    "over all": lambda x: x.softmax((0, 1)) ** 2,
    "log_softmax": lambda x: x.log_softmax(-1) * x.softmax(0),
    "log over all": lambda x: x.log_softmax((0, 1)) ** 2,
    "logsumexp": lambda x: x.logsumexp(1) * x[:, 0],
    "attention": lambda x: x.scaled_dot_product_attention(x * 2, x + 1, is_causal=True),
    "uncentred": lambda x: x.exp() / x.exp().sum(1, keepdim=True),
    "uncentred log": lambda x: x - x.exp().sum(1, keepdim=True).log(),
    "powers read elsewhere": lambda x: (e := (x - x.max(1, keepdim=True)).exp())
    / e.sum(1, keepdim=True) * e,
    "the sum of others": lambda x: x.exp() / (x * 2).exp().sum(1, keepdim=True),
    "centred at another": lambda x: (e := (x - (x * x).max(1, keepdim=True)).exp())
    / e.sum(1, keepdim=True) + e,
    "the greatest of others": lambda x: (x - (x * 3).max(1, keepdim=True)).log_softmax(1) ** 2,
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    x = np.random.default_rng(0).uniform(-1, 1, (3, 4))
    assert_gradients(CASES[name], x, rtol=1e-4)


@pytest.mark.parametrize("f", [Tensor.softmax, Tensor.log_softmax])
def test_the_greatest_takes_no_part(f: Callable[[Tensor], Tensor]) -> None:
    x = Tensor(np.ones((3, 4), "f"), requires_grad=True)
    compilation = compile(f(x).square().sum().gradient(x))
    names = [node.op for node in compilation.optimized if isinstance(node, Elementwise)]
    assert "eq" not in names and "where" not in names
    rules = {match.rule for record in compilation.passes[:1] for match in record.matches}
    assert f.__name__ in rules


def test_ties_and_what_is_masked() -> None:
    x = Tensor([[1.0, 1.0, -np.inf, 0.0]], requires_grad=True)
    w = Tensor([[1.0, 2.0, 3.0, 4.0]])
    slope = (x.softmax(1) * w).sum().gradient(x).numpy()[0]
    p = np.exp([0, 0, -np.inf, -1.0]) / (2 + np.exp(-1))
    np.testing.assert_allclose(slope, p * (w.numpy()[0] - (p * w.numpy()[0]).sum()), atol=1e-6)
    assert slope[2] == 0


def test_empty_and_of_one() -> None:
    for shape in ((2, 0), (0, 3), (3, 1), (1,)):
        x = Tensor(np.ones(shape), requires_grad=True)
        assert x.softmax(-1).sum().gradient(x).numpy().tolist() == np.zeros(shape).tolist()
