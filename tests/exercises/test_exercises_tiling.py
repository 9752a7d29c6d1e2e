"""The exercises of notebook 09: each change must print what the answer says."""

import contextlib
import io
from typing import Any

import pytest

from tests.notebooks import cells_of

NOTEBOOK = "09_why_tiling_works"
CHANGES = {
    1: (("rows = 128", "rows = 128"), ("rows = 128", "rows = 136")),
    2: (("size = 16", "size = 16"), ("size = 16", "size = 64"), ("size = 16", "size = 128")),
    3: (("i1.0 i0 i1.1", "i1.0 i0 i1.1"), ("i1.0 i0 i1.1", "i0 i1.0 i1.1")),
}
"""As it stands, then each change that is asked for."""


def _exercise(number: int) -> tuple[str, str]:
    """The cell and the answer of an exercise."""
    cells = cells_of(NOTEBOOK)
    at = next(i for i, (_, text) in enumerate(cells) if f"**Exercise {number}.**" in text)
    (kind, code), (_, answer) = cells[at + 1 : at + 3]
    assert kind == "code" and "<details>" in answer
    return code, answer


def _printed(code: str) -> str:
    names: dict[str, Any] = {}
    code_cells = [text for kind, text in cells_of(NOTEBOOK) if kind == "code"]
    setting = [text for text in code_cells if text.startswith(("import", "def prod"))]
    for text in setting:
        exec(text.split("\n\n\nn = ")[0], names)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, names)
    return out.getvalue().strip()


@pytest.mark.parametrize(
    ("number", "change"), [(n, change) for n, several in CHANGES.items() for change in several]
)
def test_the_answer_says_what_is_printed(number: int, change: tuple[str, str]) -> None:
    code, answer = _exercise(number)
    assert change[0] in code
    printed = _printed(code.replace(*change))
    assert f"`{printed}`" in answer, printed


def test_all_exercises_are_here() -> None:
    assert sum("**Exercise" in text for _, text in cells_of(NOTEBOOK)) == len(CHANGES)
