"""The exercise of notebook 12: the change must print what the answer says."""

import contextlib
import io
import re
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor
from tests.notebooks import cells_of

NOTEBOOK = "12_more_than_one_machine"


@pytest.mark.parametrize("axis", [0, 1])
def test_the_answer_says_what_is_printed(axis: int) -> None:
    cells = cells_of(NOTEBOOK)
    at = next(i for i, (_, text) in enumerate(cells) if "**Exercise 1.**" in text)
    (kind, code), (_, answer) = cells[at + 1 : at + 3]
    assert kind == "code" and "axis = 0" in code
    names: dict[str, Any] = {"np": np, "compiler": compiler, "Tensor": Tensor}
    names["workers"] = ("DASK", "DASK:1")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code.replace("axis = 0", f"axis = {axis}"), names)
    numbers = re.findall(r"moves (\d+) bytes", printed.getvalue())
    said = re.search(r"`sum\(0\) moves (\d+) .*`sum\(1\) moves (\d+) .* (\d+) and (\d+)\.", answer)
    assert said is not None
    assert numbers == list(said.groups()[2:] if axis == 0 else said.groups()[:2])
