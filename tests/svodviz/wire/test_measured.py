"""The page's data of a run, and the same in Python, on the command line and in files."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
import svodviz
from compiler import Options, Tensor
from svodviz.cli.main import main
from svodviz.exporting.export import export_stage
from svodviz.foundation.requests import key_of, respond
from svodviz.widget.explorer import Explorer
from svodviz.wire.measured import is_measurable, measured_row, recorded_run
from tests.svodviz.sample import hostile, sample
from tests.svodviz.sample_measured import Run
from tests.svodviz.sample_schedule import empty

KEY = key_of("measure", {})
PROGRAM = """
import numpy as np
from compiler import Tensor
x = Tensor(np.ones((8, 8), np.float32), name="x")
y = (x @ x).exp().sum()
"""


def program() -> Any:
    draw = np.random.default_rng(0)
    x, w = (Tensor(draw.random(it).astype("float32")) for it in ((16, 24), (24, 8)))
    return compiler.compile((x @ w).softmax(), Options(cache=False))


def test_an_answer_has_every_item_and_is_json() -> None:
    made = program()
    row = measured_row(made.measure(seconds=0.05))
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    assert len(row["items"]) == len(made.schedule.items)
    assert all(it["low"] <= it["ns"] <= it["high"] for it in row["items"])
    assert row["results"][0]["shape"] == "16×8"
    assert any(it["critical"] for it in row["items"])


def test_items_that_were_not_reached_are_none() -> None:
    made = compiler.compile([Tensor([1.0, 2.0]) + 1.0, Tensor([[1.0]]) @ Tensor([[2.0]])])
    found = made.measure(seconds=1e-9)
    row = measured_row(found)
    assert row["items"][0] and row["items"][1:] == [None] * (len(made.schedule.items) - 1)
    assert row["whole"] is None and row["results"] == []


def test_the_page_asks_and_the_answer_is_kept() -> None:
    explorer = Explorer(program())
    assert explorer.recorded == {}  # nothing is run by itself
    sent: list[dict[str, Any]] = []
    content = {"kind": "request", "id": 3, "name": "measure", "arguments": {}}
    respond(explorer, content, sent.append)
    assert [it["kind"] for it in sent] == ["progress", "answer"]
    assert explorer.recorded == {KEY: sent[-1]["result"]}


def test_explore_measures_when_asked() -> None:
    explorer = svodviz.explore(program(), measure=0.05, stage="run")
    assert explorer.state["stage"] == "run"
    assert explorer.recorded[KEY]["seconds"] < 5
    assert '"measure {}"' in explorer.export_html() or "gzip" in explorer.export_html()
    assert repr(explorer) == repr(svodviz.explore(program()))  # no time in what is compared


def test_a_program_without_data_is_explored_with_the_reason() -> None:
    made = compiler.compile(Tensor.placeholder(4, dtype="float32", name="given").exp())
    answer = recorded_run(made)[KEY]
    assert "given" in answer["problem"]


def test_what_goes_wrong_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    made = program()

    def fail(**_: object) -> None:
        raise compiler.DataError("run", "there are no data for x")

    monkeypatch.setattr(made, "measure", fail, raising=False)
    assert recorded_run(made)[KEY]["problem"].startswith("run: there are no data for x")


def test_what_cannot_be_asked_has_an_empty_stage() -> None:
    still = replace(sample(), schedule=empty())
    assert is_measurable(sample()) and not is_measurable(still)
    stage = next(it for it in Explorer(still).wire["stages"] if it["id"] == "run")
    assert stage["units"] == []


def test_python_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    found = svodviz.measure(program(), seconds=0.05)
    print(found)
    told = capsys.readouterr().out
    assert "quartiles" in told and "result 0  float32[16,8]" in told


def test_the_command_prints_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    assert main(["show", str(path), "--stage", "run"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("item") and "kernel k0" in told and "critical path by time" in told
    assert main(["explore", str(path), "--measure", "-o", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").exists()


@pytest.mark.parametrize("form", ["txt", "json", "svg", "dot", "graphml"])
def test_a_run_is_exported(tmp_path: Path, form: str) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    out = tmp_path / f"run.{form}"
    assert main(["export", str(path), "--stage", "run", "-o", str(out)]) == 0
    text = out.read_text("utf-8")
    assert "k0" in text
    if form == "json":
        data = json.loads(text)
        assert len(data["measured"]["items"]) == len(data["schedule"]["items"])
        assert all(node["cost"]["measured_ns"] >= 0 for node in data["nodes"])


def test_notes_and_machines_arrive_printable() -> None:
    row = measured_row(hostile().measure())
    assert "\u202e" not in json.dumps(row, ensure_ascii=False)
    assert isinstance(sample().measure(), Run)
    assert export_stage(sample(), "run", "txt").startswith("0 7280 ns\n1 5750 ns\n")
