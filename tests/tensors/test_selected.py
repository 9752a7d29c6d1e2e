"""An element that one program selects from a tensor is found in it by the next program."""

import numpy as np
import pytest

from compiler import Device, Tensor
from compiler.tensors.variables import is_realized

RNG = np.random.default_rng(7)
BODIES = {
    "softmax": lambda x: x.softmax(-1),
    "softmax of rows": lambda x: x.softmax(0),
    "layernorm": lambda x: x.layernorm(-1),
    "deviation": lambda x: x - x.mean(-1, keepdim=True),
    "product": lambda x: x @ Tensor(np.cos(np.arange(x.shape[-1] * 5)).reshape(-1, 5)).float(),
    "cumsum": lambda x: x.cumsum(-1),
    "moved": lambda x: x.softmax(-1).T.flip(0) * 3 + 1,
    "loss": lambda x: x.square().sum(-1).sqrt(),
    "scatter": lambda x: Tensor.zeros(7, dtype="float32").index_add(
        0, Tensor(np.arange(x.shape[1]) % 7), x[0]),
}  # fmt: skip
SELECTIONS = {
    "max": lambda h: h.max(),
    "min": lambda h: h.min(),
    "of an axis": lambda h: h.max(-1, keepdim=True),
    "cummax": lambda h: h.flatten().cummax(0)[-1],
    "sort": lambda h: h.flatten().sort()[0],
    "topk": lambda h: h.flatten().topk(1)[0],
    "moved": lambda h: (h.unsqueeze(0).flip(-1)).max(),
    "negated": lambda h: -((-h).max()),
    "norm": lambda h: h.relu().norm(float("inf")),
    "both": lambda h: h.max().minimum(h.max()),
}  # fmt: skip
SHAPES = [(1, 10), (1, 33), (4, 4097)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("body", BODIES)
def test_what_was_selected_is_there(body: str, selection: str, shape: tuple[int, int]) -> None:
    h = BODIES[body](Tensor(RNG.standard_normal(shape).astype(np.float32)))
    least = SELECTIONS[selection](h)
    least.numpy()
    assert int((h == least).sum().item()) >= 1
    assert np.isin(least.numpy(), h.numpy()).all()


@pytest.mark.parametrize("body", BODIES)
def test_positions_are_those_of_the_values(body: str) -> None:
    h = BODIES[body](Tensor(RNG.standard_normal((3, 1001)).astype(np.float32)))
    where = h.argmax()
    place = int(where.item())
    assert h.flatten()[place].item() == h.max().item()


def test_a_tensor_that_is_alive_is_stored() -> None:
    h = Tensor(RNG.standard_normal((2, 9))).softmax(-1)
    inner = h * 2 + 1
    best = inner.exp().max()
    best.item()
    assert is_realized(h.node)
    assert is_realized(inner.node)


@pytest.mark.parametrize(
    "root",
    [
        pytest.param(lambda h: h.sum(), id="a sum"),
        pytest.param(lambda h: h.softmax(-1), id="a maximum inside of other arithmetic"),
        pytest.param(lambda h: h.relu() * 2, id="arithmetic"),
        pytest.param(lambda h: (h > 0).sum(), id="a comparison with a constant"),
        pytest.param(lambda h: h.max() * 2 + 1, id="arithmetic on what was selected"),
    ],
)
def test_other_programs_store_their_results_alone(root) -> None:  # type: ignore[no-untyped-def]
    h = Tensor(RNG.standard_normal((2, 9))).softmax(-1)
    root(h).numpy()
    assert not is_realized(h.node)


def test_what_depends_on_no_sum_is_computed_again() -> None:
    h = Tensor(RNG.standard_normal((2, 9))).exp() * 3 + 1
    best = h.max()
    best.item()
    assert not is_realized(h.node)
    assert int((h == best).sum().item()) == 1


def test_numbers_made_of_nothing_are_found_too() -> None:
    h = Tensor.arange(4097).float().sin().softmax(0)
    best = h.max()
    best.item()
    assert is_realized(h.node)
    assert int((h == best).sum().item()) >= 1


def test_gradients_go_through_both() -> None:
    x = Tensor(RNG.standard_normal((3, 50)).astype(np.float32)).requires_grad_()
    h = x.softmax(-1)
    best = h.max()
    best.item()
    (h == best).float().mul(h).sum().backward()
    slow = Tensor(x.numpy()).requires_grad_()
    slow.softmax(-1).max().backward()
    np.testing.assert_allclose(x.grad.numpy(), slow.grad.numpy(), rtol=1e-5, atol=1e-8)


def test_without_room_for_it_the_result_comes_alone() -> None:
    memory = Device.get("CPU").memory
    assert memory is not None
    x = RNG.standard_normal((1000, 1000)).astype(np.float32)
    h = Tensor(x).square() - Tensor(x).mean()
    memory.budget = memory.use.live + 1_000_000
    try:
        greatest = float(h.max().item())
    finally:
        memory.budget = None
    assert not is_realized(h.node)
    np.testing.assert_allclose(greatest, (x * x - x.mean()).max(), rtol=1e-6)
