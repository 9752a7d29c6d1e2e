"""A program takes effect once or not at all, however it is interrupted."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor, custom
from compiler.core.errors import CompileError
from compiler.device import save
from compiler.graph.nodes import TensorNode
from compiler.tensors import live, running
from compiler.tensors.writing import assign_together


def test_a_function_that_fails_once_leaves_the_write_pending() -> None:
    fails = [True]

    @custom.host(dtype="float64", shape=())
    def failing(value: np.ndarray) -> np.ndarray:
        if fails[0]:
            raise ValueError("once")
        return np.asarray(value.sum())

    w = Tensor(np.zeros(4)).realize()
    w.assign(w + 1)
    total = failing(w)
    for _ in range(3):
        with pytest.raises(CompileError):
            w.realize(total)
    fails[0] = False
    assert w.tolist() == [1, 1, 1, 1] and total.item() == 4


def test_an_assign_while_an_equal_one_runs_takes_effect_too() -> None:
    """Both come from one line and write the same value to the same memory."""
    w = Tensor(np.zeros(4)).realize()
    calls = [0]

    def step(finish: Callable[[Tensor], Any]) -> None:
        finish(w.assign(called(w) + 1))

    @custom.host(dtype="float64", shape=(4,))
    def called(value: np.ndarray) -> np.ndarray:
        calls[0] += 1
        if calls[0] == 1:
            step(id)  # as another thread would
        return value

    step(Tensor.realize)
    assert w.tolist() == [2, 2, 2, 2] and calls == [2]


def test_who_read_a_waiting_assign_before_its_target_was_done_reads_it_once() -> None:
    """A thread is between reading a tensor and holding what it makes of it, while others run."""
    w = Tensor(np.zeros(4)).realize()
    late: list[TensorNode] = []

    @custom.host(dtype="float64", shape=(4,))
    def called(value: np.ndarray) -> np.ndarray:
        if not late:
            w.assign(w * 2 + 3)
            late.append((w + 10).node)
        return value

    w.assign(called(w) + 1).realize()
    reader = Tensor._of(late[0])
    other = Tensor._of(late[0])
    assert reader.tolist() == [15, 15, 15, 15]
    assert w.tolist() == [5, 5, 5, 5] and other.tolist() == [15, 15, 15, 15]
    w.assign(w + 1).realize()
    assert w.tolist() == [6, 6, 6, 6]


def test_a_waiting_assign_whose_target_is_taken_becomes_a_value() -> None:
    """Of two that were to write one memory the later one is computed apart: nobody is refused."""
    w = Tensor(np.zeros(4)).realize()
    late: list[TensorNode] = []

    @custom.host(dtype="float64", shape=(4,))
    def called(value: np.ndarray) -> np.ndarray:
        if not late:
            before = w.node
            w.assign(w * 2 + 3)
            late.append(w.node)
            w.node = before  # as an exception in another thread undoes it
        return value

    w.assign(called(w) + 1).realize()
    w.assign(w + 6)
    reader = Tensor._of(late.pop())
    assert w.tolist() == [7, 7, 7, 7] and reader.tolist() == [5, 5, 5, 5]
    assert w.tolist() == [7, 7, 7, 7]


def test_the_data_of_a_tensor_that_another_thread_assigns_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    w = Tensor(np.zeros(4)).realize()
    realize, left = Tensor.realize, [3]

    def interfering(self: Tensor, *others: Tensor) -> Tensor:
        realize(self, *others)
        if left[0]:
            left[0] -= 1
            self.assign(self + 1)  # as another thread would
        return self

    monkeypatch.setattr(Tensor, "realize", interfering)
    assert w.numpy().tolist() == [3, 3, 3, 3] and left == [0]


def test_a_file_holds_the_values_of_one_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that would write them waits until they are in the file."""
    w, u = Tensor(np.zeros(4)).realize(), Tensor(np.zeros(3)).realize()
    waits, wait, write = threading.Event(), running.wait, save.write_safetensors

    def waiting() -> None:
        waits.set()
        wait()

    def step() -> None:
        assign_together([(w, w + 1), (u, u + 1)], is_computed=True)

    other = threading.Thread(target=step, daemon=True)

    def writing(place: Path, arrays: dict[str, Any]) -> None:
        other.start()
        assert waits.wait(60)
        write(place, arrays)

    monkeypatch.setattr(running, "wait", waiting)
    monkeypatch.setattr(save, "write_safetensors", writing)
    compiler.save(tmp_path / "state.safetensors", {"w": w, "u": u})
    other.join(60)
    held = compiler.load(tmp_path / "state.safetensors")
    assert held["w"].tolist() == [0] * 4 and held["u"].tolist() == [0] * 3
    assert w.tolist() == [1] * 4 and u.tolist() == [1] * 3 and not running.RUNNING


def test_values_of_one_moment_stay_whatever_is_assigned_meanwhile() -> None:
    w, u = Tensor(np.zeros(4)).realize(), Tensor(np.zeros(3)).realize()

    def use(held: list[Tensor]) -> None:
        w.assign(w + 1)  # as another thread would
        assert [each.tolist() for each in held] == [[0] * 4, [0] * 3]

    live.unchanged([w, u], use)
    assert w.tolist() == [1] * 4 and u.tolist() == [0] * 3 and not running.RUNNING
