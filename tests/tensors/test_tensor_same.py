"""Methods without an effect return another tensor, which can be assigned to independently."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, compile, prepare, repeat

UNMOVED: dict[str, Callable[[Tensor], Any]] = {
    "roll": lambda x: x.roll(4),
    "to": lambda x: x.to("CPU"),
    "part": lambda x: x[:],
    "shrink": lambda x: x.shrink([(0, 4)]),
    "split": lambda x: x.split(4)[0],
    "pos": lambda x: +x,
    "detach": lambda x: x.detach(),
    "cast": lambda x: x.cast("float64"),
    "bitcast": lambda x: x.bitcast("float64"),
    "flip": lambda x: x.flip(()),
    "rot90": lambda x: x.reshape(2, 2).rot90(4).reshape(4),
    "atleast_1d": lambda x: x.atleast_1d(),
    "dropout": lambda x: x.dropout(training=False),
    "clip": lambda x: x.clip(),
    "repeat": lambda x: repeat(0, lambda i, s: s, x),
}


@pytest.mark.parametrize("is_computed", [True, False])
@pytest.mark.parametrize("name", UNMOVED)
def test_what_changes_nothing_is_another_tensor(name: str, is_computed: bool) -> None:
    """A method that has nothing to do gives a tensor that can be assigned to."""
    x = Tensor(np.arange(4.0)) if is_computed else Tensor(np.arange(4.0)) + 0
    y = UNMOVED[name](x)
    y[0] = 9.0
    np.testing.assert_array_equal(y.numpy(), [9.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(x.numpy(), [0.0, 1.0, 2.0, 3.0])


def test_what_a_loop_reads_is_assigned_after_it() -> None:
    """Its first state, and what else its step reads."""
    x, y = Tensor(np.arange(3.0)), Tensor(np.ones(3))
    results = repeat(2, lambda i, s: (s + y).contiguous() + y, x)
    x.assign(Tensor([7.0, 8.0, 9.0]))
    y.assign(x * 2)
    assert compile([x, y, results]).check().ok
    x_now, y_now, state = prepare([x, y, results]).run()
    np.testing.assert_array_equal(x_now, [7.0, 8.0, 9.0])
    np.testing.assert_array_equal(y_now, [14.0, 16.0, 18.0])
    np.testing.assert_array_equal(state, [4.0, 5.0, 6.0])
