"""The exercise of notebook 08: its own check refuses the cell as it stands and takes the answer."""

import re
from pathlib import Path

import pytest

from tests.notebooks import cells_of

NOTEBOOK = "08_write_your_own_pass"


def _written(tmp_path: Path, code: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The output of the exercise, with the notebook's imports and its tensor before it."""
    codes = [text for kind, text in cells_of(NOTEBOOK) if kind == "code"]
    tensor = next(line for text in codes for line in text.splitlines() if line.startswith("x = "))
    path = tmp_path / "exercise.py"
    path.write_text(f"{codes[0]}\n{tensor}\n{code}\n", "utf-8")
    exec(compile(path.read_text("utf-8"), str(path), "exec"), {"__name__": "exercise"})
    return capsys.readouterr().out


def test_the_check_refuses_the_empty_rule_and_takes_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = cells_of(NOTEBOOK)
    (code,) = [text for kind, text in cells if kind == "code" and "# your rule" in text]
    (answer,) = [text for kind, text in cells if "<details>" in text]
    found = re.search(r"```python\n(.*?)```", answer, re.DOTALL)
    assert found is not None
    rule, rest = found[1], code[code.index("def check") :]
    assert _written(tmp_path, code, capsys).startswith("not yet: it fired 0 times")
    assert _written(tmp_path, f"{rule}\n\n{rest}", capsys).strip() == "right"


def test_every_exercise_is_tested() -> None:
    assert sum(text.count("## Exercise") for _, text in cells_of(NOTEBOOK)) == 1
