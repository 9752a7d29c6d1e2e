"""Searches on workers: the answer is that of a search here, on machines like this one alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.core.errors import DataError
from compiler.loops.choices import Choices, text
from compiler.machines.system import core_count
from compiler.tune import search_elsewhere
from compiler.tune.workbench import Workbench
from tests.only_maps import only_maps

RNG = np.random.default_rng(2)


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    compiler.cache_clear()
    yield
    compiler.cache_clear()


def program() -> list[Tensor]:
    """Three kernels of different structure, and one of them twice."""
    x, y = (Tensor(RNG.random((64, 48), np.float32)) for _ in range(2))
    return [(x * 2.0 + 1.0).sum(1), y @ x.T, x.softmax(1), (y * 2.0 + 1.0).sum(1)]


def fake() -> Any:
    """In a process from now on: times that follow from the choices, so a search has an answer.
    Gives who ends that."""
    from compiler.loops.choices import text
    from compiler.tune import search_kernel as searching
    from compiler.tune.search import Searched, search
    from compiler.tune.workbench import Workbench

    usual = Workbench.measure, Workbench.compare, searching.search

    def seconds(choices: Any) -> float:
        return 1e-3 * (1 + sum(map(ord, text(choices))) % 17)

    def limited(starts: Any, moves: Any, judge: Any, is_late: Any, seen: Any) -> Searched:
        """Forty trials, however long they take."""
        count = iter(range(40))
        return search(starts, moves, judge, lambda: next(count, None) is None, seen)

    Workbench.measure = lambda self, choices, best: seconds(choices)  # type: ignore[method-assign]
    Workbench.compare = lambda self, a, b, *more: (  # type: ignore[method-assign]
        [(seconds(a), seconds(b))] * 9)  # fmt: skip
    searching.search = limited

    def end() -> None:
        Workbench.measure, Workbench.compare = usual[:2]  # type: ignore[method-assign]
        searching.search = usual[2]

    return end


@contextmanager
def faked(client: Any) -> Iterator[None]:
    def there() -> None:
        import builtins

        builtins.ended = fake()  # type: ignore[attr-defined]

    def ended() -> None:
        import builtins

        builtins.ended()  # type: ignore[attr-defined]

    end = fake()
    client.run(there)
    try:
        yield
    finally:
        client.run(ended)
        end()


def tried(made: Any) -> list[Any]:
    return [(it.name, it.tried, it.best, it.found.duel, it.why_not) for it in made.tuning]


def test_the_answer_is_that_of_a_search_here(client: Any) -> None:
    roots, options = program(), Options(tune=60.0, cache=False)
    with faked(client):
        here = compiler.compile(roots, options)
        expected = tried(here)
        compiler.cache_clear()
        with only_maps(client) as engine:
            there = compiler.compile(roots, options)
            assert tried(there) == expected and engine.rows == len({it.found for it in here.tuning})
    assert any(it.is_faster for it in there.tuning)
    assert all(len(it.tried) > 10 and not it.found.is_remembered for it in there.tuning)


def test_what_a_worker_found_is_remembered(client: Any, tmp_path: Path) -> None:
    x = Tensor(RNG.random((300, 40), np.float32))
    options = Options(tune=0.3, cache=tmp_path)
    with only_maps(client) as engine:
        first = compiler.compile(x.sum(1), options)
        assert engine.rows == 1
        second = compiler.compile(x.sum(1), options)
        assert engine.rows == 1 and second.tuning[0].found.is_remembered
    third = compiler.compile(x.sum(1), options)
    assert third.tuning[0].tried == first.tuning[0].tried
    np.testing.assert_allclose(third.run()[0], x.numpy().sum(1), rtol=1e-5)


def test_a_search_ends_when_its_time_is_up(client: Any) -> None:
    with only_maps(client):
        assert compiler.compile(program(), Options(tune=1.0, cache=False, threads=1)).tuning


def test_searches_that_would_disturb_one_another_follow_one_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(search_elsewhere, "core_count", lambda: 8)

    class Engine:
        def map(self, function: Any, rows: Any, per_host: int) -> Iterator[Any]:
            asked.append(per_host)
            return iter([search_elsewhere.OtherMachine("LLVM", "1.0")] * len(rows))

    for threads in (0, 1, 3, 8):
        options = Options(tune=9.0, threads=threads, cache=False)
        jobs = [_job(Tensor(RNG.random(64, np.float32)) * 2.0, options)]
        search_elsewhere.search_elsewhere(Engine(), jobs, [1.0], options)  # type: ignore[arg-type]
    assert asked == [1, 8, 2, 1]


def _job(value: Tensor, options: Options) -> Any:
    from compiler.tune.search_kernel import Job

    made = compiler.compile(value, replace(options, tune=0.0))._scheduled
    ((body, name),) = made.outlined.bodies.items()
    return Job(0, name, Workbench(name, body, options), b"", 1.0)


def test_another_machine_is_refused_in_words(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = Tensor(RNG.random(512, np.float32))
    monkeypatch.setattr("compiler.tune.remembered.jit.host_name", lambda: "a-machine-of-mine")
    with only_maps(client), pytest.raises(DataError) as caught:
        compiler.compile(x * 2.0, Options(tune=0.2, cache=False)).tuning  # noqa: B018
    said = str(caught.value)
    assert "another machine than the one that is tuned for" in said
    assert "processor: " in said and "a-machine-of-mine" in said and "hint" in said


def test_workers_search_with_the_threads_that_kernels_have_here(client: Any) -> None:
    """Though each has one of its own."""

    def limited(count: int) -> None:
        from compiler.machines import system

        system._MOST_CORES[:] = [count] if count else []

    client.run(limited, 1)
    x, threads = Tensor(RNG.random(512, np.float32)) * 2.0, core_count()
    try:
        with only_maps(client) as engine:
            assert compiler.compile(x, Options(tune=0.1, cache=False)).tuning and engine.rows == 1
            options = Options(tune=0.1, cache=False, threads=256)
            with pytest.raises(DataError, match="cores: ") as caught:
                compiler.compile(x, options).tuning  # noqa: B018
    finally:
        client.run(limited, 0)
    assert "256 or more" in str(caught.value) and core_count() == threads


def test_other_loops_are_another_machine(client: Any) -> None:
    options = Options(tune=0.2, cache=False)
    job = _job(Tensor(RNG.random(512, np.float32)) * 2.0, options)
    with only_maps(client) as engine:
        found = search_elsewhere.search_elsewhere(engine, [job], [0.1], options)
        with pytest.raises(DataError, match="the loops of kernel"):
            list(found or ())


def test_passes_of_the_users_are_searched_here(client: Any) -> None:
    x = Tensor(RNG.random(512, np.float32))
    options = Options(tune=0.1, cache=False, passes=compiler.PASSES)
    with only_maps(client) as engine:
        made = compiler.compile(x * 2.0, options)
        assert made.tuning and not engine.rows


def test_programs_for_workers_are_tuned_on_workers(client: Any) -> None:
    x = Tensor(RNG.random((64, 64), np.float32)).to("DASK")
    options = Options(tune=0.3, cache=False, threads=1)
    with only_maps(client) as engine:
        made = compiler.compile(x.exp().sum(1), options)
        (found,) = made.tuning
        assert not found.why_not and found.tried and engine.rows == 1
    assert compiler.compile((x + 1).exp().sum(1), options).tuning[0].why_not


def test_choices_of_another_run_begin_the_search(client: Any, tmp_path: Path) -> None:
    x = Tensor(RNG.random((300, 41), np.float32))
    with only_maps(client) as engine, faked(client):
        short = compiler.compile(x.sum(1), Options(tune=20.0, cache=tmp_path)).tuning[0]
        long = compiler.compile(x.sum(1), Options(tune=40.0, cache=tmp_path)).tuning[0]
        assert engine.rows == 2 and short.is_faster
    starts: list[Choices] = [trial.choices for trial in long.tried[:4]]
    assert text(short.best.choices) in map(text, starts)
