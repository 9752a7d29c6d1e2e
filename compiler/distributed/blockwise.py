"""blockwise: a function of tensors over the blocks of dask arrays, compiled and fused.

    @compiler.blockwise
    def step(a, b, c):
        return (a * b + c).relu().sum(1)

    y = step(a, b, c)              # a dask array; nothing is computed yet
    y.compute()                    # each block in one pass, wherever its data are

The function is traced, once for all of the arrays and once for each size of blocks; what NumPy
would do operation by operation over each block is one program. Which axes belong together follows
from the program (`axes.py`): arrays that are cut differently along one axis are cut alike, and an
axis that an operation needs as a whole has to be one chunk.
"""

import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from compiler.core.dtypes import parse
from compiler.core.errors import DataError, located
from compiler.core.lazy import loading
from compiler.core.node import toposort
from compiler.core.origin import no_origin
from compiler.core.trace import Provenance
from compiler.core.written import Unwritable
from compiler.distributed.axes import Axes, axes
from compiler.distributed.shipped import Shipped, ship
from compiler.distributed.shipped import run as run_shipped
from compiler.graph.decompose import decompose
from compiler.graph.kinds.markers import PLACEHOLDER
from compiler.graph.nodes import Buffer, Const, Sink, TensorNode
from compiler.settings.options import Options
from compiler.tensor import Tensor

Function: TypeAlias = Callable[..., Tensor]
Shapes: TypeAlias = tuple[tuple[int, ...], ...]
MOST_SIZES = 256
"""Sizes of blocks, each a program: a bound on what is compiled, not measured."""


@dataclass(eq=False)
class Blockwise:
    """A function that is compiled for the blocks of the arrays that it is called on."""

    function: Function
    options: Options = field(default_factory=lambda: Options(threads=1))

    def __post_init__(self) -> None:
        functools.update_wrapper(self, self.function)

    def __repr__(self) -> str:
        return f"blockwise({getattr(self.function, '__name__', self.function)!s})"

    @located
    def __call__(self, *given: Any) -> Any:
        """The dask array of the results; arrays of NumPy are one block, numbers stay numbers.

        Raises `DataError` where an axis is cut that the function needs as a whole, and for what is
        no array; `ShapeError` and `DTypeError` as the function does.
        """
        return _Call(self, given).array()


def blockwise(function: Function, *, options: Options | None = None) -> Blockwise:
    """`function`, of tensors and numbers, as one of dask arrays: see the module docstring.

    `options` are those that blocks are compiled with; each block is one thread's, unless they say
    otherwise, since Dask runs several blocks at once.
    """
    if not callable(function):
        got = type(function).__name__
        raise DataError("blockwise", "this is no function", got=got, expected="a function")
    return Blockwise(function, options or Options(threads=1))


@dataclass(eq=False)
class _Call:
    """A call of a function on arrays."""

    made: Blockwise
    given: tuple[Any, ...]

    def array(self) -> Any:
        """The dask array."""
        with loading():
            import dask
            from dask import array as da

        arrays = [_array(each) for each in self.given if not _is_number(each)]
        if not arrays:
            raise DataError("blockwise", "there is no array", got=f"{len(self.given)} numbers",
                            expected="a dask array")  # fmt: skip
        whole = self.traced(tuple(each.shape for each in arrays), arrays)
        found = axes([whole], _inputs(whole, len(arrays)))
        indices = [_indices(n, labels) for n, labels in enumerate(found.inputs)]
        chunks, arrays = da.core.unify_chunks(*_paired(arrays, indices))
        self.check(found, indices, arrays)
        programs = self.programs(whole, found, indices, chunks, arrays)
        out, new = _out(found.results[0], whole.shape, {n for each in indices for n in each})
        program = dask.delayed(_Programs(programs, self.made.options), pure=False)
        name = getattr(self.made.function, "__name__", "blockwise").strip("<>")
        token = dask.base.tokenize(
            [(each.digest, each.order, each.own) for each in programs.values()],
            [each.name for each in arrays], repr(self.made.options),
        )  # fmt: skip
        dtype = whole.dtype.numpy
        return da.blockwise(
            run_block, out, *_paired(arrays, indices), program=program, name=f"{name}-{token}",
            new_axes=new, dtype=dtype, meta=np.empty((0,) * len(out), dtype), concatenate=None,
            align_arrays=False,
        )  # fmt: skip

    def traced(self, shapes: Shapes, arrays: Sequence[Any]) -> TensorNode:
        """The result of the function on data of these shapes, in core kinds."""
        places = iter(
            Tensor.placeholder(shape, dtype=parse(each.dtype, "blockwise"), name=f"in{n}")
            for n, (shape, each) in enumerate(zip(shapes, arrays, strict=True))
        )
        made = self.made.function(*(g if _is_number(g) else next(places) for g in self.given))
        if not isinstance(made, Tensor):
            raise DataError("blockwise", f"{self.made!r} gives no tensor", got=type(made).__name__,
                            expected="Tensor")  # fmt: skip
        with no_origin():
            return decompose(Sink((made.node,)), Provenance()).sources[0]

    def check(
        self, found: Axes, indices: Sequence[Sequence[int]], arrays: Sequence[Any]
    ) -> None:
        """Refuse axes in several chunks that have to be whole."""
        out = set(found.results[0])
        for number, (named, array) in enumerate(zip(indices, arrays, strict=True)):
            for axis, label in enumerate(named):
                count = len(array.chunks[axis])
                if count == 1 or (label in out and label not in found.whole):
                    continue
                why = found.whole.get(label)
                who = "the result has no such axis" if why is None else (
                    f"{_word(why)} needs all of it"
                )
                raise DataError(
                    "blockwise", f"axis {axis} of argument {number} is cut, and {who}",
                    got=f"{count} chunks", expected="one",
                    hint=f"x.rechunk({{{axis}: -1}})", origin=why.origin if why else None,
                )  # fmt: skip

    def programs(
        self, whole: TensorNode, found: Axes, indices: Sequence[Sequence[int]],
        chunks: Mapping[int, tuple[int, ...]], arrays: Sequence[Any],
    ) -> dict[Shapes, Shipped]:  # fmt: skip
        """The program of each size that blocks have."""
        sizes = {label: sorted(set(each)) for label, each in chunks.items()}
        count = np.prod([len(each) for each in sizes.values()], dtype=object)
        if count > MOST_SIZES:
            raise DataError("blockwise", "blocks have too many sizes", got=f"{count:,}",
                            expected=f"at most {MOST_SIZES}", hint="x.rechunk(…)")  # fmt: skip
        names = [f"in{n}" for n in range(len(arrays))]
        known = set(_constants(whole))
        made: dict[Shapes, Shipped] = {}
        for each in itertools.product(*sizes.values()):
            size = dict(zip(sizes, each, strict=True))
            shapes = tuple(tuple(size[label] for label in named) for named in indices)
            node = self.traced(shapes, arrays)
            labels = zip(found.results[0], whole.shape, strict=True)
            expected = tuple(n if label is None else size.get(label, n) for label, n in labels)
            _check_block(node, expected, known)
            try:
                made[shapes] = ship([node], names)
            except Unwritable as error:
                what = f"{self.made!r} cannot go elsewhere: {error}"
                raise DataError("blockwise", what) from error
        return made


@dataclass(frozen=True, eq=False)
class _Programs:
    """The programs of a call, by the shapes of blocks; they travel to each worker once."""

    by_shapes: dict[Shapes, Shipped]
    options: Options


def run_block(*blocks: Any, program: _Programs) -> Any:
    """One block of the result; blocks of axes that are not the result's come in lists."""
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


def _is_number(each: object) -> bool:
    return isinstance(each, bool | int | float | np.generic)


def _array(each: Any) -> Any:
    """A dask array; one of NumPy's in one block."""
    with loading():
        from dask import array as da
    if isinstance(each, np.ndarray):
        return da.from_array(each, chunks=-1)
    if not isinstance(each, da.Array):
        raise DataError("blockwise", "this is no array", got=type(each).__name__,
                        expected="a dask array, an array of NumPy, or a number")  # fmt: skip
    if any(np.isnan(n) for chunks in each.chunks for n in chunks):
        raise DataError("blockwise", "the sizes of some chunks are not known", got=str(each.chunks),
                        expected="sizes", hint="x.compute_chunk_sizes()")  # fmt: skip
    return each


def _inputs(root: TensorNode, count: int) -> list[TensorNode]:
    """The buffer of each argument."""
    found = {
        node.name: node for node in toposort([root])
        if isinstance(node, Buffer) and node.unique == PLACEHOLDER
    }  # fmt: skip
    missing = [n for n in range(count) if f"in{n}" not in found]
    if missing:
        raise DataError("blockwise", f"the result does not depend on argument {missing[0]}",
                        got="no use of it", expected="a use of each array")  # fmt: skip
    return [found[f"in{n}"] for n in range(count)]


def _indices(number: int, labels: Sequence[int | None]) -> list[int]:
    """Dask's index of each axis."""
    assert all(label is not None for label in labels), number
    return [label for label in labels if label is not None]


def _out(
    labels: Sequence[int | None], shape: Sequence[int], given: Collection[int]
) -> tuple[list[int], dict[int, int]]:
    """Dask's index of each axis of the result, and those that no argument has, with extents."""
    places = enumerate(labels)
    out = [-1 - n if label is None or label not in given else label for n, label in places]
    return out, {index: n for index, n in zip(out, shape, strict=True) if index < 0}


def _check_block(node: TensorNode, expected: Sequence[int], known: set[tuple[int, str]]) -> None:
    """Refuse a function that asks for the size of a block, which it would take for all of it."""
    hint = "give the sizes of whole arrays as numbers, from outside"
    if node.shape != tuple(expected):
        what = "the result for a block has another shape than a block of the result"
        raise DataError("blockwise", what, got=str(list(node.shape)),
                        expected=str(list(expected)), hint=hint)  # fmt: skip
    others = [n for n in toposort([node]) if isinstance(n, Const) and _bits(n) not in known]
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
    """What a user calls it."""
    return getattr(node, "op", None) or type(node).__name__.lower()
