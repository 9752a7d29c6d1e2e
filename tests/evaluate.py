"""A function that runs a tensor on any engine; tables of cases are run on each of them.

`ENGINES` names the engines: a row is a function from nodes to arrays. A test that is marked
`every_engine` takes the argument `engine` and calls `evaluate(tensor, engine)`.
"""

import os
import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import pytest

from compiler.ask.interpreted import run_bodies
from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.kept import Kept
from compiler.core.node import toposort
from compiler.device.buffers import PLACEHOLDER, data
from compiler.graph.interpret import interpret
from compiler.graph.kinds.effects import Assign, Custom
from compiler.graph.kinds.markers import Placeholder
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import Buffer, TensorNode
from compiler.machines.model import MachineModel
from compiler.program.compilation import Compilation
from compiler.run.plans import without_data
from compiler.settings.options import Options
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
TRANSFORMED = Options(machine=EAGER, threads=2)
"""Every transformation on, at the sizes of tests."""


IMPURE = (Assign, Custom, Placeholder, Repeat)
"""Kinds of nodes that write or call, or may have such in them."""
KEPT, LARGEST = 512, 2**16
"""Programs that are kept for the next engine, and bytes of an array in one of these."""
_kept: Kept[Hashable, Compilation] = Kept(KEPT)


def _test() -> str:
    """The test that runs, without its engine: another one may have changed what programs become."""
    name = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    engines = "|".join(ENGINES)
    return re.sub(rf"(?<=[\[-])(?:{engines})(?=[\]-])", "*", name)


def _content(roots: Sequence[TensorNode]) -> Hashable | None:
    """The value of a program, from which data; None where that is much, or more than a value."""
    root, buffers = without_data(roots)
    if any(isinstance(node, IMPURE) or node.extents for node in toposort([root])):
        return None
    if any(b.device != "CPU" or b.unique == PLACEHOLDER for b in buffers):
        return None
    held = [data(buffer) for buffer in buffers]
    if any(each.nbytes > LARGEST for each in held):
        return None
    return _test(), root, tuple(each.tobytes() for each in held)


def _compiled(roots: Sequence[TensorNode]) -> Compilation:
    """A program with transformed loops: the same for every engine that runs it."""
    content = _content(roots)
    made = _kept.held(content) or Compilation(list(roots), TRANSFORMED, "test")
    return made if content is None else _kept.keep(content, made)


def _stage(engine: str) -> Callable[[Sequence[TensorNode]], list[Array]]:
    """The interpreter of one later stage, after all stages before it, on transformed loops."""

    def run(roots: Sequence[TensorNode]) -> list[Array]:
        return run_bodies(_compiled(roots), engine)

    return run


def _machine(roots: Sequence[TensorNode]) -> list[Array]:
    """Machine code, as users get it."""
    return Compilation(list(roots), Options(), "test").run()


def _transformed(roots: Sequence[TensorNode]) -> list[Array]:
    """Machine code of transformed loops."""
    return _compiled(roots).run()


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


class Cases:
    """Many values of one engine, computed by one program, each held against what is right."""

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._rows: list[tuple[Tensor, Any, object, dict[str, Any]]] = []

    def same(self, tensor: Tensor, expected: Any, what: object = "", **allowed: Any) -> None:
        """One more; `allowed` as for `assert_same`."""
        self._rows.append((tensor, expected, what, allowed))

    def check(self) -> None:
        """Compute and compare all of them."""
        tensors = [row[0] for row in self._rows]
        try:
            values = ENGINES[self._engine]([tensor.node for tensor in tensors])
        except Exception:
            for tensor in tensors:  # one by one: the trace then shows which
                evaluate(tensor, self._engine)
            raise
        for (tensor, expected, what, allowed), got in zip(self._rows, values, strict=True):
            assert got.shape == tensor.shape, what
            assert got.dtype == tensor.dtype.numpy, what
            assert_same(got, expected, what, **allowed)


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
    if got.dtype.kind == "V":  # NumPy's comparisons know no NaN of such types
        got, expected = (x.astype(np.float32) for x in (got, expected))
    if rtol:
        np.testing.assert_allclose(got, expected, rtol, atol=rtol, err_msg=str(what))
        return
    if ulps and dtypes.is_floating(got.dtype):
        np.testing.assert_array_max_ulp(got, expected, ulps)
    else:
        np.testing.assert_array_equal(got, expected, str(what), strict=True)
    if dtypes.is_floating(got.dtype) and has_signed_zeros:
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


NUMPYS = tuple(each for each in dtypes.ALL if not each.computed_as)
"""The types whose every rule is NumPy's, and that machines compute in."""
FLOATS = (dtypes.float16, dtypes.float32, dtypes.float64)


def reference(function: Callable[..., Any], dtype: DType, operands: Sequence[Array]) -> Array:
    """The result of a NumPy function for operands of a type that is computed in a wider one, each
    rounded once; `dtype` is that of the result."""
    types = [dtypes.parse(x.dtype).arithmetic.numpy for x in operands]
    wide = [x.astype(t) for x, t in zip(operands, types, strict=True)]
    with np.errstate(all="ignore"):
        return np.asarray(function(*wide)).astype(dtype.numpy)
