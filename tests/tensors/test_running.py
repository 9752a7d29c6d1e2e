"""Whatever ends a program, it took effect once or not at all."""

import numpy as np
import pytest

from compiler import Tensor, custom
from compiler.core.errors import CompileError


def test_a_function_that_fails_once_leaves_the_write_pending() -> None:
    fails = [True]

    @custom.host(dtype="float64", shape=())
    def failing(value: np.ndarray) -> np.ndarray:
        if fails[0]:
            raise ValueError("once")
        return np.asarray(value.sum())

    w = Tensor(np.zeros(4)).realize()
    w.assign(w + 1)
    total = failing(w)
    for _ in range(3):
        with pytest.raises(CompileError):
            w.realize(total)
    fails[0] = False
    assert w.tolist() == [1, 1, 1, 1] and total.item() == 4
