"""Bodies of small programs at many sizes, transformed by choices, and compared with the plain loop.

`PROGRAMS` has a function per program from a generator of sizes to its root.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.node import toposort
from compiler.core.trace import Provenance
from compiler.device.device import CPU
from compiler.graph.nodes import (
    Cast,
    Expand,
    Iota,
    Pad,
    Permute,
    Reduce,
    Reshape,
    Shrink,
    TensorNode,
)
from compiler.loops.choices import Choices, parse
from compiler.loops.interpret import interpret
from compiler.loops.nodes import Argument, Body
from compiler.loops.printer import Loops
from compiler.loops.verify import verify
from compiler.pipeline.kernels import compile_kernel, program_spec
from compiler.settings.options import Options
from tests.loops.programs import Array, data, fold, forms, kernels, layernorm, matmul, op, random
from tests.loops.programs import softmax as softmax_of
from tests.rows import with_choices

SIZES = (1, 2, 3, 7, 16, 17, 31, 64, 97)
i32 = dtypes.int32
Build = Callable[[int, int, int], TensorNode]


def elementwise(m: int, n: int, _: int) -> TensorNode:
    """A row and a column broadcast, joined with a matrix."""
    row, column = Expand((data(1, n),), (m, n)), Expand((data(m, 1),), (m, n))
    return op("relu", op("add", op("mul", row, column), data(m, n)))


def bmm(m: int, n: int, k: int) -> TensorNode:
    """Three products of matrices."""
    left = Expand((Reshape((data(3, m, k),), (3, m, 1, k)),), (3, m, n, k))
    right = Reshape((Permute((data(3, k, n),), (0, 2, 1)),), (3, 1, n, k))
    product = op("mul", left, Expand((right,), (3, m, n, k)))
    return Reshape((Reduce((product,), "sum", (3,)),), (3, m, n))


def window(m: int, n: int, _: int) -> TensorNode:
    """The sum of each element and its right neighbours, 0 outside: predicates in a reduction."""
    padded = Pad((data(m, n),), ((0, 0), (1, 1)))
    parts = [Shrink((padded,), ((0, m), (shift, shift + n))) for shift in range(3)]
    return op("add", op("add", parts[0], parts[1]), parts[2])


def convolution(m: int, n: int, _: int) -> TensorNode:
    """A window of three, moved along rows, times three weights: a sum over a padded axis."""
    padded = Pad((data(m, n),), ((0, 0), (1, 1)))
    parts = [
        Reshape((Shrink((padded,), ((0, m), (shift, shift + n))),), (m, n, 1)) for shift in range(3)
    ]
    joined = [Pad((part,), ((0, 0), (0, 0), (at, 2 - at))) for at, part in enumerate(parts)]
    windows = op("add", op("add", joined[0], joined[1]), joined[2])
    weights = Expand((Reshape((data(3),), (1, 1, 3)),), (m, n, 3))
    return Reduce((op("mul", windows, weights),), "sum", (2,))


def counted(m: int, n: int, _: int) -> TensorNode:
    """Integers and the positions of columns."""
    columns = Expand((Reshape((Iota((), n, i32),), (1, n)),), (m, n))
    return op("sub", op("mul", columns, data(m, n, dtype=i32)), columns)


def small(
    m: int, n: int, k: int, left: DType, right: DType, total: DType
) -> TensorNode:
    """A product of small types, summed in a wider one."""
    a, b = data(m, k, dtype=left), data(k, n, dtype=right)
    return matmul(Cast((a,), total), Cast((b,), total))


PROGRAMS: dict[str, Build] = {
    "elementwise": elementwise,
    "vector": lambda m, n, k: op("exp", data(n)),
    "integers": counted,
    "row sums": lambda m, n, k: Reduce((data(m, n + 1),), "sum", (1,)),
    "column sums": lambda m, n, k: Reduce((data(m + 1, n),), "sum", (0,)),
    "column maxima of integers": lambda m, n, k: Reduce((data(m + 1, n, dtype=i32),), "max", (0,)),
    "row products of bools": lambda m, n, k: Reduce(
        (data(m, n + 1, dtype=dtypes.bool_),), "prod", (1,)
    ),
    "sum": lambda m, n, k: Reduce((data(m, n + 1),), "sum", (0, 1)),
    "middle sums": lambda m, n, k: Reduce((data(m, k + 1, n),), "sum", (1,)),
    "softmax": lambda m, n, k: softmax_of(data(m, n)),
    "layernorm": lambda m, n, k: layernorm(data(m, n)),
    "matmul": lambda m, n, k: matmul(data(m, k), data(k, n)),
    "matmul of integers": lambda m, n, k: matmul(data(m, k, dtype=i32), data(k, n, dtype=i32)),
    "matmul of bytes": lambda m, n, k: small(m, n, k, dtypes.int8, dtypes.int8, i32),
    "matmul of signs": lambda m, n, k: small(m, n, k, dtypes.uint8, dtypes.int8, i32),
    "matmul of halves": lambda m, n, k: small(
        m, n, k, dtypes.bfloat16, dtypes.bfloat16, dtypes.float32
    ),
    "x @ w.T": lambda m, n, k: matmul(data(m, k), Permute((data(n, k),), (1, 0))),
    "x.T @ w": lambda m, n, k: matmul(Permute((data(k, m),), (1, 0)), data(k, n)),
    "bmm": bmm,
    "transpose": lambda m, n, k: Permute((data(n, m),), (1, 0)),
    "windows": window,
    "convolution": convolution,
    "normalised columns": lambda m, n, k: op("sub", data(m, n), fold("max", data(m, n), 0)),
}


def body_of(name: str, m: int, n: int, k: int) -> Body:
    """The loops of a program's last kernel, before any choice."""
    return forms(kernels(PROGRAMS[name](m, n, k))[-1])[-1]


def transform(body: Body, given: str | Choices) -> Body:
    """`body` after the passes that do what the choices say, each verified."""
    return with_choices(body, parse(given), Options(verify=True, trace=True))


def arguments_of(body: Body, seed: int = 0) -> list[Array]:
    """Random flat data for each argument; the one written is full of what no kernel writes."""
    generator = np.random.default_rng(seed)
    found = sorted((n for n in toposort([body]) if isinstance(n, Argument)), key=lambda a: a.slot)
    values = [random(generator, a.size, a.element) for a in found]
    values[0][...] = np.array(77).astype(values[0].dtype)
    return values


def result(body: Body, values: list[Array]) -> Array:
    """The elements of slot 0 after the body ran on copies of `values`."""
    held = [value.copy() for value in values]
    interpret(body, held)
    return held[0]


def assert_same(before: Body, after: Body) -> None:
    """Both compute the same: integers exactly, floats to a few roundings."""
    verify(after)
    values = arguments_of(before)
    assert_close(result(after, values), result(before, values))


def assert_close(found: Array, expected: Array) -> None:
    """Equal integers; floats to a few roundings."""
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    else:
        np.testing.assert_array_equal(found, expected)


def printed(body: Body) -> str:
    """The loops as text."""
    provenance: Provenance[Any] = Provenance()
    provenance.numbers.all(toposort([body]))
    return str(
        Loops(
            title="loops k0", name="k0", seconds=0.0, body=body, kernel=0,
            numbers=provenance.numbers, parents={},
        )
    )  # fmt: skip


def on_machine(name: str, m: int, n: int, k: int, loops: Any) -> tuple[Array, Array]:
    """The results of a program's last kernel in machine code, plain and as `loops` says."""
    body = kernels(PROGRAMS[name](m, n, k))[-1]
    results = []
    for each in ("plain", loops):
        options = Options(loops=each)
        kernel = compile_kernel("k0", body, options, 0)
        values = arguments_of(kernel.loops)
        program = CPU.load(CPU.compile(program_spec(kernel, CPU), 2))
        program.execute([v.ctypes.data for v in values], [0 for _ in program.variables])
        results.append(values[0])
    return results[0], results[1]
