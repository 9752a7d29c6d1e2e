"""Mutants are killed by tests that assert, and survive those that do not."""

import ast
from pathlib import Path

import pytest

from tools import mutants

SOURCE = '''def larger(a: int, b: int) -> int:
    """The larger of two."""
    if a is None or not b:
        raise ValueError(1 + 1)
    return a if a > b else b
'''
CASES = '''def f(x: int) -> int:
    match x:
        case 1:
            try:
                return 2
            except ValueError:
                return x + 3
'''
TEST = "from compiler.pairs import larger\n\n\ndef test_larger() -> None:\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one module, `compiler/pairs.py`."""
    for name in ("compiler", "tests"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / "compiler" / "pairs.py").write_text(SOURCE)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    return tmp_path


def test_each_operator_is_changed_once_and_the_file_stays_valid(project: Path) -> None:
    made = list(mutants.mutants(project / "compiler" / "pairs.py"))
    assert {(it.was, it.now) for it in made} == {
        ("a is None or not b", "a is None and (not b)"), ("a is None", "a is not None"),
        ("not b", "b"), ("a > b", "a >= b"), ("a if a > b else b", "a if not a > b else b"),
    }  # fmt: skip
    for it in made:
        assert ast.dump(ast.parse(it.source)) != ast.dump(ast.parse(SOURCE))


@pytest.mark.parametrize(("body", "way"), [
    ("    assert larger(1, 2) == 2 and larger(3, 2) == 3\n", "a test fails"),
    ("    larger(1, 2)\n", ""),
    ("    while larger(1, 2) != 2:\n        pass\n", "no end in 2 s"),
    ("    pass\nassert larger(1, 2) == 2\n", "tests cannot be collected"),
])  # fmt: skip
def test_a_mutant_is_killed_by_tests_that_assert(body: str, way: str, project: Path) -> None:
    (project / "tests" / "test_pairs.py").write_text(TEST + body)
    path = project / "compiler" / "pairs.py"
    (wrong,) = (it for it in mutants.mutants(path) if it.was == "a if a > b else b")
    seconds = dict.fromkeys(mutants.tests_of(path), 2.0 if "while" in body else 60.0)
    assert mutants.outcome(wrong, project, seconds) == way
    assert path.read_text() == SOURCE


def test_tests_have_to_pass_without_a_mutant(project: Path) -> None:
    path = project / "compiler" / "pairs.py"
    wanted = list(mutants.mutants(path))
    (project / "tests" / "test_pairs.py").write_text(TEST + "    assert larger(1, 2) == 2\n")
    assert set(mutants.limits(wanted, project, 30.0)) == {"tests/test_pairs.py", "tests"}
    (project / "tests" / "test_pairs.py").write_text(TEST + "    assert larger(1, 2) == 1\n")
    with pytest.raises(SystemExit, match="fails without a mutant: a test fails"):
        mutants.limits(wanted, project, 30.0)
    (project / "tests" / "test_pairs.py").write_text("")
    with pytest.raises(SystemExit, match="pytest ended with 5"):
        mutants.limits(wanted, project, 30.0)


def test_the_tests_of_a_module_come_before_those_of_its_folder(project: Path) -> None:
    path = project / "compiler" / "pairs.py"
    assert mutants.tests_of(path) == ["tests"]
    (project / "tests" / "test_pairs.py").write_text(TEST)
    assert mutants.tests_of(path) == ["tests/test_pairs.py", "tests"]


def test_cases_and_handlers_are_changed_too(project: Path) -> None:
    path = project / "compiler" / "pairs.py"
    path.write_text(CASES)
    assert [(it.was, it.now) for it in mutants.mutants(path)] == [
        ("2", "3"), ("x + 3", "x - 3"), ("3", "4")]  # fmt: skip
