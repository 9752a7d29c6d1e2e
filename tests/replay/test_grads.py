"""`grad` of tensors in captured functions: read as it is in each call, written, accumulated."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, jit, nn, optim
from compiler.optim.clipping import clip_grad_norm
from compiler.tensors.readers import READERS, Readers


def _leaf(*values: float) -> Tensor:
    return Tensor(np.array(values), requires_grad=True)


def test_gradients_accumulate_over_calls() -> None:
    w = _leaf(1.0, 1.0)
    collect = jit(lambda x: (w * x).sum().backward())
    found = []
    for n in (1.0, 2.0, 3.0, 4.0):
        collect(np.full(2, n))
        found.append(w.grad.numpy()[0])
    assert found == [1, 3, 6, 10]
    assert collect.cache_info().captures == 2  # without a gradient before, and with one


def test_both_captures_stay() -> None:
    w = _leaf(1.0)
    collect = jit(lambda x: (w * x).sum().backward())
    for _ in range(4):
        w.grad = None
        collect(np.full(1, 2.0))
        assert w.grad.item() == 2
        collect(np.full(1, 3.0))
        assert w.grad.item() == 5
    assert collect.cache_info().captures == 2


def test_a_gradient_from_before_the_capture_is_not_added_later() -> None:
    w = _leaf(1.0, 1.0, 1.0)
    optimizer = optim.SGD([w], lr=0.0)
    collect = jit(lambda x: (w * x).sum().backward())
    (w * 100).sum().backward()
    collect(np.ones(3))
    assert w.grad.numpy().tolist() == [101, 101, 101]
    for n in (1.0, 2.0, 3.0):
        optimizer.zero_grad()
        collect(np.full(3, n))
        assert w.grad.numpy().tolist() == [n, n, n]


@pytest.mark.parametrize("is_looking", [False, True])
def test_a_step_alone_reads_the_gradients_that_are_there(is_looking: bool) -> None:
    w = _leaf(1.0)
    optimizer = optim.SGD([w], lr=0.5, momentum=0.5)

    @jit
    def step() -> None:
        optimizer.step()
        optimizer.zero_grad()

    weight, speed = 1.0, 0.0
    for n in (1.0, 2.0, 3.0, 4.0):
        (w * n).sum().backward()
        (w * n).sum().backward()
        if is_looking:
            assert w.grad.item() == 2 * n
        step()
        speed = 0.5 * speed + 2 * n
        weight -= 0.5 * speed
        assert w.item() == weight and w.grad is None
    assert step.cache_info().captures == 1


def test_a_gradient_that_is_used_inside_is_there_afterwards() -> None:
    w = _leaf(2.0)
    optimizer = optim.SGD([w], lr=0.25)

    @jit
    def step(x: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = (w * w * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    weight = 2.0
    for n in (1.0, 0.5):
        assert step(np.array([n])).item() == weight**2 * n
        assert w.grad.item() == 2 * weight * n
        weight -= 0.25 * 2 * weight * n
        assert w.item() == weight


def _scaled(w: Tensor) -> None:
    w.grad = w.grad * 2


def _in_place(w: Tensor) -> None:
    w.grad.assign(w.grad + 1)


def _zeros(w: Tensor) -> None:
    w.grad = w.grad.zeros_like()


def _clipped(w: Tensor) -> None:
    clip_grad_norm([w], 1.0)


def _shown(w: Tensor) -> Any:
    return w.grad, w.grad * 3


def _moved(w: Tensor) -> Any:
    held, w.grad = w.grad, None
    return held


@pytest.mark.parametrize("change", [_scaled, _in_place, _zeros, _clipped, _shown, _moved])
def test_what_is_done_to_a_gradient(change: Callable[[Tensor], Any]) -> None:
    found = []
    for wrap in (lambda f: f, jit):
        w = _leaf(1.0, 2.0)
        f = wrap(lambda w=w: change(w))
        rows = []
        for n in (1.0, 2.0, 3.0):
            w.grad = Tensor(np.array([n, 2 * n]))
            before = w.grad
            result = f()
            result = result if isinstance(result, tuple) else (result,)
            rows.append((w.grad is before, result[0] is before, before.numpy().tolist(),
                         [each.numpy().tolist() for each in result if each is not None],
                         None if w.grad is None else w.grad.numpy().tolist()))  # fmt: skip
        found.append(rows)
    assert found[0] == found[1]


def test_micro_batches_and_a_step_in_two_captures() -> None:
    found = []
    for wrap in (lambda f: f, jit):
        Tensor.manual_seed(0)
        model = nn.Linear(4, 2)
        optimizer = optim.AdamW(model.parameters(), lr=0.1)

        def part(x: Tensor, model: nn.Linear = model) -> Tensor:
            loss = (model(x) ** 2).mean() / 4
            loss.backward()
            return loss

        def finish(optimizer: Any = optimizer) -> None:
            optimizer.step()
            optimizer.zero_grad()

        part, finish = wrap(part), wrap(finish)
        numbers = np.random.default_rng(0)
        for _ in range(3):
            for _ in range(4):
                part(Tensor(numbers.standard_normal((8, 4)).astype("float32")))
            finish()
        found.append(model.weight.numpy())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)


def test_an_argument_collects_its_gradient() -> None:
    @jit
    def collect(w: Tensor, x: Tensor) -> None:
        (w * x).sum().backward()

    one, two = _leaf(1.0), _leaf(2.0)
    for w, x, right in ((one, 1.0, 1), (one, 2.0, 3), (two, 3.0, 3), (one, 1.0, 4)):
        collect(w, np.array([x]))
        assert w.grad.item() == right
    collect(one, one)  # w * w
    assert one.grad.item() == 4 + 2


def test_a_tensor_from_around_that_is_an_argument_as_well() -> None:
    w = _leaf(3.0)
    collect = jit(lambda v: (w * v).sum().backward())
    collect(np.array([2.0]))
    assert w.grad.item() == 2
    collect(w)
    assert w.grad.item() == 2 + 6
    slope = jit(lambda v: (w * v).sum().gradient(w))
    assert slope(np.array([2.0])).item() == 2 and slope(w).item() == 6


def test_an_error_inside_leaves_gradients_as_they_were() -> None:
    w = _leaf(1.0)
    (w * 3).sum().backward()

    @jit
    def broken(x: Tensor) -> None:
        (w * x).sum().backward()
        raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        broken(np.ones(1))
    assert w.grad.item() == 3


def test_retained_gradients_of_new_tensors() -> None:
    w = _leaf(2.0)

    @jit
    def f(x: Tensor) -> Any:
        h = w * x
        h.retain_grad()
        (h * h).sum().backward()
        return h

    for n in (1.0, 3.0):
        w.grad = None
        h = f(np.array([n]))
        assert h.grad.item() == 4 * n and w.grad.item() == 4 * n * n


def test_a_tensor_is_frozen_inside() -> None:
    w = _leaf(2.0)
    freeze = jit(lambda x: (w.requires_grad_(False), x * 2)[1])
    for _ in range(2):
        w.requires_grad_(True)
        freeze(np.ones(1))
        assert not w.requires_grad


def test_a_gradient_with_a_history() -> None:
    w = _leaf(2.0)
    square = jit(lambda: (w.grad**2).sum())
    for n in (1.0, 2.0):
        w.grad = None
        (w**3 * n).sum().backward(create_graph=True)
        penalty = square()  # (3 n w²)²
        w.grad = None
        penalty.backward()
        assert (penalty.item(), w.grad.item()) == ((12 * n) ** 2, 36 * n * n * 8)
        w.grad = Tensor(np.array([n]))
        assert square().item() == n * n and not square().requires_grad


def _learning() -> tuple[Any, Any, list[Tensor]]:
    """A step that begins without gradients, captured and as it is, and its parameters."""
    parameters = [Tensor(np.full((2, 2), n), requires_grad=True) for n in (1.0, 2.0, 3.0)]

    def step(x: Tensor) -> Tensor:
        for each in parameters:
            each.grad = None
        loss = sum((each * each * x).sum() for each in parameters)
        loss.backward()
        return loss

    return jit(step), step, parameters


def test_gradients_that_nobody_reads_are_no_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    step, _, parameters = _learning()
    step(Tensor(np.ones(())).realize())
    given = [Tensor(np.array(n)).realize() for n in (2.0, 3.0)]
    made: list[Any] = []
    note = READERS.note
    monkeypatch.setattr(Readers, "note", lambda self, tensor: (made.append(tensor), note(tensor)))
    for x in given:
        step(x)
    assert len(made) == len(given)  # the losses
    gradient = parameters[1].grad
    assert gradient is not None and len(made) == len(given) + 1
    assert parameters[1].grad is gradient and gradient.numpy().tolist() == [[12, 12]] * 2


def test_gradients_of_each_call_keep_their_values() -> None:
    step, plain, parameters = _learning()
    kept = []
    for n in (1.0, 2.0, 3.0):
        x = Tensor(np.array(n)).realize()
        step(x)
        kept.append([each.grad for each in (parameters if n != 2 else parameters[::-1])])
    wanted = []
    for n in (1.0, 2.0, 3.0):
        plain(Tensor(np.array(n)))
        wanted.append([each.grad for each in (parameters if n != 2 else parameters[::-1])])
    for got, right in zip(kept, wanted, strict=True):
        assert [e.numpy().tolist() for e in got] == [e.numpy().tolist() for e in right]


def test_a_gradient_that_is_read_late_was_there_before() -> None:
    """Numbers of tensors show which existed before a function, and which came first."""
    step, _, parameters = _learning()
    x = Tensor(np.ones(())).realize()
    step(x)
    step(x)
    later = Tensor(np.ones(2))
    last, first = parameters[2].grad, parameters[0].grad
    assert first is not None and last is not None
    assert first._number < last._number < later._number
    assert first.node.unique < last.node.unique  # type: ignore[attr-defined]
    step(x)

    @jit
    def use() -> Any:
        found = parameters[0].grad
        assert found is not None
        return found * 2

    for n in (2.0, 3.0):
        step(Tensor(np.array(n)).realize())
        assert use().numpy().tolist() == [[4 * n] * 2] * 2
        assert parameters[0].grad is not None
        assert parameters[0].grad.numpy().tolist() == [[2 * n] * 2] * 2


def test_threads_read_one_gradient() -> None:
    step, _, parameters = _learning()
    x = Tensor(np.ones(())).realize()
    step(x)
    with ThreadPoolExecutor(4) as pool:
        for _ in range(50):
            step(x)
            found = set(pool.map(lambda _: id(parameters[0].grad), range(4)))
            assert found == {id(parameters[0].grad)}


def test_a_gradient_that_is_also_returned_is_one_tensor() -> None:
    w = Tensor(np.array([1.0, 2.0]), requires_grad=True)
    v = Tensor(np.array([3.0, 4.0]), requires_grad=True)

    @jit
    def step(x: Tensor) -> Any:
        w.grad = v.grad = None
        (w * x + v * x).sum().backward()
        return w.grad, x + 0

    for n in (1.0, 2.0, 3.0):
        gradient, same = step(Tensor(np.full(2, n)).realize())
        assert gradient is w.grad and v.grad is not None
        w_before = w.grad.numpy().tolist()  # type: ignore[union-attr]
        v.grad.assign(v.grad * 0).realize()
        assert w_before == [n, n] == w.grad.numpy().tolist()  # type: ignore[union-attr]
        assert same.numpy().tolist() == [n, n] and v.grad.numpy().tolist() == [0, 0]
