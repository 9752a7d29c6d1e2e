"""The playground: real kernels, tried; wrong choices explained; wrong results never pass."""

from pathlib import Path

import numpy as np
import pytest

import compiler
from compiler import DataError, Options, Tensor
from compiler.loops.choices import parse
from compiler.playground import playground
from compiler.playground.playground import Playground
from compiler.playground.point import timing
from compiler.tune.trials import Refused
from tests.playground.programs import TILED, gathered, product


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Playground:
    monkeypatch.setattr(playground, "SECONDS", 0.0)
    return Playground(product(loops="auto", rows=40, columns=40, depth=40))


def test_a_point_has_everything(play: Playground) -> None:
    point = play.attempt(TILED)
    assert not (point.refused or point.unmeasured or point.unseen)
    assert point.timing is not None and point.cache is not None
    assert 0 < point.timing.low <= point.timing.seconds <= point.timing.high
    assert point.flops == 2 * 40**3 and point.speed > 0
    assert point.intensity(0) == 2 * 40**3 / (point.cache.levels[0].misses * 64)
    assert "lanes" in str(point.loops) and "f32x16" in str(point.lowered)
    assert any("fma" in line.text or "mul" in line.text for line in point.assembly.lines)
    for words in ("GFLOP/s", "the compiler's own choices", "L1 48 KiB"):
        assert words in repr(point)


def test_points_are_kept_in_order_and_known_ones_answered(play: Playground) -> None:
    plain, own, tiled = (play.attempt(words) for words in ("plain", "own", TILED))
    assert [p.number for p in play.points] == [0, 1, 2]
    assert (plain.label, own.label, tiled.label) == ("plain", "the compiler's own", "")
    assert play.attempt(TILED) is tiled and len(play.points) == 3
    assert play.attempt(TILED, again=True) is not tiled


REFUSED = {
    "an axis that is none": ("tile i7 16", "there is no axis i7; asked for: tile i7 16 peel; "
                             "expected: i0, i1, r2"),
    "too many lanes": ("vectorize i0", "i0 has 40 iterations"),
    "a word that is none": ("bogus 3", "no such choice; asked for: bogus"),
    "an incomplete choice": ("tile i0", "too few or too many values"),
    "a size that is no number": ("tile i0 many", "size has to be a whole number; asked for: "),
    "a reduction shared out": ("parallelize r2 2", "parallelize"),
}  # fmt: skip


@pytest.mark.parametrize(("choices", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_possible_is_said_in_words(play: Playground, choices: str, words: str) -> None:
    point = play.attempt(choices)
    assert words in point.refused and "Traceback" not in point.refused
    assert point.timing is None and f"not possible: {point.refused}" in repr(point)
    with pytest.raises(ValueError, match="there is no such kernel"):
        _ = point.loops


def test_another_result_is_refused(play: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(runner: object) -> None:
        raise Refused("another result than the default's: 3 apart, 0.1 allowed")

    play.attempt("own")
    monkeypatch.setattr(play._bench, "_check", wrong)
    point = play.attempt(TILED)
    assert point.timing is None and "another result" in point.unmeasured


def test_the_axes_and_the_space(play: Playground) -> None:
    assert [(a.name, a.extent, a.role) for a in play.axes] == [
        ("i0", 40, "normal"), ("i1", 40, "normal"), ("r2", 40, "reduction"),
    ]  # fmt: skip
    assert (play.labels[1], play.labels[2]) == ("a", "b")
    assert play.shapes[1] == (40, 40)


def test_what_would_take_too_long_does_not_run(
    play: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playground, "LONGEST", 1e-9)
    point = play.attempt("plain")
    assert point.timing is None and "one run is estimated to take" in point.unmeasured
    assert "not measured" in repr(point) and point.cache is not None


def test_where_data_decide_accesses_the_rest_is_there() -> None:
    play = Playground(compiler.compile(gathered()))
    point = play.attempt("plain")
    assert point.cache is None and "values in memory" in point.unseen
    assert point.timing is not None and play.trace(point) is None
    assert point.intensity(0) == 0.0


def test_what_does_not_run_as_machine_code_is_not_measured() -> None:
    made = compiler.compile(Tensor(np.ones(64, np.float32)) * 2.0, Options(device="INTERPRET"))
    point = Playground(made).attempt("tile i0 16; vectorize i0.1")
    assert point.unmeasured == "it does not run as machine code"
    assert point.cache is not None


def test_a_kernel_that_is_none() -> None:
    with pytest.raises(DataError, match="no such kernel"):
        Playground(product(), "k9")


def test_the_longest_kernel_is_the_one_that_is_opened() -> None:
    rng = np.random.default_rng(0)
    x = Tensor(rng.random((64, 64), np.float32))
    made = compiler.compile([x.sum(), (x @ x).contiguous() @ x], Options(loops="plain"))
    lowered = {stage.name: str(stage) for stage in made.lowered}
    assert "mulacc" in lowered[Playground(made).name]


def test_own_choices_that_were_given_are_the_own_ones() -> None:
    play = Playground(product(loops=TILED))
    assert play.own == parse(TILED)


def test_quartiles() -> None:
    made = timing([(1.0, seconds) for seconds in (4.0, 1.0, 3.0, 2.0, 5.0)])
    assert (made.seconds, made.low, made.high, made.usual) == (3.0, 2.0, 4.0, 1.0)
    assert made.spread == pytest.approx(2 / 3)


def test_nothing_is_kept_on_disk(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a = Tensor(rng.random((16, 16), np.float32))
    made = compiler.compile(a @ a, Options(cache=tmp_path))
    before = sorted(tmp_path.rglob("*"))
    Playground(made).attempt("tile i0 4")
    assert sorted(tmp_path.rglob("*")) == before
