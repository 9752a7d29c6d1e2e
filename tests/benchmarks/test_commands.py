"""Every measurement can be asked for by name."""

import importlib
from pathlib import Path

import pytest

from benchmarks.__main__ import OTHERS
from benchmarks.measuring import ROOT


@pytest.mark.parametrize("name", OTHERS)
def test_it_has_a_main(name: str) -> None:
    assert callable(importlib.import_module(f"benchmarks.{name}").main)


def test_all_are_named() -> None:
    files = [p for p in Path(ROOT / "benchmarks").glob("*.py") if "def main(" in p.read_text()]
    assert {p.stem for p in files} - {"__main__", "run", "worker"} == set(OTHERS)
