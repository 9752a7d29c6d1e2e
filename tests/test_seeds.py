"""docs/seeds.md: every concept of the seeds has its name here and a test, and the page says so."""

from collections import Counter

import pytest

from tools import seeds_table

COUNTS = {
    "Node kinds of the graph": 44,
    "Binary operations": 17,
    "Unary operations": 6,
    "Ternary operations": 2,
    "Reductions": 3,
}


def test_the_page_is_what_the_script_writes() -> None:
    written = seeds_table.PAGE.read_text("utf-8")
    assert written == seeds_table.page(), "python -m tools.seeds_table writes it anew"


def test_every_name_can_be_imported() -> None:
    assert seeds_table.missing_names() == []


@pytest.mark.slow
def test_every_test_exists() -> None:
    assert seeds_table.missing_tests() == []


def test_no_row_is_empty_or_there_twice() -> None:
    for section in seeds_table.SECTIONS:
        assert all(row.concept and row.names and row.test for row in section.rows)
        assert all(name for row in section.rows for name in row.names)
        concepts = Counter(row.concept for row in section.rows)
        assert not [concept for concept, count in concepts.items() if count > 1]


@pytest.mark.parametrize(("title", "count"), COUNTS.items())
def test_the_vocabulary_is_whole(title: str, count: int) -> None:
    (section,) = (s for s in seeds_table.SECTIONS if s.title == title)
    assert len(section.rows) == count


def test_all_27_instructions_have_a_row() -> None:
    """A custom instruction has two: a statement and an expression."""
    (section,) = (s for s in seeds_table.SECTIONS if s.title == "Lowered instructions")
    assert len({row.names for row in section.rows}) == 27


def test_what_is_missing_is_found() -> None:
    assert not seeds_table.missing_tests([row.test for row in seeds_table.rows()])
    assert len(seeds_table.missing_tests([])) == len(list(seeds_table.rows()))
