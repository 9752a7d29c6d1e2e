"""NumPy's validation sets: arguments and results of its elementary functions, to the bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

FILES = Path(np.__file__).parent / "_core" / "tests" / "data"
Array = np.ndarray[Any, Any]


def validation_set(function: str, dtype: type[np.floating[Any]]) -> tuple[Array, Array]:
    """Arguments and results of `function` in this type; skips the test where NumPy has none."""
    path = FILES / f"umath-validation-set-{function}.csv"
    if not path.exists():
        pytest.skip(f"this NumPy comes without {path.name}")
    lines = (line.split(",") for line in path.read_text().splitlines() if line.startswith("np."))
    name = f"np.{dtype.__name__}"
    rows = [(int(x, 16), int(y, 16)) for kind, x, y, *_ in lines if kind == name]
    assert len(rows) > 100
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    x, expected = np.array(rows, np.uint64).T.astype(bits).view(dtype)
    return np.ascontiguousarray(x), expected
