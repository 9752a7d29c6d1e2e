"""The search among programs that select by value finds nothing."""

from tests.search.selections import BODIES, HEADS, drawn, tried


def test_a_sample_is_right() -> None:
    assert not tried(36, range(24))


def test_every_head_and_body_is_drawn() -> None:
    programs = [drawn(1, number) for number in range(400)]
    assert {each.head for each in programs} == set(HEADS)
    assert {each.body for each in programs} == set(BODIES)
