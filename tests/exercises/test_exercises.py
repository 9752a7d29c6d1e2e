"""The exercises of the notebooks: the change they ask for is made, and the answer must be right."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks import NOTEBOOKS, cells_of

ELSEWHERE = {
    stem
    for path in Path(__file__).parent.glob("test_exercises_*.py")
    for stem in re.findall(r"\b\d\d_[a-z]\w+", path.read_text("utf-8"))
}
"""Those that a file of tests of their own names."""
FIRST, GRAPH, SCHEDULE = (
    "01_from_tensor_to_machine_code", "02_the_graph", "03_the_schedule"
)  # fmt: skip

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


CLAIMS: dict[tuple[str, int], tuple[str, str, tuple[str, ...]]] = {
    (GRAPH, 1): ("x.T.reshape(12)", "x.reshape(2, 6).T.T.reshape(12)", ("in1[i2]",)),
    (GRAPH, 2): (
        "np.arange(4.0)", "np.arange(4)",
        ("x * 0 = 0 for integers (a float may be NaN, inf or negative)",),
    ),
    (GRAPH, 3): ("[before, state]", "[state]", ("2 items",)),
    (SCHEDULE, 1): (
        "a + 1", "(a + 1).contiguous()",
        ("24,000 bytes", "16,000 bytes", "its value was asked for in memory"),
    ),
    (SCHEDULE, 2): ("64, 16", "64, 128", ("critical path 1 2", "1,902.5 µs")),
    (SCHEDULE, 3): ("iterations = 3 ", "iterations = 30 ", ("62 items, 2 kernels, 1,024 bytes",)),
    (SCHEDULE, 4): (
        "rows = 256 ", "rows = 1 ", ("most of the time is spent in the items: False",),
    ),
}  # fmt: skip
"""For an exercise of a later notebook the change, and what the answer says that it prints."""


def _options(notebook: str) -> str:
    """The line with which a notebook names the options of its programs, if it does."""
    code = "\n".join(text for kind, text in cells_of(notebook) if kind == "code")
    return "".join(re.findall(r"^plain = .*$", code, re.M))


def _exercise(number: int, notebook: str = FIRST) -> tuple[str, str, str]:
    """The question, the cell under it and the answer of an exercise."""
    cells = cells_of(notebook)
    at = next(i for i, (_, text) in enumerate(cells) if f"**Exercise {number}.**" in text)
    (_, question), (kind, code), (_, answer) = cells[at : at + 3]
    assert kind == "code" and "<details>" in answer
    return question, code, answer


def _changed(code: str, before: str, after: str) -> str:
    """The cell with the change that the exercise asks for."""
    line = next(line for line in code.splitlines() if "# change this line" in line)
    assert before in line
    return code.replace(line, line.replace(before, after))


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_answer_names_what_the_change_prints(
    number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    _, code, answer = _exercise(number)
    before, after = CHANGES[number - 1]
    names: dict[str, Any] = {}
    exec(SETTING, names)
    exec(_options(FIRST), names)
    exec(code, names)
    written = capsys.readouterr().out
    exec(_changed(code, before, after), names)
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


@pytest.mark.parametrize(("notebook", "number"), CLAIMS)
def test_the_answer_says_what_the_change_prints(
    notebook: str, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    _, code, answer = _exercise(number, notebook)
    before, after, claims = CLAIMS[notebook, number]
    imports = next(text for kind, text in cells_of(notebook) if kind == "code")
    names: dict[str, Any] = {}
    exec(imports, names)
    exec(_options(notebook), names)
    exec(code, names)
    written = capsys.readouterr().out
    exec(_changed(code, before, after), names)
    changed = capsys.readouterr().out
    for claim in claims:
        assert claim in " ".join(answer.split()) and claim in changed, claim
    assert any(claim not in written for claim in claims)


def _asked(notebook: str) -> int:
    """How many exercises a notebook has."""
    return sum(len(re.findall(r"\*\*Exercise \d", text)) for _, text in cells_of(notebook))


def test_every_exercise_is_tested() -> None:
    found = {path.stem for path in NOTEBOOKS.glob("*.ipynb")}
    assert found - ELSEWHERE == {FIRST, GRAPH, SCHEDULE}
    assert _asked(FIRST) == len(CHANGES)
    assert all(_asked(each) == sum(n == each for n, _ in CLAIMS) for each in (GRAPH, SCHEDULE))
    assert not any(after in _exercise(n)[1] for n, (_, after) in enumerate(CHANGES, start=1))
    assert not any(c[1] in _exercise(n, notebook)[1] for (notebook, n), c in CLAIMS.items())
