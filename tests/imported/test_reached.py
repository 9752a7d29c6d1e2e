"""`reached.json`: it has each row of an importer's table and no other, and its tests exist."""

import importlib.util
import subprocess
import sys

import pytest

from tests.imported import reached


@pytest.mark.parametrize("importer", reached.TABLES)
def test_each_row_of_the_table_has_a_line_and_no_other(importer: str) -> None:
    assert set(reached.stored(importer)) == set(map(reached.name_of, reached.table_of(importer)))


@pytest.mark.parametrize("importer", reached.TABLES)
def test_tests_that_are_named_exist(importer: str) -> None:
    """With their parameters, which the recipe cannot read."""
    if importlib.util.find_spec(importer) is None:
        pytest.skip(f"{importer} is not installed")
    tests = set(reached.stored(importer).values())
    files = sorted({f"tests/imported/{test.partition('::')[0]}" for test in tests})
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n0", *files],
        cwd=reached.ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert tests <= {line.removeprefix("tests/imported/") for line in collected}


def test_a_test_that_no_longer_reaches_its_operator_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    test = "test_reached.py::test_a_test_that_no_longer_reaches_its_operator_fails"
    monkeypatch.setattr(reached, "stored", lambda importer: {"Relu": test, "Add": "another"})
    table = reached.table_of("onnx")
    relu = table["", "Relu"]
    with reached.reaching("onnx"):
        pass
    with pytest.raises(AssertionError, match=r"not reached: \['Relu'\]"):
        reached.check(test)
    assert table["", "Relu"] is relu
    with pytest.raises(AttributeError), reached.reaching("onnx"):
        table["", "Relu"](None, None)  # a function that fails is not reached
    assert reached.recorded.pop(test) == set()
