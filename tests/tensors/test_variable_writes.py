"""Writing to tensors with an axis of variable extent."""

from typing import Any

import numpy as np
import pytest

from compiler import AxisError, ShapeError, Tensor, Variable

WRITES: dict[str, tuple[Any, Any]] = {
    "all": (slice(None), 7.0),
    "all of it": (..., 7.0),
    "reversed": (slice(None, None, -1), 7.0),
    "the first": (0, 7.0),
    "a part that is always there": (slice(0, 1), 7.0),
}


@pytest.mark.parametrize("name", WRITES)
def test_elements_are_written(name: str) -> None:
    """The tensor keeps its variable, whatever is written to it."""
    index, value = WRITES[name]
    array = np.arange(4.0)
    x = Tensor(array.copy(), symbolic={0: Variable("n", 1, 6)})
    made = x.set(index, value)
    array[index] = value
    np.testing.assert_array_equal(made.numpy(), array)
    x[index] = value
    np.testing.assert_array_equal(x.numpy(), array)
    assert str(x.symbolic_shape[0]) == str(made.symbolic_shape[0]) == "n"


@pytest.mark.parametrize("index", [-1, 3, slice(1, 3), slice(None, -1), slice(None, None, 2)])
def test_what_may_not_be_there_is_not_written(index: Any) -> None:
    x = Tensor(np.arange(4.0), symbolic={0: Variable("n", 1, 6)})
    words = "axis 0 has n|variable end cannot be written|not always exist|only step 1"
    with pytest.raises((AxisError, ShapeError), match=words):
        x[index] = 9.0
    np.testing.assert_array_equal(x.numpy(), np.arange(4.0))


def test_an_assigned_tensor_keeps_its_variable() -> None:
    n, m = Variable("n", 1, 6), Variable("m", 1, 6)
    x = Tensor(np.arange(4.0), symbolic={0: n}) + 1
    np.testing.assert_array_equal(x.assign(2.0).numpy(), np.full(4, 2.0))
    with pytest.raises(ShapeError, match="cannot have n elements"):
        x.assign(Tensor(np.arange(3.0), symbolic={0: m}))
