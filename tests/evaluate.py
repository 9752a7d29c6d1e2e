"""One way to run a tensor on any engine; tables of cases are run on each of them.

`ENGINES` names the engines: a row is a function from nodes to arrays. A test that is marked
`every_engine` takes the argument `engine` and calls `evaluate(tensor, engine)`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from compiler import dtypes
from compiler.check import run_bodies
from compiler.compilation import Compilation
from compiler.device.buffers import data
from compiler.dtypes import DType
from compiler.graph.interpret import interpret
from compiler.graph.nodes import Buffer, TensorNode
from compiler.machine import MachineModel
from compiler.node import toposort
from compiler.options import Options
from compiler.tensor import Tensor

Array = np.ndarray[Any, Any]


def _graph(roots: Sequence[TensorNode]) -> list[Array]:
    """The reference interpreter of the tensor graph, on the data of the graph's buffers."""
    inputs = {node: data(node) for node in toposort(roots) if isinstance(node, Buffer)}
    return interpret(roots, inputs)


EAGER = MachineModel(
    "eager", vector_bytes=16, vector_ns=1e5, scalar_ns=1e5, cache_bytes=(64, 256, 1024)
)
"""A machine on which everything is worth transforming: vectors of few lanes, caches that hold
nothing, and operations so slow that any kernel is shared out."""
TRANSFORMED = Options(model=EAGER, threads=2)
"""Every transformation on, at the sizes of tests."""


def _stage(engine: str) -> Callable[[Sequence[TensorNode]], list[Array]]:
    """The interpreter of one later stage, after all stages before it, on transformed loops."""

    def run(roots: Sequence[TensorNode]) -> list[Array]:
        return run_bodies(Compilation(list(roots), TRANSFORMED, "test"), engine)

    return run


def _machine(roots: Sequence[TensorNode]) -> list[Array]:
    """Machine code, as users get it."""
    return Compilation(list(roots), Options(), "test").run()


def _transformed(roots: Sequence[TensorNode]) -> list[Array]:
    """Machine code of transformed loops."""
    return Compilation(list(roots), TRANSFORMED, "test").run()


ENGINES: dict[str, Callable[[Sequence[TensorNode]], list[Array]]] = {
    "graph": _graph,
    "kernels": _stage("kernels"),
    "schedule": _stage("schedule"),
    "loops": _stage("loops"),
    "lowered": _stage("lowered"),
    "machine": _machine,
    "transformed": _transformed,
}
every_engine = pytest.mark.parametrize("engine", ENGINES)


def evaluate(tensor: Tensor, engine: str = "graph") -> Array:
    """The value of one tensor, computed by `engine`."""
    (value,) = ENGINES[engine]([tensor.node])
    assert value.shape == tensor.shape
    assert value.dtype == tensor.dtype.numpy
    return value


def assert_same(
    got: Array,
    expected: Any,
    what: object = "",
    rtol: float = 0.0,
    ulps: int = 0,
    has_signed_zeros: bool = True,
) -> None:
    """Equal type, shape and elements; NaN equals NaN; 0.0 is not -0.0 if `has_signed_zeros`.

    Floats may differ by `rtol`, or by `ulps` units in the last place.
    """
    expected = np.asarray(expected)
    assert got.dtype == expected.dtype, f"{what}: {got.dtype}, NumPy has {expected.dtype}"
    assert got.shape == expected.shape, f"{what}: {got.shape}, NumPy has {expected.shape}"
    if rtol:
        np.testing.assert_allclose(got, expected, rtol, atol=rtol, err_msg=str(what))
        return
    if ulps and got.dtype.kind == "f":
        np.testing.assert_array_max_ulp(got, expected, ulps)
    else:
        np.testing.assert_array_equal(got, expected, str(what), strict=True)
    if got.dtype.kind == "f" and has_signed_zeros:
        zero = expected == 0
        signs = (np.signbit(it)[zero] for it in (got, expected))
        np.testing.assert_array_equal(*signs, f"{what}: signs of zeros")


def samples(dtype: DType, count: int = 12) -> Array:
    """Telling values of a type: zeros of both signs, limits, infinities, NaN, small numbers."""
    if dtype.kind == "bool":
        values: list[Any] = [False, True, True, False]
    elif dtype.is_float:
        values = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, -7.0, np.inf, -np.inf, np.nan, 100.25]
    elif dtype.kind == "uint":
        values = [0, 1, 2, 3, 5, 7, 8, 13, 100, dtype.maximum, int(dtype.maximum) - 1, 64]
    else:
        values = [0, 1, -1, 2, -2, 3, 7, -7, 100, dtype.maximum, dtype.minimum, -13]
    return np.resize(np.array(values, dtype.numpy), count)


FLOATS = (dtypes.float16, dtypes.float32, dtypes.float64)
