"""A program that one process compiled is not recompiled by another: all kinds are cached."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.run.programs import PROGRAMS

pytest.importorskip("onnx", reason="onnx is not installed")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[list[dict[str, Any]]]:
    """All of `programs.py`, as two processes ran them one after the other."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        for _ in range(2):
            command = [sys.executable, "-W", "error", "-m", "tests.run.programs"]
            made = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=600)
            assert made.returncode == 0, made.stderr
            found.append(json.loads(made.stdout))
    return found


@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=list(PROGRAMS))
def test_a_second_process_compiles_nothing(
    number: int, both: list[list[dict[str, Any]]]
) -> None:
    """Networks, models, layers, steps of training, captured functions: all are remembered."""
    first, again = (rows[number] for rows in both)
    assert first["left"] == again["left"] == []
    assert first["misses"] > 0 and (again["hits"], again["misses"]) == (first["misses"], 0)
    assert again["modules"] == 0
    assert again["results"] == first["results"]
