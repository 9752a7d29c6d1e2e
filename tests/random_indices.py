"""Indices at random, each as NumPy and as a tensor takes it: all kinds of items, mixed, some wrong.

An index of a seed is the same in every process. Items for NumPy are arrays; for a tensor the same
arrays, tensors that are known, or tensors that are computed.
"""

import math
import random
from typing import Any

import numpy as np

from compiler import Tensor

Array = np.ndarray[Any, Any]
Pair = tuple[Any, Any]
INTEGERS = ("int8", "uint8", "int16", "int32", "int64", "uint64")


class Source:
    """The drawings from one seed."""

    def __init__(self, seed: int, wrong: float = 0.04) -> None:
        self.draw = random.Random(seed)
        self.wrong = wrong

    def shape(self, most: int = 4) -> tuple[int, ...]:
        """A shape of any rank, extents of 0 and 1 among them."""
        rank = self.draw.choice([n for n in (0, 1, 1, 2, 2, 3, 3, 4) if n <= most])
        return tuple(self.draw.choice((0, 1, 2, 3, 4, 5)) for _ in range(rank))

    def number(self, extent: int) -> int:
        """A position along an axis; now and then one that it does not have."""
        beyond = not extent or self.draw.random() < self.wrong / 2
        return self.draw.randint(-extent - 2, extent + 1) if beyond else self.inside(extent)

    def inside(self, extent: int) -> int:
        """A position that the axis has, counted from either end."""
        return self.draw.randint(-extent, extent - 1)

    def bound(self, extent: int) -> Any:
        """An end of a slice."""
        number = self.draw.randint(-extent - 2, extent + 2)
        return self.draw.choice((None, number, number, np.int16(number), np.array(number)))

    def slice(self, extent: int) -> slice:
        """A slice with any ends and steps of both signs."""
        step = self.draw.choice((None, None, 1, 2, 3, -1, -2, -3))
        return slice(self.bound(extent), self.bound(extent), step)

    def positions(self, extent: int, common: tuple[int, ...]) -> Array:
        """Positions of the common shape, or of one that broadcasts to it."""
        rank = self.draw.randint(0, len(common))
        shape = [n if self.draw.random() < 0.8 else 1 for n in common[len(common) - rank :]]
        if self.draw.random() < self.wrong / 2:
            shape = [n + 1 for n in shape]
        count = math.prod(shape)
        name = self.draw.choice(INTEGERS)
        values = [self.number(extent) if extent else 0 for _ in range(count)]
        if name.startswith("u"):
            values = [v % extent if extent else 0 for v in values]
        return np.array(values, name).reshape(shape)

    def mask(self, covered: tuple[int, ...], trues: int | None) -> Array:
        """A mask over some axes; with `trues` elements that are true, where it has so many."""
        shape = list(covered)
        if shape and self.draw.random() < self.wrong:
            shape[self.draw.randrange(len(shape))] = self.draw.choice((0, 1, 2, 6))
        size = math.prod(shape)
        flat = [self.draw.random() < 0.5 for _ in range(size)]
        if trues is not None and trues <= size:
            chosen = self.draw.sample(range(size), trues)
            flat = [n in chosen for n in range(size)]
        return np.array(flat, bool).reshape(shape)

    def as_given(self, array: Array) -> Pair:
        """An array as NumPy gets it, and as a tensor's index gets it."""
        way = self.draw.choice(("array", "array", "list", "tuple", "known", "computed", "moved"))
        if way in ("list", "tuple") and array.ndim:
            items = array.tolist()
            return (items, items) if way == "list" else (_tuples(items), _tuples(items))
        if way == "known":
            return array, Tensor(array)
        if way == "computed" and self.are_inside(array):
            return array, Tensor(array) ^ False if array.dtype == bool else Tensor(array) + 0
        if way == "moved" and array.ndim:
            return array, np.asfortranarray(array)
        return array, array

    def are_inside(self, array: Array) -> bool:
        """True if a computed index may have these positions: others read 0 without an error."""
        return not self.wrong or array.dtype == bool

    def item(self, shape: tuple[int, ...], axis: int, common: tuple[int, ...]) -> tuple[Pair, int]:
        """An item for the axes from `axis` on, and how many it stands for."""
        extent = shape[axis] if axis < len(shape) else 1
        kind = self.draw.choice(("number", "slice", "slice", "new", "truth", "array", "array",
                                 "mask", "scalar"))  # fmt: skip
        match kind:
            case "number":
                number = self.number(extent)
                return (number, number), 1
            case "scalar":
                scalar = np.array(self.number(extent), self.draw.choice(INTEGERS[::2]))
                return self.draw.choice((
                    (scalar[()], scalar[()]), (scalar, scalar), (scalar, Tensor(scalar)),
                )), 1  # fmt: skip
            case "slice":
                part = self.slice(extent)
                return (part, part), 1
            case "new":
                return (None, None), 0
            case "truth":
                truth = self.draw.random() < 0.7
                flag = self.draw.choice((truth, np.bool_(truth), np.array(truth)))
                return self.draw.choice(((flag, flag), (flag, Tensor(truth)))), 0
            case "mask" if axis < len(shape):
                width = self.draw.randint(1, min(3, len(shape) - axis))
                trues = common[-1] if common and self.draw.random() < 0.8 else None
                return self.as_given(self.mask(shape[axis : axis + width], trues)), width
            case _:
                return self.as_given(self.positions(extent, common)), 1

    def index(self, shape: tuple[int, ...]) -> Pair:
        """An index for a tensor of `shape`: for NumPy, and for the tensor."""
        common = tuple(self.draw.choice((0, 1, 2, 3, 3)) for _ in range(self.draw.randint(0, 2)))
        rank = len(shape)
        items: list[Pair] = []
        axis = 0
        most = self.draw.randint(0, rank + 2)
        for _ in range(most):
            if axis >= rank and self.draw.random() > self.wrong:
                break
            pair, width = self.item(shape, axis, common)
            items.append(pair)
            axis += width
            if self.draw.random() < 0.12 and axis <= rank:
                items.append((..., ...))
                axis = max(axis, rank - self.draw.randint(0, 2))
        ours, theirs = (tuple(pair[n] for pair in items) for n in (1, 0))
        if len(items) == 1 and self.draw.random() < 0.5 and not isinstance(ours[0], tuple):
            return theirs[0], ours[0]
        return theirs, ours


def _tuples(items: Any) -> Any:
    return tuple(map(_tuples, items)) if isinstance(items, list) else items
