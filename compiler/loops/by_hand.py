"""Scalar nodes for launch sizes that are written by hand; no lowering creates them.

    node = Bind(var, value)       `value`, which `var` stands for
         | Special(size, name)    a launch index 0 … size-1: gidx0, lidx1, idx2

`notebooks/05_devices_and_sharding.ipynb` shows how a program is launched.
"""

from dataclasses import dataclass

from compiler.core.dtypes import DType, int64
from compiler.loops.nodes import ScalarNode
from compiler.ops.bounds import Bounds


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Bind(ScalarNode):
    """The value `sources[1]`, bound to the variable `sources[0]`."""

    def _bounds(self) -> Bounds:
        return self.sources[1].bounds


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Special(ScalarNode):
    """A launch index below `sources[0]`. Its name is its kind and the number of its axis.

    `gidx` numbers the groups, `lidx` the members of a group, `idx` all members.
    """

    name: str

    def _dtype(self) -> DType:
        return int64

    def _bounds(self) -> Bounds:
        bounds = self.sources[0].bounds
        return None if bounds is None else (0, max(bounds[1] - 1, 0))
