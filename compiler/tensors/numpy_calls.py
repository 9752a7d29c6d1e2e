"""NumPy functions called with tensors: `np.exp(x)`, `array + x`, `np.sum(x, axis=0)` build graph
nodes.

    np.maximum(x, 0)      x.maximum(0)
    np.std(x, axis=0)     x.std(axis=0, correction=0), as NumPy's default is 0
    np.histogram(x)       refused: the error says what to write

An elementwise function becomes the method of the same name, or of the name that `names.SAME` gives;
functions listed below likewise. The results are lazy. Functions that NumPy adopted from the array
API come from `compiler.array_api`. Functions whose result is not an array (`np.save`,
`np.array_equal`) compute the tensor. Anything else raises `DataError`, so no call leaves the graph
silently. `np.asarray(x)` and `x.numpy()` leave it explicitly.
"""

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from compiler.core import lazy
from compiler.core.errors import DataError
from compiler.core.origin import called
from compiler.graph.nodes import TensorNode
from compiler.tensors.names import SAME
from compiler.tensors.numpy_functions import ARRANGED
from compiler.tensors.value import TensorValue, as_node, common_type, operand_of


def _words(text: str) -> list[str]:
    return text.split()


OTHERWISE = frozenset(("reciprocal",))
"""Elementwise functions of NumPy that differ from our method of that name: NumPy's `reciprocal` of
integers is an integer."""

FOLDS = {
    "add": "sum", "logical_and": "all", "logical_or": "any", "maximum": "max", "minimum": "min",
    "multiply": "prod",
}  # fmt: skip
"""The method for each `np.<name>.reduce`."""

METHODS = {
    **{
        name: name
        for name in _words(
            "all any argmax argmin argsort atleast_1d atleast_2d broadcast_to clip count_nonzero "
            "cross cumprod cumsum diag diagonal diff dot expand_dims flip fliplr flipud full_like "
            "inner isclose kron max mean median min moveaxis nan_to_num ones_like outer prod "
            "quantile ravel reshape roll rot90 round searchsorted sort squeeze std sum swapaxes "
            "take take_along_axis tensordot tile trace transpose tril triu unique var vdot "
            "zeros_like"
        )
    },
    "amax": "max",
    "amin": "min",
    "repeat": "repeat_interleave",
}
"""NumPy functions with the arguments of a method, by NumPy's name."""

DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "std": {"ddof": 0},
    "var": {"ddof": 0},
}
"""Arguments whose default differs between NumPy and our method."""

STANDARD = frozenset(
    _words(
        "astype cumulative_prod cumulative_sum linalg.cholesky linalg.cross linalg.det "
        "linalg.diagonal linalg.eigh linalg.eigvalsh linalg.inv linalg.matmul linalg.matrix_norm "
        "linalg.matrix_power linalg.matrix_rank linalg.matrix_transpose linalg.outer linalg.qr "
        "linalg.slogdet linalg.solve linalg.svd linalg.svdvals linalg.tensordot linalg.trace "
        "linalg.vecdot linalg.vector_norm matrix_transpose unique_all unique_counts "
        "unique_inverse unique_values unstack"
    )
)
"""Functions that NumPy adopted from the array API: those of `compiler.array_api`."""

FLAT = ("cumprod", "cumsum")
"""Functions that NumPy applies to the flattened tensor if no axis is given."""

COMPUTED = frozenset(
    _words(
        "allclose array2string array_equal array_equiv array_repr array_str may_share_memory "
        "save savetxt savez savez_compressed shares_memory"
    )
)
"""Functions whose result is not an array: tensors are computed."""


def has_method(kind: type, name: str) -> bool:
    """True if NumPy's elementwise function of this name (or its matmul) is a method of tensors."""
    method = SAME.get(name, name)
    return name not in OTHERWISE and any(method in vars(each) for each in kind.__mro__)


def ufunc(
    like: TensorValue, function: np.ufunc, how: str, inputs: Sequence[Any], given: dict[str, Any]
) -> TensorValue:
    """An elementwise NumPy function called with tensors among its `inputs`."""
    name = function.__name__
    if how == "reduce" and name in FOLDS:
        with called(FOLDS[name]):
            folded = {"axis": 0, **_wanted(given)}
            return _result(getattr(_tensor(like, inputs[0]), FOLDS[name])(*inputs[1:], **folded))
    with called(SAME.get(name, name)):
        _refuse_out(name, given)
        if how != "__call__" or not has_method(type(like), name) or given:
            raise _leaves(like, name if how == "__call__" else f"{name}.{how}", given)
        first, *others = _operands(like, name, inputs)
        return _result(getattr(first, SAME.get(name, name))(*others))


def _operands(like: TensorValue, name: str, inputs: Sequence[Any]) -> list[Any]:
    """The operands, the first of them a tensor. A Python number takes the type of the others."""
    parts = [operand_of(name, value) for value in inputs]
    if not isinstance(parts[0], TensorNode):
        parts[0] = as_node(name, parts[0], common_type(parts))
    return [like._new(part) if isinstance(part, TensorNode) else part for part in parts]


def function(
    like: TensorValue, function: Callable[..., Any], args: Sequence[Any], given: dict[str, Any]
) -> object:
    """A NumPy function on whole arrays, called with tensors among its arguments."""
    name = f"{function.__module__}.{function.__name__}".removeprefix("numpy.")
    if name in COMPUTED:
        return function(*_computed(args), **_computed(given))
    with called(METHODS.get(name, function.__name__)):
        _refuse_out(name, given)
        if name in ARRANGED:
            return ARRANGED[name](like, *args, **given)
        if name in STANDARD:
            return operator.attrgetter(name)(lazy.load("compiler.array_api:", ""))(*args, **given)
        if name not in METHODS:
            raise _leaves(like, name, {})
        arguments = inspect.signature(function).bind(*args, **given).arguments
        several = arguments.pop("arys", ())
        tensor = _tensor(like, *several) if several else _tensor(like, *_first(arguments))
        named = {**DEFAULTS.get(name, {}), **_wanted(arguments)}
        if name in FLAT and "axis" not in named:
            tensor = tensor.ravel()
        return getattr(tensor, METHODS[name])(**named)


def _first(arguments: dict[str, Any]) -> list[Any]:
    """The first argument, the array, removed from `arguments`."""
    return [arguments.pop(next(iter(arguments)))]


def _tensor(like: TensorValue, value: object, *others: object) -> Any:
    """`value` as a tensor."""
    if others:
        raise DataError("atleast_1d", "one tensor at a time", got=f"{1 + len(others)} arrays")
    return value if isinstance(value, TensorValue) else like._lift(value)  # type: ignore[arg-type]


def _wanted(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without those that are None, NumPy's default."""
    return {n: v for n, v in arguments.items() if v is not None and v is not np._NoValue}


def _result(value: object) -> TensorValue:
    assert isinstance(value, TensorValue)
    return value


def _computed(value: Any) -> Any:
    """`value` with arrays in place of tensors."""
    match value:
        case TensorValue():
            return np.asarray(value)
        case list() | tuple():
            return type(value)(map(_computed, value))
        case dict():
            return {name: _computed(each) for name, each in value.items()}
    return value


def _refuse_out(name: str, given: dict[str, Any]) -> None:
    """Raise `DataError` for `array += x` and `out=array`: an array cannot hold a lazy result."""
    if given.get("out") is None:
        given.pop("out", None)
        return
    raise DataError(
        name, "a lazy result cannot be written into an array",
        got="out=, or an operator in place, as array += x",
        expected="a new tensor: array = array + x",
        hint="array += x.numpy() computes x now",
    )  # fmt: skip


def _leaves(like: TensorValue, name: str, given: Mapping[str, Any]) -> DataError:
    """The error for a call that would leave the graph."""
    method = SAME.get(name, name)
    is_ours = hasattr(type(like), method)
    words = ", ".join(f"{each}=" for each in given)
    now = f"np.{name}(x.numpy()) computes x now"
    return DataError(
        f"np.{name}", "this would leave the graph: it is not an operation on tensors",
        got=f"a Tensor and {words}" if words else "a Tensor",
        expected="an array, or an operation of tensors",
        hint=f"write x.{method}(...); {now}" if is_ours else now,
    )  # fmt: skip
