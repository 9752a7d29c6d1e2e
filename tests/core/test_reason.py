"""Reasons are sentences that carry numbers; numbers say how they compare."""

import pickle
from dataclasses import replace

import pytest

from compiler.core.reason import Decision, Number, Reason, numbers_of, table
from compiler.loops.choices import Choices, Refused, Tile, chosen, parse, text

COSTS = Number("computed where it is read", 9360.0, "ns", "once, in memory", 5020.0)


@pytest.mark.parametrize(("value", "unit", "shown"), [
    (950, "ns", "950 ns"), (9360.0, "ns", "9.36 µs"), (2.5e6, "ns", "2.5 ms"),
    (3e9, "ns", "3 s"), (0.25, "ns", "0.25 ns"), (65536, "bytes", "65,536 bytes"),
    (12, "", "12"), (0.125, "", "0.125"), (1234.5, "cycles", "1,234 cycles"),
    (float("inf"), "", "inf"),
])  # fmt: skip
def test_values_are_shown_in_their_unit(value: float, unit: str, shown: str) -> None:
    assert Number("it", value, unit).cells == ("it", shown, "", "", "")


@pytest.mark.parametrize(("value", "limit", "sign"), [(1, 2, "<"), (2, 2, "="), (3, 2, ">")])
def test_a_number_says_how_it_compares(value: float, limit: float, sign: str) -> None:
    assert Number("it", value, "", "most", limit).sign == sign


def test_a_reason_is_a_sentence_with_numbers() -> None:
    made = Reason("it costs more", COSTS)
    assert made == "it costs more" and f"{made}." == "it costs more."
    assert numbers_of(made) == (COSTS,) and numbers_of("plain words") == ()
    copied = pickle.loads(pickle.dumps(made))
    assert copied == made and numbers_of(copied) == (COSTS,)
    assert not Reason() and Reason("why")


def test_a_decision_prints_its_numbers_in_columns() -> None:
    reason = Reason("too expensive", COSTS, Number("iterations", 7))
    made = Decision("graph:4", "fuse", False, reason)
    assert made.numbers[1].value == 7
    assert str(made) == (
        "✗ fuse graph:4: too expensive\n"
        "    computed where it is read  9.36 µs > 5.02 µs  once, in memory\n"
        "    iterations                       7"
    )
    assert table([]) == []


def test_what_is_refused_says_nothing_about_the_loops() -> None:
    tile = Tile("i0", 4, "peel", Reason("fits", COSTS))
    refused = Refused("stream", "it stays near")
    choices = chosen([tile, refused, refused])
    assert choices == Choices((tile,)) and hash(choices) == hash(Choices((tile,)))
    assert choices.refused == (refused,) and choices.without("tile").refused == (refused,)
    assert text(choices) == "tile i0 4 peel" and not parse(text(choices)).refused
    assert numbers_of(replace(choices.rows[0], axis="i1").because) == (COSTS,)
