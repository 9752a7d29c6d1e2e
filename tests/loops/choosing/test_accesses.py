"""How far accesses move along axes, where they do so evenly, and what they touch."""

from compiler.loops.choosing.accesses import Accesses, accesses
from tests.search.choosing import bodies, plain_loops
from tests.search.terms import program


def seen(given: str) -> Accesses:
    """The accesses of the one kernel of a program."""
    (body,) = bodies(program(given))
    found = accesses(plain_loops(body))
    assert found is not None
    return found


def table_of(found: Accesses) -> dict[str, int | None]:
    """The steps of in1, by axis."""
    (table,) = (a for a in found.loads if a.argument.slot == 1)
    return {axis.name: table.step(axis) for axis in found.ranges}


def test_elements_of_a_row_follow_one_another_wherever_the_row_is() -> None:
    found = seen("x0 = float32[50, 40]; x1 = int64[30]; x0[x1]")
    assert table_of(found) == {"i0": None, "i1": 1}
    (table,) = (a for a in found.loads if a.argument.slot == 1)
    assert not table.is_affine and {axis.name for axis in table.uneven} == {"i0"}


def test_elements_that_each_have_an_index_do_not() -> None:
    assert table_of(seen("x0 = float32[50]; x1 = int64[30]; x0[x1]")) == {"i0": None}


def test_an_axis_that_is_divided_moves_unevenly_alone() -> None:
    found = seen("x0 = float32[6, 4, 5]; x0.permute(1, 0, 2).reshape(24, 5)[1:] * 2.0")
    assert table_of(found) == {"i0": None, "i1": 1}


def test_of_a_large_table_the_rows_that_are_read_are_touched() -> None:
    few = seen("x0 = float32[50000, 40]; x1 = int64[30]; x0[x1]")
    assert few.nbytes == 30 * 40 * 4 * 2 + 30 * 8
    many = seen("x0 = float32[50, 40]; x1 = int64[3000]; x0[x1]")
    assert many.nbytes == 50 * 40 * 4 + 3000 * 40 * 4 + 3000 * 8
