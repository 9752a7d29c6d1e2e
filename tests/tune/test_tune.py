"""Tuning whole programs: what is planted is found, once, within the time, and never a loss."""

import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.core.errors import DataError
from compiler.llvm.cache import TUNINGS
from compiler.loops.choices import Choices, Tile, parse, text
from compiler.run.building import tuned
from compiler.tune import tune as tune_module
from compiler.tune.trials import Refused
from compiler.tune.workbench import Workbench
from tests.tune.test_tuning import TUNING

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    compiler.cache_clear()
    yield
    compiler.cache_clear()


def random(*shape: int) -> Any:
    return RNG.random(shape, np.float32)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The choices that are measured from now on."""
    found: list[str] = []
    right = Workbench.measure

    def measure(self: Workbench, choices: Choices, best: float) -> float:
        found.append(text(choices))
        return right(self, choices, best)

    monkeypatch.setattr(Workbench, "measure", measure)
    return found


def of_size(choices: Choices) -> int:
    return next((t.size for t in choices.of(Tile)), 1)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Choices], float]], list[str]]:
    """Times by choices instead of measurements; gives the list of what is asked for."""
    asked: list[str] = []

    def give(seconds: Callable[[Choices], float]) -> list[str]:
        def measure(self: Workbench, choices: Choices, best: float) -> float:
            asked.append(text(choices))
            return seconds(choices)

        def compare(
            self: Workbench, first: Choices, second: Choices, rounds: int, left: float
        ) -> list[tuple[float, float]]:
            return [(seconds(first), seconds(second))] * 9

        monkeypatch.setattr(Workbench, "measure", measure)
        monkeypatch.setattr(Workbench, "compare", compare)
        return asked

    return give


class Clock:
    """Time passes when somebody looks."""

    def __init__(self, step: float = 1.0) -> None:
        self.now, self._step = 0.0, step

    def __call__(self) -> float:
        self.now += self._step
        return self.now


def tunings(value: Tensor, options: Options, clock: Clock | None = None) -> Any:
    made = compiler.compile(value, replace(options, tune=0.0))._scheduled
    return tune_module.tune(made.outlined.bodies, made.items, options, clock or Clock())


def test_without_time_nothing_is_tried(measured: list[str]) -> None:
    made = compiler.compile(Tensor(random(64)) * 2.0, Options())
    made.run()
    assert made.tuning == () and not measured


def test_a_bad_default_is_beaten_and_results_stay() -> None:
    a, b = random(192, 192), random(192, 192)
    bad = {"k0": "tile i1 2"}
    options = Options(tune=4.0, loops=bad, cache=False)
    made = compiler.compile(Tensor(a) @ Tensor(b), options)
    (found,) = made.tuning
    assert found.is_faster and found.speedup > 1.5
    assert made.kernel(next(iter(made._scheduled.outlined.bodies))).choices == found.best.choices
    np.testing.assert_allclose(made.run()[0], a @ b, rtol=1e-4)
    decision = next(d for d in made.decisions if d.kind == "tune")
    assert decision.taken and "faster than the default" in decision.reason


def test_the_best_of_recorded_times_is_taken(recorded: Any) -> None:
    recorded(lambda c: 1e-3 * (1 + abs(of_size(c) - 96)))
    (found,) = tunings(Tensor(random(4096)) * 2.0, Options(tune=900.0, cache=False))
    assert of_size(found.best.choices) == 96
    assert nx.is_arborescence(found.to_networkx())


def test_recorded_times_lead_to_the_same_search(recorded: Any) -> None:
    recorded(lambda c: 1e-3 * (1 + len(text(c)) % 7))
    value, options = Tensor(random(4096)) * 2.0, Options(tune=90.0, cache=False)
    one = tunings(value, options)
    compiler.cache_clear()
    two = tunings(value, options)
    assert one[0].tried == two[0].tried and len(one[0].tried) > 20
    assert one[0].found == two[0].found


def test_the_default_stays_where_nothing_is_faster(recorded: Any) -> None:
    recorded(lambda c: 1e-3)
    (found,) = tunings(Tensor(random(4096)) * 2.0, Options(tune=60.0, cache=False))
    assert not found.is_faster and found.best.number == 0 and len(found.tried) > 5


def test_a_faster_one_with_other_results_is_not_taken(
    recorded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(lambda c: 1e-3 / (1 + len(c)))

    def compare(self: Workbench, *given: object) -> list[tuple[float, float]]:
        raise Refused("another result")

    monkeypatch.setattr(Workbench, "compare", compare)
    (found,) = tunings(Tensor(random(4096)) * 2.0, Options(tune=60.0, cache=False))
    assert found.best.number == 0


def test_a_second_compilation_measures_nothing(measured: list[str], tmp_path: Path) -> None:
    x, options = random(300, 40), Options(tune=0.4, cache=tmp_path)
    first = compiler.compile(Tensor(x).sum(1), options)
    kept = first.tuning[0].best.choices
    count = len(measured)
    assert count > 1
    for _ in range(2):
        second = compiler.compile(Tensor(x).sum(1), options)
        assert second.tuning[0].found.is_remembered
        assert second.tuning[0].best.choices == kept
        assert second.tuning[0].tried == first.tuning[0].tried
        TUNINGS.clear()  # the second time it comes from disk
    assert len(measured) == count


def test_more_time_searches_again_and_less_does_not(recorded: Any, tmp_path: Path) -> None:
    asked = recorded(lambda c: 1e-3 * (1 + len(text(c)) % 7))
    value, options = Tensor(random(300, 41)).sum(1), Options(cache=tmp_path)
    counts = []
    for seconds in (20.0, 10.0, 20.0, 60.0, 40.0):
        (tuning,) = tunings(value, replace(options, tune=seconds))
        assert len(tuning.tried) > 1 and not tuning.found.is_complete
        counts.append(len(asked))
    first, less, same, more, less_again = counts
    assert 1 < first == less == same < more == less_again


def test_remembered_choices_that_are_not_legal_any_more_are_a_miss(
    recorded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = recorded(lambda c: 1e-3 / (1 + len(c)))
    x, options = Tensor(random(4096)) * 2.0, Options(tune=30.0, cache=tmp_path)
    assert tunings(x, options)[0].is_faster
    count = len(asked)
    right = Workbench.chosen

    def chosen(self: Workbench, loops: Any) -> Choices:
        if isinstance(loops, dict):
            raise compiler.core.errors.ScheduleError("tile", "not any more")
        return right(self, loops)

    monkeypatch.setattr(Workbench, "chosen", chosen)
    tunings(x, options)
    assert len(asked) > count


def test_kernels_of_one_structure_are_tuned_once(measured: list[str]) -> None:
    wide, square = Tensor(random(32, 128)) * 2.0, Tensor(random(64, 64)) * 2.0
    made = compiler.compile([wide, square], Options(tune=0.5, cache=False))
    one, two = made.tuning
    assert one.found == two.found and (one.kernel, two.kernel) == (0, 1)
    assert measured.count(text(one.tried[0].choices)) == 1
    assert len(measured) == len(one.tried)


@pytest.mark.parametrize("seconds", [1.0, 10.0, 50.0])
def test_the_time_is_kept(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(step=0.0)

    def measure(self: Workbench, choices: Choices, best: float) -> float:
        clock.now += 0.5
        return 1e-3 * (1 + len(text(choices)) % 7)

    def compare(self: Workbench, one: Choices, two: Choices, rounds: int, left: float) -> Any:
        clock.now += left
        return [(2.0, 1.0)] * 9

    monkeypatch.setattr(Workbench, "measure", measure)
    monkeypatch.setattr(Workbench, "compare", compare)
    found = tunings(Tensor(random(64, 300)).softmax(-1), Options(tune=seconds, cache=False), clock)
    assert 0.7 * seconds < clock.now <= seconds + 0.5  # one trial may be under way
    assert len(found[0].tried) > seconds


def test_realize_and_prepare_tune_too(measured: list[str]) -> None:
    x = random(64, 65)
    plan = compiler.prepare(Tensor(x).sum(0), Options(tune=0.3, cache=False))
    count = len(measured)
    assert count
    np.testing.assert_allclose(plan.run()[0], x.sum(0), rtol=1e-4)
    again = compiler.prepare(Tensor(x).sum(0), Options(tune=0.3, cache=False))
    assert again.structure is plan.structure and len(measured) == count


def test_what_cannot_be_tried_is_said(measured: list[str]) -> None:
    x = Tensor(random(64)) * 2.0
    made = compiler.compile(x, Options(tune=0.5, cache=False, device="INTERPRET"))
    reason = made.tuning[0].words.removeprefix("not tuned: ")
    assert reason != made.tuning[0].words and "machine code" in reason
    large = compiler.compile(x, Options(tune=0.5, cache=False, memory_limit=100))
    assert large.tuning[0].words.startswith("not tuned: data of its own would take more")
    short = compiler.compile(x, Options(tune=1e-9, cache=False))
    assert "than there is time" in short.tuning[0].words
    assert not measured


def test_kernels_with_variables_and_in_place_ones() -> None:
    n = compiler.Variable("n", 1, 64)
    x = random(64, 32)
    y = Tensor(x)[: n.bind(40)] * 2.0
    made = compiler.compile(y, Options(tune=0.3, cache=False))
    assert made.tuning[0].tried[0].is_measured
    np.testing.assert_allclose(made.run()[0], x[:40] * 2)
    z = Tensor(x).realize()
    z += 1.0
    changed = compiler.compile(z, Options(tune=0.3, cache=False))
    assert changed.tuning[0].tried[0].is_measured
    np.testing.assert_allclose(changed.run()[0], x + 1)


def test_a_program_without_kernels() -> None:
    x = Tensor(random(4)).realize()
    assert compiler.compile(x, Options(tune=0.5, cache=False)).run()


def test_progress_is_silent_here(capsys: pytest.CaptureFixture[str]) -> None:
    compiler.compile(Tensor(random(64)) * 2.0, Options(tune=0.2, cache=False))
    assert capsys.readouterr() == ("", "")


def test_progress_is_shown_to_who_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", stream)
    compiler.compile(Tensor(random(64)) * 2.0, Options(tune=0.2, cache=False))
    assert "tuning k0 (1 of 1)" in stream.getvalue()


@pytest.mark.parametrize("seconds", [-1.0, float("inf"), float("nan"), "long", None])
def test_a_time_that_is_none_is_refused(seconds: Any) -> None:
    with pytest.raises(DataError, match="no such time"):
        Options(tune=seconds)


SCRIPT = """
import sys
import numpy as np
from compiler import Options, Tensor, compile
(Tensor(np.ones(4, np.float32)) * 2).numpy()
assert "compiler.tune.tune" not in sys.modules
compile(Tensor(np.ones(4, np.float32)) * 2, Options(tune=0.1, cache=False))
assert "compiler.tune.tune" in sys.modules
"""


def test_the_search_is_loaded_when_it_is_asked_for() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)


def test_without_a_search_options_stay() -> None:
    options = Options(tune=3.0)
    assert tuned(options, ()) is options


def test_what_was_found_becomes_choices_by_name() -> None:
    options = tuned(Options(tune=3.0, optimize=2), (TUNING,))
    assert options == Options(optimize=2, loops={"k3": parse("tile i0 32 mask; reorder i0.1 i0.0")})
