"""The exercise of the sixth notebook: its check refuses what is not asked for; its answer holds."""

import re
from typing import Any

import pytest

from tests.notebooks import cells_of

NOTEBOOK = "06_stepping_through_passes"


def cells(kind: str) -> list[str]:
    return [text for found, text in cells_of(NOTEBOOK) if found == kind]


def names() -> dict[str, Any]:
    """The names that the first cell and that of the exercise define."""
    code, known = cells("code"), dict[str, Any]()
    for text in (code[0], next(it for it in code if "def check(" in it)):
        exec(compile(text, "cell", "exec"), known)
    return known


def test_the_check_checks() -> None:
    known = names()
    answer = next(it for it in cells("markdown") if "<summary>One answer" in it)
    found = re.search(r"```python\n(.*?)```", answer, re.DOTALL)
    assert found
    exec(found[1], known)
    assert known["check"](known["mine"]) == "well done"
    assert known["check"](lambda x: x * 2) == "only 0 nodes less: try again"
    assert known["check"](lambda x: x * 1).startswith("only 2 nodes")


def guessed(words: str, before: str, after: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The output of the cell with a guess as it is written, and with another guess."""
    code, known = cells("code"), dict[str, Any]()
    exec(compile(code[0], "cell", "exec"), known)
    asked = next(it for it in code if words in it)
    assert before in asked
    capsys.readouterr()
    for text in (asked, asked.replace(before, after)):
        exec(compile(text, "cell", "exec"), known)
    return capsys.readouterr().out.splitlines()


def test_no_permute_survives(capsys: pytest.CaptureFixture[str]) -> None:
    said = guessed("guess = ", '"both"', '"neither"', capsys)
    assert said == ["both is not right", "neither is right"]
    assert any("`neither is right`" in it and "<details>" in it for it in cells("markdown"))


def test_zero_is_not_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    said = guessed("vanishes = ", "True", "False", capsys)
    assert said == ["not right: -0.0 + 0 is 0.0", "right: -0.0 + 0 is 0.0"]
