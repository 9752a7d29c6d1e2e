"""The exercises of notebook 07: each change must print what the answer says."""

import re
from typing import Any

import pytest

from tests.notebooks import cells_of

NOTEBOOK = "07_llvm_and_assembly"
CHANGES = {
    1: ('"power": True, "strict sum": True', '"power": False, "strict sum": False'),
    2: ('"float32"', '"float64"'),
    3: ("level = 0", "level = 2"),
}
PRINTED = {
    1: ("2 of 4 are right", "4 of 4 are right"),
    2: ("shape of the vectors: 4s", "shape of the vectors: 2d"),
    3: ("level 0 has vector code: False", "level 2 has vector code: True"),
}
# The setting of the exercises: cells that define something they use.
SETTING = (
    "from compiler.llvm.looking.watch", "plain = Options", "def is_vector_code", "strict = watch",
)  # fmt: skip


@pytest.fixture(scope="module")
def setting() -> dict[str, Any]:
    """The names that the cells before the exercises define."""
    names: dict[str, Any] = {}
    for kind, text in cells_of(NOTEBOOK):
        if kind == "code" and any(mark in text for mark in SETTING):
            exec(text, names)
    return names


def exercise(number: int) -> tuple[str, str]:
    """The cell and the answer of an exercise."""
    found = cells_of(NOTEBOOK)
    at = next(i for i, (_, text) in enumerate(found) if f"**Exercise {number}.**" in text)
    (kind, code), (_, answer) = found[at + 1 : at + 3]
    assert kind == "code" and "<details>" in answer
    return code, answer


@pytest.mark.parametrize("number", CHANGES)
def test_the_answer_is_what_the_change_prints(
    number: int, setting: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    code, answer = exercise(number)
    before, after = CHANGES[number]
    line = next(line for line in code.splitlines() if "# change this line" in line)
    assert before in line
    capsys.readouterr()
    exec(code, dict(setting))
    assert capsys.readouterr().out.strip() == PRINTED[number][0]
    exec(code.replace(line, line.replace(before, after)), dict(setting))
    assert capsys.readouterr().out.strip() == PRINTED[number][1]
    said = {1: after, 2: "`2d`", 3: "From level 2 on"}
    assert said[number] in answer


def test_level_one_has_no_vectors_either(
    setting: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _ = exercise(3)
    capsys.readouterr()
    exec(code.replace("level = 0", "level = 1"), dict(setting))
    assert capsys.readouterr().out.strip() == "level 1 has vector code: False"


def test_every_exercise_is_tested() -> None:
    asked = [text for _, text in cells_of(NOTEBOOK) for _ in re.findall(r"\*\*Exercise \d", text)]
    assert len(asked) == len(CHANGES)
