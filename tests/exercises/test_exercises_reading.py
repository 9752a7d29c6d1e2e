"""The exercises of notebook 10: the change they ask for is made, and the answer must be right."""

import re
from typing import Any

import pytest

from tests.notebooks import cells_of

READING = "10_read_a_schedule"
CHANGES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ('"2"', '"4"', ("4 is right",)),
    ('"1 k1"', '"0 k0"', ("critical path: 0 k0 → 4 k4", "134 µs", "50.8 µs")),
    ("vectorize i1.1", "vectorize i0.1", ("lanes: i0.1",)),
)
"""For each exercise the change, and what the answer says that it prints."""


def _exercise(number: int) -> tuple[str, str, str]:
    """The question, the cell under it and the answer of an exercise."""
    cells = cells_of(READING)
    at = next(i for i, (_, text) in enumerate(cells) if f"**Exercise {number}.**" in text)
    (_, question), (kind, code), (_, answer) = cells[at : at + 3]
    assert kind == "code" and "<details>" in answer
    return question, code, answer


@pytest.mark.parametrize("number", range(1, len(CHANGES) + 1))
def test_the_answer_says_what_the_change_prints(
    number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    _, code, answer = _exercise(number)
    before, after, claims = CHANGES[number - 1]
    line = next(line for line in code.splitlines() if "# change this line" in line)
    assert before in line
    names: dict[str, Any] = {}
    exec(next(text for kind, text in cells_of(READING) if kind == "code"), names)
    exec(code, names)
    written = capsys.readouterr().out
    exec(code.replace(line, line.replace(before, after)), names)
    changed = capsys.readouterr().out
    for claim in claims:
        assert claim in " ".join(answer.split()), claim
        assert claim in changed, claim
    assert written != changed


def test_lanes_of_rows_change_no_result(capsys: pytest.CaptureFixture[str]) -> None:
    _, code, _ = _exercise(3)
    names: dict[str, Any] = {}
    exec(next(text for kind, text in cells_of(READING) if kind == "code"), names)
    exec(code.replace("vectorize i1.1", "vectorize i0.1"), names)
    assert "right result: True" in capsys.readouterr().out


def test_every_exercise_is_tested() -> None:
    asked = sum(len(re.findall(r"\*\*Exercise \d", text)) for _, text in cells_of(READING))
    assert asked == len(CHANGES)
