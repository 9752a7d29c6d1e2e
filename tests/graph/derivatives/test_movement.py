"""Derivatives of movement and concatenation, against central differences."""

from collections.abc import Callable

import numpy as np
import pytest

from compiler import GraphBuilder, Strided, Tensor, Variable, compile
from compiler.graph.kinds.placement import Multi
from tests.differences import assert_gradients

g = GraphBuilder()
CASES: dict[str, Callable[[Tensor], Tensor]] = {
    "reshape": lambda x: x.reshape(4, 3) ** 2,
    "permute": lambda x: x.T * x.reshape(4, 3),
    "expand": lambda x: x[:, :1].expand(3, 5) * Tensor(np.arange(15.0).reshape(3, 5)),
    "broadcast": lambda x: x[0] * x,
    "rank 0": lambda x: x[0, 0] * x,
    "pad": lambda x: x.pad([(1, 2), (0, 3)]) ** 2,
    "slices": lambda x: x[1:, ::2] * x[:2, 1::2],
    "backwards": lambda x: x[::-1, ::-2] ** 2,
    "flip": lambda x: x.flip(0) * x,
    "roll": lambda x: x.roll(1, 1) * x,
    "cat": lambda x: x.cat(x * x, x[:1], axis=0) ** 2,
    "stack": lambda x: x.stack(x * x, axis=1) ** 2,
    "many joined": lambda x: x.cat(*[x * n for n in range(20)], axis=1) ** 2,
    "as_strided": lambda x: x.as_strided((4, 3), (2, 1), 1) ** 2,
    "view twice": lambda x: Tensor._of(
        g.view(x.node, Strided((3, 4), (4, 1), 0, ((0, 2), (1, 3))), Strided((4, 2), (1, 8), 0))
    ) ** 2,
    "unfold": lambda x: x.unfold(1, 2) ** 2,
    "repeat": lambda x: x.tile((2, 1)) * x.repeat_interleave(2, 0),
    "diagonal": lambda x: x[:, :3].diagonal() ** 2,
    "triangle": lambda x: x.tril() * x.triu(),
    "empty": lambda x: x[:, 4:] * 2,
    "of one": lambda x: x[:1, :1] * x[1:2],
    "contiguous": lambda x: (x * 2).contiguous().exp(),
    "einsum": lambda x: Tensor.einsum("ij,kj->ik", x, x),
    "contract": lambda x: x @ x.T,
    "operands of one another": lambda x: Tensor._of(
        g.contract(x.node, (x * x).node, [(1, 1)])) * 2,
    "batched": lambda x: x.reshape(3, 2, 2) @ x.reshape(3, 2, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_movement(name: str) -> None:
    x = np.random.default_rng(0).uniform(-1, 1, (3, 4))
    assert_gradients(CASES[name], x, orders=1)


def test_of_nothing_and_of_one() -> None:
    for shape in ((0,), (2, 0), (1, 1), ()):
        x = Tensor(np.ones(shape))
        assert (x * x).sum().gradient(x).numpy().tolist() == np.full(shape, 2.0).tolist()


def test_axes_of_variable_extent() -> None:
    n = Variable("n", 1, 8)
    x = Tensor(np.arange(6.0).reshape(3, 2), symbolic={0: n})
    w = Tensor(np.array([[1.0, 2.0], [3.0, 4.0]]))
    loss = ((x @ w).tanh() * x).sum()
    slopes = loss.gradient(x, w)
    fixed = Tensor(np.arange(6.0).reshape(3, 2))
    expected = ((fixed @ w).tanh() * fixed).sum().gradient(fixed, w)
    for slope, wanted in zip(slopes, expected, strict=True):
        np.testing.assert_allclose(slope.numpy(), wanted.numpy(), rtol=1e-12)
    assert compile(slopes[1]).check()
    whole = Tensor(np.arange(16.0).reshape(8, 2))
    cut = whole[: n.bind(3)]
    result = (cut * cut).sum().gradient(whole).numpy()
    np.testing.assert_array_equal(result, np.where(np.arange(8)[:, None] < 3, 2 * whole.numpy(), 0))


def test_shards_and_copies() -> None:
    array = np.random.default_rng(0).uniform(-1, 1, (4, 3))
    devices = ["CPU", "CPU:1"]
    x = Tensor(array)
    moved = x.to("CPU:1").exp().to("CPU").sum()
    np.testing.assert_allclose(moved.gradient(x).numpy(), np.exp(array), rtol=1e-12)
    for axis in (0, None):
        cut = Tensor(array).shard(devices, axis)
        cut.requires_grad_()
        w = Tensor(np.ones((3, 2))).shard(devices).requires_grad_()
        (cut @ w).tanh().sum().backward()
        y = Tensor(array)
        v = Tensor(np.ones((3, 2)))
        expected = (y @ v).tanh().sum().gradient(y, v)
        assert cut.grad is not None and w.grad is not None
        assert isinstance(cut.node, Multi)
        np.testing.assert_allclose(cut.grad.numpy(), expected[0].numpy(), rtol=1e-12)
        np.testing.assert_allclose(w.grad.numpy(), expected[1].numpy(), rtol=1e-12)
    gradients = x.shard(devices, 0).exp().sum().gradient(x)
    np.testing.assert_allclose(gradients.numpy(), np.exp(array), rtol=1e-12)
