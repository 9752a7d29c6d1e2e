"""The search for reads that change a program finds nothing, and finds planted faults."""

import pytest

from compiler.tensors import gradients, history
from compiler.tensors.history import remembered
from tests.search.looks import STEPS, drawn, failure


def test_a_sample_is_equal() -> None:
    found = [failure(36, number) for number in range(30)]
    assert not [each for each in found if each] and found.count("") > 15


def test_every_step_is_drawn() -> None:
    kinds = {step[0] for number in range(40) for step in drawn(1, number)[0]}
    assert kinds == set(STEPS)


def test_it_sees_a_value_without_its_history(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "recipes", lambda before, *_: [None] * len(before))
    assert any(failure(36, number) for number in range(20))


def test_it_sees_a_gradient_that_arrives_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradients, "_recalled", lambda node: [remembered(node)])
    assert failure(7, 47) and failure(8, 63)
