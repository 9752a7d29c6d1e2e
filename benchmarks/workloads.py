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
"""What the name of a workload at its awkward size ends in."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One measurement: a program on inputs of given shapes.

    `limit` is the limit of the machine that the program should be near, `tolerance` how far a
    result may be from NumPy in float64, as a share of the greatest magnitude of the result.
    `fixed` are inputs that stay what they are from call to call.
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

    @property
    def nbytes(self) -> int:
        """Bytes of all inputs and of the result, in float32."""
        return 4 * (sum(math.prod(s) for s in self.inputs.values()) + math.prod(self.result))

    @property
    def is_awkward(self) -> bool:
        """Whether this is the awkward size of another workload."""
        return self.name.endswith(AWKWARD)

    def data(self) -> dict[str, Array]:
        """The inputs, the same in every process: uniform in `low` … 1, float32.

        Layers of a chain are scaled so that 100 of them neither vanish nor overflow.
        """
        random = np.random.default_rng(len(self.program))
        made = {}
        for name, shape in self.inputs.items():
            values = random.random(shape, np.float32)
            values *= np.float32(1 - self.low)
            values += np.float32(self.low)
            made[name] = values
        if self.program == "small_chain":
            made["w"] *= np.float32(math.sqrt(6 / self.inputs["w"][-1]))
        return made


def _elementwise(name: str, program: str, count: int, inputs: str, operations: int) -> Workload:
    limit: Limit = "triad" if len(inputs) > 1 else "copy"
    shapes = {i: (count,) for i in inputs}
    return Workload(name, program, shapes, (count,), operations * count, limit, 1e-5)


def _reduction(name: str, program: str, shape: Shape, result: Shape) -> Workload:
    return Workload(name, program, {"x": shape}, result, math.prod(shape), "read", 1e-4)


def _rows(name: str, program: str, shape: Shape, operations: int) -> Workload:
    count = operations * math.prod(shape)
    return Workload(name, program, {"x": shape}, shape, count, "copy", 1e-5)


def _matmul(name: str, m: int, k: int, n: int, program: str = "matmul") -> Workload:
    inputs = {"a": (m, k), "b": (k, n)} | ({"c": (n,)} if program != "matmul" else {})
    return Workload(name, program, inputs, (m, n), 2 * m * k * n, "fma", 1e-5)


def _bmm(name: str, batch: int, m: int, k: int, n: int) -> Workload:
    inputs, result = {"a": (batch, m, k), "b": (batch, k, n)}, (batch, m, n)
    return Workload(name, "matmul", inputs, result, 2 * batch * m * k * n, "fma", 1e-5)


def _conv2d(name: str, batch: int, channels: int, made: int, height: int, width: int) -> Workload:
    inputs = {"x": (batch, channels, height, width), "w": (made, channels, 3, 3)}
    result = (batch, made, height, width)
    operations = 2 * 9 * channels * math.prod(result)
    return Workload(name, "conv2d", inputs, result, operations, "fma", 1e-5)


def _attention(name: str, rows: int, width: int) -> Workload:
    shape, operations = (rows, width), 4 * rows * rows * width + 5 * rows * rows
    return Workload(name, "attention", {i: shape for i in "qkv"}, shape, operations, "fma", 1e-5)


def _mlp(name: str, batch: int, sizes: Shape) -> Workload:
    i, h, o = sizes
    shapes = {"x": (batch, i), "w": (i, h), "b": (h,), "v": (h, o), "c": (o,)}
    operations = 2 * batch * h * (i + o)
    return Workload(name, "mlp_forward", shapes, (batch, o), operations, "fma", 1e-4)


def _chain(name: str, layers: int, width: int) -> Workload:
    shapes = {"x": (1, width), "w": (layers, width, width)}
    operations = 2 * layers * width * width
    return Workload(
        name, "small_chain", shapes, (1, width), operations, "none", 1e-4, -1.0, ("w",)
    )


_ROWS: tuple[tuple[Workload, Workload], ...] = tuple(
    (usual, replace(awkward, name=usual.name + AWKWARD))
    for usual, awkward in (
        (
            _elementwise("ew_chain", "ew_chain", 2**24, "abc", 4),
            _elementwise("", "ew_chain", 2**24 - 61, "abc", 4),
        ),
        (
            _elementwise("gelu", "gelu", 2**24, "x", 8),
            _elementwise("", "gelu", 2**24 - 61, "x", 8),
        ),
        (
            _reduction("sum_all", "sum_all", (2**26,), ()),
            _reduction("", "sum_all", (2**26 - 59,), ()),
        ),
        (
            _reduction("row_sum", "row_sum", (8192, 8192), (8192,)),
            _reduction("", "row_sum", (8192 - 31, 8192 - 13), (8192 - 31,)),
        ),
        (
            _reduction("col_sum", "col_sum", (8192, 8192), (8192,)),
            _reduction("", "col_sum", (8192 - 31, 8192 - 13), (8192 - 13,)),
        ),
        (_rows("softmax", "softmax", (4096, 4096), 5), _rows("", "softmax", (4093, 4096 - 23), 5)),
        (
            _rows("layernorm", "layernorm", (4096, 1024), 8),
            _rows("", "layernorm", (4093, 1024 - 11), 8),
        ),
        (_matmul("matmul_256", 256, 256, 256), _matmul("", 256 - 7, 256 - 5, 256 - 3)),
        (_matmul("matmul_512", 512, 512, 512), _matmul("", 512 - 11, 512 - 7, 512 - 5)),
        (_matmul("matmul_1024", 1024, 1024, 1024), _matmul("", 1024 - 13, 1024 - 7, 1024 - 11)),
        (_matmul("matmul_2048", 2048, 2048, 2048), _matmul("", 2048 - 19, 2048 - 7, 2048 - 11)),
        (
            _matmul("matmul_bias_relu", 1024, 1024, 1024, "matmul_bias_relu"),
            _matmul("", 1024 - 13, 1024 - 7, 1024 - 11, "matmul_bias_relu"),
        ),
        (_bmm("bmm", 32, 128, 128, 128), _bmm("", 32 - 3, 128 - 5, 128 - 7, 128 - 11)),
        (_conv2d("conv2d", 8, 64, 64, 32, 32), _conv2d("", 8, 64 - 3, 64 + 3, 32 - 5, 32 - 3)),
        (_attention("attention", 512, 64), _attention("", 512 - 3, 64 - 5)),
        (_mlp("mlp_forward", 128, (784, 512, 10)), _mlp("", 128 - 5, (784 - 11, 512 - 3, 7))),
        (
            _rows("transpose", "transpose", (4096, 4096), 0),
            replace(
                _rows("", "transpose", (4096 - 3, 4096 - 23), 0), result=(4096 - 23, 4096 - 3)
            ),
        ),
        (_chain("small_chain", 100, 64), _chain("", 97, 64 - 3)),
    )
)

WORKLOADS: dict[str, Workload] = {
    w.name: w for place in (0, 1) for w in (row[place] for row in _ROWS)
}
"""All workloads by name: first the usual sizes, then the awkward ones."""
