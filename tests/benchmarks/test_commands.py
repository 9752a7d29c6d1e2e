"""Every measurement can be asked for by name."""

import importlib
from pathlib import Path

import pytest

from benchmarks.__main__ import FOLDERS, OTHERS, module_of
from benchmarks.measuring import ROOT


@pytest.mark.parametrize("name", OTHERS)
def test_it_has_a_main(name: str) -> None:
    assert callable(importlib.import_module(module_of(name)).main)


def test_all_are_named() -> None:
    folder = Path(ROOT / "benchmarks")
    files = {p.stem for p in folder.glob("*.py") if "def main(" in p.read_text()}
    assert (files - {"__main__", "run", "worker"}) | set(FOLDERS) == set(OTHERS)
    assert {p.parent.name for p in folder.glob("*/run.py")} == set(FOLDERS)
