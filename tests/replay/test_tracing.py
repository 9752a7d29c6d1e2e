"""A function is captured while other threads use what it assigns."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, jit, no_grad, optim
from compiler.replay.tracing import _Found
from compiler.tensors import live, running

Work = Callable[[Tensor], float]


def read(w: Tensor) -> float:
    """The computation of a thread that read `w`."""
    return float((w + 100).numpy()[0])


def assigned(w: Tensor) -> float:
    """`w` after this thread has assigned it."""
    return float(w.assign(w + 10).numpy()[0])


@pytest.mark.parametrize(
    ("work", "seen", "after"), [(read, {100.0, 101.0}, 1.0), (assigned, {10.0, 11.0}, 11.0)]
)
def test_another_thread_while_a_function_is_captured(
    work: Work, seen: set[float], after: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits until the capture is undone: what that assigned never takes effect by itself."""
    w = Tensor(np.zeros(4)).realize()
    found: list[float] = []
    has_chosen = threading.Event()
    threads: list[threading.Thread] = []
    choose = live.Computation.choose

    def chosen(self: live.Computation, given: list[Tensor]) -> bool:
        has_chosen.set()
        return choose(self, given)

    shown = _Found.shown

    def slowly(self: _Found, result: Any) -> Any:
        """The function has returned, and nothing is undone yet."""
        if not threads:
            threads.append(threading.Thread(target=lambda: found.append(work(w)), daemon=True))
            threads[0].start()
            assert has_chosen.wait(60)
        return shown(self, result)

    @jit
    def step() -> None:
        w.assign(w + 1)

    monkeypatch.setattr(_Found, "shown", slowly)
    monkeypatch.setattr(live.Computation, "choose", chosen)
    step()
    threads[0].join(60)
    assert not threads[0].is_alive() and not running.RUNNING
    assert set(found) <= seen and w.numpy()[0] == after
    step()
    assert w.numpy()[0] == after + 1


OTHERS: dict[str, Callable[[Tensor], Tensor]] = {
    "detached": lambda w: w.detach(),
    "detached and in memory": lambda w: w.detach().realize(),
    "copied later": lambda w: w.clone(),
    "turned": lambda w: w.T,
    "a row": lambda w: w[0],
    "a row of a detached one": lambda w: w.detach()[0],
    "computed later": lambda w: (w + 1).T[0] * 2,
    "of another shape": lambda w: w.reshape(3, 2),
    "in memory": lambda w: (w * 2).realize(),
}
"""Tensors that were made of `w` before a function assigns it: they keep their values."""


def assigned_and_read(w: Tensor, other: Tensor) -> Any:
    w.assign(w + 1)
    return other * 1


def written_in_part(w: Tensor, other: Tensor) -> Any:
    w[0] = w[1] * 2 + 1
    return other + 0, w + 0


def assigned_by_the_other(w: Tensor, other: Tensor) -> Any:
    w.assign(w + other.sum())
    return w.sum()


def both_assigned(w: Tensor, other: Tensor) -> Any:
    other.assign(other * 0.5 + w.sum() * 0.25)
    w.assign(w * 2 + other.sum())
    return other + 0, w + 0


def the_other_assigned(w: Tensor, other: Tensor) -> Any:
    other.assign(other + 1)
    return w * 1


WORKS = (
    assigned_and_read, written_in_part, assigned_by_the_other, both_assigned, the_other_assigned
)  # fmt: skip


def values(result: Any) -> list[list[float]]:
    return [each.numpy().ravel().tolist() for each in result]


@pytest.mark.parametrize("collects", [False, True])
@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.__name__)
@pytest.mark.parametrize("made", OTHERS.values(), ids=OTHERS)
def test_what_was_made_of_a_tensor_keeps_its_value(
    made: Callable[[Tensor], Tensor], work: Callable[[Tensor, Tensor], Any], collects: bool
) -> None:
    """As without jit: the tensor is assigned in each call, what was made of it before is not."""
    found = []
    for captured in (False, True):
        w = Tensor(np.arange(6.0).reshape(2, 3)).realize().requires_grad_(collects)
        other = made(w)

        def call(w: Tensor = w, other: Tensor = other) -> Any:
            with no_grad():
                result = work(w, other)
            return result if isinstance(result, tuple) else (result,)

        function = jit(call) if captured else call
        results = [values(function()) for _ in range(4)]
        found.append([*results, values((w, other))])
    assert found[0] == found[1]


def test_a_distance_to_the_first_weights() -> None:
    """The weights that a step pulls back to are those from before the first step."""
    found = []
    for captured in (False, True):
        w = Tensor(np.arange(6.0)).realize().requires_grad_(True)
        first, optimizer = w.detach(), optim.SGD([w], lr=0.1)

        def step(
            w: Tensor = w, first: Tensor = first, optimizer: optim.SGD = optimizer
        ) -> Tensor:
            loss = (w * w).sum() + ((w - first) ** 2).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return loss

        function = jit(step) if captured else step
        found.append([function().item() for _ in range(5)])
    np.testing.assert_allclose(found[0], found[1])
    assert found[0][0] == 55.0
