"""Random shapes of single operations: kinds, right against NumPy, figures, report."""

import math

import numpy as np
import pytest

from benchmarks.results import OURS
from benchmarks.shapes import run
from benchmarks.shapes.cases import KINDS, Case, case, shape_of
from benchmarks.shapes.results import Figures, Results, Shape, checks, from_json, report, to_json
from benchmarks.shapes.worker import Session
from benchmarks.worker import error

SMALL = 2**13
"""Elements of all inputs of a case that is tried here, at most."""


def small(kind: str) -> tuple[int, Case]:
    """A case of a kind that is quickly run."""
    for number in range(list(KINDS).index(kind), 10_000, len(KINDS)):
        made = case(1, number)
        if sum(map(math.prod, made.shapes)) <= SMALL:
            return number, made
    raise AssertionError(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_ours_agrees_with_numpy_in_float64(kind: str) -> None:
    number, made = small(kind)
    assert made.kind == kind
    assert Session(OURS, 1).answer(f"make\t{number}")["error"] <= run.TOLERANCE


def test_a_session_of_ours() -> None:
    session, (number, _) = Session(OURS, 1), small("broadcast")
    session.answer(f"make\t{number}")
    assert min(session.answer(f"measure\t{number}\t0.001")["seconds"]) > 0
    assert "kernel" in session.answer(f"why\t{number}\t0.001")["why"]
    with pytest.raises(ValueError, match="no such command"):
        session.answer("stop")


def test_a_number_is_always_the_same_case() -> None:
    for number in range(22):
        first, second = case(3, number), case(3, number)
        assert str(first) == str(second) and first.shapes == second.shapes
        for one, other in zip(first.arrays(), second.arrays(), strict=True):
            np.testing.assert_array_equal(one, other)
    assert {case(3, number).kind for number in range(len(KINDS))} == set(KINDS)
    assert str(case(3, 1)) != str(case(4, 1))


def test_shapes_are_of_all_sizes() -> None:
    random = np.random.default_rng(0)
    counts = [math.prod(shape_of(random, 3)) for _ in range(200)]
    assert min(counts) < 500 and max(counts) > 500_000
    words = {case(0, number).text.split(",")[0].split()[-1] for number in range(0, 1100, 11)}
    assert {"conv2d", "groups", "depthwise"} <= words


def test_a_wrong_result_is_seen() -> None:
    made = case(1, 0)
    assert error(made.expected() * 1.01, made.expected()) > run.TOLERANCE


def shape(number: int, ratio: float, seconds: float = 1e-3, kind: str = "scan") -> Shape:
    return Shape(number, kind, "cumsum of 8", (seconds / ratio,) * 3, (seconds,) * 3)


def results() -> Results:
    slow = Shape(3, "scan", "cumsum of 9", (4e-6,) * 2, (1e-6, 1e-6), why="1 kernel: plain: why")
    wrong = Shape(4, "norm", "length of 7", failed="torch is wrong: 1.0e-01")
    return Results(5, 2, (shape(0, 2.0), shape(1, 8.0), shape(2, 1.0, 1e-5, "norm"), slow, wrong))


def test_figures() -> None:
    found = Figures.of([shape(0, 2.0), shape(1, 8.0), shape(2, 0.25)])
    assert (found.count, found.fifth) == (3, pytest.approx(0.25))
    assert found.mean == pytest.approx(4 ** (1 / 3)) and found.slow == pytest.approx(1 / 3)
    assert math.isnan(Figures.of([]).mean)


def test_groups_and_the_worst() -> None:
    made = results()
    groups = {name: [it.number for it in shapes] for name, shapes in made.groups().items()}
    assert groups == {
        "all": [0, 1, 2, 3], "50 µs and more": [0, 1], "under 50 µs": [2, 3], "scan": [0, 1, 3],
        "norm": [2],
    }  # fmt: skip
    assert [it.number for it in made.worst] == [3, 2, 0, 1]


def test_the_report_and_the_file() -> None:
    text = report(results())
    assert [it.passed for it in checks(results())] == [False, False, False]
    for words in ("5 random shapes", "torch is wrong", "plain: why", "25.0%"):
        assert words in text
    assert from_json(to_json(results())) == results()


def test_a_case_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(self: object, peer: str, *command: str) -> dict[str, object]:
        if command[0] == "make" and command[1] == "1":
            return {"error": math.nan if peer == OURS else 0.0}
        if command == ("measure", "2", "0.01"):
            raise run.WorkerError("it ended")
        known = {"make": {"error": 0.0}, "measure": {"seconds": [2.0, 1.0]}, "why": {"why": "so"}}
        return known[command[0]]  # type: ignore[return-value]

    monkeypatch.setattr(run.Pair, "ask", ask)
    found = run.run(0, range(3), run.EFFORT, 1).shapes
    assert [it.failed for it in found] == ["", f"{OURS} is wrong: nan", "it ended"]
    assert found[0].ratio == 1.0 and found[0].why == "so"
