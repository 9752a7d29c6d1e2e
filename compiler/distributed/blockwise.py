"""blockwise: a function of tensors over the blocks of dask arrays, compiled and fused.

    @compiler.blockwise
    def step(a, b, c):
        return (a * b + c).relu().sum(1)

    y = step(a, b, c)              # a dask array; nothing is computed yet
    y.compute()                    # one fused program per block, on the worker that has it

The function is traced once on whole arrays and once for each block shape. All its operations on a
block become one program. `axes.py` derives from the program which axes are partitioned together:
arrays with different chunks along such an axis are rechunked alike, and an axis that an operation
needs whole must be one chunk.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from compiler.core.dtypes import parse
from compiler.core.errors import DataError, located
from compiler.core.lazy import loading
from compiler.core.node import toposort
from compiler.core.origin import no_origin
from compiler.core.trace import Provenance
from compiler.distributed.axes import axes
from compiler.graph.decompose import decompose
from compiler.graph.kinds.markers import PLACEHOLDER
from compiler.graph.nodes import Buffer, Sink, TensorNode
from compiler.settings.options import Options
from compiler.tensor import Tensor

Function: TypeAlias = Callable[..., Tensor]
Shapes: TypeAlias = tuple[tuple[int, ...], ...]


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
    def __call__(self, *arguments: Any) -> Any:
        """The dask array of the results. A NumPy array is one block; a number stays a number.

        Raises `DataError` if an axis has several chunks that the function needs whole, and for an
        argument that is no array or number; `ShapeError` and `DTypeError` as the function does.
        """
        return _Call(self, arguments).array()


def blockwise(function: Function, *, options: Options | None = None) -> Blockwise:
    """`function`, of tensors and numbers, as a function of dask arrays: see the module docstring.

    Blocks are compiled with `options`. By default each block runs on one thread, since Dask runs
    several blocks at once.
    """
    if not callable(function):
        got = type(function).__name__
        raise DataError("blockwise", "this is not a function", got=got, expected="a function")
    return Blockwise(function, options or Options(threads=1))


@dataclass(eq=False)
class _Call:
    """A call of a function on arrays."""

    made: Blockwise
    given: tuple[Any, ...]

    def array(self) -> Any:
        """The dask array."""
        with loading():
            from compiler.distributed.blocks import Stage
            from compiler.distributed.folding import Fold

        arrays = [_array(each) for each in self.given if not _is_number(each)]
        if not arrays:
            raise DataError("blockwise", "there is no array", got=f"{len(self.given)} numbers",
                            expected="a dask array")  # fmt: skip

        def trace(shapes: Shapes) -> TensorNode:
            return self.traced(shapes, arrays)

        whole = trace(tuple(each.shape for each in arrays))
        inputs = _inputs(whole, len(arrays))
        classes, options = axes([whole], inputs), self.made.options
        stage = Stage(arrays, whole, trace, classes, options, repr(self.made))
        title = getattr(self.made.function, "__name__", "blockwise").strip("<>")
        fold = Fold.of(stage, inputs)
        return stage.array(title) if fold is None else fold.array(title)

    def traced(self, shapes: Shapes, arrays: Sequence[Any]) -> TensorNode:
        """The result of the function on data of these shapes, in core kinds."""
        places = iter(
            Tensor.placeholder(shape, dtype=parse(each.dtype, "blockwise"), name=f"in{n}")
            for n, (shape, each) in enumerate(zip(shapes, arrays, strict=True))
        )
        result = self.made.function(*(g if _is_number(g) else next(places) for g in self.given))
        if not isinstance(result, Tensor):
            raise DataError("blockwise", f"{self.made!r} returns no tensor",
                            got=type(result).__name__, expected="Tensor")  # fmt: skip
        with no_origin():
            return decompose(Sink((result.node,)), Provenance()).sources[0]


def _is_number(each: object) -> bool:
    return isinstance(each, bool | int | float | np.generic)


def _array(each: Any) -> Any:
    """The argument as a dask array; a NumPy array becomes one block."""
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
    return _without_empty_chunks(each)


def _without_empty_chunks(each: Any) -> Any:
    """The array without empty chunks, for which a function may be undefined (a filter leaves such
    chunks). An axis of extent 0 stays one chunk."""
    chunks = tuple(tuple(n for n in lengths if n) or (0,) for lengths in each.chunks)
    return each if chunks == each.chunks else each.rechunk(chunks)


def _inputs(root: TensorNode, count: int) -> list[TensorNode]:
    """The buffer of each argument."""
    buffers = {
        node.name: node for node in toposort([root])
        if isinstance(node, Buffer) and node.unique == PLACEHOLDER
    }  # fmt: skip
    missing = [n for n in range(count) if f"in{n}" not in buffers]
    if missing:
        raise DataError("blockwise", f"the result does not depend on argument {missing[0]}",
                        got="no use of it", expected="a use of each array")  # fmt: skip
    return [buffers[f"in{n}"] for n in range(count)]
