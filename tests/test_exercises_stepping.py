"""The exercise of the sixth notebook: its check refuses what is not asked for; its answer holds."""

import re
from typing import Any

from tests.notebooks import cells_of

NOTEBOOK = "06_stepping_through_passes"


def cells(kind: str) -> list[str]:
    return [text for found, text in cells_of(NOTEBOOK) if found == kind]


def names() -> dict[str, Any]:
    """What the first cell and that of the exercise define."""
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
