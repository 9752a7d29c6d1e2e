"""The exercises of notebook 11: each change must print what the answer says."""

import contextlib
import io
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.notebooks import cells_of

pytest.importorskip("onnx", reason="onnx is not installed")
NOTEBOOK = "11_explore_your_own_model"
CHANGES = {
    1: ("depth = 3", "depth = 6"),
    2: ("patch = 2", "patch = 1"),
    3: ("heads = 4", "heads = 1"),
}
SETTING = ("import", "class Writer", "def vit")
"""How the cells begin that the exercises need."""


@cache
def _exercise(number: int) -> tuple[str, str]:
    """The cell and the answer of an exercise."""
    cells = cells_of(NOTEBOOK)
    at = next(i for i, (_, text) in enumerate(cells) if f"**Exercise {number}.**" in text)
    (kind, code), (_, answer) = cells[at + 1 : at + 3]
    assert kind == "code" and "<details>" in answer
    return code, answer


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """The names defined by the cells before the exercises; any images do."""
    numbers = np.random.default_rng(0).random((64, 1, 8, 8), np.float32)
    names: dict[str, Any] = {"images": numbers}
    with contextlib.redirect_stdout(io.StringIO()):
        for kind, text in cells_of(NOTEBOOK):
            if kind == "code" and text.startswith(SETTING):
                exec(text, names)
    return names


@pytest.mark.parametrize("is_changed", [False, True], ids=["as it stands", "changed"])
@pytest.mark.parametrize("number", CHANGES)
def test_the_answer_says_what_is_printed(
    number: int, is_changed: bool, names: dict[str, Any]
) -> None:
    code, answer = _exercise(number)
    before, after = CHANGES[number]
    assert f"{before}  # change this line" in code
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code.replace(before, after) if is_changed else code, names)
    printed = out.getvalue().strip()
    assert f"`{printed}`" in answer, printed


def test_all_exercises_are_here() -> None:
    assert sum("**Exercise" in text for _, text in cells_of(NOTEBOOK)) == len(CHANGES)
