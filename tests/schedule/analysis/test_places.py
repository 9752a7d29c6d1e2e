"""Places in an arena: gaps merge, best fit is used, reasons name the buffer that shares a place."""

import random

import pytest

from compiler.graph.nodes import Buffer
from compiler.schedule.analysis.places import Arena, Place, explained, span
from tests.schedule.items import buffer


def test_gaps_join_and_the_smallest_that_fits_is_taken() -> None:
    arena = Arena()
    begins = [arena.take(size) for size in (64, 128, 64, 192, 64)]
    assert begins == [0, 64, 192, 256, 448] and arena.end == 512
    arena.free(64, 192)
    arena.free(256, 448)
    assert arena.gaps == [(128, 64), (192, 256)]
    assert arena.take(64) == 64, "of the smaller gap"
    assert arena.take(192) == 256
    arena.free(192, 256)
    assert arena.gaps == [(128, 128)], "joined with what was left of the first gap"
    assert arena.take(0) == 0
    arena.free(448, 512)
    assert arena.end == 448, "a gap at the end is none"


@pytest.mark.parametrize("seed", range(4))
def test_an_arena_is_what_a_map_of_its_cells_says(seed: int) -> None:
    draw, arena = random.Random(seed), Arena()
    cells: list[bool] = []
    held: list[tuple[int, int]] = []
    for _ in range(300):
        if held and draw.random() < 0.45:
            begin, stop = held.pop(draw.randrange(len(held)))
            arena.free(begin, stop)
            cells[begin:stop] = [False] * (stop - begin)
        else:
            size = draw.randrange(1, 9)
            begin = arena.take(size)
            cells += [False] * (begin + size - len(cells))
            assert not any(cells[begin : begin + size]), "it was free"
            cells[begin : begin + size] = [True] * size
            held.append((begin, begin + size))
        while cells and not cells[-1]:
            cells.pop()
        assert arena.end == len(cells)
        assert sum(size for size, _ in arena.gaps) == cells.count(False)


def test_reasons_name_the_last_that_was_there_or_the_next_that_will_be() -> None:
    rows = ((0, 0, 1), (0, 2, 3), (0, 4, 4), (64, 0, 4), (0, 5, 6))
    made: dict[Buffer, Place] = {}
    for number, (begin, first, last) in enumerate(rows):
        each = buffer(-1 - number)
        made[each] = Place(each, begin, 64, first, last, "")
    names = [each.name for each in made]
    assert [place.reason for place in explained(made).values()] == [
        f"shares 64 bytes with {names[4]}: its live range begins in level 5, and 2 more",
        f"shares 64 bytes with {names[0]}: its live range ends in level 1",
        f"shares 64 bytes with {names[1]}: its live range ends in level 3, and 1 more",
        f"memory of its own: of the buffers live at other times, {names[4]} is the largest, "
        f"but {names[0]} is live in that place",
        f"shares 64 bytes with {names[2]}: its live range ends in level 4, and 2 more",
    ]
    assert {span(place) for place in made.values()} == {(0, 64), (64, 128)}
