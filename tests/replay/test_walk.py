"""State that a function reads through Python's own machinery: compared before each replay."""

import abc
import builtins
import math
import sys
import threading
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor, jit
from compiler.replay.function import NotCapturedWarning

Change = Callable[[], object]
Program = tuple[Callable[[Tensor], Tensor], list[Change]]
"""A function, and what is changed after each of its calls."""


def a_name_among_builtins() -> Program:
    place = vars(builtins)
    place["_number_of_tests"] = 1.0
    source: dict[str, Any] = {}
    exec("def f(x): return x * _number_of_tests", source)
    return source["f"], [lambda: place.update(_number_of_tests=5.0)]


def a_function_of_python_that_is_replaced() -> Program:
    names: dict[str, Any] = {"max": max}
    exec("def f(x): return x * max(1, 2)", names)
    return names["f"], [lambda: names.update(max=min), lambda: names.pop("max")]


def a_module_that_computes_names() -> Program:
    module, numbers = types.ModuleType("computed"), [1.0]
    vars(module)["__getattr__"] = lambda name: numbers[0]
    return lambda x: x * module.number, [lambda: numbers.insert(0, 3.0)]


def a_name_that_a_module_gets() -> Program:
    module = types.ModuleType("growing")

    def f(x: Tensor) -> Tensor:
        return x * getattr(module, "number", 1.0) + hasattr(module, "other")

    return f, [lambda: setattr(module, "number", 3.0), lambda: setattr(module, "other", None)]


def another_module_of_the_name() -> Program:
    first, second = types.ModuleType("imported"), types.ModuleType("imported")
    vars(first)["number"], vars(second)["number"] = 1.0, 4.0
    sys.modules["imported_by_tests"] = first

    def f(x: Tensor) -> Tensor:
        import imported_by_tests  # type: ignore[import-not-found]

        return x * imported_by_tests.number

    return f, [lambda: sys.modules.__setitem__("imported_by_tests", second)]


def a_library_that_is_patched() -> Program:
    usual = math.pi
    return lambda x: x * math.pi, [
        lambda: setattr(math, "pi", 3.0), lambda: setattr(math, "pi", usual)
    ]  # fmt: skip


def classes_below() -> Program:
    class Above:
        pass

    below: list[type] = []
    return lambda x: x * (1 + len(Above.__subclasses__())), [
        lambda: below.append(type("Below", (Above,), {}))
    ]


def a_class_that_is_registered() -> Program:
    class Kind(abc.ABC):  # noqa: B024
        pass

    class Other:
        pass

    each = Other()
    return lambda x: x * (2.0 if isinstance(each, Kind) else 1.0), [lambda: Kind.register(Other)]


def a_lock_that_is_held() -> Program:
    lock = threading.Lock()
    return lambda x: x * (2.0 if lock.locked() else 1.0), [lock.acquire, lock.release]


def how_arrays_are_printed() -> Program:
    array, usual = np.ones(2) / 3, np.get_printoptions()["precision"]
    return lambda x: x * len(str(array)) + len(f"{array}"), [
        lambda: np.set_printoptions(precision=3), lambda: np.set_printoptions(precision=usual)
    ]  # fmt: skip


def other_bases() -> Program:
    class First:
        number = 1.0

    class Second:
        number = 2.0

    class Both(First):
        pass

    each = Both()

    def f(x: Tensor) -> Tensor:
        return x * Both.number + isinstance(each, Second)

    return f, [lambda: setattr(Both, "__bases__", (Second,))]


def other_names_to_match() -> Program:
    class Pair:
        __match_args__ = ("a", "b")
        a, b = 1.0, 2.0

    pair = Pair()

    def f(x: Tensor) -> Tensor:
        match pair:
            case Pair(first, second):  # type: ignore[misc]
                return x * first + second
        return x

    return f, [lambda: setattr(Pair, "__match_args__", ("b", "a"))]


def names_and_texts() -> Program:
    def g() -> None:
        """Text."""

    class Kind:
        number: int = 0

    def f(x: Tensor) -> Tensor:
        return (
            x * len(g.__name__)
            + len(g.__doc__ or "")
            + len(Kind.__name__)
            + len(Kind.__annotations__)
        )

    return f, [
        lambda: setattr(g, "__name__", "another"), lambda: setattr(g, "__doc__", "Another text."),
        lambda: setattr(Kind, "__name__", "Another"),
        lambda: Kind.__annotations__.update(other=int),
    ]  # fmt: skip


PROGRAMS = (
    a_name_among_builtins, a_function_of_python_that_is_replaced, a_module_that_computes_names,
    a_name_that_a_module_gets, another_module_of_the_name, a_library_that_is_patched,
    classes_below, a_class_that_is_registered, a_lock_that_is_held, how_arrays_are_printed,
    other_bases, other_names_to_match, names_and_texts,
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_call_is_stale(program: Callable[[], Program]) -> None:
    function, changes = program()
    captured, x = jit(function), Tensor([1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCapturedWarning)
        for change in (lambda: None, *changes):
            change()
            for _ in range(2):
                np.testing.assert_array_equal(captured(x).numpy(), function(x).numpy())


def test_a_lock_around_a_block_does_not_hinder_a_capture() -> None:
    lock, numbers = threading.Lock(), [2.0]

    @jit
    def f(x: Tensor) -> Tensor:
        with lock:
            return x * numbers[0]

    for number in (2.0, 2.0, 3.0):
        numbers[0] = number
        assert f(Tensor([1.0])).tolist() == [number]
    assert f.cache_info().captures == 2


@pytest.mark.parametrize("name", ["x.npy", "x.safetensors"])
def test_a_file_is_read_in_each_call(name: str, tmp_path: Path) -> None:
    place, is_one = str(tmp_path / name), name.endswith("npy")

    def f(x: Tensor) -> Tensor:
        read = Tensor.load(place) if is_one else compiler.load(place)["a"]
        return x * read

    captured = jit(f)
    with pytest.warns(NotCapturedWarning, match=f"it reads {name}"):
        for number in (2.0, 3.0, 4.0):
            held = Tensor([number])
            compiler.save(place, held if is_one else {"a": held})  # another file
            assert captured(Tensor([5.0])).tolist() == [5.0 * number]
