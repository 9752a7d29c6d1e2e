"""Operands at random: inputs in memory, and computed or laid out in many ways.

With axes in another order, merged, cut, padded, flipped, of another type, of extent 1, computed.
Some are an input that was read before, in part or in whole.
"""

import math
from collections.abc import Callable

from tests.search.draw import Draw
from tests.search.terms import Term, called


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
