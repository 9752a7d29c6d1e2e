"""Methods along an axis, for tensors of rank 0: treated as one element along axis 0 or -1.

    Tensor(2.5).softmax(0)      1.0
    Tensor(2.5).cumsum(-1)      2.5
    Tensor(2.5).sort(1)         AxisError
"""

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

import numpy as np

from compiler.tensors.value import TensorValue

F = TypeVar("F", bound=Callable[..., Any])

AXES = ("axis", "dim", "axes", "source", "destination", "first", "second")
"""Names of parameters that are axes."""


def of_rank_zero(method: F) -> F:
    """`method`, which works along an axis, extended to tensors of rank 0, as in PyTorch."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def call(self: Any, *args: Any, **named: Any) -> Any:
        if not self.node.shape:
            given = signature.bind_partial(self, *args, **named)
            given.apply_defaults()
            axes = [axis for name in AXES for axis in _axes(given.arguments.get(name))]
            if axes and all(axis in (0, -1) for axis in axes):
                rows = [_row(each) for each in (self, *args)]
                named = {name: _row(each) for name, each in named.items()}
                return _number(method(*rows, **named))
        return method(self, *args, **named)

    return cast(F, call)


def _axes(given: Any) -> Iterator[int]:
    if isinstance(given, int | np.integer):
        yield int(given)
    elif isinstance(given, tuple | list):
        for each in given:
            yield from _axes(each)


def _row(value: Any) -> Any:
    """A tensor or array of rank 0 with an axis of extent 1; anything else unchanged."""
    if isinstance(value, TensorValue):
        tensor: Any = value
        return value if value.node.shape else tensor.reshape(1)
    return value.reshape(1) if isinstance(value, np.ndarray) and not value.shape else value


def _number(result: Any) -> Any:
    """The result for one element, without that axis."""
    if isinstance(result, tuple):
        return tuple(map(_number, result))
    is_row = isinstance(result, TensorValue) and result.node.shape
    return result.squeeze(0) if is_row else result
