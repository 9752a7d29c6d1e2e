"""The names of axes and of their parts."""

from compiler.loops.axis_names import AxisName
from compiler.loops.choices import Tile
from compiler.loops.nodes import axis_name


def test_parts_of_a_tiled_axis() -> None:
    axis = axis_name("reduction", 2)
    assert (axis, axis.outer, axis.inner, axis.rest) == ("r2", "r2.0", "r2.1", "r2.2")
    assert axis.inner.outer == axis_name("reduction", 2, (1, 0)) == "r2.1.0"
    assert axis.inner.outer.root == axis.root == axis
    tile = Tile("i0.1", 4)
    assert (tile.outer, tile.inner, tile.rest) == ("i0.1.0", "i0.1.1", "i0.1.2")


def test_an_axis_is_in_itself_and_no_part_of_itself() -> None:
    axis, part = AxisName("i1"), AxisName("i1.0.2")
    assert axis.is_in("i1") and not axis.is_part_of("i1")
    assert part.is_in("i1") and part.is_part_of("i1") and part.is_part_of("i1.0")
    assert not AxisName("i10").is_in("i1") and not AxisName("i10.0").is_part_of("i1")


def test_a_name_moves_with_the_axis_that_it_is_in() -> None:
    assert AxisName("i1.0").moved("i1", "i1.1") == "i1.1.0"
    assert AxisName("i1").moved("i1", "i7") == "i7"
    assert AxisName("i10.0").moved("i1", "i7") == "i10.0"
