"""Random programs with typical operands: constants, broadcasts, views, pads.

    program(seed)    e.g. (full(7, 33) @ arange.flip(0)).max(0) + row.expand(…)

A program is a tensor over data and constants of any type, axes of 0, 1 and odd extents included.
The same seed gives the same program, and the same data.
"""

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from compiler.tensor import Tensor

EXTENTS = (1, 1, 2, 3, 5, 7, 8, 16, 17, 31, 33, 64, 70, 97, 1100)
DTYPES = ("float32",) * 6 + ("float64", "float16", "int32", "int8", "uint8", "int64", "bool")
MOST_ELEMENTS = 40_000
"""Elements of one value."""


class _Source:
    """Random draws, and data that go with them."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.numbers = np.random.default_rng(seed)

    def shape(self) -> tuple[int, ...]:
        """Of up to three axes; one is empty now and then."""
        shape = [self.draw.choice(EXTENTS) for _ in range(self.draw.choice((1, 2, 2, 2, 3)))]
        if self.draw.random() < 0.03:
            shape[self.draw.randrange(len(shape))] = 0
        while np.prod(shape) > MOST_ELEMENTS:
            shape[shape.index(max(shape))] = 3
        return tuple(shape)

    def array(self, shape: tuple[int, ...], dtype: str) -> Any:
        """Numbers around 0, integers small."""
        if dtype == "bool":
            return self.numbers.random(shape) < 0.5
        if dtype.startswith("float"):
            return self.numbers.standard_normal(shape).astype(dtype)
        return self.numbers.integers(0 if dtype[0] == "u" else -5, 6, shape).astype(dtype)


def leaf(source: _Source, shape: tuple[int, ...], dtype: str) -> Tensor:
    """A tensor of this shape and type: data, a constant, a count, or one of them broadcast."""
    kind = source.draw.choice(("data", "data", "full", "ones", "arange", "row", "column", "one"))
    match kind:
        case "full":
            return Tensor.full(shape, source.draw.choice((0, 2, 3)), dtype=dtype)
        case "ones":
            return Tensor.ones(*shape, dtype=dtype)
        case "arange":
            count = int(np.prod(shape))
            return (Tensor.arange(count) % 7).reshape(shape).cast(dtype)
        case "row":
            return Tensor(source.array(shape[-1:], dtype)).expand(shape)
        case "column":
            return Tensor(source.array((*shape[:-1], 1), dtype)).expand(shape)
        case "one":
            one = Tensor(source.array((1,) * len(shape), dtype))
            return one.expand(shape)
        case _:
            return Tensor(source.array(shape, dtype))


def moved(source: _Source, x: Tensor) -> Tensor:
    """A view: turned round, cut, with every other element, padded, or with axes exchanged."""
    axis = source.draw.randrange(x.ndim)
    extent = x.shape[axis]
    match source.draw.choice(("flip", "cut", "step", "pad", "permute", "reshape", "wrap")):
        case "flip":
            return x.flip(axis)
        case "cut" if extent > 2:
            return x.shrink([(1, extent - 1) if n == axis else None for n in range(x.ndim)])
        case "step" if extent > 3:
            return x[tuple(slice(None, None, 2) if n == axis else slice(None)
                           for n in range(x.ndim))]  # fmt: skip
        case "pad":
            return x.pad([(1, 2) if n == axis else (0, 0) for n in range(x.ndim)])
        case "permute":
            return x.permute(*source.draw.sample(range(x.ndim), x.ndim))
        case "reshape":
            return x.reshape(-1) if x.size else x
        case "wrap":
            return x.cat(x, dim=axis) if x.size * 2 <= MOST_ELEMENTS else x
        case _:
            return x


def changed(source: _Source, x: Tensor) -> Tensor:
    """One operation on each element."""
    if x.dtype.is_float:
        made: tuple[Callable[[Tensor], Tensor], ...] = (
            lambda t: t.relu(), lambda t: (t.clip(-4, 4)).exp(), lambda t: t.abs().sqrt(),
            lambda t: t * 0.5 + 1, lambda t: -t, lambda t: t.tanh(), lambda t: t > 0,
        )  # fmt: skip
    elif x.dtype.name == "bool":
        made = (lambda t: ~t, lambda t: t.cast("float32"), lambda t: t.cast("int32"))
    else:
        made = (lambda t: t * 3 + 1, lambda t: t.maximum(2), lambda t: t.cast("float32"))
    return source.draw.choice(made)(x)


def joined(source: _Source, x: Tensor) -> Tensor:
    """`x` and another operand, whose extents are those of `x` or 1."""
    shape = tuple(source.draw.choice((n, n, n, 1)) for n in x.shape)
    y = leaf(source, shape, x.dtype.name)
    if x.dtype.name == "bool":
        return source.draw.choice((x & y, x | y, x ^ y))
    return source.draw.choice((lambda: x + y, lambda: x * y, lambda: x - y, lambda: x.maximum(y),
                               lambda: (x > y).where(x, y)))()  # fmt: skip


def multiplied(source: _Source, x: Tensor) -> Tensor:
    """`x` in a product of matrices, on either side, with an operand of any kind."""
    if x.ndim < 2 or x.dtype.name == "bool":
        return joined(source, x)
    other, name = source.draw.choice(EXTENTS), x.dtype.name
    if source.draw.random() < 0.5:
        right = (x.shape[-1], other)
        y = leaf(source, right, name)
        if source.draw.random() < 0.3:
            y = leaf(source, right[::-1], name).T
        return x @ y
    return leaf(source, (other, x.shape[-2]), name) @ x


def folded(source: _Source, x: Tensor) -> Tensor:
    """A reduction over some axes, or statistics of rows."""
    axes = source.draw.sample(range(x.ndim), source.draw.randint(1, x.ndim))
    if not x.size or any(x.shape[axis] == 0 for axis in axes):
        return x.sum(axes)
    keep = source.draw.random() < 0.4
    if x.dtype.name == "bool":
        return source.draw.choice((lambda: x.any(axes, keep), lambda: x.sum(axes, keep)))()
    kinds: list[Callable[[], Tensor]] = [
        lambda: x.sum(axes, keep), lambda: x.sum(axes, keep), lambda: x.max(axes, keep),
        lambda: x.min(axes, keep), lambda: x - x.max(axes, True),
    ]  # fmt: skip
    if x.dtype.is_float:
        kinds += [lambda: x.softmax(axes[0]), lambda: x.mean(axes, keep)]
    return source.draw.choice(kinds)()


STEPS: tuple[Callable[[_Source, Tensor], Tensor], ...] = (
    moved, moved, changed, joined, joined, multiplied, multiplied, folded, folded,
)  # fmt: skip


def program(seed: int) -> Tensor:
    """Some steps from a leaf on."""
    source = _Source(seed)
    x = leaf(source, source.shape(), source.draw.choice(DTYPES))
    for _ in range(source.draw.randint(1, 5)):
        made = source.draw.choice(STEPS)(source, x) if x.ndim else changed(source, x)
        x = made if made.size <= MOST_ELEMENTS else folded(source, x)
    return x


def programs(first: int, count: int) -> Iterator[tuple[int, Tensor]]:
    """Those of some seeds."""
    return ((seed, program(seed)) for seed in range(first, first + count))
