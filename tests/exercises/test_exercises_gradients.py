"""The exercises of notebook 13: what the answers say is so."""

from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.graph.derivatives import loops
from tests.notebooks import answer_to, cells_of

NOTEBOOK = "13_gradients"


def test_the_third_derivative() -> None:
    names: dict[str, Any] = {"compiler": compiler, "np": np}
    code = next(text for kind, text in cells_of(NOTEBOOK) if kind == "code" and "def cube" in text)
    exec(code, names)
    answer = answer_to(NOTEBOOK, 1)
    line = answer.partition("`")[2].partition("`")[0]
    exec(line, names)
    assert str(names["third"](names["points"]).numpy()) in answer


def test_memory_of_longer_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = Tensor(np.full(64, 0.5))

    def peak(count: int, kept: int) -> int:
        monkeypatch.setattr(loops, "STORED_BYTES", kept * begin.size * 8)
        compiler.cache_clear()
        end = compiler.repeat(count, lambda i, v: (v * begin).sin(), begin)
        plan = compiler.prepare(end.sum().gradient(begin), options=Options(cache=False))
        assert plan.memory is not None
        return plan.memory.peak

    assert "four times" in answer_to(NOTEBOOK, 2) and "about twice" in answer_to(NOTEBOOK, 2)
    assert 3.5 < peak(128, 10_000) / peak(32, 10_000) < 4.1
    assert 1.5 < peak(128, 12) / peak(32, 6) < 2.5
