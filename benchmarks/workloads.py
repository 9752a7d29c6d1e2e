"""The workloads of `make bench`: one row each, at its own and at an awkward size.

A row names its program; every file of `benchmarks/peers` says what its library calls for that
name. `operations` are floating-point ones (an elementary function counts as one), `nbytes` what
must cross memory at least: every input read once and every result written once.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Limit: TypeAlias = Literal["read", "copy", "triad", "fma", "none"]
Shape: TypeAlias = tuple[int, ...]
AWKWARD = "_awkward"
"""The end of the name of a workload at its awkward size."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One measurement: a program on inputs of given shapes.

    `limit` is the limit of the machine that the program should be near, `tolerance` how far a
    result may be from NumPy in float64, as a share of the greatest magnitude of the result.
    `fixed` are inputs that stay what they are from call to call, `layers` weights that are scaled
    so that what passes through any number of them neither vanishes nor overflows.
    """

    name: str
    program: str
    inputs: Mapping[str, Shape]
    result: Shape
    operations: int
    limit: Limit
    tolerance: float
    low: float = -0.5
    fixed: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes of all inputs and of the result, in float32."""
        return 4 * (sum(math.prod(s) for s in self.inputs.values()) + math.prod(self.result))

    @property
    def is_awkward(self) -> bool:
        """True if this is the awkward size of another workload."""
        return self.name.endswith(AWKWARD)

    def rate(self, seconds: float) -> tuple[float, str]:
        """The rate of one call in `seconds`, and its unit: memory's or arithmetic's."""
        is_stream = self.limit in ("read", "copy", "triad")
        work = self.nbytes if is_stream else self.operations
        return work / seconds / 1e9, "GB/s" if is_stream else "GFLOP/s"

    def data(self) -> dict[str, Array]:
        """The inputs, the same in every process: uniform in `low` … 1, float32."""
        random = np.random.default_rng(0)
        made = {}
        for name, shape in self.inputs.items():
            values = random.random(shape, np.float32)
            values *= np.float32(1 - self.low)
            values += np.float32(self.low)
            if name in self.layers:
                values *= np.float32(math.sqrt(6 / shape[-2]))
            made[name] = values
        return made


def elementwise(name: str, program: str, count: int, inputs: str, operations: int) -> Workload:
    """Arrays of `count` elements, one for each letter of `inputs`."""
    limit: Limit = "triad" if len(inputs) > 1 else "copy"
    shapes = dict.fromkeys(inputs, (count,))
    return Workload(name, program, shapes, (count,), operations * count, limit, 1e-5)


def reduction(name: str, program: str, shape: Shape, result: Shape) -> Workload:
    """Sums of one array."""
    return Workload(name, program, {"x": shape}, result, math.prod(shape), "read", 1e-4)


def rows(name: str, program: str, shape: Shape, operations: int) -> Workload:
    """Each row by itself, or each element to another place."""
    count = operations * math.prod(shape)
    return Workload(name, program, {"x": shape}, shape, count, "copy", 1e-5)


def matmul(name: str, m: int, k: int, n: int, program: str = "matmul") -> Workload:
    """(m, k) times (k, n); other programs add a bias to the columns."""
    inputs = {"a": (m, k), "b": (k, n)} | ({"c": (n,)} if program != "matmul" else {})
    return Workload(name, program, inputs, (m, n), 2 * m * k * n, "fma", 1e-5)


def bmm(name: str, batch: int, m: int, k: int, n: int) -> Workload:
    """`batch` products of matrices."""
    inputs, result = {"a": (batch, m, k), "b": (batch, k, n)}, (batch, m, n)
    return Workload(name, "matmul", inputs, result, 2 * batch * m * k * n, "fma", 1e-5)


def conv2d(name: str, batch: int, channels: int, made: int, height: int, width: int) -> Workload:
    """3×3, stride 1, padding 1."""
    inputs = {"x": (batch, channels, height, width), "w": (made, channels, 3, 3)}
    result = (batch, made, height, width)
    operations = 2 * 9 * channels * math.prod(result)
    return Workload(name, "conv2d", inputs, result, operations, "fma", 1e-5)


def attention(name: str, rows: int, width: int) -> Workload:
    """One head."""
    shape, operations = (rows, width), 4 * rows * rows * width + 5 * rows * rows
    return Workload(name, "attention", dict.fromkeys("qkv", shape), shape, operations, "fma", 1e-5)


def mlp(name: str, batch: int, sizes: Shape) -> Workload:
    """Two layers."""
    i, h, o = sizes
    shapes = {"x": (batch, i), "w": (i, h), "b": (h,), "v": (h, o), "c": (o,)}
    operations = 2 * batch * h * (i + o)
    return Workload(
        name, "mlp_forward", shapes, (batch, o), operations, "fma", 1e-4, -1.0, layers=("w", "v")
    )


def chain(name: str, layers: int, width: int) -> Workload:
    """One row through many layers."""
    shapes = {"x": (1, width), "w": (layers, width, width)}
    operations = 2 * layers * width * width
    return Workload(
        name, "small_chain", shapes, (1, width), operations, "none", 1e-4, -1.0, ("w",), ("w",)
    )


_ROWS: tuple[tuple[Workload, Workload], ...] = tuple(
    (usual, replace(awkward, name=usual.name + AWKWARD))
    for usual, awkward in (
        (
            elementwise("ew_chain", "ew_chain", 2**24, "abc", 4),
            elementwise("", "ew_chain", 2**24 - 61, "abc", 4),
        ),
        (
            elementwise("gelu", "gelu", 2**24, "x", 8),
            elementwise("", "gelu", 2**24 - 61, "x", 8),
        ),
        (
            reduction("sum_all", "sum_all", (2**26,), ()),
            reduction("", "sum_all", (2**26 - 59,), ()),
        ),
        (
            reduction("row_sum", "row_sum", (8192, 8192), (8192,)),
            reduction("", "row_sum", (8192 - 31, 8192 - 13), (8192 - 31,)),
        ),
        (
            reduction("col_sum", "col_sum", (8192, 8192), (8192,)),
            reduction("", "col_sum", (8192 - 31, 8192 - 13), (8192 - 13,)),
        ),
        (rows("softmax", "softmax", (4096, 4096), 5), rows("", "softmax", (4093, 4096 - 23), 5)),
        (
            rows("layernorm", "layernorm", (4096, 1024), 8),
            rows("", "layernorm", (4093, 1024 - 11), 8),
        ),
        (matmul("matmul_256", 256, 256, 256), matmul("", 256 - 7, 256 - 5, 256 - 3)),
        (matmul("matmul_512", 512, 512, 512), matmul("", 512 - 11, 512 - 7, 512 - 5)),
        (matmul("matmul_1024", 1024, 1024, 1024), matmul("", 1024 - 13, 1024 - 7, 1024 - 11)),
        (matmul("matmul_2048", 2048, 2048, 2048), matmul("", 2048 - 19, 2048 - 7, 2048 - 11)),
        (
            matmul("matmul_bias_relu", 1024, 1024, 1024, "matmul_bias_relu"),
            matmul("", 1024 - 13, 1024 - 7, 1024 - 11, "matmul_bias_relu"),
        ),
        (bmm("bmm", 32, 128, 128, 128), bmm("", 32 - 3, 128 - 5, 128 - 7, 128 - 11)),
        (conv2d("conv2d", 8, 64, 64, 32, 32), conv2d("", 8, 64 - 3, 64 + 3, 32 - 5, 32 - 3)),
        (attention("attention", 512, 64), attention("", 512 - 3, 64 - 5)),
        (mlp("mlp_forward", 128, (784, 512, 10)), mlp("", 128 - 5, (784 - 11, 512 - 3, 7))),
        (
            rows("transpose", "transpose", (4096, 4096), 0),
            replace(
                rows("", "transpose", (4096 - 3, 4096 - 23), 0), result=(4096 - 23, 4096 - 3)
            ),
        ),
        (chain("small_chain", 100, 64), chain("", 97, 64 - 3)),
    )
)

WORKLOADS: dict[str, Workload] = {
    w.name: w for place in (0, 1) for w in (row[place] for row in _ROWS)
}
"""All workloads by name: first the usual sizes, then the awkward ones."""
