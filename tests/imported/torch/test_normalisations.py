"""Normalisations as ATen has them, of tensors alone: PyTorch is not needed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor
from compiler.imported.torch import normalisations as aten
from compiler.imported.torch.call import Call

CALL = Call(None, "native_layer_norm.default", "model.py:3")
DATA = np.random.default_rng(5).standard_normal((3, 4, 5))
ROWS: dict[str, Callable[[Tensor], Any]] = {
    "layer": lambda x: aten.native_layer_norm(CALL, x, (4, 5), None, None, 1e-5),
    "group": lambda x: aten.native_group_norm(CALL, x, None, None, 3, 4, 5, 2, 1e-5),
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


def test_statistics_are_those_of_the_data() -> None:
    _, mean, inverse = ROWS["layer"](Tensor(DATA))
    flat = DATA.reshape(3, -1)
    np.testing.assert_allclose(mean.numpy().ravel(), flat.mean(1), rtol=1e-12)
    np.testing.assert_allclose(inverse.numpy().ravel(), (flat.var(1) + 1e-5) ** -0.5, rtol=1e-12)
