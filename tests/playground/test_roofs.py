"""The limits of this machine: orders that hold on every one."""

from compiler.machines.model import LEVELS
from compiler.playground.roofs import Roofs, measure_roofs


def test_what_is_measured_is_possible() -> None:
    first = measure_roofs(1)
    assert first.peak > first.alone > 0
    assert len(first.bandwidths) == len(LEVELS) and all(it > 0 for it in first.bandwidths)


def test_measuring_again_never_lowers_a_limit() -> None:
    first, again = measure_roofs(1), measure_roofs(1)
    assert again.peak >= first.peak
    pairs = zip(first.bandwidths, again.bandwidths, strict=True)
    assert all(b >= a for a, b in pairs)


def test_the_roof_is_the_lower_of_two_lines() -> None:
    roofs = Roofs("machine", 1, 100.0, 6.0, (400.0, 200.0, 100.0, 25.0))
    assert roofs.attainable(0.5, 3) == 12.5
    assert roofs.attainable(8.0, 3) == 100.0
    assert str(roofs).splitlines()[0] == "1 thread of machine"
