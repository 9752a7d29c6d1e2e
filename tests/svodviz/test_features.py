"""docs/features.md holds what it says: files, browser tests and pictures are there."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "features.md"
MOST_BYTES = 200_000
QUOTED, LINK = re.compile(r"`([^`]+)`"), re.compile(r"\]\(([^)]+)\)")


@dataclass(frozen=True)
class Row:
    """One promise: in words, its files, its tests ("file::name"), its pictures."""

    words: str
    files: tuple[str, ...]
    tests: tuple[str, ...]
    pictures: tuple[str, ...]


def rows(text: str) -> Iterator[Row]:
    """The rows of all tables of a page, without their heads."""
    for line in text.partition("\n## How long")[0].splitlines():
        cells = [it.strip() for it in line.strip()[1:-1].split("|")]
        if line.startswith("| ") and cells[0] != "Feature":
            words, files, tests, pictures = cells
            yield Row(words, tuple(QUOTED.findall(files)), tuple(QUOTED.findall(tests)),
                      tuple(LINK.findall(pictures)))  # fmt: skip


ROWS = list(rows(PAGE.read_text("utf-8")))


@cache
def browser_tests(name: str) -> frozenset[str]:
    """The tests of a file that are marked as driving a browser."""
    path = next(HERE.rglob(name), None)
    tree = ast.parse(path.read_text("utf-8")) if path else ast.parse("")
    marks = [it for it in tree.body if isinstance(it, ast.Assign)
             and [ast.unparse(target) for target in it.targets] == ["pytestmark"]]  # fmt: skip
    is_all = any("mark.browser" in ast.unparse(it.value) for it in marks)
    return frozenset(
        it.name
        for it in tree.body
        if isinstance(it, ast.FunctionDef) and it.name.startswith("test_")
        and (is_all or any("mark.browser" in ast.unparse(d) for d in it.decorator_list))
    )


def wrong(row: Row) -> list[str]:
    """Names in a row of things that are not there."""
    found = [f"no file {it}" for it in row.files if not (ROOT / it).is_file()]
    found += ["no file is named"] * (not row.files)
    for test in row.tests:
        name, _, function = test.partition("::")
        if function not in browser_tests(name):
            found.append(f"no browser test {test}")
    found += ["no test is named"] * (not row.tests)
    for picture in row.pictures:
        path = PAGE.parent / picture
        if not path.is_file():
            found.append(f"no picture {picture}")
        elif not 1_000 < path.stat().st_size < MOST_BYTES:
            found.append(f"{picture} has {path.stat().st_size:,} bytes")
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda it: re.sub(r"\W+", " ", it.words)[:60].strip())
def test_what_a_row_names_is_there(row: Row) -> None:
    assert wrong(row) == []


def test_the_table_is_read_whole() -> None:
    text = PAGE.read_text("utf-8").partition("\n## How long")[0]
    lines = [it for it in text.splitlines() if it.startswith("| ")]
    heads = [it for it in lines if it.startswith("| Feature |")]
    assert len(ROWS) == len(lines) - len(heads) > 80
    assert len({row.words for row in ROWS}) == len(ROWS)


def test_every_picture_is_used() -> None:
    used = {picture for row in ROWS for picture in row.pictures}
    there = {f"pictures/{it.name}" for it in (PAGE.parent / "pictures").iterdir()}
    assert there == used


PAYLOAD = "svodviz/wire/payload.py"


@pytest.mark.parametrize(("line", "words"), [
    ("| A | `svodviz/none.py` | `test_page.py::test_keys` | |", "no file svodviz/none.py"),
    (f"| A | `{PAYLOAD}` | `test_page.py::test_none` | |", "no browser test"),
    (f"| A | `{PAYLOAD}` | `test_wire.py::test_the_text_is_stable` | |", "no browser test"),
    (f"| A | `{PAYLOAD}` | `test_none.py::test_keys` | |", "no browser test"),
    (f"| A | `{PAYLOAD}` | `test_page.py::test_keys` | [x](pictures/x.png) |", "no picture"),
    (f"| A | `{PAYLOAD}` | `test_page.py::test_keys` | [x](seeds.md) |", ""),
    ("| A | | `test_page.py::test_keys` | |", "no file is named"),
])  # fmt: skip
def test_what_is_wrong_is_found(line: str, words: str) -> None:
    (row,) = rows(line)
    assert any(words in it for it in wrong(row)) if words else wrong(row) == []
