"""A program for a cluster is measured there: whole runs, items by what workers noted."""

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.device import dask

A = np.random.default_rng(3).standard_normal((6, 4)).astype("float32")


class Engine:
    """A cluster that takes longer from run to run, and gives what was asked of nobody."""

    def __init__(self, result: Any) -> None:
        self.runs: list[Mapping[Any, Any]] = []
        self.result = result

    def run(
        self, items: Sequence[Any], results: Any, inputs: Any, programs: Any, values: Any
    ) -> list[Any]:
        self.runs.append(inputs)
        self.items = [item.item_id for item in items]
        return [self.result.reshape(-1)]

    def map(self, function: Any, rows: Sequence[Any], per_host: int = 0) -> Iterator[Any]:
        raise NotImplementedError

    def timelines(self, runs: int) -> list[Any]:
        assert runs == len(self.runs)
        return [SimpleNamespace(ns=1000 * (n + 1), by_item=dict.fromkeys(self.items[1:], n + 1))
                for n in range(runs)]  # fmt: skip


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine(A + 1)
    end = dask.use(made)
    yield made
    end()


def test_the_first_run_does_not_count(engine: Engine) -> None:
    made = compiler.compile(Tensor(A).to("DASK") + 1, Options(cache=False))
    found = made.measure(seconds=0.5)
    runs = len(engine.runs)
    assert runs == 12  # a run takes no time here
    assert {it.rounds for it in found.times} == {runs - 1}
    middle = (2 + runs) / 2
    assert found.times[0].ns == middle
    assert found.timeline is not None and found.timeline.ns == 1000 * int(middle)
    np.testing.assert_array_equal(found.results[0], A + 1)
    assert found.left_out == (0,)
    assert any("1 item took no time" in note for note in found.notes)


def test_one_run_is_all_there_is_time_for(engine: Engine) -> None:
    made = compiler.compile(Tensor(A).to("DASK") + 1, Options(cache=False))
    found = made.measure(seconds=1e-9)
    assert len(engine.runs) == 1 and found.rounds == 1
    assert "the first run only" in str(found)


def test_programs_of_this_process_have_no_lanes() -> None:
    assert compiler.compile(Tensor(A) + 1).measure(seconds=0.05).timeline is None
