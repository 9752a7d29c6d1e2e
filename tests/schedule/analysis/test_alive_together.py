"""Large buffers with overlapping live ranges: the largest are reported, with both ranges."""

import random

from compiler.core.reason import numbers_of
from compiler.graph.nodes import Buffer
from compiler.schedule.analysis.alive_together import MOST_REPORTED, alive_together
from compiler.schedule.analysis.places import Place
from tests.schedule.items import buffer


def placed(rows: list[tuple[int, int, int]]) -> list[Place]:
    """Places of (size, first, last)."""
    made: list[Buffer] = [buffer(-1 - n, max(1, size)) for n, (size, _, _) in enumerate(rows)]
    return [Place(b, 0, *row, "") for b, row in zip(made, rows, strict=True)]


def test_each_is_told_with_what_is_needed_with_it() -> None:
    one, two, three = placed([(64, 0, 1), (128, 1, 2), (64, 3, 4)])
    found = alive_together([one, two, three])
    assert found[one.buffer] == (f"not with {two.buffer.name}: both are live in level 1",)
    assert found[two.buffer] == (f"not with {one.buffer.name}: both are live in level 1",)
    assert found[three.buffer] == ()
    first, second, size = numbers_of(found[one.buffer][0])
    assert (first.value, first.limit) == (two.first, one.last)
    assert (second.value, second.limit) == (one.first, two.last)
    assert (size.value, size.limit) == (128, 64)


def test_what_is_outside_the_arena_or_empty_is_left_out() -> None:
    one, two, three = placed([(64, 0, 1), (0, 0, 1), (64, 0, 1)])
    outside = Place(three.buffer, None, 64, 0, 1, "")
    assert alive_together([one, two, outside]) == {p.buffer: () for p in (one, two, outside)}


def test_of_each_pair_that_is_told_the_lives_meet() -> None:
    draw = random.Random(3)
    rows = []
    for _ in range(60):
        first = draw.randrange(30)
        rows.append((64 * draw.randrange(1, 9), first, first + draw.randrange(6)))
    places = placed(rows)
    found = alive_together(places)
    for place in places:
        assert len(found[place.buffer]) <= MOST_REPORTED
        beginning = [p for p in places if p is not place and p.first <= place.first <= p.last]
        assert not beginning or found[place.buffer], "a buffer is reported"
        for why in found[place.buffer]:
            begin, end, _ = numbers_of(why)
            assert begin.limit is not None and begin.value <= begin.limit
            assert end.limit is not None and end.value <= end.limit
        if beginning:
            largest = max(p.size for p in beginning)
            assert max(numbers_of(why)[2].value for why in found[place.buffer]) >= largest
