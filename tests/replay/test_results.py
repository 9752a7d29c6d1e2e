"""The results of a captured function: as without `jit`, also if their memory is written later."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.tensors import trees


def _counted(state: Tensor, x: Tensor) -> Any:
    state.assign(state + x)
    return state.detach(), state.reshape(2, 2), state + 0, {"all": [state.sum(), state * 1]}


def _other_memory(state: Tensor, x: Tensor) -> Any:
    old = state.detach()
    state.assign(state * 2 + x)
    return old, state[1:3], state.detach().reshape(4)


def _only_read(state: Tensor, x: Tensor) -> Any:
    return state.detach(), (state.reshape(2, 2), None), state + x


@pytest.mark.parametrize("function", [_counted, _other_memory, _only_read])
def test_results_keep_their_values(function: Callable[[Tensor, Tensor], Any]) -> None:
    """Those of each call are looked at once all calls, and an assign outside, are done."""
    found = []
    for wrap in (lambda f: f, compiler.jit):
        state = Tensor(np.arange(4, dtype="float32")).realize()
        step = wrap(lambda x, state=state: function(state, x))
        calls = []
        for n in (1, 2, 3):
            result = step(Tensor(np.full(4, n, "float32")))
            trees.flat(result)[0].realize(*trees.flat(result)[1:])
            calls.append(result)
        state.assign(state * 0).realize()
        found.append([each.numpy().tolist() for each in trees.flat(calls)])
    assert found[0] == found[1]


def test_what_was_there_is_returned_itself() -> None:
    state, x = Tensor(np.ones(3)).realize(), Tensor(np.ones(3)).realize()

    @compiler.jit
    def f(x: Tensor, n: int) -> Any:
        state.assign(state + x)
        return state, x, [x, x + n], n

    for n in (1, 1, 1):
        first, second, (third, new), number = f(x, n)
        assert first is state and second is x and third is x and number == n
        assert new.numpy().tolist() == [2, 2, 2]
    assert state.numpy().tolist() == [4, 4, 4]
    assert compiler.jit(lambda x: x)(x) is x


def test_an_argument_that_is_assigned_is_returned_itself() -> None:
    @compiler.jit
    def double(x: Tensor) -> Tensor:
        x.assign(x * 2)
        return x

    x = Tensor(np.ones(2)).realize()
    assert double(x) is x and double(x) is x
    assert x.numpy().tolist() == [4, 4]


def test_gradients_beside_results() -> None:
    weight = Tensor(np.array([1.0, 2.0]), requires_grad=True)

    @compiler.jit
    def loss(x: Tensor) -> Any:
        weight.grad = None
        made = (weight * x).sum()
        made.backward()
        return made, made * 2

    for n in (1.0, 2.0):
        one, two = loss(np.full(2, n))
        assert (one.item(), two.item()) == (3 * n, 6 * n)
        assert weight.grad is not None and weight.grad.numpy().tolist() == [n, n]
