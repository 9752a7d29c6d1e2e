"""docs/seeds.md: every concept of the seeds has a name here, and a test."""

import importlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.sample import COLLECTED

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "seeds.md").read_text("utf-8")
HEADING = re.compile(r"^## (.+) \((\d+)\)$")
COUNTS = {
    "Node kinds of the graph": 44,
    "Binary operations": 17,
    "Unary operations": 6,
    "Ternary operations": 2,
    "Reductions": 3,
}


@dataclass(frozen=True)
class Row:
    """A concept of the seeds, its names here ("graph.nodes.Buffer"), the test that runs it."""

    section: str
    concept: str
    names: tuple[str, ...]
    test: str


def rows(page: str) -> Iterator[Row]:
    """Every row of every table of a page."""
    section = ""
    for line in page.splitlines():
        heading = HEADING.match(line)
        section = heading[1] if heading else section
        if line.startswith("| ") and " | here | test |" not in line:
            concept, names, test = (it.strip() for it in line.strip("|").split(" | "))
            yield Row(section, concept, tuple(re.findall(r"`([^`]+)`", names)), test.strip(" `"))


ROWS = tuple(rows(PAGE))


def value_of(name: str) -> object:
    """The object that a name of the page stands for; raises where there is none of that name."""
    parts = ["compiler", *name.split(".")]
    for end in range(len(parts), 0, -1):
        try:
            value: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            value = _part(value, part)
        return value
    raise AttributeError(name)


def _part(value: object, name: str) -> object:
    """An entry of a table, a field of a dataclass, or an attribute."""
    if isinstance(value, dict):
        return value[name]
    if name in getattr(value, "__dataclass_fields__", {}):
        return name
    return getattr(value, name)


@pytest.mark.parametrize("name", sorted({name for row in ROWS for name in row.names}))
def test_every_name_can_be_imported(name: str) -> None:
    assert value_of(name) is not None


@pytest.mark.parametrize("name", ["graph.nodes.Nothing", "graph.nothing.X", "ops.table.OPS.no"])
def test_a_wrong_name_is_found(name: str) -> None:
    with pytest.raises((AttributeError, KeyError)):
        value_of(name)


def missing_tests(tests: list[str], collected: set[str]) -> list[str]:
    """Those that pytest does not collect, in this session or in one of its own."""
    files = {f"tests/{test.partition('::')[0]}" for test in tests}
    files -= {test.partition("::")[0] for test in collected}
    known = {*collected, *_collected(sorted(file for file in files if (ROOT / file).exists()))}
    known |= {re.sub(r"\[.*\]$", "", test) for test in known}
    return [test for test in tests if f"tests/{test}" not in known]


def _collected(files: list[str]) -> set[str]:
    """The tests of files; a session of the whole suite has them all."""
    if not files:
        return set()
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, check=False)
    return {line for line in done.stdout.splitlines() if "::" in line}


def test_every_test_exists(request: pytest.FixtureRequest) -> None:
    wrong = ["test_seeds.py::test_nothing", "test_nothing.py::test_every_test_exists"]
    collected = set(request.config.stash[COLLECTED])
    assert missing_tests([*(row.test for row in ROWS), *wrong], collected) == wrong


def test_no_row_is_empty_or_there_twice() -> None:
    assert all(row.section and row.concept and row.names and row.test for row in ROWS)
    concepts = Counter((row.section, row.concept) for row in ROWS)
    assert not [concept for concept, count in concepts.items() if count > 1]


def test_each_section_has_as_many_rows_as_it_says() -> None:
    said = {match[1]: int(match[2]) for match in map(HEADING.match, PAGE.splitlines()) if match}
    assert said == Counter(row.section for row in ROWS)
    assert COUNTS.items() <= said.items()


def test_all_27_instructions_have_a_row() -> None:
    """A custom instruction has two: a statement and an expression."""
    names = {row.names for row in ROWS if row.section == "Lowered instructions"}
    assert len(names) == 27
