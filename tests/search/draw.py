"""What random programs are drawn from: extents at the edges, types of each width, operands that are
stored in many ways, and what follows a result.

Operands are inputs as they are, or their views: with axes in another order, merged, cut, padded,
flipped, of another type, of extent 1. Some are an input that was read before, in part or in whole.
"""

import math
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from compiler import dtypes
from tests.search.terms import Inputs, Term, called

T = TypeVar("T")
SMALL = (
    1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 8, 9, 12, 13, 15, 16, 16, 17, 20, 24, 25, 26, 28, 31, 32, 33,
)  # fmt: skip
EDGES = (40, 47, 48, 49, 50, 63, 64, 64, 65, 67, 80, 95, 96, 97, 100, 127, 128, 129, 130, 196, 200)
LARGE = (
    225, 255, 256, 257, 300, 384, 511, 512, 513, 676, 768, 784, 1000, 1023, 1024, 1025, 1499, 1500,
    1536, 1537, 2000, 2047, 2048, 2049, 3000, 4095, 4096, 4097, 8192, 10_000, 16_384, 65_536,
)  # fmt: skip
"""Extents: beside the lanes and tiles of each width; beside what stays in a cache; far above."""
WIDTHS = {
    1: ("int8", "uint8", "bool"), 2: ("float16", "int16", "uint16"),
    4: ("float32", "float32", "float32", "int32", "uint32"),
    8: ("float64", "float64", "int64", "uint64"),
}  # fmt: skip
"""Types by bytes of an element."""
ELEMENTS, WORK = 6_000, 150_000
"""Of a program that is run: of one value, and products of all its loops."""


class Draw:
    """Random draws for one program, and its inputs."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.inputs = Inputs()
        self.is_small = self.random.random() < 0.6
        width = self.random.choice((1, 2, 4, 4, 8))
        self.dtype = self.random.choice(WIDTHS[width])

    @property
    def is_float(self) -> bool:
        """Whether the program's type is one of floats."""
        return dtypes.parse(self.dtype).is_float

    def chance(self, share: float) -> bool:
        """True in so many of all cases."""
        return self.random.random() < share

    def pick(self, options: Sequence[T]) -> T:
        """One of several."""
        return self.random.choice(options)

    def extent(self) -> int:
        """How long an axis is."""
        kind = self.random.random()
        if kind < 0.15:
            return self.random.randint(1, 70)
        if kind < 0.7:
            return self.pick(SMALL)
        return self.pick(EDGES if kind < 0.9 or self.is_small else LARGE)

    def extents(self, count: int, most: int | None = None) -> tuple[int, ...]:
        """Of several axes, `most` elements together."""
        limit = most or (ELEMENTS if self.is_small else 10**9)
        return self.within([self.extent() for _ in range(count)], limit)

    def within(self, extents: list[int], limit: int) -> tuple[int, ...]:
        """These extents, the longest ones shorter until no more than `limit` elements are left."""
        while math.prod(extents) > limit:
            longest = extents.index(max(extents))
            extents[longest] = min(self.extent(), extents[longest] - 1)
        return tuple(extents)

    def order(self, count: int) -> tuple[int, ...]:
        """Axes in some order."""
        return tuple(self.random.sample(range(count), count))

    def axes(self, count: int) -> tuple[int, ...]:
        """One or more of so many axes, in order."""
        return tuple(sorted(self.random.sample(range(count), self.random.randint(1, count))))


def operand(draw: Draw, shape: tuple[int, ...], dtype: str = "", plain: float = 0.5) -> Term:
    """A term of this shape, with the share `plain` an input as it is."""
    dtype = dtype or draw.dtype
    if draw.chance(plain):
        return draw.inputs.new(shape, dtype)
    for _ in range(4):
        made = draw.pick(STORED)(draw, shape, dtype)
        if made is not None:
            assert made.shape == shape, f"{made.text}: {made.shape}, not {shape}"
            return made
    return draw.inputs.new(shape, dtype)


Stored = Callable[[Draw, tuple[int, ...], str], Term | None]


def _again(draw: Draw, shape: tuple[int, ...], dtype: str) -> Term | None:
    """Elements of an input that was read before: all of them, or the first."""
    count = math.prod(shape)
    held = [x for x in draw.inputs.terms if x.size >= count and x.dtype.name == dtype]
    if not held or not count:
        return None
    found = draw.pick(held)
    if sorted(found.shape) == sorted(shape):
        return _turned(draw, found, shape)
    whole = found if found.size == count else found.reshape(found.size)[:count]
    return whole.reshape(*shape)


def _turned(draw: Draw, x: Term, shape: tuple[int, ...]) -> Term:
    """`x` with its axes in an order in which it has this shape."""
    places, order = list(range(len(shape))), []
    for extent in shape:
        fitting = [p for p in places if x.shape[p] == extent]
        order.append(draw.pick(fitting))
        places.remove(order[-1])
    return x if order == sorted(order) else x.permute(*order)


def _permuted(draw: Draw, shape: tuple[int, ...], dtype: str) -> Term | None:
    if len(shape) < 2:
        return None
    order = draw.order(len(shape))
    stored = draw.inputs.new(tuple(shape[a] for a in order), dtype)
    return stored.permute(*(order.index(a) for a in range(len(shape))))


def _reshaped(draw: Draw, shape: tuple[int, ...], dtype: str) -> Term | None:
    """Stored with two axes as one, or one as two, maybe in another order."""
    if not shape:
        return None
    if len(shape) > 1 and draw.chance(0.5):
        at = draw.random.randrange(len(shape) - 1)
        merged = (*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :])
        return operand(draw, merged, dtype, 0.6).reshape(*shape)
    at = draw.random.randrange(len(shape))
    parts = split(draw, shape[at])
    return operand(draw, (*shape[:at], *parts, *shape[at + 1 :]), dtype, 0.3).reshape(*shape)


def split(draw: Draw, extent: int) -> tuple[int, int]:
    """Two extents whose product it is."""
    first = draw.pick([n for n in range(1, min(extent, 64) + 1) if extent % n == 0])
    return draw.pick(((first, extent // first), (extent // first, first)))


def _flipped(draw: Draw, shape: tuple[int, ...], dtype: str) -> Term | None:
    return draw.inputs.new(shape, dtype).flip(*draw.axes(len(shape))) if shape else None


def _cut(draw: Draw, shape: tuple[int, ...], dtype: str) -> Term | None:
    """A part of an input: from somewhere on, maybe every other element."""
    if not shape:
        return None
    at, begin, step = draw.random.randrange(len(shape)), draw.pick((0, 1, 3)), draw.pick((1, 2, 3))
    left = draw.pick((0, 1, 2))
    whole = (*shape[:at], begin + (shape[at] - 1) * step + 1 + left, *shape[at + 1 :])
    stop = begin + (shape[at] - 1) * step + 1
    key = (*(slice(None),) * at, slice(begin, stop, step))
    return draw.inputs.new(whole, dtype)[key]


def _padded(draw: Draw, shape: tuple[int, ...], dtype: str) -> Term | None:
    at = draw.random.randrange(len(shape)) if shape else 0
    if not shape or shape[at] < 3:
        return None
    before = draw.pick((0, 1, 2))
    after = draw.pick((0, 1)) if before else 1
    inner = (*shape[:at], shape[at] - before - after, *shape[at + 1 :])
    if 0 in inner:
        return None
    widths = [(before, after) if n == at else (0, 0) for n in range(len(shape))]
    return draw.inputs.new(inner, dtype).pad(widths)


def _cast(draw: Draw, shape: tuple[int, ...], dtype: str) -> Term | None:
    other = draw.pick(("int8", "uint8", "bool", "int32", "float32", "float16", "int64", "float64"))
    return draw.inputs.new(shape, other).cast(dtype)


def _expanded(draw: Draw, shape: tuple[int, ...], dtype: str) -> Term | None:
    if not shape:
        return None
    lone = draw.axes(len(shape))
    inner = tuple(1 if n in lone else e for n, e in enumerate(shape))
    return draw.inputs.new(inner, dtype).expand(*shape)


def _computed(draw: Draw, shape: tuple[int, ...], dtype: str) -> Term | None:
    return changed(draw, draw.inputs.new(shape, dtype))


def _constant(draw: Draw, shape: tuple[int, ...], dtype: str) -> Term | None:
    if draw.chance(0.5):
        return called("full", shape, draw.pick((0, 1, 2)), dtype=dtype)
    count = math.prod(shape)
    return called("arange", count).reshape(*shape).cast(dtype) if count < 10**6 else None


STORED: tuple[Stored, ...] = (
    _again, _again, _permuted, _permuted, _permuted, _reshaped, _reshaped, _flipped, _cut, _padded,
    _cast, _expanded, _computed, _constant,
)  # fmt: skip


def changed(draw: Draw, x: Term) -> Term:
    """One operation on each element."""
    if x.dtype.name == "bool":
        return x.logical_not()
    options: list[Callable[[Term], Term]] = [
        lambda t: t.relu(), lambda t: t * 2, lambda t: t + 1, lambda t: t.abs(),
    ]  # fmt: skip
    if x.dtype.is_float:
        options += [lambda t: t.relu(), lambda t: t.exp(), lambda t: t.tanh(), lambda t: t.gelu()]
    return draw.pick(options)(x)


# --- what follows a result --------------------------------------------------------------------


def ending(draw: Draw, x: Term) -> Term:
    """None to three steps that follow a result."""
    for _ in range(draw.pick((0, 0, 1, 1, 1, 2, 2, 3))):
        made = draw.pick(STEPS)(draw, x)
        is_small = made is not None and made.size <= (2 * ELEMENTS if draw.is_small else 10**9)
        x = made if made is not None and is_small else x
    return x


def _with_bias(draw: Draw, x: Term) -> Term | None:
    if not x.ndim:
        return None
    at = draw.random.randrange(x.ndim)
    shape = tuple(e if n == at else 1 for n, e in enumerate(x.shape))
    return x + operand(draw, shape, x.dtype.name, 0.8)


def _with_residual(draw: Draw, x: Term) -> Term | None:
    return x + operand(draw, x.shape, x.dtype.name, 0.8)


def _flattened(draw: Draw, x: Term) -> Term | None:
    return x.flatten(draw.random.randrange(x.ndim - 1)) if x.ndim > 1 else None


def _swapped(draw: Draw, x: Term) -> Term | None:
    return x.swapaxes(*draw.random.sample(range(x.ndim), 2)) if x.ndim > 1 else None


def _reordered(draw: Draw, x: Term) -> Term | None:
    return x.permute(*draw.order(x.ndim)) if x.ndim > 1 else None


def _merged(draw: Draw, x: Term) -> Term | None:
    """Two axes as one, in the order in which they are or in another."""
    if x.ndim < 2:
        return None
    x = x.permute(*draw.order(x.ndim)) if draw.chance(0.5) else x
    at = draw.random.randrange(x.ndim - 1)
    shape = x.shape
    return x.reshape(*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :])


def _cut_in_two(draw: Draw, x: Term) -> Term | None:
    if not x.ndim:
        return None
    at = draw.random.randrange(x.ndim)
    made = x.reshape(*x.shape[:at], *split(draw, x.shape[at]), *x.shape[at + 1 :])
    return made.swapaxes(at, draw.random.randrange(made.ndim)) if draw.chance(0.5) else made


def _folded(draw: Draw, x: Term) -> Term | None:
    if not x.ndim or x.dtype.name == "bool":
        return None
    return getattr(x, draw.pick(("sum", "max", "min")))(draw.axes(x.ndim))


def _shortened(draw: Draw, x: Term) -> Term | None:
    if not x.ndim:
        return None
    at = draw.random.randrange(x.ndim)
    key = slice(draw.pick((0, 1)), None, draw.pick((1, 2))) if x.shape[at] > 1 else slice(None)
    return x[(*(slice(None),) * at, key)]


def _bordered(draw: Draw, x: Term) -> Term | None:
    if not x.ndim:
        return None
    at = draw.random.randrange(x.ndim)
    return x.pad([(1, draw.pick((0, 1))) if n == at else (0, 0) for n in range(x.ndim)])


def _of_another_type(draw: Draw, x: Term) -> Term | None:
    return x.cast(draw.pick(("float32", "int32", "float64", "int8", "int64", "bool")))


def _softmax(draw: Draw, x: Term) -> Term | None:
    if not x.ndim or not x.dtype.is_float:
        return None
    return x.softmax(draw.random.randrange(x.ndim))


def _joined_with_itself(draw: Draw, x: Term) -> Term | None:
    return x.cat(x, dim=draw.random.randrange(x.ndim)) if x.ndim else None


def _turned_round(draw: Draw, x: Term) -> Term | None:
    return x.flip(draw.random.randrange(x.ndim)) if x.ndim else None


Step = Callable[[Draw, Term], Term | None]
STEPS: tuple[Step, ...] = (
    changed, changed, changed, _with_bias, _with_bias, _with_residual, _flattened, _flattened,
    _swapped, _reordered, _merged, _merged, _cut_in_two, _folded, _shortened, _bordered,
    _of_another_type, _softmax, _joined_with_itself, _turned_round,
)  # fmt: skip
