"""Small tensor programs, and the way from one to its kernels: what the interpreters are run on.

`PROGRAMS` has a function per program that builds its root; `kernels` gives the bodies, and
`arguments` random data for one body, slot 0 filled with what no kernel may leave behind.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.node import toposort
from compiler.core.trace import Provenance
from compiler.graph.decompose import decompose
from compiler.graph.interpret import interpret
from compiler.graph.nodes import (
    Bitcast,
    Buffer,
    Cast,
    Expand,
    Flip,
    Iota,
    Pad,
    Param,
    Permute,
    Reduce,
    Reshape,
    Shrink,
    Sink,
    TensorNode,
    const,
    elementwise,
)
from compiler.graph.simplify import simplify as simplify_graph
from compiler.loops.coalesce import coalesce
from compiler.loops.index import index
from compiler.loops.nodes import Body
from compiler.loops.simplify import simplify
from compiler.loops.verify import verify
from compiler.schedule.outline import outline
from compiler.schedule.partition import partition
from compiler.settings.options import Options

Array = np.ndarray[Any, Any]
f32, f64, i32, i64 = dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64
op = elementwise
_numbers = itertools.count(1)


def data(*shape: int, dtype: DType = f32) -> Buffer:
    """A new input."""
    return Buffer((), next(_numbers), shape, dtype)


def fold(name: str, x: TensorNode, *axes: int) -> TensorNode:
    """A reduction, broadcast to the shape it had before."""
    return Expand((Reduce((x,), name, axes),), x.shape)


def full(value: float, like: TensorNode) -> TensorNode:
    """A constant of the shape and type of `like`."""
    return const(value, like.dtype, like.shape)


def matmul(a: TensorNode, b: TensorNode) -> TensorNode:
    """The product of two matrices, as broadcasting, multiplication and a sum."""
    (m, k), n = a.shape, b.shape[1]
    left = Expand((Reshape((a,), (m, 1, k)),), (m, n, k))
    right = Expand((Reshape((Permute((b,), (1, 0)),), (1, n, k)),), (m, n, k))
    return Reshape((Reduce((op("mul", left, right),), "sum", (2,)),), (m, n))


def softmax(x: TensorNode) -> TensorNode:
    """Softmax over the last axis."""
    last = len(x.shape) - 1
    e = op("exp", op("sub", x, fold("max", x, last)))
    return op("fdiv", e, fold("sum", e, last))


def layernorm(x: TensorNode) -> TensorNode:
    """Zero mean and unit variance over the last axis: a reduction of a reduction."""
    last = len(x.shape) - 1
    scale = full(1 / x.shape[last], x)
    centred = op("sub", x, op("mul", fold("sum", x, last), scale))
    variance = op("mul", fold("sum", op("mul", centred, centred), last), scale)
    return op("fdiv", centred, op("sqrt", op("add", variance, full(1e-5, x))))


def argmax(x: TensorNode) -> TensorNode:
    """The first index of the greatest element of each row."""
    columns = x.shape[1]
    counter = Expand((Reshape((Iota((), columns, i64),), (1, columns)),), x.shape)
    is_greatest = op("eq", x, fold("max", x, 1))
    return Reduce((op("where", is_greatest, counter, full(columns, counter)),), "min", (1,))


def broadcast_add() -> TensorNode:
    """Elementwise with two broadcast operands."""
    row = Expand((data(1, 5),), (4, 5))
    column = Expand((data(4, 1),), (4, 5))
    return op("add", op("mul", row, column), op("exp", data(4, 5)))


def divisions() -> TensorNode:
    """Reshapes after permutes: the indices divide."""
    x = Permute((Reshape((Permute((data(4, 6),), (1, 0)),), (3, 8)),), (1, 0))
    return op("add", Reshape((x,), (2, 12)), data(2, 12))


def padded() -> TensorNode:
    """A pad of a pad, under an operation that does not keep 0."""
    inner = Pad((op("exp", data(3, 4)),), ((1, 2), (0, 3)))
    return op("cos", Pad((inner,), ((0, 0), (2, 1))))


def moved() -> TensorNode:
    """Flip, shrink and reshape, both ways round."""
    x = Shrink((Flip((data(5, 6),), (0, 1)),), ((1, 4), (2, 6)))
    return op("sub", Reshape((x,), (12,)), Flip((Reshape((data(3, 4),), (12,)),), (0,)))


def joined() -> TensorNode:
    """Two arrays side by side, as pads that are added."""
    left, right = Pad((data(3, 2),), ((0, 0), (0, 4))), Pad((data(3, 4),), ((0, 0), (2, 0)))
    return Reshape((op("add", left, right),), (2, 9))


def window_sum() -> TensorNode:
    """A sum of a pad: predicates inside a reduction."""
    x = Reshape((Pad((data(4, 5),), ((1, 1), (2, 1))),), (3, 2, 8))
    return Reduce((x,), "sum", (1,))


def sum_of_padded_rows() -> TensorNode:
    """A pad of a reduction of a pad."""
    rows = Reduce((Pad((data(3, 4),), ((0, 0), (1, 1))),), "sum", (1,))
    return Pad((rows,), ((2, 1), (0, 0)))


def casts() -> TensorNode:
    """Float to small integer and back; bits read as another type."""
    x = data(3, 7, dtype=f64)
    small = Cast((op("mul", x, full(100.0, x)),), dtypes.int8)
    bits = Bitcast((Cast((x,), f32),), dtypes.uint32)
    return op("add", Cast((small,), f32), Cast((op("shr", bits, full(16, bits)),), f32))


def integers() -> TensorNode:
    """Wrapping, truncating, shifting."""
    a, b = data(4, 5, dtype=i32), data(4, 5, dtype=i32)
    return op("xor", op("idiv", op("mul", a, a), b), op("shl", op("mod", a, b), b))


def logic() -> TensorNode:
    """Bool data: any and all of comparisons."""
    x, y = data(3, 4), data(3, 4)
    every = Reduce((op("lt", x, y),), "prod", (1,))
    some = Reduce(
        (op("and", op("ge", x, y), op("not", data(3, 4, dtype=dtypes.bool_))),), "sum", (1,)
    )
    return op("or", every, some)


def two_level() -> TensorNode:
    """The greatest row sum: a reduction inside the loop of another."""
    return Reduce((Reduce((data(5, 7),), "sum", (1,)),), "max", (0,))


def _reductions() -> Iterator[tuple[str, Callable[[], TensorNode]]]:
    """A sum over each subset of three axes, and each other reduction."""
    for count in (1, 2, 3):
        for axes in itertools.combinations(range(3), count):
            name = "sum over " + ",".join(map(str, axes))
            yield name, lambda axes=axes: Reduce((data(3, 4, 5),), "sum", axes)
    for row, dtype in itertools.product(("sum", "prod", "max", "min"), (f32, i32, dtypes.bool_)):
        name = f"{row} of {dtype}"
        yield name, lambda r=row, d=dtype: Reduce((data(4, 5, dtype=d),), r, (1,))


PROGRAMS: dict[str, Callable[[], TensorNode]] = {
    "broadcasting": broadcast_add,
    "divisions": divisions,
    "padded": padded,
    "moved": moved,
    "joined": joined,
    "window sum": window_sum,
    "sum of padded rows": sum_of_padded_rows,
    "casts": casts,
    "integers": integers,
    "logic": logic,
    "two levels": two_level,
    **dict(_reductions()),
    "matmul": lambda: matmul(data(4, 6), data(6, 5)),
    "matmul with epilogue": lambda: op("relu", matmul(data(3, 8), data(8, 4))),
    "softmax": lambda: softmax(data(4, 6)),
    "layernorm": lambda: layernorm(data(4, 6)),
    "attention": lambda: matmul(softmax(matmul(data(3, 4), data(4, 5))), data(5, 2)),
    "argmax": lambda: argmax(data(4, 6)),
    "iota": lambda: op("mul", Iota((), 7, i32), data(7, dtype=i32)),
    "rank 0": lambda: op("exp", op("add", data(), data())),
    "full sum": lambda: Reshape((Reduce((data(3, 4),), "sum", (0, 1)),), ()),
    "no elements": lambda: op("exp", Reshape((data(0, 3),), (3, 0))),
    "no rows": lambda: op("exp", data(0, 3)),
    "no columns": lambda: op("add", data(3, 0), Expand((data(3, 1),), (3, 0))),
    "sum over nothing": lambda: Reduce((op("exp", data(3, 0)),), "sum", (1,)),
    "max of no rows": lambda: Reduce((data(0, 3),), "max", (1,)),
    "padded nothing": lambda: Pad((data(0),), ((2, 1),)),
    "padded away": lambda: Shrink((Pad((data(4),), ((5, 0),)),), ((0, 3),)),
}


def kernels(root: TensorNode) -> list[Sink]:
    """The distinct kernel bodies of the program that computes `root`."""
    provenance: Provenance[Any] = Provenance()
    graph = simplify_graph(decompose(Sink((root,)), provenance), provenance)
    assert isinstance(graph, Sink)
    return list(outline(graph, partition(graph, Options()).realized).bodies)


def forms(body: Sink) -> list[Body]:
    """A kernel's loops after each pass, verified."""
    provenance: Provenance[Any] = Provenance()
    result = [index(body, provenance)]
    for step in (simplify, coalesce):
        result.append(step(result[-1], provenance))
    for each in result:
        verify(each)
    return result


def arguments(body: Sink, seed: int = 0) -> list[Array]:
    """Random flat data for each Param of a body, the one written full of other bits."""
    generator = np.random.default_rng(seed)
    order: list[TensorNode] = toposort([body])
    params = sorted((n for n in order if isinstance(n, Param)), key=lambda p: p.slot)
    values = [random(generator, param.size, param.dtype) for param in params]
    values[0][...] = np.array(77).astype(values[0].dtype)
    return values


def random(generator: np.random.Generator, size: int, dtype: DType) -> Array:
    """Data of one type: small integers of either sign, some zeros, or normal floats."""
    if dtype.is_float:
        return generator.standard_normal(size).astype(dtype.numpy)
    low = -9 if dtype.kind == "int" else 0
    return generator.integers(low, 9, size).astype(dtype.numpy)


def reference(body: Sink, values: list[Array]) -> Array:
    """The elements of slot 0 after the kernel, flat, as the graph interpreter has them."""
    order: list[TensorNode] = toposort([body])
    params = [n for n in order if isinstance(n, Param)]
    inputs: dict[TensorNode, Array] = {p: values[p.slot].reshape(p.shape) for p in params}
    return interpret([body.sources[0].sources[1]], inputs)[0].reshape(-1)


def assert_close(found: Array, expected: Array) -> None:
    """Equal for integers and bool; floats to a few roundings of their largest partial sum."""
    assert found.dtype == expected.dtype
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)
    else:
        np.testing.assert_array_equal(found, expected)
