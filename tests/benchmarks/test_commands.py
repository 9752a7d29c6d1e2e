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
    folder = Path(ROOT / "benchmarks")
    files = {p.stem for p in folder.glob("*.py") if "def main(" in p.read_text()}
    folders = {p.parent.name for p in folder.glob("*/run.py") if "def main(" in p.read_text()}
    assert (files - {"__main__", "run", "worker"}) | folders == set(OTHERS)
