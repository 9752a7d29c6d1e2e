"""ATen's normalisations, on our tensors: PyTorch is not needed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor
from compiler.imported.torch import normalisations as aten
from compiler.imported.torch.call import Call

NODE: Any = None
CALL = Call(NODE, "native_layer_norm.default", "model.py:3")
DATA = np.random.default_rng(5).standard_normal((3, 4, 5))
ROWS: dict[str, Callable[[Tensor], Any]] = {
    "layer": lambda x: aten.native_layer_norm(CALL, x, (4, 5), None, None, 1e-5),
    "batch": lambda x: aten.no_statistics(CALL, x, None, None, 1e-5),
    "batch with statistics": lambda x: aten.with_statistics(
        CALL, x, None, None, Tensor(np.zeros(4)), Tensor(np.ones(4)), True, 0.1, 1e-5),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_no_gradient_goes_through_statistics(name: str) -> None:
    x = Tensor(DATA, requires_grad=True)
    first, *others = ROWS[name](x)
    assert first.requires_grad
    assert not any(each.requires_grad for each in others)
    (first * np.cos(DATA)).sum().backward()
    alone = x.grad.numpy()
    x.grad = None
    first, *others = ROWS[name](x)
    sum((each.sum() for each in others), (first * np.cos(DATA)).sum()).backward()
    np.testing.assert_array_equal(x.grad.numpy(), alone)


def test_statistics_of_groups_have_gradients() -> None:
    x = Tensor(DATA, requires_grad=True)
    made = aten.native_group_norm(CALL, x, None, None, 3, 4, 5, 2, 1e-5)
    assert all(each.requires_grad for each in made)
    made[1].sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.full(DATA.shape, 0.1), rtol=1e-12)


@pytest.mark.parametrize("is_functional", [False, True])
def test_a_batch_normalised_by_other_statistics_has_none(is_functional: bool) -> None:
    x, mean, variance = Tensor(DATA), Tensor(np.arange(4.0)), Tensor(np.arange(1.0, 5.0))
    if is_functional:
        made = aten.with_statistics(CALL, x, None, None, mean, variance, False, 0.1, 1e-5)
    else:
        made = aten.no_training(CALL, x, None, None, mean, variance, 1e-5)
    assert [each.shape for each in made[1:3]] == [(0,), (0,)]
    right = (DATA - np.arange(4.0)[:, None]) / np.sqrt(np.arange(1.0, 5.0)[:, None] + 1e-5)
    np.testing.assert_allclose(made[0].numpy(), right, rtol=1e-12)


def test_statistics_are_those_of_the_data() -> None:
    _, mean, inverse = ROWS["layer"](Tensor(DATA))
    flat = DATA.reshape(3, -1)
    np.testing.assert_allclose(mean.numpy().ravel(), flat.mean(1), rtol=1e-12)
    np.testing.assert_allclose(inverse.numpy().ravel(), (flat.var(1) + 1e-5) ** -0.5, rtol=1e-12)
