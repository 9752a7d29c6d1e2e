"""Dynamic extents, known only at run time: which axes have one, and how operations propagate it.

The shape of a node holds the upper bounds. Where `extents` has an `Extent` for an axis, only that
many elements of the axis are meaningful; the others never affect a meaningful one.

    %0 = buffer x                      f32[1024,10]     extents ()
    %2 = prefix %0 %1 0                f32[n,10]        extents (n, None)
    %3 = exp %2                        f32[n,10]        operands: an axis is symbolic if one's is
    %4 = reduce sum %3 axes (0)        f32[1,10]        folds n elements: no longer symbolic
    %5 = reshape %3                    f32[n,2,5]       other axes are split and joined
    %6 = reshape %3                    f32[10*n]        joined with others it is a product
    %7 = pad %3 (1,2) (0,0)            f32[n+3,10]      what is added, and cut off, counts
    %8 = shrink %3 1:1024 0:10         f32[n-1,10]      up to the end

A rule is a function from a node to its extents; each class in `nodes.py` names its rule. Strides
are those of the upper bounds, so that no index depends on a variable.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NoReturn, TypeAlias

from compiler.core.errors import DataError, ShapeError, SizeError
from compiler.graph.extent import Extent as Extent
from compiler.graph.extent import Number, highest, less, lowest, product, quotient, total

Shape: TypeAlias = tuple[int, ...]
LARGEST = 2**48
"""The most elements of a tensor: what a 48-bit address can reach with one byte each."""
MOST_AXES = 64
"""The most axes of a tensor: as many as an array of NumPy."""


def refuse_shape(operation: str, shape: Shape) -> None:
    """Raise `SizeError` for a tensor with too many axes or too many elements."""
    if len(shape) > MOST_AXES:
        what, got = "the tensor has too many axes", f"{len(shape)} axes"
        raise SizeError(operation, what, got=got, expected=f"at most {MOST_AXES}")
    if math.prod(shape) > LARGEST:
        what = "the tensor has too many elements"
        got = f"shape {shape}, {math.prod(shape):,} elements"
        raise SizeError(operation, what, got=got, expected=f"at most {LARGEST:,}")


Extents: TypeAlias = tuple[Extent | None, ...]
"""One per axis; () where no axis is symbolic."""


def tidy(extents: Sequence[Extent | None]) -> Extents:
    """`extents`, or () where none of them is symbolic."""
    return tuple(extents) if any(extents) else ()


def refused(node: Any) -> Extents:
    """The rule of a kind that does not support symbolic axes: raises the error about it."""
    variable_source = next(s for s in node.sources if s.extents)
    axis = next(a for a, extent in enumerate(variable_source.extents) if extent)
    refuse(node, axis, variable_source.extents[axis], "is not defined for such an axis")


def refuse(node: Any, axis: int, extent: Any, what: str, hint: str = "") -> NoReturn:
    """Raise the error that the operation of `node` does not support its symbolic axis."""
    name = getattr(node, "op", None) or type(node).__name__.lower()
    raise ShapeError(
        name,
        f"axis {axis} has {extent.described} elements, known when the program runs: {name} {what}",
        got=f"[{','.join(map(str, node.sources[0].shape))}], of which {extent.name} on axis {axis}",
        expected="another axis, or an extent that is fixed",
        hint=hint,
    )


def two_values(
    operation: str,
    name: str,
    bindings: Sequence[str],
    hint: str = "two extents that differ are two variables",
) -> DataError:
    """The error about a variable that is bound to two values; `bindings` describes both."""
    return DataError(
        operation, f"variable {name} is bound to two values", got=" and ".join(bindings),
        expected=f"one value of {name} in each program",
        hint=hint,
    )  # fmt: skip


def binding(name: str, value: int, node: Any) -> str:
    """`n = 3 (cell 2:5)`: a value, and the user's line of the node that binds it."""
    place = f" ({node.origin.place})" if node is not None and node.origin else ""
    return f"{name} = {value}{place}"


def united(node: Any) -> Extents:
    """The rule of operands of one shape: an axis is symbolic if it is in any operand."""
    return tidy(_united(node, node.sources))


def _united(node: Any, sources: Sequence[Any]) -> list[Extent | None]:
    result: list[Extent | None] = [None] * len(sources[0].shape)
    for extents in {source.extents: None for source in sources if source.extents}:
        for axis, extent in enumerate(extents):
            if extent is None:
                continue
            if result[axis] not in (None, extent):
                refuse(node, axis, extent, f"meets {result[axis]} elements there")
            result[axis] = extent
    return result


def none(node: Any) -> Extents:
    """The rule of a node without a value."""
    return ()


def prefixed(node: Any) -> Extents:
    """The rule of a Prefix: its axis has the symbolic length; the others are unchanged."""
    source, extent = node.sources[0], node.extent
    extents = list(source.extents or (None,) * len(source.shape))
    held = extents[node.axis]
    if held is not None and lowest(less(held, extent)) < 0:
        refuse(node, node.axis, held, f"would make it {extent.described}")
    extents[node.axis] = extent
    return tuple(extents)


def permuted(node: Any) -> Extents:
    """The rule of a Permute: the extents, permuted."""
    return tuple(node.sources[0].extents[axis] for axis in node.order)


def folded(node: Any) -> Extents:
    """The rule of a reduction: a reduced axis has one element."""
    pairs = enumerate(node.sources[0].extents)
    return tidy([None if axis in node.axes else extent for axis, extent in pairs])


def reshaped(node: Any) -> Extents:
    """The rule of a Reshape: joined axes have the product of their extents, split ones a quotient.

    Where several axes could be the symbolic one, `given` has to state which is.
    """
    source = node.sources[0]
    if not source.size:
        axis = next(a for a, extent in enumerate(source.extents) if extent)
        refuse(node, axis, source.extents[axis], "has no elements to put under another shape")
    if node.given:
        _check_elements(node)
        return tuple(node.given)
    result: list[Number] = list(node.shape)
    old = symbolic(source.shape, source.extents)
    for new_axes, old_axes in matching_groups(node.shape, source.shape):
        axes = [axis for axis in old_axes if isinstance(old[axis], Extent)]
        if not axes:
            continue
        elements = product(old[axis] for axis in old_axes)
        fits = list(_fitting(node, new_axes, elements))
        if len(fits) != 1:
            hint = "let -1 stand for the axis of the variable, or name it: x.reshape(4, n)"
            what = f"could mean axis {' or '.join(str(axis) for axis, _ in fits)} by it"
            what = what if fits else f"of {node.shape} cannot split it so"
            refuse(node, axes[0], old[axes[0]], what, hint)
        ((axis, number),) = fits
        result[axis] = number
    return tidy([n if isinstance(n, Extent) else None for n in result])


def _fitting(node: Any, axes: Sequence[int], elements: Number) -> Iterator[tuple[int, Number]]:
    """The axes that could be the symbolic one, each with the extent that it would then have."""
    for axis in axes:
        others = math.prod(node.shape[i] for i in axes if i != axis)
        rest = quotient(elements, others)
        if node.shape[axis] != 1 and isinstance(rest, Extent) and rest.high == node.shape[axis]:
            yield axis, rest


def _check_elements(node: Any) -> None:
    """Raise `ShapeError` if the extents given to a reshape change the number of elements."""
    source = node.sources[0]
    new = product(symbolic(node.shape, node.given))
    old = product(symbolic(source.shape, source.extents))
    if new != old:
        raise ShapeError("reshape", "the number of elements changes",
                         got=f"({written(node.shape, node.given)}), {new} elements",
                         expected=f"{old} elements")  # fmt: skip


@lru_cache(4096)
def matching_groups(
    new: tuple[Number, ...], old: tuple[Number, ...]
) -> tuple[tuple[list[int], list[int]], ...]:
    """The shortest runs of axes of both shapes with equal products, left to right."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(new) or j < len(old):
        left, right = [i] if i < len(new) else [], [j] if j < len(old) else []
        a, b = (new[i] if left else 1), (old[j] if right else 1)
        i, j = i + len(left), j + len(right)
        while a != b and (i < len(new) or j < len(old)):
            if (highest(a) < highest(b) and i < len(new)) or j >= len(old):
                left.append(i)
                a, i = product((a, new[i])), i + 1
            else:
                right.append(j)
                b, j = product((b, old[j])), j + 1
        groups.append((left, right))
    return tuple(groups)


def padded(node: Any) -> Extents:
    """The rule of a Pad: the widths are added to the extent."""
    pairs = zip(node.sources[0].extents, node.widths, strict=True)
    return tuple(None if e is None else _axis(total((e, *width))) for e, width in pairs)


def _axis(number: Number) -> Extent:
    assert isinstance(number, Extent)
    return number


def shrunk(node: Any) -> Extents:
    """The rule of a Shrink, which supports three slices of a symbolic axis.

    A slice that exists for every value of the variable makes the axis fixed; the whole axis stays
    symbolic; a slice from a position that always exists to the end has a smaller symbolic extent.
    """
    result: list[Extent | None] = []
    for axis, (extent, part) in enumerate(zip(node.sources[0].extents, node.bounds, strict=True)):
        is_whole = extent is not None and part == (0, extent.high)
        is_open = axis in node.open and extent is not None and part[1] == extent.high
        if is_open and part[0] <= min(extent.low, extent.high - 2):
            result.append(_axis(less(extent, part[0])))
            continue
        if extent is not None and not is_whole and (part[1] > extent.low or is_open):
            guaranteed = f"only the first {extent.low} elements always exist"
            hint = f"{guaranteed}; positions from the end are not known"
            refuse(node, axis, extent, f"would take {part[0]}:{part[1]}", hint)
        result.append(extent if is_whole else None)
    return tidy(result)


def narrowed(node: Any) -> Extents:
    """The rule of a Narrow: it takes a fixed number of elements, and only of a fixed axis."""
    extents = tuple(node.sources[0].extents)
    if extents and extents[node.axis] is not None:
        refuse(node, node.axis, extents[node.axis], f"would take {node.length} elements")
    return extents


def kept(node: Any) -> Extents:
    """The rule of kinds that change no axis, or only axes of extent 1: those of the source."""
    return tuple(node.sources[0].extents)


def indexed(node: Any) -> Extents:
    """The rule of an Index: the extents of the positions; reads past the source's extent give 0.
    """
    return tidy(_united(node, node.sources[1:]))


def stored(node: Any) -> Extents:
    """The rule of a store: the extents of the value."""
    return tuple(node.sources[1].extents)


def shape_of(shape: Shape, extents: Extents, values: Mapping[str, int]) -> Shape:
    """The shape in this run; `values` has the value of each variable by name."""
    if not extents:
        return shape
    pairs = zip(shape, extents, strict=True)
    return tuple(e.value(values) if e is not None else n for n, e in pairs)


def part_of(shape: Shape) -> tuple[slice, ...]:
    """The index of the first elements of a larger array along each axis."""
    return tuple(slice(0, n) for n in shape)


def written(shape: Shape, extents: Extents) -> str:
    """`n,10`: the extents of a shape as printed programs write them."""
    return ",".join(map(str, shape if not extents else symbolic(shape, extents)))


def symbolic(shape: Shape, extents: Extents) -> tuple[int | Extent, ...]:
    """The shape with symbolic extents in place of their upper bounds."""
    return tuple(e or n for n, e in zip(shape, extents or (None,) * len(shape), strict=True))
