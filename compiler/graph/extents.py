"""Extents known only when the program runs: which axes have one, and how it passes on.

The shape of a node holds the greatest extents. Where `extents` has an `Extent` for an axis, only
that many elements of the axis are meaningful; the others are never read to make one that is.

    %0 = buffer x                      f32[1024,10]     extents ()
    %2 = prefix %0 %1 0                f32[n,10]        extents (n, None)
    %3 = exp %2                        f32[n,10]        operands: an axis is symbolic if one's is
    %4 = reduce sum %3 axes (0)        f32[1,10]        folds n elements: no longer symbolic
    %5 = reshape %3                    f32[n,2,5]       a symbolic axis stays an axis of its own

A rule is a function from a node to its extents; the classes in `nodes.py` say which is theirs.
Strides are those of the greatest extents, so that no index depends on a variable.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from compiler.core.errors import DataError, ShapeError, SizeError

Shape: TypeAlias = tuple[int, ...]
LARGEST = 2**48
"""Elements one tensor may have: what a 48-bit address can reach, were each a byte."""
MOST_AXES = 64
"""Axes one tensor may have: as many as an array of NumPy."""


def refuse_shape(operation: str, shape: Shape) -> None:
    """`SizeError` for a tensor of more axes, or more elements, than there may be."""
    if len(shape) > MOST_AXES:
        what, got = "the tensor has too many axes", f"{len(shape)} axes"
        raise SizeError(operation, what, got=got, expected=f"at most {MOST_AXES}")
    if math.prod(shape) > LARGEST:
        what = "the tensor has too many elements"
        got = f"shape {shape}, {math.prod(shape):,} elements"
        raise SizeError(operation, what, got=got, expected=f"at most {LARGEST:,}")


@dataclass(frozen=True, slots=True)
class Extent:
    """A number of elements known when the program runs: at least `low` and at most `high`."""

    name: str
    low: int
    high: int

    def __str__(self) -> str:
        return self.name

    @property
    def described(self) -> str:
        """`n (1 … 1024)`, as messages write it."""
        return f"{self.name} ({self.low} … {self.high})"


Extents: TypeAlias = tuple[Extent | None, ...]
"""One per axis; () where no axis is symbolic."""


def tidy(extents: Sequence[Extent | None]) -> Extents:
    """`extents`, or () where none of them is a variable."""
    return tuple(extents) if any(extents) else ()


def refused(node: Any) -> Extents:
    """The rule of a kind that is not defined for symbolic axes: an error that says so."""
    found = next(s for s in node.sources if s.extents)
    axis = next(a for a, extent in enumerate(found.extents) if extent)
    refuse(node, axis, found.extents[axis], "is not defined for such an axis")


def refuse(node: Any, axis: int, extent: Any, what: str, hint: str = "") -> NoReturn:
    """Raise the error about the operation that `node` would be."""
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
    """The error about a variable that two things give a value; `bindings` says which and what."""
    return DataError(
        operation, f"variable {name} is bound to two values", got=" and ".join(bindings),
        expected=f"one value of {name} in each program",
        hint=hint,
    )  # fmt: skip


def binding(name: str, value: int, node: Any) -> str:
    """`n = 3 (cell 2:5)`: a value, and the user's line of the node that says so."""
    place = f" ({node.origin.place})" if node is not None and node.origin else ""
    return f"{name} = {value}{place}"


def united(node: Any) -> Extents:
    """Operands of one shape: an axis is symbolic where that of an operand is."""
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
    """A node without a value."""
    return ()


def prefixed(node: Any) -> Extents:
    """The axis of a prefix has the extent of its variable; the others are as they were."""
    source, variable = node.sources
    made = list(source.extents or (None,) * len(source.shape))
    while variable.sources:
        (variable,) = variable.sources
    extent = Extent(variable.name, variable.low, variable.high)
    held = made[node.axis]
    if held not in (None, extent):
        refuse(node, node.axis, held, f"would make it {extent.described}")
    made[node.axis] = extent
    return tuple(made)


def permuted(node: Any) -> Extents:
    """The extents in the order of the axes."""
    return tuple(node.sources[0].extents[axis] for axis in node.order)


def folded(node: Any) -> Extents:
    """A folded axis has one element."""
    pairs = enumerate(node.sources[0].extents)
    return tidy([None if axis in node.axes else extent for axis, extent in pairs])


def reshaped(node: Any) -> Extents:
    """A symbolic axis stays an axis of its own; axes of extent 1 may come and go beside it."""
    source = node.sources[0]
    result: list[Extent | None] = [None] * len(node.shape)
    for axis, extent in enumerate(source.extents):
        if extent is None:
            continue
        before = math.prod(source.shape[:axis])
        places = [i for i, n in enumerate(node.shape) if n == extent.high]
        found = [i for i in places if math.prod(node.shape[:i]) == before]
        if not found or not source.size:
            hint = "let -1 stand for this axis, e.g. x.reshape(-1, …), and join or split others"
            refuse(node, axis, extent, "would join or split it", hint)
        result[found[0]] = extent
    return tuple(result)


def padded(node: Any) -> Extents:
    """Only axes of fixed extent are padded."""
    for axis, (extent, width) in enumerate(zip(node.sources[0].extents, node.widths, strict=True)):
        if extent is not None and any(width):
            hint = "its end is not known: pad, join or slide windows along another axis"
            refuse(node, axis, extent, f"would put {width} elements around it", hint)
    return tuple(node.sources[0].extents)


def shrunk(node: Any) -> Extents:
    """A part that is there whatever the variable: then the axis is fixed; or the whole axis."""
    result: list[Extent | None] = []
    for axis, (extent, part) in enumerate(zip(node.sources[0].extents, node.bounds, strict=True)):
        is_whole = extent is not None and part == (0, extent.high)
        if extent is not None and not is_whole and part[1] > extent.low:
            known = f"only the first {extent.low} elements are always there"
            hint = f"{known}; positions from the end are not known"
            refuse(node, axis, extent, f"would take {part[0]}:{part[1]}", hint)
        result.append(extent if is_whole else None)
    return tidy(result)


def narrowed(node: Any) -> Extents:
    """The axis has a fixed number of elements, of an axis that has one too."""
    extents = tuple(node.sources[0].extents)
    if extents and extents[node.axis] is not None:
        refuse(node, node.axis, extents[node.axis], f"would take {node.length} elements")
    return extents


def kept(node: Any) -> Extents:
    """The extents of the first source: no axis changes, or only those of extent 1."""
    return tuple(node.sources[0].extents)


def indexed(node: Any) -> Extents:
    """The extents of the positions; those of the source bound what a position may be.

    Positions that know nothing of a variable of the source would make an axis of its maximum.
    """
    result = _united(node, node.sources[1:])
    for axis, extent in enumerate(node.sources[0].extents):
        if extent is not None and extent not in result:
            hint = f"take positions from a tensor that has an axis of {extent.name}"
            refuse(node, axis, extent, "has positions of another extent", hint)
    return tidy(result)


def stored(node: Any) -> Extents:
    """The extents of the value."""
    return tuple(node.sources[1].extents)


def shape_of(shape: Shape, extents: Extents, values: Mapping[str, int]) -> Shape:
    """The extents of this run; `values` has that of each variable by name."""
    if not extents:
        return shape
    pairs = zip(shape, extents, strict=True)
    return tuple(values[e.name] if e is not None else n for n, e in pairs)


def part_of(shape: Shape) -> tuple[slice, ...]:
    """The index that takes of a larger array its first elements along each axis."""
    return tuple(slice(0, n) for n in shape)


def written(shape: Shape, extents: Extents) -> str:
    """`n,10`: the extents of a shape as printed programs write them."""
    return ",".join(map(str, shape if not extents else symbolic(shape, extents)))


def symbolic(shape: Shape, extents: Extents) -> tuple[int | Extent, ...]:
    """The extents of a shape, with the variable in the place of its greatest value."""
    return tuple(e or n for n, e in zip(shape, extents or (None,) * len(shape), strict=True))
