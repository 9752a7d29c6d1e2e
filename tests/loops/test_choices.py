"""Choices as text, and those that are no choices."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.core.errors import ScheduleError
from compiler.loops.choices import (
    PLAIN,
    Accumulate,
    CacheRow,
    Choice,
    Choices,
    Pack,
    Parallelize,
    Prefetch,
    Reorder,
    Stream,
    Tile,
    Unroll,
    Vectorize,
    parse,
    text,
)

AXES = st.sampled_from(["i0", "r2", "i0.1", "i3.1.0", "r12.2"])
SMALL = st.integers(1, 64)
ROWS: st.SearchStrategy[Choice] = st.one_of(
    st.builds(Tile, AXES, SMALL, st.sampled_from(["peel", "mask"])),
    st.builds(Reorder, st.lists(AXES, min_size=1, unique=True).map(tuple)),
    st.builds(Pack, SMALL, st.one_of(AXES, st.just("")), along=st.one_of(AXES, st.just(""))),
    st.builds(CacheRow, AXES, AXES),
    st.builds(Accumulate, AXES, SMALL, AXES),
    st.builds(Unroll, AXES),
    st.builds(Vectorize, AXES),
    st.builds(Parallelize, AXES, SMALL),
    st.builds(Stream, st.integers(0, 3)),
    st.builds(Prefetch, SMALL, AXES, AXES),
)


@given(st.lists(ROWS, max_size=8).map(tuple).map(Choices))
def test_text_reads_back(choices: Choices) -> None:
    assert parse(text(choices)) == choices
    assert parse(choices) is choices
    assert parse(choices.rows) == choices


def test_printed_with_reasons() -> None:
    choices = Choices((Tile("i0", 16, "mask", "10; 16 are wanted"), Vectorize("i0.1")))
    assert str(choices).splitlines() == [
        "tile i0 16 mask              # 10; 16 are wanted",
        "vectorize i0.1",
    ]
    assert repr(choices) == "Choices('tile i0 16 mask; vectorize i0.1')"
    assert str(PLAIN) == "plain"


@given(st.lists(ROWS, max_size=8), st.text("abc ;:×", max_size=8))
def test_what_is_printed_reads_back(rows: list[Choice], because: str) -> None:
    choices = Choices(tuple(replace(row, because=because.strip()) for row in rows))
    assert parse(str(choices)) == choices


def test_choices_can_be_left_out() -> None:
    choices = parse("tile i0 16; tile i0.1 4; unroll i0.1.0; unroll i0.2; vectorize i0.1.1")
    assert text(choices.without("unroll i0.1.0", "vectorize")) == (
        "tile i0 16 peel; tile i0.1 4 peel; unroll i0.2"
    )
    assert choices.without("tile i") == choices
    for wrong, hint in (("til", ""), ("keep i0", "keep was renamed: write cache_row"), ("", "")):
        with pytest.raises(ScheduleError, match="no such choice") as caught:
            choices.without(wrong)
        assert caught.value.hint == hint
    assert choices.without("tile i0").has("tile")


def test_lines_and_semicolons() -> None:
    assert parse("tile i0 16\n vectorize i0.1 ;; ") == Choices((Tile("i0", 16), Vectorize("i0.1")))


def test_one_read_of_an_argument() -> None:
    given = "pack 1[i1] i1.0; pack 2[i0.1]; pack 1"
    assert parse(given).rows == (Pack(1, "i1.0", along="i1"), Pack(2, along="i0.1"), Pack(1))
    assert text(parse(given)) == given
    assert text(parse(given).without("pack 1[i1]")) == "pack 2[i0.1]; pack 1"


@pytest.mark.parametrize("wrong", ["tiles i0 3", "tile", "tile i0 3 peel because more", "unroll"])
def test_what_is_no_choice_is_refused(wrong: str) -> None:
    with pytest.raises(ScheduleError, match="choice"):
        parse(wrong)


@pytest.mark.parametrize(
    ("given", "why"),
    [("tile i0 many", "size has to be a whole number"), ("tile i0 -4", "size has to be"),
     ("tile 4 i0", "axis has to be a word"), ("pack i0", "slot has to be a whole number"),
     ("tile i0 4 7", "tail has to be a word"), ("pack 1[]", "slot has to be a whole number"),
     ("pack i0[1]", "slot has to be a whole number")],
)  # fmt: skip
def test_values_of_another_kind_are_refused(given: str, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        parse(given)
