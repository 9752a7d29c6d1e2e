"""Operators of importers that tests compare values of: recorded by each such test, and stored.

    with reaching("torch"):
        results = program(*inputs)

`reached.json` of an importer's folder names a test for each row of the importer's table. A test
fails if it no longer reaches the operators that it is named for; `tests/test_recipes.py` names the
rows without a test, also where PyTorch and JAX are not installed. `python -m tools.reached` writes
the files.
"""

import functools
import importlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

HOME = Path(__file__).parent
ROOT = HOME.parents[1]
TABLES = {"onnx": "OPERATORS", "torch": "OPERATORS", "jax": "PRIMITIVES"}
"""The name of each importer's table."""

_current: set[str] = set()
"""Operators that were reached in the block that runs."""
recorded: dict[str, set[str]] = {}
"""The operators that a test of this process reached, by the test."""


def table_of(importer: str) -> dict[Any, Callable[..., Any]]:
    """The functions of an importer by its operators."""
    importlib.import_module(f"compiler.imported.{importer}.program")  # (it fills the table)
    module = importlib.import_module(f"compiler.imported.{importer}.call")
    table: dict[Any, Callable[..., Any]] = getattr(module, TABLES[importer])
    return table


def name_of(key: str | tuple[str, str]) -> str:
    """The name of a row: an operator of ONNX outside of its own domain has the domain before it."""
    return key if isinstance(key, str) else ".".join(filter(None, key))


def path_of(importer: str) -> Path:
    """The file with a test for each operator."""
    return HOME / importer / "reached.json"


@cache
def stored(importer: str) -> Mapping[str, str]:
    """A test that compares values of it, for each operator."""
    if not path_of(importer).exists():
        return {}
    tests: Mapping[str, str] = json.loads(path_of(importer).read_text("utf-8"))
    return tests


@cache
def _recording(importer: str) -> dict[Any, Callable[..., Any]]:
    """The table, whose functions record that they returned a result."""

    def recording(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            result = function(*arguments, **named)
            _current.add(name)
            return result

        return call

    return {key: recording(name_of(key), each) for key, each in table_of(importer).items()}


@contextmanager
def reaching(importer: str) -> Iterator[None]:
    """Records the operators that the block reaches; a test may have several such blocks."""
    table = table_of(importer)
    functions = dict(table)
    _current.clear()
    table.update(_recording(importer))
    try:
        yield
    finally:
        table.update(functions)
    if "PYTEST_CURRENT_TEST" not in os.environ:
        return  # the table of all cases, which is no test
    test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0].removeprefix("tests/imported/")
    recorded.setdefault(test, set()).update(_current)


def check(test: str) -> None:
    """Fail if a test that records operators misses one that a `reached.json` names it for."""
    for importer in TABLES if test in recorded else ():
        expected = {name for name, each in stored(importer).items() if each == test}
        missed = sorted(expected - recorded[test])
        assert not missed, f"not reached: {missed}"


def current(importer: str) -> dict[str, str]:
    """A test for each operator that tests of this process reached: the one that reaches least."""
    rows: dict[str, str] = {}
    for test in sorted(recorded, key=lambda test: (len(recorded[test]), test)):
        if test.startswith(importer):
            for name in recorded[test]:
                rows.setdefault(name, test)
    return rows
