"""Elementwise operations of tensors of every pair of types, against NumPy.

All of them meet on the graph's interpreter, for types are promoted before anything is compiled. On
each later engine every operation meets every type on either side, with one of the others, which is
not the same on `machine` as on those engines that share the program with transformed loops; which
one changes from operation to operation, so that every pair is met.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from compiler.tensor import Tensor
from tests.evaluate import NUMPYS, every_engine, samples
from tests.tensors.test_tensor_elementwise import Agreement

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
Function = Callable[..., Any]

BINARY: dict[str, Function] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "floordiv": np.floor_divide, "mod": np.mod, "fmod": np.fmod, "maximum": np.maximum,
    "minimum": np.minimum, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal, "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor, "lshift": np.left_shift,
    "rshift": np.right_shift, "logical_and": np.logical_and, "logical_or": np.logical_or,
    "logical_xor": np.logical_xor, "hypot": np.hypot, "copysign": np.copysign,
}  # fmt: skip


@every_engine
@pytest.mark.parametrize("method", BINARY)
def test_binary_over_every_pair_of_types(method: str, engine: str) -> None:
    ours, theirs = getattr(Tensor, method), BINARY[method]
    columns = {dtype: samples(dtype)[:, None] for dtype in NUMPYS}
    rows = {dtype: samples(dtype)[None, :] for dtype in NUMPYS}
    if method.endswith("shift"):
        rows = {d: np.abs(np.where(b == d.minimum, 0, b)).astype(b.dtype) for d, b in rows.items()}
    of_columns, of_rows = ({d: Tensor(x) for d, x in each.items()} for each in (columns, rows))
    at = list(BINARY).index(method) + 5 * (engine == "machine")
    cases = Agreement(engine)
    for row, (left, a) in enumerate(columns.items()):
        for column, (right, b) in enumerate(rows.items()):
            if engine != "graph" and (at + row + column) % len(rows):
                continue
            inputs = of_columns[left], of_rows[right]
            cases.agree(partial(ours, *inputs), partial(theirs, a, b), f"{method} {left} {right}")
    cases.check()
