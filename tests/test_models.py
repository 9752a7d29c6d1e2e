"""`make models`: the models that it runs, and those it has already run."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import models

AMONG = ["resnet18", "swin_b", "swin_t", "vit", "bert"]


def row(name: str, difference: float = 1e-6, **more: Any) -> dict[str, Any]:
    columns = dict.fromkeys(("export", "walk", "compile", "run", "torch", "memory"), 1.0)
    counts = dict.fromkeys(("operators", "nodes", "items"), 1)
    return {"model": name, **counts, **columns, "difference": difference, **more}


def test_models_are_chosen_by_patterns() -> None:
    assert models.chosen(["*"], AMONG) == AMONG
    assert models.chosen(["vit", "swin*", "swin_t"], AMONG) == ["vit", "swin_b", "swin_t"]
    with pytest.raises(SystemExit, match="no such model: swim"):
        models.chosen(["vit", "swim"], AMONG)


def test_what_is_wrong() -> None:
    assert not models.is_wrong(row("a", 9e-5))
    assert models.is_wrong(row("a", 2e-4)) and models.is_wrong(row("a", float("nan")))
    assert not models.is_wrong(row("a", 2e-4, ours=2e-4, theirs=1e-4)), "PyTorch's is as large"
    assert models.is_wrong({"model": "a", "failed": "not ready after 900 s"})


def test_it_goes_on_where_it_was_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row that is there is printed as it is; one that failed is run again."""
    out, ran = tmp_path / "build" / "rows.json", []

    def measured(name: str, options: Any, seconds: float) -> dict[str, Any]:
        ran.append(name)
        if name == "vit" and ran.count(name) == 1:
            return {"model": name, "failed": f"not ready after {seconds:.0f} s"}
        return row(name)

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["models", "--out", str(out), *arguments])
        return models.main()

    monkeypatch.setattr(models, "row_of", measured)
    monkeypatch.setattr(models, "names", lambda: AMONG)
    assert run("vit", "swin*", "--seconds", "7") == 1
    assert "vit                    not ready after 7 s" in capsys.readouterr().out
    assert run() == 0
    assert ran == ["vit", "swin_b", "swin_t", "resnet18", "vit", "bert"]
    assert f"2 of 5 were in {out}: --anew runs them, too" in capsys.readouterr().out
    assert {each["model"] for each in json.loads(out.read_text("utf-8"))} == set(AMONG)
    assert run("bert", "--anew") == 0
    assert ran[-1] == "bert" and len(ran) == 7


def test_the_end_of_a_process_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The last line of the process: its row, or why there is none."""
    stand_in = tmp_path / "python"
    for body, expected in (
        ("echo warning; echo '{\"model\": \"vit\"}'", {"model": "vit"}),
        ("echo out of memory >&2; exit 3", {"model": "vit", "failed": "out of memory"}),
        ("exit 4", {"model": "vit", "failed": "exit 4"}),
        ("exec sleep 9", {"model": "vit", "failed": "not ready after 1 s"}),
    ):
        stand_in.write_text(f"#!/bin/sh\n{body}\n")
        stand_in.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(stand_in))
        assert models.row_of("vit", [], 1.0) == expected
