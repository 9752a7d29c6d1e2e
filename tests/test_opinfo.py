"""`tools.opinfo`: its samples, the differences it reports, and its table; without PyTorch."""

import json
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from tools import opinfo

Row = dict[str, Any]


class Quick:
    """A worker that answers at once."""

    names = ("add", "softmax", "softmax-with_dtype")
    asked: ClassVar[list[str]] = []

    def __init__(self, count: int) -> None:
        self.count = count

    def rows(self, name: str, seconds: float) -> list[Row]:
        self.asked.append(name)
        return [{"type": "float32", "values": "wrong" if name == "softmax" else "equal"}]

    def end(self) -> None:
        """There is no process."""


def test_operators_are_chosen_by_patterns() -> None:
    assert opinfo.chosen(["softmax*", "softmax"], Quick.names) == ["softmax", "softmax-with_dtype"]
    with pytest.raises(SystemExit, match="no such operator: sofmax"):
        opinfo.chosen(["sofmax"], Quick.names)


def test_samples_differ() -> None:
    samples = ["aa", "aab", "a", "xyz", "ab"]
    assert opinfo.varied(samples, 2, set) == ["xyz", "aab"]
    assert opinfo.varied(samples, 9, set)[:2] == ["xyz", "aab"]
    assert opinfo.varied([], 4, set) == []


@pytest.mark.parametrize(
    ("got", "wanted", "why"),
    [
        (np.float32([1, np.nan, np.inf]), np.float32([1 + 1e-7, np.nan, np.inf]), ""),
        (np.float32([1, 2]), np.float32([1, 2.1]), "1 of 2 elements differ"),
        (np.float32([np.inf]), np.float32([np.nan]), "1 of 1 elements differ"),
        (np.float32([-np.inf]), np.float32([np.inf]), "1 of 1 elements differ"),
        (np.float32([1]), np.float64([1]), "float32"),
        (np.float32([1]), np.zeros((), np.float32), "PyTorch has float32"),
        (np.int64([1 << 60]), np.int64([(1 << 60) + 1]), "1 of 1 elements differ"),
        (np.zeros((0, 2)), np.zeros((2, 0)), "PyTorch has float64"),
        (np.float32([0.0, 1]), np.float32([-0.0, 1]), "signs of zeros differ: 1 of 2"),
        (np.complex64([complex(0, -0.0)]), np.complex64([0]), "signs of zeros differ: 1 of 1"),
        (np.float32([0.0, 1]), np.float32([-0.0, 2]), "1 of 2 elements differ"),
        (None, None, ""),
        (np.zeros(2), None, "a gradient of zeros is here, PyTorch has None"),
        (None, np.zeros(2), "a gradient of zeros is None, PyTorch has one"),
        (np.ones(2), None, "a gradient that is not 0 is here, PyTorch has None"),
        (3, 3, ""),
        (3, 4, "3, PyTorch has 4"),
    ],
)
def test_what_differs(got: Any, wanted: Any, why: str) -> None:
    said = opinfo.different([got], [wanted])
    assert why in said and bool(why) == bool(said)


@pytest.mark.parametrize(
    ("got", "wanted", "result"),
    [
        ([np.float32([0.0])], [np.float32([0.0])], "equal"),
        ([np.float32([-0.0])], [np.float32([0.0])], "zeros"),
        ([np.zeros(2), np.float32([-0.0])], [None, np.float32([0.0])], "absent"),
        ([None], [np.ones(2)], "wrong"),
        ([np.float32([-0.0]), np.float32([1])], [np.float32([0.0]), np.float32([2])], "wrong"),
    ],
)
def test_result_of_the_worst_difference(got: Any, wanted: Any, result: str) -> None:
    """Zeros of other signs, and gradients that are None on one side, are results of their own."""
    assert opinfo.result_of(opinfo.different(got, wanted)) == result


@pytest.mark.parametrize(
    ("got", "why"),
    [
        ([[0], [2]], ""),
        ([[1], [0]], "1 of 2 elements differ"),
        ([[0], [0]], "a position is picked twice"),
        ([[0], [3]], "a position is outside an axis of 3"),
        ([0, 1], "PyTorch has int64[2, 1]"),
    ],
)
def test_any_of_equal_elements_is_picked(got: Any, why: str) -> None:
    """Positions of other elements, or of one twice, are differences."""
    wanted = opinfo.Positions(np.int64([[1], [2]]), np.int64([[5], [5], [4]]), 0)
    said = opinfo.different([np.int64(got)], [wanted])
    assert why in said and bool(why) == bool(said)


def test_common_operators_are_first() -> None:
    names = ["zeta", "linalg.qr", "nn.functional.silu", "add", "softmax", "nn.functional.conv2d"]
    wanted = ["add", "nn.functional.conv2d", "softmax", "nn.functional.silu", "zeta", "linalg.qr"]
    assert opinfo.by_use(names) == wanted


@pytest.mark.parametrize(
    ("got", "wanted", "is_near"),
    [(1.0, 1.002, True), (1.004, 1.002, False), (0.999, 1.002, True), (np.nan, 1.0, False)],
)
def test_rounding_is_told_by_float64(got: float, wanted: float, is_near: bool) -> None:
    rows = [np.float32([each]) for each in (got, wanted)]
    assert opinfo.is_as_near(*rows, np.float64([1.0])) is is_near
    assert not opinfo.is_as_near(*rows, np.float64([[1.0]]))


def test_results_are_counted() -> None:
    assert opinfo.different([1], [1, 2]) == "1 results, PyTorch has 2"
    assert not opinfo.different([np.zeros(2)], [np.ones(2)], is_loose=True)


def test_it_goes_on_where_it_was_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows that are there are not run again; a wrong one is the exit code."""
    out = tmp_path / "build" / "rows.json"
    monkeypatch.setattr(opinfo, "Worker", Quick)
    monkeypatch.setattr(Quick, "asked", [])
    monkeypatch.setattr(sys, "argv", ["opinfo", "add", "--processes=1", f"--out={out}"])
    assert opinfo.main() == 0
    assert json.loads(out.read_text("utf-8")) == {"add": [{"type": "float32", "values": "equal"}]}
    monkeypatch.setattr(sys, "argv", ["opinfo", "--processes=1", f"--out={out}"])
    assert opinfo.main() == 1
    assert Quick.asked == ["add", "softmax", "softmax-with_dtype"]
    assert "1 of 3 were in" in capsys.readouterr().out


def test_table() -> None:
    rows: list[Row] = [{"values": "equal", "gradients": "wrong"}, {"values": "refused"}]
    lines = opinfo.table({"add": rows, "exp": [{"values": "equal", "gradients": "equal"}]})
    columns = lines.splitlines()[0].split()
    assert tuple(columns) == opinfo.RESULTS
    counts = [dict(zip(columns, map(int, line.split()[1:]), strict=True))
              for line in lines.splitlines()[1:]]  # fmt: skip
    assert [{name: n for name, n in each.items() if n} for each in counts] == [
        {"equal": 2, "refused": 1}, {"equal": 1, "wrong": 1}, {"equal": 1, "wrong": 1}
    ]  # fmt: skip


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_samples_that_are_drawn_differ_with_the_seed(rate: float) -> None:
    """Also where the module sets a seed of its own, as the database's operators do."""
    torch = pytest.importorskip("torch")
    x = torch.ones(64)

    def draw(x: Any) -> Any:
        torch.manual_seed(42)
        return torch.nn.functional.dropout(x, rate)

    assert opinfo._is_drawn(draw, [x], [draw(x).numpy()]) == (rate > 0)


@pytest.mark.parametrize(
    ("body", "result"),
    [("x.relu() if x.sum() > 0 else x", "unexported"), ("torch.special.i0(x)", "refused")],
)
def test_who_cannot_do_it(body: str, result: str) -> None:
    """A failed export by PyTorch is not our refusal; a refusal has its operator's name."""
    torch = pytest.importorskip("torch")
    x = torch.ones(3)

    class Module(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return eval(body, {"torch": torch, "x": x})

    row = opinfo._ours(Module(), [x], [x.numpy()], [None], [False], [False], False)
    assert row["values"] == result and (result == "unexported" or "i0.default" in row["why"])
