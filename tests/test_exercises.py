"""The exercises of the notebooks: the change they ask for is made, and the answer must be right."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
FIRST = NOTEBOOKS / "01_from_tensor_to_machine_code.ipynb"

SETTING = """
import textwrap
import numpy as np
import compiler
from compiler import Tensor

rng = np.random.default_rng(0)
w1, b1, w2, b2 = (rng.normal(0, 1, s).astype("float32") for s in ((64, 32), 32, (32, 10), 10))
x = Tensor(rng.random((1797, 64), "float32"), name="x")
hidden = (x @ Tensor(w1, name="w1") + Tensor(b1, name="b1")).relu()
scores = hidden @ Tensor(w2, name="w2") + Tensor(b2, name="b2")
probabilities = scores.softmax(axis=1)
"""
CHANGES = (
    (".relu()", ".gelu()"),
    ("softmax(axis=1)", "softmax(axis=0)"),
    ("[probabilities]", "[probabilities, hidden]"),
)


def _cells() -> list[tuple[str, str]]:
    """Kind and text of each cell."""
    cells: list[dict[str, Any]] = json.loads(FIRST.read_text(encoding="utf-8"))["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def _exercise(number: int) -> tuple[str, str, str]:
    """The question, the cell under it and the answer of an exercise."""
    cells = _cells()
    at = next(i for i, (_, text) in enumerate(cells) if f"**Exercise {number}.**" in text)
    (_, question), (kind, code), (_, answer) = cells[at : at + 3]
    assert kind == "code" and "<details>" in answer
    return question, code, answer


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_answer_names_what_the_change_prints(
    number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    _, code, answer = _exercise(number)
    before, after = CHANGES[number - 1]
    line = next(line for line in code.splitlines() if "# change this line" in line)
    assert before in line
    names: dict[str, Any] = {}
    exec(SETTING, names)
    exec(code, names)
    written = capsys.readouterr().out
    exec(code.replace(line, line.replace(before, after)), names)
    changed = capsys.readouterr().out
    figures = re.findall(r"\d+(?:,\d{3})+ (?=flops|bytes)|\d+(?:,\d{3})+(?= to )", answer)
    assert _kernels(changed) == _kernels(answer)
    for figure in figures:
        assert figure.strip() in written + changed, figure
    assert bool(figures) == (number != 2)
    assert written != changed


def _kernels(printed: str) -> int:
    """How many kernels a schedule lists, or a sentence says."""
    said = re.search(r"(\d+) kernels", printed)
    return int(said.group(1)) if said else len(re.findall(r"^ *\d+  kernel ", printed, re.M))


def test_every_exercise_is_tested() -> None:
    asked = [text for _, text in _cells() for _ in re.findall(r"\*\*Exercise \d", text)]
    assert len(asked) == len(CHANGES)
    assert not any(after in _exercise(n)[1] for n, (_, after) in enumerate(CHANGES, start=1))
