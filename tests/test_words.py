"""No text of the project has a word that it does not use, and the glossary is what it says."""

from collections import Counter
from pathlib import Path

import pytest

from svodviz.foundation.views import BY_ID
from svodviz.texts.glossary import CONCEPTS, Concept
from tests.words import FOLDERS, PAGES, ROOT, files, problems
from tools import glossary


def test_words() -> None:
    """Every text of the project."""
    assert [line for path in files([*FOLDERS, *PAGES]) for line in problems(path)] == []


@pytest.mark.parametrize(("name", "text", "count"), [
    ("a.py", '''def f() -> int:\n    """What it told."""\n''', 2),
    ("a.py", "x = 1  # beside y\n", 1),
    ("a.py", 'x = f"the way back of {y}"\n', 1),
    ("a.py", "beside = told\n", 0),
    ("a.md", "the way there\n```\ntold\n```\n", 1),
    ("a.js", "// a film\nconst told = 1;\n", 1),
])  # fmt: skip
def test_an_old_word_is_found(name: str, text: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert len(list(problems(path, name))) == count


def test_the_page_and_the_document_have_the_glossary() -> None:
    assert glossary.main(["--check"]) == 0


def test_a_word_has_one_row() -> None:
    assert max(Counter(row.word.lower() for row in CONCEPTS).values()) == 1
    assert [row.word.lower() for row in CONCEPTS] == sorted(row.word.lower() for row in CONCEPTS)


@pytest.mark.parametrize("row", CONCEPTS, ids=lambda row: row.word)
def test_a_concept_is_where_its_row_says(row: Concept) -> None:
    assert not row.code or (ROOT / row.code).exists()
    assert row.page in {*BY_ID, "inspector", ""}
    assert row.sentence and row.sentence[-1] not in ".:" and row.example
