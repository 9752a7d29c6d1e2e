"""The table of `docs/kinks.md`: each gradient is as documented, and equals PyTorch's."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler import Tensor
from tests.differences import values

Array = np.ndarray[Any, Any]
PAGE = Path(__file__).parents[2] / "docs" / "kinks.md"


@dataclass(frozen=True)
class Row:
    """A function of `x` and perhaps `y`, and its gradients there."""

    ours: str
    theirs: str
    given: dict[str, Array]
    wanted: dict[str, Array]


def array(text: str) -> Array:
    """Numbers; rows are parted by semicolons."""
    rows = [[float(each) for each in row.split()] for row in text.split(";")]
    return np.array(rows if ";" in text else rows[0])


def rows() -> list[Row]:
    """Those of the page."""
    found = []
    for line in PAGE.read_text().splitlines():
        if not line.startswith("| `"):
            continue
        ours, theirs, *cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
        x, y, by_x, by_y = map(str.strip, cells)
        given = {name: array(text) for name, text in (("x", x), ("y", y)) if text}
        wanted = {name: array(text) for name, text in (("x", by_x), ("y", by_y)) if text}
        found.append(Row(ours.strip("`"), theirs.strip("`"), given, wanted))
    return found


ROWS = rows()


def shaped(row: Row, name: str) -> Array:
    """An operand; of pooling with the axis of channels."""
    return row.given[name][None] if "pool" in row.ours else row.given[name]


def check(found: list[Array], row: Row) -> None:
    for name, one in zip(row.given, found, strict=True):
        wanted = row.wanted[name]
        np.testing.assert_allclose(one.reshape(wanted.shape), wanted, 1e-12, 1e-12, err_msg=name)


def test_the_page_is_read() -> None:
    assert len(ROWS) > 50
    assert all(row.given.keys() == row.wanted.keys() for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.ours)
def test_gradients(row: Row) -> None:
    inputs = {name: Tensor(shaped(row, name)) for name in row.given}
    made = eval(row.ours, {**inputs, "N": np.array})
    found = made.sum().gradient(*inputs.values(), allow_unused=True)
    slopes = found if isinstance(found, list) else [found]
    check(values(*slopes), row)
    slopes[0].realize(*slopes[1:])
    check([slope.numpy() for slope in slopes], row)


@pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="PyTorch is not installed")
@pytest.mark.parametrize("row", [r for r in ROWS if r.theirs], ids=lambda row: row.theirs)
def test_they_are_those_of_pytorch(row: Row) -> None:
    import torch

    inputs = {name: torch.tensor(shaped(row, name), requires_grad=True) for name in row.given}
    known = {**inputs, "torch": torch, "F": torch.nn.functional, "T": torch.tensor}
    eval(row.theirs, known).sum().backward()
    check(
        [x.grad.numpy() if x.grad is not None else np.zeros(x.shape) for x in inputs.values()], row
    )
