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
