"""The notebooks, for tests of their exercises."""

import json
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"


def cells_of(name: str) -> list[tuple[str, str]]:
    """Kind and text of each cell of a notebook, which is named without its ending."""
    text = (NOTEBOOKS / f"{name}.ipynb").read_text("utf-8")
    cells: list[dict[str, Any]] = json.loads(text)["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def answer_to(name: str, number: int) -> str:
    """The text of the answer to an exercise of a notebook."""
    texts = [text for kind, text in cells_of(name) if kind == "markdown"]
    at = next(n for n, text in enumerate(texts) if f"**Exercise {number}.**" in text)
    return next(text for text in texts[at:] if "<summary>Answer</summary>" in text)
