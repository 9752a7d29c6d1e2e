"""The names of loop axes and of their parts: `i0`, `r2.1`, `i0.1.0`.

    axis `i0` tiled   i0.0 outer: over tiles   i0.1 inner: in a tile   i0.2 rest: the remainder

A part that is tiled again has parts itself. Names are strings, as choices and printed loops have
them; only this file reads their dots.
"""

OUTER, INNER, REST = range(3)
"""The parts of a tiled axis, by number."""
_DOT = "."


class AxisName(str):
    """The name of an axis or of a part of one."""

    __slots__ = ()

    def part(self, number: int) -> "AxisName":
        """A part of this axis."""
        return AxisName(f"{self}{_DOT}{number}")

    @property
    def outer(self) -> "AxisName":
        """The loop over the tiles."""
        return self.part(OUTER)

    @property
    def inner(self) -> "AxisName":
        """The loop over the iterations of one tile."""
        return self.part(INNER)

    @property
    def rest(self) -> "AxisName":
        """The loop over the remainder."""
        return self.part(REST)

    @property
    def root(self) -> "AxisName":
        """The axis of the body that this one is, or is a part of."""
        return AxisName(self.partition(_DOT)[0])

    def is_part_of(self, axis: str) -> bool:
        """True if this is a part of `axis`, or of a part of it."""
        return self.startswith(f"{axis}{_DOT}")

    def is_in(self, axis: str) -> bool:
        """True if this is `axis` or a part of it."""
        return self == axis or self.is_part_of(axis)

    def moved(self, old: str, new: str) -> "AxisName":
        """This name with `new` in the place of `old`, if it is `old` or a part of it."""
        return AxisName(new + self[len(old) :]) if self.is_in(old) else self
