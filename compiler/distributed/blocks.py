"""blocks: a program over the blocks of dask arrays, serialised once for each block shape.

Stage(arrays, whole, trace, found).array("step")     a dask array; nothing is computed yet
"""

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import dask
import numpy as np
from dask import array as da

from compiler.core.errors import DataError
from compiler.core.node import toposort
from compiler.core.written import Unwritable
from compiler.distributed.axes import Axes
from compiler.distributed.shipped import Shipped, ship
from compiler.distributed.shipped import run as run_shipped
from compiler.graph.nodes import Const, TensorNode
from compiler.settings.options import Options

Shapes: TypeAlias = tuple[tuple[int, ...], ...]
MOST_SIZES = 256
"""Different block shapes, each compiled as a program: a bound on compile time, not measured."""


@dataclass(frozen=True, eq=False)
class Stage:
    """A program over the blocks of arrays."""

    arrays: Sequence[Any]
    whole: TensorNode
    """The graph of the result on whole arrays, in core kinds."""
    trace: Callable[[Shapes], TensorNode]
    """Returns the graph of the result on blocks of these shapes."""
    found: Axes
    options: Options
    who: str
    """The name of the program in error messages."""
    folded: frozenset[int] = frozenset()
    """The axes of the result along which each block has one element: partial results."""

    def array(self, title: str) -> Any:
        """The dask array of the results, whose tasks are called `title`.

        Raises `DataError` if an axis has several chunks that the program needs whole.
        """
        classes = self.found
        indices = [_indices(n, labels) for n, labels in enumerate(classes.inputs)]
        chunks, arrays = da.core.unify_chunks(*_paired(self.arrays, indices))
        self._check(indices, arrays)
        programs = self._programs(indices, chunks)
        used = {n for each in indices for n in each}
        out, new = _out(classes.results[0], self.whole.shape, used)
        adjusted = {out[axis]: 1 for axis in self.folded if out[axis] not in new}
        program = dask.delayed(_Programs(programs, self.options), pure=False)
        token = dask.base.tokenize(
            [(each.digest, each.order, each.own) for each in programs.values()],
            [each.name for each in arrays], repr(self.options),
        )  # fmt: skip
        dtype = self.whole.dtype.numpy
        return da.blockwise(
            run_block, out, *_paired(arrays, indices), program=program, name=f"{title}-{token}",
            new_axes=new, dtype=dtype, meta=np.empty((0,) * len(out), dtype), concatenate=None,
            align_arrays=False, adjust_chunks=adjusted or None,
        )  # fmt: skip

    def _check(self, indices: Sequence[Sequence[int]], arrays: Sequence[Any]) -> None:
        """Raise `DataError` for an axis in several chunks that must be whole."""
        classes, out = self.found, set(self.found.results[0])
        for number, (named, array) in enumerate(zip(indices, arrays, strict=True)):
            for axis, label in enumerate(named):
                count = len(array.chunks[axis])
                if count == 1 or (label in out and label not in classes.whole):
                    continue
                why = classes.whole.get(label)
                who = (
                    "the result has no such axis"
                    if why is None
                    else (f"{_word(why)} needs all of it")
                )
                raise DataError(
                    "blockwise", f"axis {axis} of argument {number} is cut, and {who}",
                    got=f"{count} chunks", expected="one",
                    hint=f"x.rechunk({{{axis}: -1}})", origin=why.origin if why else None,
                )  # fmt: skip

    def _programs(
        self, indices: Sequence[Sequence[int]], chunks: Mapping[int, tuple[int, ...]]
    ) -> dict[Shapes, Shipped]:
        """The program of each block shape."""
        sizes = {label: sorted(set(each)) for label, each in chunks.items()}
        count = np.prod([len(each) for each in sizes.values()], dtype=object)
        if count > MOST_SIZES:
            raise DataError("blockwise", "blocks have too many sizes", got=f"{count:,}",
                            expected=f"at most {MOST_SIZES}", hint="x.rechunk(…)")  # fmt: skip
        names = [f"in{n}" for n in range(len(self.arrays))]
        constants = set(_constants(self.whole))
        programs: dict[Shapes, Shipped] = {}
        for each in itertools.product(*sizes.values()):
            size = dict(zip(sizes, each, strict=True))
            shapes = tuple(tuple(size[label] for label in named) for named in indices)
            node = self.trace(shapes)
            _check_block(node, self._expected(size), constants)
            try:
                programs[shapes] = ship([node], names)
            except Unwritable as error:
                what = f"{self.who} cannot go elsewhere: {error}"
                raise DataError("blockwise", what) from error
        return programs

    def _expected(self, size: Mapping[int, int]) -> list[int]:
        """The shape of a block of the result."""
        pairs = enumerate(zip(self.found.results[0], self.whole.shape, strict=True))
        return [
            1 if axis in self.folded else n if label is None else size.get(label, n)
            for axis, (label, n) in pairs
        ]


@dataclass(frozen=True, eq=False)
class _Programs:
    """The programs of a stage, by block shapes; each worker gets them once."""

    by_shapes: dict[Shapes, Shipped]
    options: Options


def run_block(*blocks: Any, program: _Programs) -> Any:
    """One block of the result; along axes that the result lacks, blocks arrive as lists."""
    arrays = [np.asarray(_unpacked(each)) for each in blocks]
    shapes = tuple(each.shape for each in arrays)
    (result,) = run_shipped(program.by_shapes[shapes], arrays, program.options)
    return result


def _unpacked(block: Any) -> Any:
    while isinstance(block, list):
        (block,) = block
    return block


def _paired(arrays: Sequence[Any], indices: Sequence[Sequence[int]]) -> list[Any]:
    """Each array and its indices, as Dask takes them."""
    return [part for pair in zip(arrays, indices, strict=True) for part in pair]


def _indices(number: int, labels: Sequence[int | None]) -> list[int]:
    """Dask's index of each axis."""
    assert all(label is not None for label in labels), number
    return [label for label in labels if label is not None]


def _out(
    labels: Sequence[int | None], shape: Sequence[int], used: Collection[int]
) -> tuple[list[int], dict[int, int]]:
    """Dask's index of each axis of the result, and the extents of indices that no argument has. A
    label that the result has twice is whole, and gets a new index the second time."""
    out: list[int] = []
    for n, label in enumerate(labels):
        out.append(-1 - n if label is None or label not in used or label in out else label)
    return out, {index: n for index, n in zip(out, shape, strict=True) if index < 0}


def _check_block(
    node: TensorNode, expected: Sequence[int], constants: set[tuple[int, str]]
) -> None:
    """Raise `DataError` for a function that reads an extent: on a block it would get the block's,
    not the array's."""
    hint = "give the sizes of whole arrays as numbers, from outside"
    if node.shape != tuple(expected):
        what = "the result for a block has another shape than a block of the result"
        raise DataError("blockwise", what, got=str(list(node.shape)),
                        expected=str(list(expected)), hint=hint)  # fmt: skip
    others = [n for n in toposort([node]) if isinstance(n, Const) and _bits(n) not in constants]
    if others:
        what = "the function reads the size of an axis that is cut, where a block has its own"
        raise DataError("blockwise", what, got=f"{others[0].value} in the program of a block",
                        expected="the numbers of the program of all blocks", hint=hint,
                        origin=others[0].origin)  # fmt: skip


def _bits(node: Const) -> tuple[int, str]:
    return node.bits, node.given_dtype.name


def _constants(root: TensorNode) -> Iterator[tuple[int, str]]:
    """The numbers in a program."""
    return (_bits(node) for node in toposort([root]) if isinstance(node, Const))


def _word(node: TensorNode) -> str:
    """The user's name of it."""
    return getattr(node, "op", None) or type(node).__name__.lower()
