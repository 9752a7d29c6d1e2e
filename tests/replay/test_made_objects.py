"""Objects that a captured function changes, makes and returns are as without `jit`; so are
attributes that a class gets later."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import JitError, Tensor
from compiler.replay.function import NotCapturedWarning

pytestmark = pytest.mark.filterwarnings("ignore::compiler.replay.function.NotCapturedWarning")


class Holder:
    """An object that a function makes."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def get(self) -> Any:
        """Its content."""
        return self.value


def _deep(x: Tensor, k: float) -> Any:
    return Holder({"a": [{"b": [{"c": [x * k]}]}]})


MADE: dict[str, tuple[Callable[[Tensor, float], Any], Callable[[Any], Any]]] = {
    "a closure": (lambda x, k: lambda: x * k, lambda r: r()),
    "a closure of a number": (lambda x, k: lambda: k, lambda r: r()),
    "a default": (lambda x, k: lambda y=x * k: y, lambda r: r()),
    "a partial call": (lambda x, k: partial(Tensor.mul, x * k, 1), lambda r: r()),
    "a method": (lambda x, k: Holder(x * k).get, lambda r: r()),
    "a method of a tensor": (lambda x, k: (x * k).sum, lambda r: r()),
    "a generator": (lambda x, k: (x * k * i for i in (1, 2)), lambda r: list(r)[1]),
    "a map": (lambda x, k: map((x * k).mul, [1, 2]), lambda r: list(r)[1]),
    "an iterator": (lambda x, k: iter([x * k]), next),
    "deep in an object": (_deep, lambda r: r.value["a"][0]["b"][0]["c"][0]),
}  # fmt: skip


def _value(result: Any) -> Any:
    return result.numpy().tolist() if isinstance(result, Tensor) else result


@pytest.mark.parametrize("name", MADE)
def test_what_holds_results_is_new_in_each_call(name: str) -> None:
    function, read = MADE[name]
    captured = compiler.jit(function)
    x = Tensor([1.0, 2.0])
    for k in (1.0, 2.0, 3.0, 4.0):
        assert _value(read(captured(x, k))) == _value(read(function(x, k)))


@pytest.mark.parametrize("make", [lambda: np.zeros(2), lambda: {1}, lambda: bytearray(2)])
def test_an_object_that_is_returned_is_made_in_each_call(make: Callable[[], Any]) -> None:
    captured = compiler.jit(lambda x: (x * 2, make()))
    x = Tensor([1.0])
    first, second, third = (captured(x)[1] for _ in range(3))
    assert first is not second and second is not third


def test_an_object_from_around_is_returned_itself() -> None:
    table = np.zeros(2)
    captured = compiler.jit(lambda x: (x * 2, table))
    assert all(captured(Tensor([1.0]))[1] is table for _ in range(3))
    assert captured.cache_info().captures == 1


def _appends(x: Tensor, kept: Any) -> Any:
    kept["list"].append(x * 2)
    return x * len(kept["list"])


def _counts(x: Tensor, kept: Any) -> Any:
    kept["n"] = kept.get("n", 0) + 1
    return x * kept["n"]


def _pops(x: Tensor, kept: Any) -> Any:
    return x * kept.pop("k", 3.0)


def _swaps(x: Tensor, kept: Any) -> Any:
    kept["pair"].reverse()
    return x * kept["pair"][0]


@pytest.mark.parametrize("function", [_appends, _counts, _pops, _swaps])
def test_lists_and_dictionaries_that_are_given_change(function: Any) -> None:
    captured = compiler.jit(function)
    x = Tensor([1.0, 2.0])
    one, two = ({"list": [], "k": 2.0, "pair": [1.0, 5.0]} for _ in range(2))
    for _ in range(4):
        assert _value(captured(x, kept=one)) == _value(function(x, two))
    assert len(one["list"]) == len(two["list"])  # type: ignore[arg-type]
    assert {k: v for k, v in one.items() if k != "list"} == {
        k: v for k, v in two.items() if k != "list"
    }


def test_a_list_that_changes_is_a_reason_to_warn() -> None:
    captured = compiler.jit(_counts)
    with pytest.warns(NotCapturedWarning, match="changes a list or dictionary among its arguments"):
        captured(Tensor([1.0]), {})


def test_a_list_of_arrays_that_changes_is_refused() -> None:
    def add(x: Tensor, kept: list[Any]) -> Tensor:
        kept.append(x)
        return x

    with pytest.raises(JitError, match="an argument, a list or dictionary of arrays, is changed"):
        compiler.jit(add)(Tensor([1.0]), [np.ones(2)])


def _later(change: Callable[[Any, Any], None]) -> list[Any]:
    class Base:
        usual = 1.0

        def times(self, x: Tensor) -> Tensor:
            return x * self.usual * getattr(self, "late", 1.0)

    class Below(Base):
        def times(self, x: Tensor) -> Tensor:
            return super().times(x)

    captured = compiler.jit(Below().times)
    x = Tensor([1.0])
    before = captured(x).item()
    change(Base, Below)
    return [before, captured(x).item()]


CHANGES: dict[str, Callable[[Any, Any], None]] = {
    "a name below": lambda base, below: setattr(below, "usual", 2.0),
    "a name that no class had": lambda base, below: setattr(below, "late", 2.0),
    "that of a base": lambda base, below: setattr(base, "late", 2.0),
    "any name": lambda base, below: setattr(below, "__getattr__", lambda self, name: 2.0),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_class_gets_an_attribute(name: str) -> None:
    assert _later(CHANGES[name]) == [1.0, 2.0]
