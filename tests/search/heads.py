"""Functions that select values by comparing them, with their gradients by NumPy.

A head is a function of a matrix y. `right(y, w)` is the derivative of sum(w * head(y)) by y: the
positions are found in float64, and equal elements are treated as `docs/kinks.md` says.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from compiler import Tensor

Array = np.ndarray[Any, Any]
Right = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Head:
    """One such function; `least` is the shortest row that it takes, and `has_ties` tells whether
    equal elements have a rule."""

    ours: Callable[[Tensor], Tensor]
    right: Right
    least: int = 1
    has_ties: bool = True


# --- shares of equal elements -----------------------------------------------------------------


def _shared(axis: int | None, sign: float = 1.0) -> Right:
    """Equal extremes share: of the greatest for a positive sign, else of the least."""

    def right(y: Array, w: Array) -> Array:
        is_it = y == sign * np.max(sign * y, axis, keepdims=True)
        found: Array = w * is_it / is_it.sum(axis, keepdims=True)
        return found

    return right


def _norm(y: Array, w: Array) -> Array:
    found: Array = np.sign(y) * _shared(1)(np.abs(y), w)
    return found


def _over(y: Array, w: Array, other: Array) -> Array:
    """Of the greater of y and a bound that has no gradient."""
    return w * np.where(y > other, 1.0, np.where(y == other, 0.5, 0.0))


def _middle(y: Array) -> Array:
    found: Array = (y.max(1, keepdims=True) + y.min(1, keepdims=True)) / 2
    return found


def _flipped(y: Array, w: Array) -> Array:
    share = _over(y, np.ones_like(y), y[:, ::-1])
    found: Array = share * w + share * w[:, ::-1]
    return found


# --- positions --------------------------------------------------------------------------------


def _at(places: Callable[[Array], Array]) -> Right:
    """Each result goes to the place in its row that it was taken from."""

    def right(y: Array, w: Array) -> Array:
        found, at = np.zeros_like(y), places(y)
        for row, column in np.ndindex(at.shape):
            found[row, at[row, column]] += w[row, column]
        return found

    return right


def _running(sign: float) -> Callable[[Array], Array]:
    """For each element where the running extreme is: the last of equal ones."""

    def places(y: Array) -> Array:
        found = np.zeros(y.shape, int)
        for column in range(1, y.shape[1]):
            before = np.take_along_axis(y, found[:, column - 1 : column], 1)[:, 0]
            is_new = sign * y[:, column] >= sign * before
            found[:, column] = np.where(is_new, column, found[:, column - 1])
        return found

    return places


def _order(y: Array) -> Array:
    return np.argsort(y, 1, kind="stable")


def _middle_ones(y: Array, w: Array) -> Array:
    """One or two in the middle, half to each of two."""
    count = y.shape[1]
    places = _order(y)[:, [(count - 1) // 2, count // 2]]
    return _at(lambda y: places)(y, np.repeat(w / 2, 2, 1))


def _down(y: Array) -> Array:
    return np.argsort(-y, 1, kind="stable")


# --- windows ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Windows:
    """Maxima of windows over the last axes."""

    size: tuple[int, ...]
    step: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]

    def ours(self, y: Tensor) -> Tensor:
        """By the method of as many axes."""
        axes = len(self.size)
        front = (1,) * (1 if axes == 1 else axes)  # channels, and axes of length 1
        pooled = getattr(y.reshape(*front, *y.shape), f"max_pool{axes}d")
        found = pooled(self.size, self.step, self.padding, self.dilation)
        return found  # type: ignore[no-any-return]

    def right(self, y: Array, w: Array) -> Array:
        """All of it to the first of the greatest elements of each window."""
        grid = y.reshape((1,) * (len(self.size) - 2) + y.shape) if len(self.size) > 1 else y
        found = np.zeros_like(grid)
        for at in np.ndindex(w.shape):
            inside = list(self._inside(grid, at))
            best = max(inside, key=lambda place: grid[place])
            found[best] += w[at]
        return found.reshape(y.shape)

    def _inside(self, grid: Array, at: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """The places of one window that are no padding, in order."""
        axes = len(self.size)
        before = at[-1 - axes : -axes] if axes == 1 else ()
        begin = [n * s - p for n, s, p in zip(at[-axes:], self.step, self.padding, strict=True)]
        for offset in np.ndindex(self.size):
            place = [b + o * d for b, o, d in zip(begin, offset, self.dilation, strict=True)]
            if all(0 <= p < n for p, n in zip(place, grid.shape[-axes:], strict=True)):
                yield (*before, *place)


def _windows(*each: Windows) -> dict[str, Head]:
    return {f"max_pool{len(w.size)}d{(w.size, w.step, w.padding, w.dilation)}":
            Head(w.ours, w.right, 4) for w in each}  # fmt: skip


# --- scatters ---------------------------------------------------------------------------------


def _groups(n: int) -> Array:
    return np.arange(n) * 2 // max(n, 1)


def _scattered(kind: str) -> Callable[[Tensor], Tensor]:
    def ours(y: Tensor) -> Tensor:
        rows, count = y.shape
        index = np.broadcast_to(_groups(count), (rows, count)).astype(np.int64)
        bound = 1e9 if kind == "amin" else -1e9
        start = Tensor(np.full((rows, 2), bound)).cast(y.dtype)
        return start.scatter_reduce(1, index, y, kind)

    return ours


def _scatter_right(sign: float) -> Right:
    def right(y: Array, w: Array) -> Array:
        found, groups = np.zeros_like(y), _groups(y.shape[1])
        for group in range(2):
            part = groups == group
            if part.any():
                found[:, part] = _shared(1, sign)(y[:, part], w[:, group : group + 1])
        return found

    return right


HEADS: dict[str, Head] = {
    "max of rows": Head(lambda y: y.max(1, keepdim=True), _shared(1)),
    "amax of all": Head(lambda y: y.amax(keepdim=True), _shared(None)),
    "amax of columns": Head(lambda y: y.amax(0, keepdim=True), _shared(0)),
    "min of rows": Head(lambda y: y.min(1, keepdim=True), _shared(1, -1.0)),
    "infinity norm": Head(lambda y: y.norm(float("inf"), 1, keepdim=True), _norm),
    "cummax": Head(lambda y: y.cummax(1), _at(_running(1.0))),
    "cummin": Head(lambda y: y.cummin(1), _at(_running(-1.0))),
    "sort": Head(lambda y: y.sort(1), _at(_order)),
    "sort down": Head(lambda y: y.sort(1, descending=True), _at(_down), 1, False),
    "topk": Head(lambda y: y.topk(2, 1)[0], _at(lambda y: _down(y)[:, :2]), 2, False),
    "median": Head(lambda y: y.median(1, keepdim=True),
                   _middle_ones, 1, False),
    "kthvalue": Head(lambda y: y.kthvalue(2, 1, True)[0],
                     _at(lambda y: _order(y)[:, 1:2]), 2, False),
    "gather at argmax": Head(lambda y: y.gather(1, y.argmax(1, keepdim=True)),
                             _at(lambda y: np.argmax(y, 1)[:, None])),
    "gather at argmin": Head(lambda y: y.gather(1, y.argmin(1, keepdim=True)),
                             _at(lambda y: np.argmin(y, 1)[:, None])),
    "scatter amax": Head(_scattered("amax"), _scatter_right(1.0), 2),
    "scatter amin": Head(_scattered("amin"), _scatter_right(-1.0), 2),
    "mask of the maximum": Head(
        lambda y: (y == y.max(1, keepdim=True)).where(y, 0.0),
        lambda y, w: w * (y == y.max(1, keepdims=True))),
    "mask below the maximum": Head(
        lambda y: (y < y.max(1, keepdim=True)).where(y * 2.0, y),
        lambda y, w: w * np.where(y < y.max(1, keepdims=True), 2.0, 1.0)),
    "at least the second": Head(
        lambda y: (y >= y.topk(2, 1)[0][:, 1:]).where(y, 0.0),
        lambda y, w: w * (y >= -np.sort(-y, 1)[:, 1:2]), 2),
    "maximum of the middle": Head(
        lambda y: y.maximum((y.max(1, keepdim=True) + y.min(1, keepdim=True)).detach() * 0.5),
        lambda y, w: _over(y, w, _middle(y)), 2, False),
    "clip at the second": Head(
        lambda y: y.clip(max=y.topk(2, 1)[0][:, 1:].detach()),
        lambda y, w: w * (y <= -np.sort(-y, 1)[:, 1:2]), 2, False),
    "relu below the maximum": Head(
        lambda y: (y.max(1, keepdim=True).detach() - y).relu(),
        lambda y, w: -w * (y < y.max(1, keepdims=True))),
    "root below the maximum": Head(
        lambda y: (y.max(1, keepdim=True).detach() - y).sqrt().detach() + y,
        lambda y, w: w),
    "maximum with a copy": Head(lambda y: y.maximum(y.detach()), lambda y, w: w * 0.5),
    "maximum with itself turned": Head(lambda y: y.maximum(y.flip(1)), _flipped),
    **_windows(
        Windows((2,), (1,), (0,), (1,)), Windows((3,), (2,), (1,), (1,)),
        Windows((2,), (2,), (0,), (2,)), Windows((2, 2), (1, 1), (1, 1), (1, 1)),
        Windows((1, 3), (1, 2), (0, 1), (1, 1)),
        Windows((1, 1, 2), (1, 1, 1), (0, 0, 1), (1, 1, 1)),
    ),
}  # fmt: skip
"""The functions by the names that are printed."""
