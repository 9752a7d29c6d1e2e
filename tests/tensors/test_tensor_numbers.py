"""Python's operators between tensors of every type and plain numbers, against NumPy.

All of them meet on the graph's interpreter, for types are promoted before anything is compiled. On
each later engine every operator meets every type with two of the numbers, which are others on
`machine` than on those that share the program with transformed loops.
"""

import itertools
import math
import operator
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

OPERATORS: tuple[Function, ...] = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
    operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift,
)  # fmt: skip


@every_engine
@pytest.mark.parametrize("function", OPERATORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("is_reflected", (False, True), ids=("tensor first", "scalar first"))
def test_operators_with_python_scalars(function: Function, is_reflected: bool, engine: str) -> None:
    numbers = (True, 0, 2, 3, -2, 300, 2**40, 2.5, -0.0, 0.5, math.inf, math.nan)
    cases = Agreement(engine)
    at = OPERATORS.index(function) + is_reflected + 3 * (engine == "machine")
    for place, (dtype, number) in enumerate(itertools.product(NUMPYS, numbers)):
        if engine != "graph" and (at + place + place // len(numbers)) % 6:
            continue
        x = samples(dtype)
        if function is operator.pow and not dtype.is_float:
            x = np.abs(x).astype(x.dtype) % dtype.numpy.type(5) if dtype.is_integer else x
            if is_reflected and isinstance(number, float):
                continue  # a float to an integer array: np.power of two types, tested as pow
        if "shift" in function.__name__ and (number < 0 or (is_reflected and x.min() < 0)):
            continue  # NumPy leaves negative shifts undefined
        pair = (number, x) if is_reflected else (x, number)
        wrapped = (number, Tensor(x)) if is_reflected else (Tensor(x), number)
        what = f"{function.__name__} {dtype} {number}"
        cases.agree(partial(function, *wrapped), partial(function, *pair), what)
    cases.check()
