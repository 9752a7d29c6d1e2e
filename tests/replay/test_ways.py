"""State that functions read, for every place and way of reading, changed between calls."""

import warnings

import pytest

from tests.replay.state_places import ANY, NUMBERS
from tests.replay.state_ways import SEQUENCES, WAYS, Combination, outcome

PLACES = (*ANY, *NUMBERS)
NAMES = [way.__name__ for way in WAYS]
CAPTURED = ("an attribute", "a slot", "a list", "a dictionary", "a global", "a queue", "a tensor",
            "a variable around", "an array of NumPy", "a nested attribute", "a nested object",
            "a dataclass with slots")  # fmt: skip
"""Places that are guarded: a function that reads them is replayed."""


@pytest.mark.parametrize("place", PLACES)
def test_what_a_place_holds_is_never_stale(place: str) -> None:
    """Two ways and two kinds of values, others for each place, and the plain way with numbers."""
    number = PLACES.index(place)
    values = list(SEQUENCES) if place in ANY else ["numbers"]
    chosen = [
        Combination(place, "directly", "numbers"),
        Combination(place, NAMES[number % len(NAMES)], values[number % len(values)]),
        Combination(place, NAMES[number * 7 % len(NAMES)], values[(number + 3) % len(values)]),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {each: outcome(each) for each in chosen}
    assert {each: made for each, made in found.items() if made.is_stale} == {}
    if place in CAPTURED:
        assert found[chosen[0]].captures > 0


@pytest.mark.parametrize("way", NAMES)
def test_state_is_never_stale_whichever_way_it_is_read(way: str) -> None:
    number = NAMES.index(way)
    names = list(SEQUENCES)
    chosen = [
        Combination("an attribute", way, names[number % len(names)]),
        Combination("a dictionary", way, names[(number + 1) % len(names)]),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [each for each in chosen if outcome(each).is_stale] == []
