"""`backward`, `grad`, `requires_grad` and `no_grad`, as users of PyTorch know them."""

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DTypeError, GradientError, ShapeError, Tensor
from compiler.tensors.history import LEAVES


def test_a_line_is_fitted() -> None:
    generator = np.random.default_rng(0)
    inputs = generator.standard_normal((32, 3)).astype("float32")
    wanted = inputs @ np.array([[1.0], [-2.0], [0.5]], "float32") + 0.25
    w = Tensor(np.zeros((3, 1), "float32"), requires_grad=True)
    b = Tensor(np.zeros(1, "float32"), requires_grad=True)
    before = compiler.cache_info().schedules.misses
    for _ in range(60):
        loss = ((Tensor(inputs) @ w + b - Tensor(wanted)) ** 2).mean()
        w.grad = b.grad = None
        loss.backward()
        with compiler.no_grad():
            w.assign(w - 0.2 * w.grad)
            b.assign(b - 0.2 * b.grad)
        w.realize(b)
    np.testing.assert_allclose(w.numpy()[:, 0], [1, -2, 0.5], atol=1e-4)
    np.testing.assert_allclose(b.numpy(), [0.25], atol=1e-4)
    assert compiler.cache_info().schedules.misses - before <= 2


def test_gradients_add_up() -> None:
    x = Tensor(np.array([1.0, 2.0]), requires_grad=True)
    assert x.grad is None and x.requires_grad and x.is_leaf
    (x * x).sum().backward()
    (x * 3).sum().backward()
    assert x.grad is not None and x.grad.numpy().tolist() == [5, 7]
    assert not x.grad.requires_grad
    x.grad = None
    (x * x * x).sum().backward(create_graph=True)
    assert x.grad is not None and x.grad.requires_grad


def test_values_may_be_looked_at_on_the_way() -> None:
    x = Tensor(np.array([1.0, 2.0]), requires_grad=True)
    h = (x * x).exp()
    h.numpy()
    loss = h.log().sum()
    assert loss.item() == 5.0
    assert h.requires_grad and loss.requires_grad and not h.is_leaf
    del h
    gc.collect()
    loss.backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), [2, 4], rtol=1e-12)


def test_a_long_chain_of_computed_values() -> None:
    x = Tensor(np.array([1.0]), requires_grad=True)
    y = x
    for _ in range(300):
        y = (y * 1.01).realize()
    y.sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), [1.01**300], rtol=1e-9)


def test_written_since() -> None:
    x = Tensor(np.array([1.0, 2.0]), requires_grad=True)
    loss = (x * x).sum()
    loss.numpy()
    with compiler.no_grad():
        x.assign(x * 2)
    x.realize()
    with pytest.raises(GradientError, match="was overwritten"):
        loss.backward()
    (x * x).sum().backward()
    assert x.grad is not None and x.grad.numpy().tolist() == [4, 8]


def test_twice_through_one_graph() -> None:
    x = Tensor(np.array([3.0]), requires_grad=True)
    y = (x * x).sum()
    y.backward()
    y.backward()
    assert x.grad is not None and x.grad.item() == 12


def test_no_grad() -> None:
    x = Tensor(np.array([2.0]), requires_grad=True)
    with compiler.no_grad():
        assert not compiler.is_grad_enabled()
        y = x * x
        parts = (x * x).split(1)
    assert compiler.is_grad_enabled()
    assert not y.requires_grad and not parts[0].requires_grad
    (y * x).sum().backward()
    assert x.grad is not None and x.grad.item() == 4

    @compiler.no_grad()
    def frozen(t: Tensor) -> Tensor:
        return t * t

    assert not frozen(x).requires_grad and (x * 1).requires_grad
    assert x.detach().requires_grad is False


def test_a_leaf_has_memory_of_its_own() -> None:
    a, b = Tensor.zeros(3).requires_grad_(), Tensor.zeros(3).requires_grad_()
    (a + 2 * b).sum().backward()
    assert a.grad is not None and b.grad is not None
    assert a.grad.numpy().tolist() == [1, 1, 1] and b.grad.numpy().tolist() == [2, 2, 2]
    c = Tensor(a)
    c.requires_grad_()
    (a * 2).sum().backward()
    assert c.grad is None or c is a


def test_kept_gradients_of_what_was_computed() -> None:
    x = Tensor(np.array([2.0]), requires_grad=True)
    h = (x * x).retain_grad()
    (h * 3).sum().backward()
    assert h.grad is not None and h.grad.item() == 3
    assert x.grad is not None and x.grad.item() == 12


def test_nothing_is_kept_alive() -> None:
    before = len(LEAVES)
    x = Tensor(np.array([2.0]), requires_grad=True)
    (x * x).sum().backward()
    assert len(LEAVES) == before + 1
    del x
    gc.collect()
    assert len(LEAVES) == before


REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "integers": (lambda: Tensor([1, 2]).requires_grad_(), DTypeError, "gradients are of floats"),
    "not one element": (lambda: Tensor(np.ones(2), requires_grad=True).backward(), GradientError,
                        "only one element"),
    "no history": (lambda: Tensor(np.ones(1)).backward(), GradientError,
                   "was not computed from one that requires gradients"),
    "another shape": (lambda: Tensor(np.ones(2), requires_grad=True).backward(Tensor([1.0])),
                      ShapeError, "another shape than its tensor"),
    "no tensor": (lambda: Tensor(np.ones(1)).sum().gradient(3), GradientError, "of tensors"),
    "integers on the way": (lambda: Tensor([3]).sum().gradient(Tensor([1.0])), DTypeError,
                            "gradients are of floats"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        call()


def test_a_gradient_that_is_set_has_the_shape_and_type_of_its_tensor() -> None:
    x = Tensor(np.ones(2), requires_grad=True)
    with pytest.raises(ShapeError, match="has the shape and type of its tensor"):
        x.grad = Tensor(np.ones(3))
    x.grad = Tensor(np.ones(2))
    x.sum().backward()
    assert x.grad.numpy().tolist() == [2, 2]
    y = Tensor(np.ones((2, 2)), requires_grad=True)
    y.backward(Tensor(np.array([[1.0, 2.0], [3.0, 4.0]])))
    assert y.grad is not None and y.grad.numpy().tolist() == [[1, 2], [3, 4]]


def test_a_result_that_was_computed_has_a_gradient() -> None:
    x = Tensor(np.array([1.0, 2.0]))
    y = (x * x).sum()
    assert y.item() == 5.0
    assert y.gradient(x).numpy().tolist() == [2, 4]
    h = (x * x).realize()
    with pytest.raises(GradientError, match="input 0"):
        h.sum().gradient(x)


LOOKED_AT: dict[str, tuple[Any, list[float]]] = {
    "detached": (lambda w: w.detach(), [1, 2]),
    "detached of another shape": (lambda w: w.reshape(1, 2).detach().reshape(2), [1, 2]),
    "detached of what was computed": (lambda w: (w * 1).detach(), [1, 2]),
    "the same": (lambda w: w.reshape(2), [2, 4]),
    "the same in another shape": (lambda w: w.reshape(2, 1)[:, 0], [2, 4]),
}


@pytest.mark.parametrize("name", LOOKED_AT)
def test_one_memory_with_two_histories(name: str) -> None:
    """The node in the memory of a tensor may have another history than the tensor."""
    other, wanted = LOOKED_AT[name]
    w = Tensor(np.array([1.0, 2.0]), requires_grad=True)
    d = other(w)
    assert d.numpy().tolist() == [1, 2]
    (d * w).sum().backward()
    assert w.grad is not None and w.grad.numpy().tolist() == wanted
    w.assign(w.detach() * 3)
    assert d.numpy().tolist() == [1, 2] and w.numpy().tolist() == [3, 6]
    d.assign(np.array([5.0, 5.0]))
    assert d.numpy().tolist() == [5, 5] and w.numpy().tolist() == [3, 6]
    assert compiler.jit(lambda x: x * 2)(w.detach()).numpy().tolist() == [6, 12]


def test_no_grad_around_a_view() -> None:
    w = Tensor(np.array([1.0, 2.0]), requires_grad=True)
    with compiler.no_grad():
        d = w.reshape(2)
    d.numpy()
    (d * w).sum().backward()
    assert w.grad is not None and w.grad.numpy().tolist() == [1, 2]


def test_an_argument_that_is_looked_at_under_another_name() -> None:
    def f(x: Tensor) -> Tensor:
        y = x.reshape(2)
        y.numpy()
        return (y * y).sum()

    x = np.array([1.0, 2.0])
    assert compiler.grad(f)(x).numpy().tolist() == [2, 4]
    y, pull = compiler.vjp(lambda x: x.sum(), Tensor(2.0))
    y.numpy()
    assert pull(3.0)[0].item() == 3


def test_gradients_stop_where_it_says() -> None:
    """Detached tensors have no gradient; one that leads only to them is refused."""
    w = Tensor(np.array([1.0, 2.0]), requires_grad=True)
    with pytest.raises(GradientError, match=r"(?s)integers: detach at .*test_gradients.py"):
        (w.detach() * 2).sum().backward()
    with pytest.raises(GradientError, match="integers: cast at"):
        w.cast("int64").cast("float64").sum().backward()
    with compiler.no_grad():
        y = w.sum()
    with pytest.raises(GradientError, match="was not computed from one that requires"):
        y.backward()
    v = Tensor(np.array([1.0, 2.0]), requires_grad=True)
    (w.detach() * v).sum().backward()
    assert w.grad is None and v.grad is not None
    assert not w.detach().requires_grad


def test_written_before_anything_was_computed() -> None:
    w, v = (Tensor(np.array([1.0, 2.0]), requires_grad=True) for _ in range(2))
    y, z = (w * v).sum(), (w.detach() * v).sum()
    w.assign(w.detach() + 1)
    z.backward()
    for _ in range(2):
        with pytest.raises(GradientError, match=r"(?s)was overwritten.*test_gradients.py"):
            y.backward()
        w.realize()
    assert v.grad is not None and v.grad.numpy().tolist() == [1, 2] and w.grad is None
    y = (w * v).sum()
    y.backward()
    assert w.grad is not None and w.grad.numpy().tolist() == [1, 2]


def test_a_function_without_a_derivative() -> None:
    x = Tensor(np.array([1.0]), requires_grad=True)
    y = x.bitcast("int64").bitcast("float64") * x
    y.sum().backward()  # its bits are integers: no gradient goes there
    assert x.grad is not None and x.grad.numpy().tolist() == [1]


def test_learning_step_by_step_with_losses_looked_at() -> None:
    """The computation of a pending assignment has the history of the new value."""
    w = Tensor(np.array([1.0, 2.0]), requires_grad=True)
    losses = []
    for _ in range(4):
        loss = (w * w).sum()
        losses.append(loss.item())
        w.grad = None
        loss.backward()
        assert w.grad is not None
        w.assign(w - 0.25 * w.grad)
    assert losses == [5, 1.25, 0.3125, 0.078125]
    w.assign(w * 0 + 3)
    y = (w * w).sum()
    assert y.item() == 18
    w.grad = None
    y.backward()
    assert w.grad is not None and w.grad.numpy().tolist() == [6, 6]


def test_a_leaf_is_written_in_place_without_a_history() -> None:
    w = Tensor(np.array([1.0, 2.0]), requires_grad=True)
    same = w
    for _ in range(3):
        (w * w).sum().backward()
        with compiler.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
    assert w is same and w.requires_grad
    assert w.numpy().tolist() == [0.125, 0.25]
    with compiler.no_grad():
        w += 1
        w *= 2
        w /= 3
    np.testing.assert_allclose(w.numpy(), [0.75, 2.5 / 3])
    assert w is same


def test_a_leaf_is_not_written_in_place_with_one() -> None:
    w = Tensor(np.ones(2), requires_grad=True)
    with pytest.raises(GradientError, match="cannot be changed in place") as caught:
        w -= 1.0
    assert "no_grad" in str(caught.value)
    y = w * 2
    before = y
    y += 1  # no leaf: another tensor, as ever
    assert before is not y and before.numpy().tolist() == [2, 2] and y.requires_grad
    plain = other = Tensor(np.ones(2))
    plain += 1
    assert other.numpy().tolist() == [1, 1]


@pytest.mark.parametrize("looked_at", ["", "y", "z", "both", "after"])
def test_a_retained_gradient_survives_a_look_at_the_value(looked_at: str) -> None:
    x = Tensor(np.ones(3), requires_grad=True)
    y = x * 2
    if looked_at == "after":
        y.numpy()
    z = y.retain_grad() * 3
    z.retain_grad()
    if looked_at in ("y", "both"):
        y.numpy()
    if looked_at in ("z", "both"):
        z.realize()
    (z**2).sum().backward()
    for each, right in ((z, 12.0), (y, 36.0), (x, 72.0)):
        assert each.grad is not None and each.grad.numpy().tolist() == [right] * 3
