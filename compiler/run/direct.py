"""direct: runs that take one foreign call, with the least possible work in Python.

    check each array that is given  ·  memory for the results  ·  the call

A plan qualifies if machine code does all of its work, no input is written or has a dynamic extent,
no variable has a value, and each result has its own memory. A run qualifies if its data are
row-major arrays of the shapes and types of the inputs. Otherwise the general path converts the
data or reports what is wrong with them.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy import ndarray

from compiler.core.effects import Effects
from compiler.device import cpu
from compiler.device.allocator import Array, Maker, address_of
from compiler.graph.nodes import Buffer, Shape
from compiler.run.allocation import maker
from compiler.run.feeding import Given, Inputs
from compiler.run.native import Changed, NativePlan
from compiler.run.plans import Structure

SMALL = 4096
"""Bytes of a result that is allocated by NumPy, not by the allocator: that takes 0.2 µs instead of
0.9 (EPYC, AVX2, 2026-11-23)."""
Usual: TypeAlias = tuple[int, Shape, "np.dtype[Any]"]
"""An input that needs no conversion: its number in the structure, its shape and its type."""


@dataclass(frozen=True, slots=True, eq=False)
class Direct:
    """See the module docstring."""

    call: Callable[[list[int], Changed, Effects | None], None]
    """Runs everything on `own` addresses, some of them changed."""
    feed: Inputs
    usual: Sequence[Usual]
    """The inputs, in the order of the program."""
    own: list[int]
    """The addresses of the inputs' own data, in the order of the structure, and of allocated
    buffers; 0 for those that each run supplies."""
    needed: frozenset[int]
    """The numbers of inputs without data of their own."""
    makers: Sequence[tuple[int, Maker]]
    """The functions that allocate buffers, results included, by number."""
    results: tuple[int, ...] | None
    """For each result its number there; None if the results are exactly the allocated buffers."""

    def run(self, inputs: Given) -> list[Array] | None:
        """The results; None if the general path has to convert or refuse something."""
        if cpu.MEMORY.budget is not None:
            return None
        changed: Changed = {}
        if type(inputs) is list and len(inputs) <= len(self.usual):
            given = inputs.copy()  # keeps the arrays alive, even if another thread changes the list
            # passing strict=False takes twice as long
            pairs: Iterable[tuple[Usual, Any]] = zip(self.usual, given)  # noqa: B905
        else:
            found = self.feed.by_place(inputs)
            pairs = [(self.usual[place], array) for place, array in found.items()]
        for (number, shape, dtype), array in pairs:
            if type(array) is not ndarray or array.shape != shape or array.dtype != dtype:
                return None
            flags = array.flags
            if not flags.carray and not (flags.c_contiguous and flags.aligned):
                return None
            changed[number] = address_of(array)
        if not self.needed <= changed.keys():
            return None
        made: list[Array] = []
        for number, make in self.makers:
            array, changed[number] = make()
            made.append(array)
        self.call(self.own, changed, None)
        return made if self.results is None else [made[number] for number in self.results]


def direct_of(
    structure: Structure,
    feed: Inputs,
    order: Sequence[int],
    own: Sequence[int],
    shapes: Sequence[Shape],
) -> Direct | None:
    """Runs of `structure` on an `own` address for each input, or 0; None if machine code does not
    do all of the work.

    `order` has, for each input of the structure, its place in the program; `shapes` are those of
    the results.
    """
    native = structure.native
    made = [block.buffer for block in native.blocks]
    wanted = dict(zip(structure.results, shapes, strict=True))
    is_whole = all(b in made and b.size == math.prod(shape) for b, shape in wanted.items())
    if native.direct is None or not is_whole:
        return None
    numbers = {place: number for number, place in enumerate(order)}
    results = tuple(made.index(buffer) for buffer in structure.results)
    return Direct(
        call=native.direct,
        feed=feed,
        usual=[(numbers[place], buffer.shape, buffer.dtype.numpy)
               for place, buffer in enumerate(feed.buffers)],
        own=[*own, *[0] * len(made)],
        needed=frozenset(number for number, address in enumerate(own) if not address),
        makers=[(number, maker_of(buffer, native, wanted.get(buffer)))
                for number, buffer in enumerate(made, len(own))],
        results=None if results == tuple(range(len(made))) else results,
    )  # fmt: skip


def maker_of(buffer: Buffer, native: NativePlan, shape: Shape | None = None) -> Maker:
    """A function that allocates memory for a buffer of one run, flat or of a shape."""
    if buffer.nbytes > SMALL or buffer in native.streamed:
        return maker(buffer, shape)
    return cpu.MEMORY.small_maker((buffer.size,) if shape is None else shape, buffer.dtype)
