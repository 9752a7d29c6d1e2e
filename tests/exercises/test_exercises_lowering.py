"""The exercises of notebooks 04 and 05: each change must print what the answer says."""

import re
from typing import Any

import pytest

from tests.notebooks import cells_of

LOWERING = "04_lowering"
DEVICES = "05_devices_and_sharding"

PICTURE = """
import numpy as np
import compiler
from compiler import Options, Tensor
from compiler.lowered.interpret import interpret

h, w = 143, 214
gray = np.random.default_rng(0).random((h, w), "float32")
x = Tensor(gray, name="x")
"""
NUMBERS = """
import numpy as np
import compiler
from compiler import Options, Tensor
"""
DEFINED = {LOWERING: ("plain = ", "def windows(", "def counted("), DEVICES: ("plain = ",)}
SETTINGS = {LOWERING: PICTURE, DEVICES: NUMBERS}
CHANGES = {
    (LOWERING, 1): ("x.pad(((8, 8), (8, 8))).flip(1)", "x.flip(1).pad(((8, 8), (8, 8)))"),
    (LOWERING, 2): ("size = 3", "size = 5"),
    (LOWERING, 3): ("x * 2", "x.T * 2"),
    (DEVICES, 1): ("wide[:, 2:4]", "wide[2:4]"),
    (DEVICES, 2): ("axis=0", "axis=1"),
    (DEVICES, 3): ('("CPU:0", "CPU:1")', '("CPU:0", "CPU:1", "CPU:2", "CPU:3")'),
}
CASES = [pytest.param(*case, id=f"{case[0][:2]}-{case[1]}") for case in CHANGES]


def _exercise(name: str, number: int) -> tuple[str, str]:
    """The cell and the answer of an exercise."""
    cells = cells_of(name)
    at = next(i for i, (_, text) in enumerate(cells) if f"**Exercise {number}.**" in text)
    (kind, code), (_, answer) = cells[at + 1 : at + 3]
    assert kind == "code" and "<details>" in answer
    return code, answer


def _setting(name: str) -> dict[str, Any]:
    """The names an exercise finds: its setting, and the options and functions of the notebook."""
    names: dict[str, Any] = {}
    exec(SETTINGS[name], names)
    for head in DEFINED[name]:
        (text,) = (t for kind, t in cells_of(name) if kind == "code" and f"\n{head}" in f"\n{t}")
        end = "\n\n\n" if head.startswith("def ") else "\n"
        start = f"\n{text}".index(f"\n{head}")
        exec(text[start : (text + end).index(end, start)], names)
    return names


@pytest.mark.parametrize(("name", "number"), CASES)
def test_the_answer_is_what_the_change_prints(
    name: str, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    code, answer = _exercise(name, number)
    before, after = CHANGES[name, number]
    line = next(line for line in code.splitlines() if "# change this line" in line)
    assert before in line and after not in line
    names = _setting(name)
    exec(code, names)
    written = capsys.readouterr().out
    exec(code.replace(line, line.replace(before, after)), names)
    changed = capsys.readouterr().out
    assert written != changed
    claims = _claims(answer, before, after)
    assert claims
    for claim in claims:
        assert claim in changed or claim in written, claim
    assert any(claim in changed and claim not in written for claim in claims)


def _claims(answer: str, *asked: str) -> list[str]:
    """The parts that an answer quotes, and its figures of four digits or more."""
    quoted = re.findall(r"`([^`]+)`", answer)
    first = answer.partition("twice")[0]  # the sums that explain a figure are not printed
    figures = re.findall(r"\d{1,3}(?:,\d{3})+ (?:loads|bytes)", first)
    return [each for each in (*quoted, *figures) if each not in asked and each != "other"]


@pytest.mark.parametrize("name", SETTINGS)
def test_every_exercise_is_tested(name: str) -> None:
    asked = [text for _, text in cells_of(name) for _ in re.findall(r"\*\*Exercise \d", text)]
    assert len(asked) == sum(notebook == name for notebook, _ in CHANGES)
