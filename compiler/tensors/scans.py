"""Cumulative operations, and `einsum`.

A cumulative operation (scan) is one node (`graph/kinds/scan.py`). An einsum is one multiplication
of operands aligned to common axes, summed over the axes that the result does not name.
"""

from typing import Any, Literal, Self, overload

from compiler.core.dtypes import int64
from compiler.core.errors import ShapeError
from compiler.graph.extents import Extent, symbolic
from compiler.graph.kinds.scan import Scan
from compiler.graph.nodes import Iota, Pad, Permute, Reduce, Shrink, TensorNode, elementwise
from compiler.tensors.binary import Binary
from compiler.tensors.movement import Movement
from compiler.tensors.rank_zero import of_rank_zero
from compiler.tensors.reductions import sum_type
from compiler.tensors.shapes import axis_of, written
from compiler.tensors.value import (
    Operand,
    as_node,
    broadcast_node,
    cast_to,
    common_type,
    operand_of,
    reshaped,
    traced,
)

HINT = "e.g. einsum('ij,jk->ik', a, b)"
FIRST_UNNAMED = ord("\u4e00")
"""Axes covered by `...` in a formula get letters from this one on. Messages do not show them."""


@traced
class Scans(Movement, Binary):
    """Cumulative operations and einsum."""

    __slots__ = ()

    @of_rank_zero
    def cumsum(self, axis: int = 0, *, dim: int | None = None) -> Self:
        """The cumulative sum along `axis`, in the type of `sum`. The default is axis 0, as in
        tinygrad; NumPy's default, also for `np.cumsum(x)`, is the flattened tensor."""
        return self._scan("cumsum", "sum", axis if dim is None else dim)

    @of_rank_zero
    def cumprod(self, axis: int = 0, *, dim: int | None = None) -> Self:
        """The cumulative product along `axis`, in the type of `prod`. The default is axis 0."""
        return self._scan("cumprod", "prod", axis if dim is None else dim)

    @overload
    def cummax(self, axis: int = 0, *, dim: int | None = None) -> Self: ...
    @overload
    def cummax(
        self, axis: int = 0, *, dim: int | None = None, return_indices: Literal[True]
    ) -> tuple[Self, Self]: ...
    @of_rank_zero
    def cummax(
        self, axis: int = 0, *, dim: int | None = None, return_indices: bool = False
    ) -> "Self | tuple[Self, Self]":
        """The cumulative maximum along `axis`; NaN propagates. With `return_indices` a second
        tensor has its positions along `axis`, the last of equal ones, as in PyTorch."""
        made = self._scan("cummax", "max", axis if dim is None else dim)
        return (made, self._last(made, axis if dim is None else dim)) if return_indices else made

    @overload
    def cummin(self, axis: int = 0, *, dim: int | None = None) -> Self: ...
    @overload
    def cummin(
        self, axis: int = 0, *, dim: int | None = None, return_indices: Literal[True]
    ) -> tuple[Self, Self]: ...
    @of_rank_zero
    def cummin(
        self, axis: int = 0, *, dim: int | None = None, return_indices: bool = False
    ) -> "Self | tuple[Self, Self]":
        """The cumulative minimum along `axis`; NaN propagates. See `cummax`."""
        made = self._scan("cummin", "min", axis if dim is None else dim)
        return (made, self._last(made, axis if dim is None else dim)) if return_indices else made

    def _last(self, running: Self, axis: int) -> Self:
        """The last position of each running extreme."""
        place = axis_of("cummax", axis, self.ndim)
        along = (-1, *(1,) * (self.ndim - place - 1))
        index = self._new(Iota((), self.shape[place], int64)).reshape(along)
        is_met = self.eq(running)
        if self.dtype.is_float:
            is_met = is_met.bitwise_or(self.ne(self))
        return is_met.where(index, 0)._scan("cummax", "max", place)

    def _scan(self, method: str, reduction: str, axis: int) -> Self:
        place = axis_of(method, axis, self.ndim)
        is_total = reduction in ("sum", "prod")
        dtype = sum_type(self.dtype) if is_total else self.dtype
        inner = dtype.accumulator if is_total else dtype
        scan = Scan((cast_to(self.node, inner),), reduction, place)
        return self._new(cast_to(scan, dtype))

    @classmethod
    def einsum(cls, formula: str, *operands: Operand) -> Self:
        """Einstein summation over the axes that the result does not name: `einsum('ij,jk->ik', a,
        b)`.

        Without `->` the result has the axes that occur once, in alphabetical order. An axis named
        twice in one operand takes its diagonal. `...` stands for all other axes of an operand; they
        broadcast, and come first in the result unless it places them: `einsum('...ij,...jk', a,
        b)`. Raises `ShapeError` for a formula that does not fit.
        """
        made = cls.__new__(cls)
        made.node = _einsum(formula, operands)
        return made


def _einsum(formula: str, operands: tuple[Any, ...]) -> TensorNode:
    if not operands:
        raise ShapeError("einsum", "there are no operands", got=f"einsum({formula!r})",
                         expected="a tensor for each part of the formula",
                         hint=f"write Tensor.einsum({formula!r}, x)")  # fmt: skip
    parts = [operand_of("einsum", v) for v in operands]
    dtype = common_type(parts)
    inner = dtype.accumulator
    nodes = [cast_to(as_node("einsum", part, dtype), inner) for part in parts]
    names, result = _names(formula, nodes)
    extents = _extents(formula, names, nodes)
    summed = sorted(set(extents) - set(result))
    order = [*result, *summed]
    full = tuple(extents[name] for name in order)
    wide = [_aligned(node, axes, order, full) for node, axes in zip(nodes, names, strict=True)]
    product = wide[0]
    for each in wide[1:]:
        product = elementwise("mul", product, each)
    if summed:
        axes = tuple(range(len(result), len(order)))
        product = reshaped(Reduce((product,), "sum", axes), full[: len(result)])
    return cast_to(product, dtype)


def _names(formula: str, nodes: list[TensorNode]) -> tuple[list[str], str]:
    """The axis names of each operand, and of the result."""
    left, arrow, right = formula.replace(" ", "").partition("->")
    names, others = _named_others(left.split(","), nodes)
    used = "".join(names)
    once = sorted(n for n in set(used) - set(others) if used.count(n) == 1)
    result = right.replace("...", others) if arrow else others + "".join(once)
    is_named = all(n.isalpha() for n in used + result) and len(set(result)) == len(result)
    is_named &= not others or set(others) <= set(result)
    fits = [len(n) for n in names] == [len(node.shape) for node in nodes]
    if not (is_named and fits and set(result) <= set(used)):
        shapes = " and ".join(written(node.shape) for node in nodes)
        raise ShapeError(
            "einsum", "the formula does not fit the operands", got=f"{formula!r} for {shapes}",
            expected="a letter per axis of each operand, or ... for the others; the result names "
            "some of them, once each, and has ... where an operand has it",
            hint=HINT,
        )  # fmt: skip
    return names, result


def _named_others(names: list[str], nodes: list[TensorNode]) -> tuple[list[str], str]:
    """The names of the operands with new letters for each `...`, and all of these letters.

    Letters are aligned at the last axis that `...` covers, so these axes broadcast.
    """
    counts = [
        len(node.shape) - len(name.replace("...", "")) if name.count("...") == 1 else 0
        for name, node in zip(names, nodes, strict=False)
    ]
    most = max(counts, default=0)
    letters = "".join(chr(FIRST_UNNAMED + i) for i in range(max(most, 0)))
    found = [
        name.replace("...", letters[most - count :]) if count >= 0 else name
        for name, count in zip(names, counts, strict=False)
    ]
    return [*found, *names[len(found) :]], letters


def _extents(formula: str, names: list[str], nodes: list[TensorNode]) -> dict[str, int]:
    """The extent of each name. Extent 1 fits every other."""
    extents: dict[str, int | Extent] = {}
    for axes, node in zip(names, nodes, strict=True):
        for name, extent in zip(axes, symbolic(node.shape, node.extents), strict=True):
            known = extents.get(name, 1)
            if 1 not in (known, extent) and known != extent:
                shown = name if ord(name) < FIRST_UNNAMED else "..."
                raise ShapeError(
                    "einsum", f"axis {shown} has two extents in {formula!r}",
                    got=f"{known} and {extent}", expected="one extent, or 1", hint=HINT,
                )  # fmt: skip
            extents[name] = extent if known == 1 else known
    return {name: n.high if isinstance(n, Extent) else n for name, n in extents.items()}


def _aligned(node: TensorNode, axes: str, order: list[str], full: tuple[int, ...]) -> TensorNode:
    """An operand with its axes in `order`, broadcast to `full`."""
    for name in dict.fromkeys(axes):
        while axes.count(name) > 1:
            first = axes.index(name)
            second = axes.index(name, first + 1)
            node = _diagonal(node, first, second)
            axes = axes[:second] + axes[second + 1 :]
    places = sorted(range(len(axes)), key=lambda i: order.index(axes[i]))
    node = Permute((node,), tuple(places))
    spread = iter(node.shape)
    shape = tuple(next(spread) if name in axes else 1 for name in order)
    return broadcast_node(reshaped(node, shape), full)


def _diagonal(node: TensorNode, first: int, second: int) -> TensorNode:
    """The diagonal of two axes; axis `second` is dropped."""
    n = node.shape[first]
    if n != node.shape[second]:
        raise ShapeError(
            "einsum", "a diagonal needs axes of equal extent", got=written(node.shape), hint=HINT
        )
    rest = [i for i in range(len(node.shape)) if i not in (first, second)]
    node = Permute((node,), (first, second, *rest))
    tail = node.shape[2:]
    flat = reshaped(node, (n * n, *tail))
    padded = Pad((flat,), ((0, n), *((0, 0) for _ in tail)))
    square = reshaped(padded, (n, n + 1, *tail))
    column = Shrink((square,), ((0, n), (0, 1), *((0, m) for m in tail)))
    line = reshaped(column, (n, *tail))
    back = [0] * (len(rest) + 1)
    order = [first, *rest]
    for place, axis in enumerate(sorted(order)):
        back[place] = order.index(axis)
    return Permute((line,), tuple(back))
