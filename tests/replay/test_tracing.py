"""A function is captured while other threads use what it assigns."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, jit
from compiler.replay.tracing import _Found
from compiler.tensors import live, running

Work = Callable[[Tensor], float]


def read(w: Tensor) -> float:
    """What a thread that read `w` computes."""
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
