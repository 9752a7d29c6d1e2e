"""NumPy functions called with tensors: `np.exp(x)`, `array + x`, `np.sum(x, axis=0)` build graph
nodes.

    np.maximum(x, 0)      x.maximum(0)
    np.std(x, axis=0)     x.std(axis=0, correction=0), as NumPy's default is 0
    np.histogram(x)       refused: the error says what to write

A function becomes one of `ARRANGED`, or the method of its name, unless `OTHERWISE` names another. A
function without a method comes from `compiler.array_api`, from which NumPy adopted it. The results
are lazy. Functions whose result is not an array (`np.save`, `np.array_equal`) compute the tensor.
Anything else raises `DataError`, so no call leaves the graph silently. `np.asarray(x)` and
`x.numpy()` leave it explicitly.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from compiler.core import lazy
from compiler.core.errors import DataError
from compiler.core.origin import called
from compiler.graph.nodes import TensorNode
from compiler.tensors.numpy_functions import ARRANGED
from compiler.tensors.value import TensorValue, as_node, common_type, operand_of


def _words(text: str) -> list[str]:
    return text.split()


OTHERWISE: Mapping[str, str] = {
    "repeat": "repeat_interleave",
    **dict.fromkeys(_words("astype bincount gradient histogram reciprocal"), ""),
}
"""The method for functions of NumPy that differ from our method of their name; "" for none."""

FOLDS = {
    "add": "sum", "logical_and": "all", "logical_or": "any", "maximum": "max", "minimum": "min",
    "multiply": "prod",
}  # fmt: skip
"""The method for each `np.<name>.reduce`."""

DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "std": {"ddof": 0},
    "var": {"ddof": 0},
}
"""Arguments whose default differs between NumPy and our method."""

REFUSED = frozenset(_words("can_cast linspace result_type"))
"""Functions of the array API that do not take tensors, or do not return NumPy's types."""

FLAT = ("cumprod", "cumsum")
"""Functions that NumPy applies to the flattened tensor if no axis is given."""

SORTS = ("argsort", "sort")
"""Functions that NumPy applies to the flattened tensor for `axis=None`; the default is -1."""

COMPUTED = frozenset(
    _words(
        "allclose array2string array_equal array_equiv array_repr array_str may_share_memory "
        "save savetxt savez savez_compressed shares_memory"
    )
)
"""Functions whose result is not an array: tensors are computed."""


def method_of(kind: type, name: str) -> str:
    """Our method for the function of NumPy of this name; "" for none."""
    if name in OTHERWISE:
        return OTHERWISE[name]
    is_method = any(callable(vars(each).get(name)) for each in kind.__mro__)
    return name if is_method else ""


def standard(name: str) -> Callable[..., Any] | None:
    """The function of the array API of this name, such as `linalg.inv`; None for none."""
    if name in REFUSED:
        return None
    found: Any = lazy.load("compiler.array_api:", "")
    for part in name.split("."):
        found = vars(found).get(part) if found else None
    return found if callable(found) else None


def ufunc(
    like: TensorValue, function: np.ufunc, how: str, inputs: Sequence[Any], given: dict[str, Any]
) -> TensorValue:
    """An elementwise NumPy function called with tensors among its `inputs`."""
    name = function.__name__
    if how == "reduce" and name in FOLDS:
        with called(FOLDS[name]):
            folded = {**_wanted(given), "axis": given.get("axis", 0)}  # axis=None is all axes
            return _result(getattr(_tensor(like, inputs[0]), FOLDS[name])(*inputs[1:], **folded))
    method = method_of(type(like), name)
    with called(method or name):
        _refuse_out(name, given)
        if how != "__call__" or not method or given:
            raise _leaves(like, name if how == "__call__" else f"{name}.{how}", given)
        first, *others = _operands(like, name, inputs)
        return _result(getattr(first, method)(*others))


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
    method = method_of(type(like), name)
    with called(method or function.__name__):
        _refuse_out(name, given)
        if name in ARRANGED:
            try:
                return ARRANGED[name](like, *args, **given)
            except TypeError:
                _refuse_misfit(name, ARRANGED[name], (like, *args), given)
                raise
        if not method:
            adopted = standard(name)
            if adopted is None:
                raise _leaves(like, name, {})
            return adopted(*args, **given)
        arguments = inspect.signature(function).bind(*args, **given).arguments
        several = arguments.pop("arys", ())
        tensor = _tensor(like, *several) if several else _tensor(like, *_first(arguments))
        named = {**DEFAULTS.get(name, {}), **_wanted(arguments)}
        is_sorted_flat = name in SORTS and arguments.get("axis", -1) is None
        if is_sorted_flat or (name in FLAT and "axis" not in named):
            tensor = tensor.ravel()
        return getattr(tensor, method)(**named)


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


def _refuse_misfit(
    name: str, arranged: Callable[..., Any], args: Sequence[Any], given: Mapping[str, Any]
) -> None:
    """Raise `DataError` for arguments that `arranged` does not have."""
    try:
        inspect.signature(arranged).bind(*args, **given)
    except TypeError as error:
        named = "".join(f", {each}=" for each in given)
        raise DataError(f"np.{name}", f"for tensors: {error}", got=f"a Tensor{named}",
                        hint=f"np.{name}(x.numpy(), ...) computes x now") from None  # fmt: skip


def _leaves(like: TensorValue, name: str, given: Mapping[str, Any]) -> DataError:
    """The error for a call that would leave the graph."""
    is_ours = hasattr(type(like), name)
    words = ", ".join(f"{each}=" for each in given)
    now = f"np.{name}(x.numpy()) computes x now"
    return DataError(
        f"np.{name}", "this would leave the graph: it is not an operation on tensors",
        got=f"a Tensor and {words}" if words else "a Tensor",
        expected="an array, or an operation of tensors",
        hint=f"write x.{name}(...); {now}" if is_ours else now,
    )  # fmt: skip
